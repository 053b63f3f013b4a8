"""The demonstration: handwritten digits learned from answers to "is it a 3?", and its HTML page."""
