"""Data that several tests of the estimators share."""

import numpy as np
import pytest

from scarce.testing import three_blobs


@pytest.fixture(scope="module")
def unequal():
    """Three linearly separable classes with shares of 60, 30 and 10 %."""
    X, y, _ = three_blobs(1800)
    rows = [np.nonzero(y == name)[0][:n] for name, n in (("ant", 600), ("bee", 300), ("cat", 100))]
    rows = np.concatenate(rows)
    return X[rows], y[rows]
