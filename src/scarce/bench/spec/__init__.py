"""Experiment files, and the specs of their trials."""
