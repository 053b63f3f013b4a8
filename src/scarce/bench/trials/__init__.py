"""Trials: planning them, running one, and storing their records."""
