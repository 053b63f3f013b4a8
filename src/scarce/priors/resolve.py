"""From what a user may say about priors to checked numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from scarce.errors import PriorError
from scarce.labels import ComplementaryLabels
from scarce.labels.classes import some
from scarce.metrics.checks import check_priors
from scarce.priors.answers import priors_from_answers
from scarce.priors.estimate import FloatArray, PriorEstimate

__all__ = ["resolve_priors"]

_SAMPLING_ERRORS = 4.0  # standard errors by which a rate may exceed 1 − π by chance


def resolve_priors(priors: Any, labels: ComplementaryLabels) -> PriorEstimate:
    """Return class priors from an array, a mapping by class name, ``"uniform"``, ``"answers"`` or ``"auto"``.

    ``auto`` takes the share of "yes" where the labels carry answers with a "yes", and else equal priors.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single(["cat", "dog"], classes=["cat", "cow", "dog"])
    >>> resolve_priors({"cat": 0.5, "cow": 0.2, "dog": 0.3}, labels).values.tolist()
    [0.5, 0.2, 0.3]
    """
    if isinstance(priors, str):
        estimate = _by_name(priors, labels)
    else:
        values = _given(priors, labels)
        estimate = PriorEstimate(values / values.sum(), "given", values)
    _refuse_contradiction(estimate.values, labels)
    return estimate


def _by_name(name: str, labels: ComplementaryLabels) -> PriorEstimate:
    if name == "auto":
        told = labels.answers is not None and labels.answers.counts(labels.n_classes)[0].sum() > 0
        name = "answers" if told else "uniform"
    if name == "answers":
        return priors_from_answers(labels)
    if name == "uniform":
        values = np.full(labels.n_classes, 1 / labels.n_classes)
        return PriorEstimate(values, "uniform", values)
    raise PriorError(
        f"priors={name!r} is unknown; expected 'auto', 'uniform', 'answers', {labels.n_classes} numbers, or a mapping by class."
    )


def _given(priors: Any, labels: ComplementaryLabels) -> FloatArray:
    if hasattr(priors, "to_dict"):  # a pandas Series names its classes, in an order of its own
        priors = priors.to_dict()
    if isinstance(priors, Mapping):
        by_name = {str(name): value for name, value in priors.items()}
        names = [str(name) for name in labels.classes]
        lacking = [name for name in names if name not in by_name]
        unknown = [name for name in by_name if name not in names]
        if lacking or unknown:
            parts = [f"lacks {some(lacking)}"] * bool(lacking)
            parts += [f"names {some(unknown)}, which is no class"] * bool(unknown)
            raise PriorError(
                f"the mapping of priors {' and '.join(parts)}; expected one number for each of {some(names)}."
            )
        priors = [by_name[name] for name in names]
    return check_priors(priors, labels)


def _refuse_contradiction(values: FloatArray, labels: ComplementaryLabels) -> None:
    """Only examples of other classes can exclude class k, so rates_k ≤ 1 − π_k up to chance."""
    room = 1 - values
    excess = labels.rates - room - _SAMPLING_ERRORS * np.sqrt(values * room / labels.n_examples)
    if (excess > 1e-9).any():
        k = int(np.argmax(excess))
        raise PriorError(
            f"class {labels.classes[k]} is excluded by {labels.rates[k]:.3f} of the examples, but its prior {values[k]:.3f} "
            f"leaves only {room[k]:.3f} that are of other classes; correct the priors, or look for wrong exclusions."
        )
