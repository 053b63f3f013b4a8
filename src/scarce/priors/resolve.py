"""Resolve a parameter `priors`: turn a name, numbers, an estimate or an estimator into checked class priors."""

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

_MAX_STANDARD_ERRORS = 4.0  # by which a rate may exceed 1 − π by chance
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
    """Return class priors for any value of a parameter ``priors``.

    Parameters
    ----------
    priors : str, PriorEstimator, PriorEstimate, array of shape (q,) or mapping
        - ``"estimate"``: from the fraction of "yes" answers if there are any, else by ``BestBin(shrink=True)``;
        - ``"answers"``: from the fraction of "yes" answers;
        - ``"uniform"``: 1/q each;
        - the name of an estimator (a key of ``PRIOR_ESTIMATORS``), or a `PriorEstimator`;
        - q numbers in the order of the classes, a mapping by class name, or a `PriorEstimate`, matched by class name.
    labels : ComplementaryLabels
        The excluded classes of n examples.
    X : array, sparse matrix or Shards, optional
        Features of the same examples; needed if the priors have to be estimated from them.
    make_model : callable, optional
        A function from a seed to a new model, for estimators that train one; by default they build their own.
    device : str
        Device to train on, such as ``"cpu"`` or ``"cuda"``.
    seed : int
        Random seed of an estimator that is given by its name.
    verbose : bool
        Show a progress bar.
    check_input : bool
        Check `X`. Pass False if it has been checked already.

    Returns
    -------
    PriorEstimate
        Priors that sum to one.

    Raises
    ------
    PriorError
        If the given priors contradict the labels or do not match the classes, if ``"answers"`` has no answers to use, or if `X` is
        missing.

    Warns
    -----
    PriorWarning
        If priors cannot be estimated, and the candidate shares (`feasible_priors`) are used instead; or if estimated priors
        contradict the labels (π_k > 1 − π̄_k) and are clipped.

    See Also
    --------
    make_estimator : Make an estimator by its name.
    is_estimated : Whether `X` is needed.

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
            f"{found.values[k]:.3f} leaves only {1 - found.values[k]:.3f} for other classes; correct the priors, or the "
            "exclusions."
        )
    return found


def is_estimated(priors: Any, labels: ComplementaryLabels) -> bool:
    """Return whether these priors have to be estimated from features.

    Parameters
    ----------
    priors
        A value of the parameter ``priors``; see `resolve_priors`.
    labels : ComplementaryLabels
        The labels of the examples; if they hold "yes" answers, ``"estimate"`` needs no features.

    See Also
    --------
    resolve_priors : The priors.

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
    """Return estimated priors, or warn and return feasible ones; `settings` are arguments of `PriorEstimator.estimate`."""
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
            "X is missing, and these priors are estimated from features; pass X, priors='uniform' or the priors themselves."
        )
    return _try_estimate(lambda: estimator.estimate(X, labels, **settings), labels)


def _try_estimate(run: Callable[[], PriorEstimate], labels: ComplementaryLabels) -> PriorEstimate:
    try:
        found = run()
    except PriorError as error:
        return _fall_back(labels, str(error).rstrip("."))
    return _clip_to_feasible(found, labels)


def _fall_back(labels: ComplementaryLabels, reason: str) -> PriorEstimate:
    _warn(f"the candidate shares are used as priors: {reason}; pass priors=[...] if you know them.")
    return feasible_priors(labels)


def _clip_to_feasible(found: PriorEstimate, labels: ComplementaryLabels) -> PriorEstimate:
    """Return the estimate; if it contradicts the labels, warn and clip it to what they allow."""
    excess = _excess(found.values, labels)
    if not excess.any():
        return found
    _warn(
        f"the priors are clipped to what the labels allow: class {abbreviate(labels.classes[excess > 0])} is excluded by more "
        "examples than its estimated prior allows; pass priors=[...] if you know them."
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
    if hasattr(priors, "to_dict"):  # a pandas Series names its classes, in any order
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
    """Return by how much π̄_k exceeds 1 − π_k beyond chance, of shape (q,): only examples of other classes exclude class k."""
    room = 1 - values
    excess = labels.rates - room - _MAX_STANDARD_ERRORS * np.sqrt(values * room / labels.n_examples)
    return np.where(excess > _EPS, excess, 0.0)


def are_learned(method: Method, priors: Any, labels: ComplementaryLabels) -> bool:
    """Return whether the method learns the priors in training.

    It learns them if none are given and it can, unless there are "yes" answers, whose fraction is a better estimate if the
    questions were chosen at random. The method ``answers`` does not need this assumption, and always learns the priors.

    Parameters
    ----------
    method : Method
        The method to train with.
    priors
        A value of the parameter ``priors``; see `resolve_priors`.
    labels : ComplementaryLabels
        The training labels.

    See Also
    --------
    learned_priors : The priors, after training.
    are_unused : Whether the method uses no priors at all.

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
    """Return whether priors need not be estimated: none are given, and the method neither uses nor learns them.

    Parameters
    ----------
    method : Method
        The method to train with.
    priors
        A value of the parameter ``priors``; see `resolve_priors`.
    labels : ComplementaryLabels
        The training labels; if they hold "yes" answers, priors cost nothing and are computed anyway.

    See Also
    --------
    are_learned : Whether the method learns the priors in training.

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
        The method, after training.
    classes : array of shape (q,)
        The class names.
    labels : ComplementaryLabels, optional
        The training labels; if given, the priors are regularized by `Method.regularize_priors`.

    Returns
    -------
    PriorEstimate
        Priors that sum to one; ``raw`` holds the priors as learned.

    Raises
    ------
    PriorError
        If the method does not learn priors.

    See Also
    --------
    are_learned : Whether a method learns the priors in training.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.methods import make_method
    >>> learned_priors(make_method("scarce"), np.array(["cat", "dog"]))
    Traceback (most recent call last):
    scarce.errors.PriorError: scarce does not learn priors; pass priors='estimate', 'uniform' or numbers.
    """
    values = method.learned_priors()
    if values is None:
        raise PriorError(
            f"{method.facts.name} does not learn priors; pass priors='estimate', 'uniform' or numbers."
        )
    values = values.double().cpu()
    raw = values.numpy()
    used = (values if labels is None else method.regularize_priors(values, labels)).numpy()
    return PriorEstimate(used / used.sum(), f"learned by {method.facts.name}", raw, classes=classes)
