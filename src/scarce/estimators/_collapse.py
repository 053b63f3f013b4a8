"""Detect collapsed fits, which predict one class for nearly every example that does not exclude it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce.labels import ComplementaryLabels
from scarce.labels._candidate_shares import candidate_shares

# An untrained network also favors some class, but does not predict it for most examples.
_MIN_SHARE = 1 / 2  # of all predictions
_MIN_SHARE_OF_CANDIDATES = 2 / 3  # of the examples that do not exclude the class
_MIN_RATIO_TO_EXPECTED = 2.0


class Collapse(NamedTuple):
    """The name of a class, its share of the predictions, its expected share, and the share of examples that do not exclude it."""

    name: Any
    share: float
    expected: float
    limit: float

    def __str__(self) -> str:
        return (
            f"the fit has collapsed: class {self.name} is predicted for {self.share:.0%} of the training examples "
            f"({self.limit:.0%} do not exclude it), expected about {self.expected:.0%}; pass priors=[...] if you know them, choose "
            "method='auto' or 'scarce', or collect more labels."
        )


def find_collapse(
    predicted: NDArray[np.int64], labels: ComplementaryLabels, priors: NDArray[np.float64] | None = None
) -> Collapse | None:
    """Return the class that is predicted for nearly every example that does not exclude it; None if there is no such class.

    Let s_k be the share of predictions of class k, a_k its expected share, and 1 − π̄_k the share of examples that do not
    exclude it. The fit has collapsed if

        s_k > 1/2,    s_k > 2/3 (1 − π̄_k)    and    s_k > 2 a_k.

    A network that memorizes its examples may end up like this, because nothing that it predicts is excluded. The second
    condition alone is not enough: if most examples exclude class k, a good fit meets it too.

    Parameters
    ----------
    predicted : array of shape (n,)
        The index of the predicted class of each training example.
    labels : ComplementaryLabels
        The training labels.
    priors : array of shape (q,), optional
        The expected shares a_k; by default the candidate shares.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single(np.arange(1000) % 10, classes=10)
    >>> find_collapse(np.where(np.arange(1000) % 10 == 3, 4, 3), labels).share
    0.9
    >>> find_collapse((np.arange(1000) + 1) % 10, labels)
    """
    shares = np.bincount(predicted, minlength=labels.n_classes) / len(predicted)
    expected = candidate_shares(labels) if priors is None else priors
    limits = 1 - labels.rates
    dominant = int(shares.argmax())
    bounds = (
        _MIN_SHARE,
        _MIN_SHARE_OF_CANDIDATES * limits[dominant],
        _MIN_RATIO_TO_EXPECTED * expected[dominant],
    )
    if shares[dominant] <= max(bounds):
        return None
    values = (float(array[dominant]) for array in (shares, expected, limits))
    return Collapse(labels.classes[dominant], *values)
