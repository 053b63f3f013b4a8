"""Training and test rows of a data set."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Split = Literal["70/30", "10-fold", "standard"]
"""How data are divided: tables by `train_test_rows`; ``standard`` means the standard training and test sets of images."""
N_FOLDS = 10
_TRAIN_FRACTION = 0.7


def train_test_rows(n: int, split: Split, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices of the training rows and of the test rows.

    With ``70/30``, the seed draws a permutation whose first 70 % are for training. With ``10-fold``, one permutation that is the
    same for all seeds is cut into ten folds; fold number `seed` is for testing.

    Parameters
    ----------
    n : int
        The number of rows.
    split : {"70/30", "10-fold"}
        How the rows are divided.
    seed : int
        The seed, or the number of the fold.

    Returns
    -------
    train, test : arrays of shape (n_train,) and (n - n_train,)
        The indices of the rows.

    Examples
    --------
    >>> train, test = train_test_rows(10, "70/30", seed=0)
    >>> len(train), sorted({*train.tolist(), *test.tolist()}) == list(range(10))
    (7, True)
    >>> folds = [train_test_rows(25, "10-fold", seed)[1] for seed in range(10)]
    >>> sorted(np.concatenate(folds).tolist()) == list(range(25))
    True
    """
    assert split != "standard"
    # A random stream of its own, since labels are drawn from the same seed.
    order = np.random.default_rng((0 if split == "10-fold" else seed, 70)).permutation(n)
    if split == "70/30":
        n_train = round(_TRAIN_FRACTION * n)
        return order[:n_train], order[n_train:]
    folds = np.array_split(order, N_FOLDS)
    return np.concatenate(folds[:seed] + folds[seed + 1 :]), folds[seed]
