"""Gaussian clouds of which the share of positives is known."""

import numpy as np


def mixture(theta, *, n_positive=500, n_unlabeled=500, columns=2, apart=6.0, seed=0):
    """Positives around the origin, and unlabelled rows of which exactly the share theta are such."""
    rng = np.random.default_rng(seed)
    inside = round(theta * n_unlabeled)
    clouds = rng.normal(size=(n_positive + n_unlabeled, columns))
    positive, unlabeled = clouds[:n_positive], clouds[n_positive:]
    unlabeled[inside:, 0] += apart
    return positive, unlabeled


def logits(rows, apart=6.0):
    """The log odds of "positive" under equal priors."""
    return apart * (apart / 2 - rows[:, 0])
