"""Experiments: what to run, running it, and showing what came out."""
