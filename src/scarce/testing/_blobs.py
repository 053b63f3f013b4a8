"""Three well-separated blobs of points: a problem that every method should learn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce.labels import ComplementaryLabels
from scarce.simulate import uniform


def three_blobs(n: int = 300, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[Any], ComplementaryLabels]:
    """Return three well-separated Gaussian blobs in the plane, with one uniform complementary label per point.

    Parameters
    ----------
    n : int
        The number of points.
    seed : int
        Random seed; the same seed gives the same points and labels.

    Returns
    -------
    X : array of shape (n, 2)
        The points.
    y : array of shape (n,)
        Their true classes: ant, bee or cat.
    labels : ComplementaryLabels
        One excluded class per point.

    See Also
    --------
    check_method, check_complementary_estimator : Run checks that train on such blobs.

    Examples
    --------
    >>> X, y, labels = three_blobs(30)
    >>> X.shape, sorted(set(y.tolist())), labels.n_examples
    ((30, 2), ['ant', 'bee', 'cat'], 30)
    """
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % 3
    centers = np.array([[0.0, 4.0], [3.5, -2.0], [-3.5, -2.0]])
    X = (centers[codes] + rng.normal(size=(n, 2))).astype(np.float32)
    y = np.array(["ant", "bee", "cat"])[codes]
    return X, y, uniform(y, seed=seed)
