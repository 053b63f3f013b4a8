"""Trials: what determines the result of one, and how results are stored compactly."""
