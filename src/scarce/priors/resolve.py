"""From what a user may say about priors to checked numbers."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from scarce.errors import LabelError, PriorError, PriorWarning
from scarce.labels import ComplementaryLabels
from scarce.labels.classes import some
from scarce.metrics.checks import check_priors
from scarce.priors.answers import priors_from_answers
from scarce.priors.base import PriorEstimator, refuse_scarce_evidence
from scarce.priors.best_bin import BestBin
from scarce.priors.estimate import FloatArray, PriorEstimate
from scarce.priors.registry import PRIOR_ESTIMATORS, make_estimator

__all__ = ["is_estimated", "resolve_priors"]

_SAMPLING_ERRORS = 4.0  # standard errors by which a rate may exceed 1 − π by chance


def resolve_priors(
    priors: Any,
    labels: ComplementaryLabels,
    estimate: Callable[[PriorEstimator], PriorEstimate] | None = None,
    *,
    seed: int = 0,
) -> PriorEstimate:
    """Return class priors from what a user may say about them.

    Parameters
    ----------
    priors : {"estimate", "uniform", "answers"}, PriorEstimator, array or mapping
        ``answers`` takes the share of "yes" among the answers about a class; ``estimate`` does so where there are
        such answers, and else runs ``BestBin(shrink=True)``; where that cannot be done it warns and takes equal
        priors. Numbers are in the order of the classes, or by class name. Estimators go also by their names.
    labels : ComplementaryLabels
        What is known.
    estimate : callable, optional
        Runs an estimator on the features that go with the labels.
    seed : int
        Of an estimator that is given by name.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single(["cat", "dog"], classes=["cat", "cow", "dog"])
    >>> resolve_priors({"cat": 0.5, "cow": 0.2, "dog": 0.3}, labels).values.tolist()
    [0.5, 0.2, 0.3]
    """
    if isinstance(priors, str):
        found = _by_name(priors, labels, estimate, seed)
    elif isinstance(priors, PriorEstimator):
        found = _run(priors, estimate)
    elif isinstance(priors, PriorEstimate):
        _given(priors.by_class(), labels)  # refuses other classes
        found = priors.arranged(labels.classes)
    else:
        values = _given(priors, labels)
        found = PriorEstimate(values / values.sum(), "given", values, classes=labels.classes)
    _refuse_contradiction(found.values, labels)
    return found


def is_estimated(priors: Any, labels: ComplementaryLabels) -> bool:
    """Tell whether these priors have to be estimated from features.

    Examples
    --------
    >>> is_estimated("uniform", ComplementaryLabels.from_single([0], classes=2))
    False
    """
    named = isinstance(priors, str) and (
        priors in PRIOR_ESTIMATORS or (priors == "estimate" and not _has_yes(labels))
    )
    return named or isinstance(priors, PriorEstimator)


def _has_yes(labels: ComplementaryLabels) -> bool:
    return labels.answers is not None and bool(labels.answers.counts(labels.n_classes)[0].sum() > 0)


def _by_name(
    name: str,
    labels: ComplementaryLabels,
    estimate: Callable[[PriorEstimator], PriorEstimate] | None,
    seed: int,
) -> PriorEstimate:
    if name in PRIOR_ESTIMATORS:
        return _run(make_estimator(name, seed=seed), estimate)
    if name == "answers" or (name == "estimate" and _has_yes(labels)):
        return priors_from_answers(labels)
    if name == "estimate":
        always = labels.classes[labels.counts == labels.n_examples]
        if len(always):
            raise LabelError(
                f"every example excludes the class {some(always)}, so none can be of it; leave it out of the classes."
            )
        try:
            refuse_scarce_evidence(labels)
        except PriorError as error:
            warnings.warn(f"the priors are taken as equal: {error}", PriorWarning, stacklevel=2)
            name = "uniform"
        else:
            return _run(BestBin(shrink=True, seed=seed), estimate)
    if name == "uniform":
        values = np.full(labels.n_classes, 1 / labels.n_classes)
        return PriorEstimate(values, "uniform", values, classes=labels.classes)
    raise PriorError(
        f"priors={name!r} is unknown; expected 'estimate', 'uniform', 'answers', {labels.n_classes} numbers, a mapping by "
        f"class, an estimator such as BestBin(), or the name of one: {', '.join(PRIOR_ESTIMATORS)}."
    )


def _run(
    estimator: PriorEstimator, estimate: Callable[[PriorEstimator], PriorEstimate] | None
) -> PriorEstimate:
    if estimate is None:
        raise PriorError(
            "to estimate priors the features are needed; pass priors='uniform' or the priors themselves."
        )
    return estimate(estimator)


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
