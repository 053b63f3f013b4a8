"""Priors that a method learned while it was trained."""

from typing import Any

from numpy.typing import NDArray

from scarce.errors import PriorError
from scarce.labels import ComplementaryLabels
from scarce.methods import Method
from scarce.methods.learned_priors import LearnedPriors
from scarce.methods.refine import Refine
from scarce.priors.estimate import PriorEstimate
from scarce.priors.resolve import is_estimated

__all__ = ["are_learned", "are_unused", "learned_priors"]


def are_learned(method: Method, priors: Any, labels: ComplementaryLabels) -> bool:
    """Tell whether priors come out of the training: nobody has given any, the method can, and nothing better is there.

    The share of "yes" among answers is better if questions were random, which only `answers` need not assume.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> labels = ComplementaryLabels.from_single([0, 1], classes=2)
    >>> [are_learned(make_method(name), "estimate", labels) for name in ("scarce", "refine")]
    [False, True]
    """
    by_default = isinstance(priors, str) and priors == "estimate"
    return (
        by_default
        and method.can_learn_priors()
        and (method.facts.needs_answers or is_estimated(priors, labels))
    )


def are_unused(method: Method, priors: Any, labels: ComplementaryLabels) -> bool:
    """Return whether nobody has given priors, estimating them would take features, and the method uses none.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> labels = ComplementaryLabels.from_single([0, 1], classes=2)
    >>> [are_unused(make_method(name), "estimate", labels) for name in ("scarce", "cc")]
    [False, True]
    """
    by_default = isinstance(priors, str) and priors == "estimate"
    uses = method.facts.needs_priors or method.facts.learns_priors
    return by_default and not uses and is_estimated(priors, labels)


def learned_priors(
    method: Method, classes: NDArray[Any], labels: ComplementaryLabels | None = None
) -> PriorEstimate:
    """Return the class priors that came out of the training of a method.

    Parameters
    ----------
    method : Method
        After training.
    classes : array of shape (q,)
        The classes.
    labels : ComplementaryLabels, optional
        With these, priors of ``refine``, which it does not train with, are drawn towards the candidate shares and kept within
        what the labels allow, as other methods do by themselves while they train; see `scarce.methods.learned_priors`.

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
    values = values.double().cpu()
    raw = values.numpy()
    if labels is not None and isinstance(method, Refine):
        known = LearnedPriors.of(labels)
        values = known.allowed(known.drawn(values / values.sum()), method.chances.diagonal().cpu().to(values))
    used = values.numpy()
    return PriorEstimate(used / used.sum(), f"learned by {method.facts.name}", raw, classes=classes)
