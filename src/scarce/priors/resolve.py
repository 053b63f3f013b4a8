"""Resolve the parameter `priors`: a name, numbers, an estimate or an estimator become checked class priors."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import FloatArray
from scarce._validation import abbreviate, check_priors
from scarce.errors import PriorError, PriorWarning
from scarce.labels import ComplementaryLabels
from scarce.methods import Method
from scarce.priors.base import MakeModel, PriorEstimator, unidentifiable_classes
from scarce.priors.best_bin import BestBin
from scarce.priors.estimate import PriorEstimate, to_simplex
from scarce.priors.from_labels import feasible_priors, priors_from_answers
from scarce.priors.registry import PRIOR_ESTIMATORS, make_estimator

__all__ = ["are_learned", "are_unused", "is_estimated", "learned_priors", "resolve_priors"]

_MAX_STANDARD_ERRORS = 4.0  # standard errors by which a rate may exceed 1 − π by chance
_EPS = 1e-9


def resolve_priors(
    priors: Any,
    labels: ComplementaryLabels,
    X: Any = None,
    *,
    make_model: MakeModel | None = None,
    device: str = "cpu",
    seed: int = 0,
    verbose: bool = False,
    check_input: bool = True,
) -> PriorEstimate:
    """Return class priors for a value of the parameter `priors`.

    Parameters
    ----------
    priors : {"estimate", "uniform", "answers"}, PriorEstimator, array or mapping
        ``answers`` takes the share of "yes" among the answers about a class; ``estimate`` does so where there are
        such answers, and else runs ``BestBin(shrink=True)``. Where priors cannot be estimated, there is a warning, and
        the shares of the candidates are used (`scarce.priors.feasible_priors`); estimates that the labels contradict are cut
        to what they leave possible, with a warning too. Numbers are in the order of the classes, or by class name.
        Estimators go also by their names.
    labels : ComplementaryLabels
        What is known.
    X : array, sparse matrix or Shards, optional
        The features that go with the labels, one row per example, for priors that are estimated from them.
    make_model : callable, optional
        Makes the model of an estimator from a seed; by default the estimator makes it.
    device : str
        Where an estimator trains it.
    seed : int
        Of an estimator that is given by name.
    verbose : bool
        Show a progress bar.
    check_input : bool
        Whether to check `X`; a caller that has checked it passes False.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single(["cat", "dog"], classes=["cat", "cow", "dog"])
    >>> resolve_priors({"cat": 0.5, "cow": 0.2, "dog": 0.3}, labels).values.tolist()
    [0.5, 0.2, 0.3]
    """
    if isinstance(priors, PriorEstimator) or (isinstance(priors, str) and priors != "uniform"):
        settings = {
            "make_model": make_model,
            "device": device,
            "verbose": verbose,
            "check_input": check_input,
        }
        return _estimated(priors, labels, X, seed, settings)
    if isinstance(priors, str):
        values = np.full(labels.n_classes, 1 / labels.n_classes)
        found = PriorEstimate(values, "uniform", values, classes=labels.classes)
    elif isinstance(priors, PriorEstimate):
        _check_given(priors.by_class(), labels)  # raises an error for other classes
        found = priors.arranged(labels.classes)
    else:
        values = _check_given(priors, labels)
        found = PriorEstimate(values / values.sum(), "given", values, classes=labels.classes)
    excess = _excess(found.values, labels)
    if excess.any():
        k = int(np.argmax(excess))
        raise PriorError(
            f"class {labels.classes[k]} is excluded by {labels.rates[k]:.3f} of the examples, but its prior "
            f"{found.values[k]:.3f} leaves only {1 - found.values[k]:.3f} that are of other classes; correct the priors, or "
            "look for wrong exclusions."
        )
    return found


def is_estimated(priors: Any, labels: ComplementaryLabels) -> bool:
    """Return whether these priors have to be estimated from features.

    Examples
    --------
    >>> is_estimated("uniform", ComplementaryLabels.from_single([0], classes=2))
    False
    """
    named = isinstance(priors, str) and (
        priors in PRIOR_ESTIMATORS or (priors == "estimate" and not _has_yes_answers(labels))
    )
    return named or isinstance(priors, PriorEstimator)


def _has_yes_answers(labels: ComplementaryLabels) -> bool:
    return labels.answers is not None and bool(labels.answers.counts(labels.n_classes)[0].sum() > 0)


def _estimated(
    priors: str | PriorEstimator,
    labels: ComplementaryLabels,
    X: Any,
    seed: int,
    settings: dict[str, Any],
) -> PriorEstimate:
    """Return estimated priors, or, with a warning, feasible ones; `settings` are those of `PriorEstimator.estimate`."""
    if priors == "answers":
        return _clip_to_feasible(priors_from_answers(labels), labels)
    if priors == "estimate" and _has_yes_answers(labels):
        return _try_estimate(lambda: priors_from_answers(labels), labels)
    estimator, unidentifiable = _estimator(priors, labels, seed), unidentifiable_classes(labels)
    if len(unidentifiable):
        n = labels.n_examples
        return _fall_back(
            labels,
            f"too few of {n} examples exclude class {abbreviate(unidentifiable)}, or leave it possible",
        )
    if X is None:
        raise PriorError(
            "to estimate priors the features are needed; pass priors='uniform' or the priors themselves."
        )
    return _try_estimate(lambda: estimator.estimate(X, labels, **settings), labels)


def _try_estimate(run: Callable[[], PriorEstimate], labels: ComplementaryLabels) -> PriorEstimate:
    try:
        found = run()
    except PriorError as error:
        return _fall_back(labels, str(error).rstrip("."))
    return _clip_to_feasible(found, labels)


def _fall_back(labels: ComplementaryLabels, reason: str) -> PriorEstimate:
    _warn(
        f"the priors are taken from the shares of the candidates: {reason}; pass priors=[...] if you know them."
    )
    return feasible_priors(labels)


def _clip_to_feasible(found: PriorEstimate, labels: ComplementaryLabels) -> PriorEstimate:
    """Return the estimate, clipped with a warning to what the labels allow."""
    excess = _excess(found.values, labels)
    if not excess.any():
        return found
    _warn(
        f"the priors are cut to what the labels leave possible: class {abbreviate(labels.classes[excess > 0])} is excluded by more "
        "examples than its estimated prior leaves; pass priors=[...] if you know them."
    )
    return replace(found, values=to_simplex(found.values, labels.rates))


def _estimator(priors: str | PriorEstimator, labels: ComplementaryLabels, seed: int) -> PriorEstimator:
    if isinstance(priors, PriorEstimator):
        return priors
    if priors == "estimate":
        return BestBin(shrink=True, seed=seed)
    if priors in PRIOR_ESTIMATORS:
        return make_estimator(priors, seed=seed)
    raise PriorError(
        f"priors={priors!r} is unknown; expected 'estimate', 'uniform', 'answers', {labels.n_classes} numbers, a mapping by "
        f"class, an estimator such as BestBin(), or the name of one: {', '.join(PRIOR_ESTIMATORS)}."
    )


def _warn(message: str) -> None:
    warnings.warn(message, PriorWarning, stacklevel=5)


def _check_given(priors: Any, labels: ComplementaryLabels) -> FloatArray:
    if hasattr(priors, "to_dict"):  # a pandas Series names its classes, in an order of its own
        priors = priors.to_dict()
    if isinstance(priors, Mapping):
        by_name = {str(name): value for name, value in priors.items()}
        names = [str(name) for name in labels.classes]
        missing = [name for name in names if name not in by_name]
        unknown = [name for name in by_name if name not in names]
        if missing or unknown:
            problems = [f"lacks {abbreviate(missing)}"] * bool(missing)
            problems += [f"names {abbreviate(unknown)}, which is not a class"] * bool(unknown)
            raise PriorError(
                f"the mapping of priors {' and '.join(problems)}; expected one number for each of {abbreviate(names)}."
            )
        priors = [by_name[name] for name in names]
    return check_priors(priors, labels.classes)


def _excess(values: FloatArray, labels: ComplementaryLabels) -> FloatArray:
    """Return by how much rates_k exceeds 1 − π_k beyond chance: only examples of other classes can exclude class k."""
    room = 1 - values
    excess = labels.rates - room - _MAX_STANDARD_ERRORS * np.sqrt(values * room / labels.n_examples)
    return np.where(excess > _EPS, excess, 0.0)


def are_learned(method: Method, priors: Any, labels: ComplementaryLabels) -> bool:
    """Return whether priors are learned in training: none are given, the method can learn them, and nothing is better.

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
        and method.facts.learns_priors
        and not method.facts.needs_priors
        and (method.facts.needs_answers or is_estimated(priors, labels))
    )


def are_unused(method: Method, priors: Any, labels: ComplementaryLabels) -> bool:
    """Return whether priors can be left out: none are given, estimating them would take features, and the method uses none.

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
    """Return the class priors that a method has learned in training.

    Parameters
    ----------
    method : Method
        After training.
    classes : array of shape (q,)
        The classes.
    labels : ComplementaryLabels, optional
        The labels of the training data; with these, the priors are those of `Method.regularize_priors`.

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
    used = (values if labels is None else method.regularize_priors(values, labels)).numpy()
    return PriorEstimate(used / used.sum(), f"learned by {method.facts.name}", raw, classes=classes)
