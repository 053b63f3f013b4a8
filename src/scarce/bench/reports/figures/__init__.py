"""Figures of an experiment."""
