"""The 8 × 8 digits that come with scikit-learn."""

import numpy as np

from scarce.datasets.image_dataset import SplitArrays

__all__ = ["read_digits"]

_MAX_BRIGHTNESS = 16


def read_digits() -> SplitArrays:
    """Return the digits with pixels scaled to 0 … 255; every third image is a test image.

    Examples
    --------
    >>> parts = read_digits()
    >>> parts.X_train.shape, parts.X_test.shape, parts.X_train.max()
    ((1198, 8, 8), (599, 8, 8), np.uint8(255))
    """
    from sklearn.datasets import load_digits  # slow to import, and needed here only

    digits = load_digits()
    images = np.rint(digits.images * (255 / _MAX_BRIGHTNESS)).astype(np.uint8)
    truth = digits.target.astype(np.int64)
    is_test = (
        np.arange(len(images)) % 3 == 0
    )  # neighbours share a writer, so both splits contain every writer
    return SplitArrays(
        images[~is_test], truth[~is_test], images[is_test], truth[is_test], tuple(map(str, range(10)))
    )
