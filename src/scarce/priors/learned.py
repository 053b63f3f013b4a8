"""Priors that a method learned while it was trained."""

from typing import Any

from numpy.typing import NDArray

from scarce.errors import PriorError
from scarce.methods import Method
from scarce.priors.estimate import PriorEstimate

__all__ = ["learned_priors"]


def learned_priors(method: Method, classes: NDArray[Any]) -> PriorEstimate:
    """Return the class priors that came out of the training of a method.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.methods import make_method
    >>> learned_priors(make_method("scarce"), np.array(["cat", "dog"]))
    Traceback (most recent call last):
    scarce.errors.PriorError: scarce learns no priors; pass priors='estimate', 'uniform' or numbers.
    """
    values = method.learned_priors()
    if values is None:
        raise PriorError(
            f"{method.facts.name} learns no priors; pass priors='estimate', 'uniform' or numbers."
        )
    raw = values.double().cpu().numpy()
    return PriorEstimate(raw / raw.sum(), f"learned by {method.facts.name}", raw, classes=classes)
