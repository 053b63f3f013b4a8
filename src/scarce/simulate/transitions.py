"""Transition matrices: T[y, k] is the probability that an example of true class y excludes class k."""

from typing import Any

import numpy as np

from scarce._arrays import Array, FloatArray, read_only
from scarce._class_names import check_classes
from scarce._truth import Truth
from scarce._validation import (
    check_option,
    check_per_class,
    check_probability,
    check_transition,
    renamed_parameters,
)
from scarce.errors import LabelError, MethodError
from scarce.simulate._drawing import make_generator

_BIASED_WEIGHTS = (0.75, 0.13, 0.12)


def uniform_transition(n_classes: int) -> FloatArray:
    """T[y, k] = 1 / (q − 1) for k ≠ y: return the matrix of uniform labels.

    Parameters
    ----------
    n_classes : int
        Number of classes q.

    Returns
    -------
    array of shape (q, q)
        The transition matrix.

    See Also
    --------
    uniform : Draw labels from this matrix.

    References
    ----------
    Ishida, Niu, Hu and Sugiyama, "Learning from complementary labels", NeurIPS 2017. https://arxiv.org/abs/1705.07541

    Examples
    --------
    >>> uniform_transition(3).tolist()
    [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    """
    q = len(check_classes(n_classes))
    return (1 - np.eye(q)) / (q - 1)


def biased_transition(n_classes: int, *, seed: int = 0) -> FloatArray:
    """Return a random biased matrix for any number of classes.

    In every row the wrong classes are shuffled and split into three groups of nearly equal size, which share probabilities of
    .75, .13 and .12. With fewer than three wrong classes the last groups are empty, and the row is divided by its sum.

    Parameters
    ----------
    n_classes : int
        Number of classes q.
    seed : int
        Seed of the shuffles.

    Returns
    -------
    array of shape (q, q)
        The transition matrix.

    See Also
    --------
    biased : Draw labels from such a matrix.
    BIASED_A, BIASED_B : The published biased matrices for ten classes.

    Examples
    --------
    >>> biased_transition(4).tolist()
    [[0.0, 0.12, 0.13, 0.75], [0.75, 0.0, 0.13, 0.12], [0.13, 0.12, 0.0, 0.75], [0.12, 0.13, 0.75, 0.0]]
    """
    q = len(check_classes(n_classes))
    orders = np.argsort(make_generator(seed).random((q, q - 1)), axis=1, kind="stable")
    transition = np.zeros((q, q))
    for y, order in enumerate(orders):
        wrong = np.delete(np.arange(q), y)[order]
        for group, weight in zip(np.array_split(wrong, 3), _BIASED_WEIGHTS, strict=True):
            transition[y, group] = weight / max(len(group), 1)
    totals: FloatArray = transition.sum(axis=1, keepdims=True)
    return transition / totals


@renamed_parameters(error="error_rate")
def with_errors(transition: Any, error_rate: float) -> FloatArray:
    """T′[y, y] = ε and T′[y, k] = (1 − ε) T[y, k] / (1 − T[y, y]): return a matrix with error rate ε.

    Its labels exclude the true class with probability ε; the proportions of the wrong classes stay the same.

    Parameters
    ----------
    transition : array of shape (q, q)
        Transition matrix T.
    error_rate : float
        Probability ε of a wrong label.

    Returns
    -------
    array of shape (q, q)
        The matrix T′.

    See Also
    --------
    from_transition : Draw labels from a matrix.
    noisy_transition : Mix a matrix with uniform noise.

    Examples
    --------
    >>> with_errors(uniform_transition(3), 0.1).tolist()
    [[0.1, 0.45, 0.45], [0.45, 0.1, 0.45], [0.45, 0.45, 0.1]]
    """
    wrong = check_transition(transition, _class_numbers("transition", transition)).copy()
    error_rate = check_probability("error_rate", error_rate)
    np.fill_diagonal(wrong, 0)
    totals: FloatArray = wrong.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        raise MethodError(
            f"row {int(np.argmin(totals))} of the transition excludes only the true class; "
            "give at least one wrong class a positive probability."
        )
    return wrong / totals * (1 - error_rate) + error_rate * np.eye(len(wrong))


def scar_single_transition(c: Any) -> FloatArray:
    """Return the matrix of "exclude every wrong class k with probability c_k; repeat until exactly one is excluded".

    Given that exactly one independent draw succeeds, it is class k with probability ::

        T[y, k] = c_k Π_{j≠k,y} (1 − c_j) / Σ_{l≠y} c_l Π_{j≠l,y} (1 − c_j) = w_k / (W − w_y)      (k ≠ y)

    with w_k = c_k / (1 − c_k) and W = Σ_k w_k. These labels are only approximately SCAR, because T[y, k] varies with y.

    Parameters
    ----------
    c : sequence of length q
        Exclusion probabilities c_k: below 1, and at least two of them above 0.

    Returns
    -------
    array of shape (q, q)
        The transition matrix.

    See Also
    --------
    scar_single : Draw labels from this matrix.
    SCAR_A, SCAR_B : This matrix for the published rates.

    References
    ----------
    Wang, Ishida, Zhang, Niu and Sugiyama, "Learning with complementary labels revisited: The selected-completely-at-random
    setting is more practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> scar_single_transition([0.5, 0.5, 0.75]).tolist()
    [[0.0, 0.25, 0.75], [0.25, 0.0, 0.75], [0.5, 0.5, 0.0]]
    """
    c = check_per_class("c", c, _class_numbers("c", c))
    if (c == 1).any() or np.count_nonzero(c) < 2:
        raise MethodError(
            f"c={c.tolist()} cannot give every example exactly one label; expected probabilities below 1, "
            "at least two of them above 0: change c."
        )
    odds = np.tile(c / (1 - c), (len(c), 1))
    np.fill_diagonal(odds, 0)
    totals: FloatArray = odds.sum(axis=1, keepdims=True)
    return odds / totals


def _class_numbers(name: str, rows: Any) -> Array:
    """Return the class numbers 0 to q − 1 for an object with one entry per class."""
    entries = list(rows) if np.iterable(rows) else []
    if len(entries) < 2:
        raise MethodError(
            f"{name}={rows!r}; expected one entry for each of at least two classes: pass an array."
        )
    return np.arange(len(entries))


def _cyclic_transition(high: float, middle: float, low: float) -> FloatArray:
    # In the paper, every row is the row above it shifted by one. Its rounded thirds sum to .999; these are exact.
    first_row = np.array([0, high, middle, low, middle, low, high, low, high, middle]) / 3
    return read_only(np.array([np.roll(first_row, y) for y in range(10)]))


BIASED_A = _cyclic_transition(0.75, 0.13, 0.12)
"""The matrix of the setting "biased-a" of the SCARCE paper, shape (10, 10)."""

BIASED_B = _cyclic_transition(0.66, 0.24, 0.10)
"""The matrix of the setting "biased-b" of the SCARCE paper, shape (10, 10)."""

# The target rates assume ten balanced classes, so c = π̄ / 0.9. SCAR-a and SCAR-b are permutations of each other.
SCAR_A_RATES = read_only(np.array([0.05, 0.05, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05, 0.1, 0.1]))
"""The target rates π̄ of the setting "SCAR-a" of the SCARCE paper, shape (10,)."""

SCAR_B_RATES = read_only(np.array([0.1, 0.1, 0.2, 0.05, 0.05, 0.1, 0.1, 0.2, 0.05, 0.05]))
"""The target rates π̄ of the setting "SCAR-b" of the SCARCE paper, shape (10,)."""

SCAR_A = read_only(scar_single_transition(SCAR_A_RATES / 0.9))
"""The matrix of the setting "SCAR-a" with one label per example, shape (10, 10)."""

SCAR_B = read_only(scar_single_transition(SCAR_B_RATES / 0.9))
"""The matrix of the setting "SCAR-b" with one label per example, shape (10, 10)."""


def weak_transition(n_classes: int = 10, *, seed: int = 0) -> FloatArray:
    """Return a weakly biased matrix: three groups of wrong classes share .45, .30 and .25, shuffled in every row.

    Parameters
    ----------
    n_classes : int
        Number of classes q; q − 1 must be divisible by three.
    seed : int
        Seed of the shuffles.

    Returns
    -------
    array of shape (q, q)
        The transition matrix.

    See Also
    --------
    strong_transition : A strongly biased matrix.
    noisy_transition : Add noise to such a matrix.

    References
    ----------
    Ye, Mai, Wang, Lin and Lin, "libcll: An extendable Python toolkit for complementary-label learning", 2024.
    https://arxiv.org/abs/2411.12276

    Examples
    --------
    >>> sorted(weak_transition(4)[0].round(2).tolist())
    [0.0, 0.25, 0.3, 0.45]
    """
    return _three_level_transition((0.45, 0.30, 0.25), n_classes, seed)


def strong_transition(n_classes: int = 10, *, seed: int = 0) -> FloatArray:
    """Return a strongly biased matrix: three groups of wrong classes share .75, .24 and .01, shuffled in every row.

    Parameters
    ----------
    n_classes : int
        Number of classes q; q − 1 must be divisible by three.
    seed : int
        Seed of the shuffles.

    Returns
    -------
    array of shape (q, q)
        The transition matrix.

    See Also
    --------
    weak_transition : A weakly biased matrix.
    noisy_transition : Add noise to such a matrix.

    References
    ----------
    Ye, Mai, Wang, Lin and Lin, "libcll: An extendable Python toolkit for complementary-label learning", 2024.
    https://arxiv.org/abs/2411.12276

    Examples
    --------
    >>> sorted(strong_transition(4)[0].round(2).tolist())
    [0.0, 0.01, 0.24, 0.75]
    """
    return _three_level_transition((0.75, 0.24, 0.01), n_classes, seed)


def noisy_transition(noise: float, base: Any = "strong", n_classes: int = 10) -> FloatArray:
    """T = (1 − η) base + η / q: mix a matrix with labels drawn uniformly from all classes.

    If `base` has a zero diagonal, a label is wrong with probability η / q.

    Parameters
    ----------
    noise : float
        Noise level η: the fraction of labels drawn uniformly from all classes.
    base : {"strong", "weak"} or array of shape (q, q)
        The matrix without noise; a name means `strong_transition` or `weak_transition` with seed 0.
    n_classes : int
        Number of classes q.

    Returns
    -------
    array of shape (q, q)
        The transition matrix T.

    See Also
    --------
    noisy : Draw labels from this matrix.
    with_errors : Set the probability of wrong labels directly.

    References
    ----------
    Ye, Mai, Wang, Lin and Lin, "libcll: An extendable Python toolkit for complementary-label learning", 2024.
    https://arxiv.org/abs/2411.12276

    Examples
    --------
    >>> noisy_transition(0.2, [[0, 1], [1, 0]], 2).tolist()
    [[0.1, 0.9], [0.9, 0.1]]
    """
    noise, names = check_probability("noise", noise), check_classes(n_classes)
    if isinstance(base, str):
        base = _BASES[check_option("base", base, _BASES, also="a transition matrix")](len(names))
    return (1 - noise) * check_transition(base, names) + noise / len(names)


_BASES = {"strong": strong_transition, "weak": weak_transition}


def _three_level_transition(levels: tuple[float, float, float], n_classes: int, seed: int) -> FloatArray:
    q = len(check_classes(n_classes))
    third, rest = divmod(q - 1, 3)
    if rest:
        raise LabelError(
            f"got {q} classes; the wrong classes must form three equal groups, as with 4, 7 or 10 classes; "
            "pass your own matrix to from_transition."
        )
    orders = np.argsort(make_generator(seed).random((q, q - 1)), axis=1, kind="stable")
    transition = np.zeros((q, q))
    transition[~np.eye(q, dtype=bool)] = np.repeat(np.array(levels) / third, third)[orders].ravel()
    return transition


def check_ten_classes(truth: Truth, process: str) -> None:
    """Raise a `LabelError` unless there are ten classes, as in the published matrices."""
    if truth.n_classes != 10:
        raise LabelError(
            f"{process} is defined for ten classes, got {truth.n_classes}; pass classes=[...] if some of them do not occur in y, "
            "or use from_transition or scar_single with your own numbers."
        )
