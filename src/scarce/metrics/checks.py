"""What every metric asks of what it is given."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import IntArray
from scarce._class_names import lookup_codes, names_to_array, some
from scarce.errors import FeatureError, LabelError, PriorError
from scarce.labels import ComplementaryLabels

__all__ = ["check_priors", "predicted_codes"]

FloatArray = NDArray[np.float64]

_SUM_TOLERANCE = 1e-3  # priors typed with three decimals


def check_priors(priors: Any, labels: ComplementaryLabels) -> FloatArray:
    """Return priors as q numbers of at least 0 that sum to one, up to rounding by hand.

    Examples
    --------
    >>> check_priors([0.5, 0.6], ComplementaryLabels.from_single([0], classes=2))
    Traceback (most recent call last):
    scarce.errors.PriorError: the priors sum to 1.1; expected 1. Divide them by their sum if they are counts.
    """
    try:
        values = np.asarray(priors, float)
    except (TypeError, ValueError):
        raise PriorError(f"priors is {priors!r}; expected {labels.n_classes} numbers.") from None
    if values.shape != (labels.n_classes,):
        raise PriorError(
            f"priors has shape {values.shape}; expected {labels.n_classes} numbers, one per class."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        worst = int(np.argmin(np.where(np.isfinite(values), values, -np.inf)))
        raise PriorError(
            f"the prior of class {labels.classes[worst]} is {values[worst]}; expected numbers of at least 0."
        )
    if abs(values.sum() - 1) > _SUM_TOLERANCE:
        raise PriorError(
            f"the priors sum to {values.sum():.4g}; expected 1. Divide them by their sum if they are counts."
        )
    return values


def predicted_codes(predicted: Any, labels: ComplementaryLabels) -> IntArray:
    """Return predictions as class indices, refusing names that are no class and a wrong length.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single(["cat", "dog"], classes=["cat", "dog"])
    >>> predicted_codes(["dog", "dog"], labels).tolist()
    [1, 1]
    """
    names = names_to_array(predicted)
    if names.shape != (labels.n_examples,):
        raise FeatureError(
            f"there are predictions of shape {names.shape} and {labels.n_examples} labelled examples; expected one each."
        )
    codes = lookup_codes(names, labels.classes)
    if (codes < 0).any():
        raise LabelError(
            f"the prediction {names[codes < 0][0]!s} is not one of the classes ({some(labels.classes)})."
        )
    return codes
