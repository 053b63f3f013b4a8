"""Gaussian clouds with a known fraction of positives, or with known class priors."""

import numpy as np

from scarce.simulate import scar


def mixture(theta, *, n_positive=500, n_unlabeled=500, columns=2, apart=6.0, seed=0):
    """Positives around the origin, and unlabeled rows of which exactly the fraction theta is positive."""
    rng = np.random.default_rng(seed)
    inside = round(theta * n_unlabeled)
    clouds = rng.normal(size=(n_positive + n_unlabeled, columns))
    positive, unlabeled = clouds[:n_positive], clouds[n_positive:]
    unlabeled[inside:, 0] += apart
    return positive, unlabeled


def log_odds(rows, apart=6.0):
    """The log odds of "positive" under equal priors."""
    return apart * (apart / 2 - rows[:, 0])


PRIORS = np.array([0.1, 0.2, 0.3, 0.4])
C = np.array([0.3, 0.4, 0.5, 0.6])


def labeled_clouds(n=3000, seed=0, spread=1.0):
    """Four Gaussian clouds with unequal priors and unequal rates of exclusion."""
    rng = np.random.default_rng(seed)
    y = rng.choice(4, n, p=PRIORS)
    X = (4 * np.eye(4)[y] + spread * rng.normal(size=(n, 4))).astype(np.float32)
    return X, y, scar(y, c=C, classes=4, seed=seed)
