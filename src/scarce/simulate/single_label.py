"""Labels drawn from the row of a transition matrix that belongs to the true class."""

from typing import Any

import numpy as np

from scarce._arrays import BoolArray, FloatArray, IntArray
from scarce._truth import Classes, Truth, encode_truth
from scarce._validation import check_integer, check_transition
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.simulate._drawing import cumulative_distribution, draw_labels, sample_categorical, second_seed
from scarce.simulate.transitions import (
    BIASED_A,
    BIASED_B,
    biased_transition,
    check_ten_classes,
    noisy_transition,
    uniform_transition,
)

__all__ = [
    "biased",
    "biased_a",
    "biased_b",
    "from_transition",
    "labels_from_published",
    "labels_from_transition",
    "noisy",
    "uniform",
]


def uniform(y: Any, *, classes: Classes = None, seed: int = 0) -> ComplementaryLabels:
    """Draw one label per example, uniform over its wrong classes: π̄_k = (1 − π_k) / (q − 1).

    Parameters
    ----------
    y : sequence
        The true class of each example, by name or number.
    classes : int or sequence, optional
        All classes, in order; by default the sorted values of `y`.
    seed : int
        The same seed gives the same labels on every machine.

    Examples
    --------
    >>> labels = uniform(["cat", "dog", "cow"])
    >>> labels.per_example.tolist()
    [1, 1, 1]
    """
    truth = encode_truth(y, classes)
    return labels_from_transition(truth, uniform_transition(truth.n_classes), seed)


def biased(y: Any, *, classes: Classes = None, seed: int = 0) -> ComplementaryLabels:
    """Draw one label per example from a biased matrix (`biased_transition`); the seed draws the matrix and the labels.

    Parameters as in `uniform`.

    Examples
    --------
    >>> biased(["cat", "dog", "cow"]).per_example.tolist()
    [1, 1, 1]
    """
    truth = encode_truth(y, classes)
    return labels_from_transition(truth, biased_transition(truth.n_classes, seed=second_seed(seed)), seed)


def biased_a(y: Any, *, classes: Classes = None, seed: int = 0) -> ComplementaryLabels:
    """Draw one label per example of ten classes from the matrix "biased-a" (`BIASED_A`).

    Every row holds .75/3, .13/3 and .12/3 three times each. Parameters as in `uniform`.

    Examples
    --------
    >>> biased_a(range(10)).n_classes
    10
    """
    return labels_from_published(y, "biased-a", BIASED_A, classes, seed)


def biased_b(y: Any, *, classes: Classes = None, seed: int = 0) -> ComplementaryLabels:
    """Draw one label per example of ten classes from the matrix "biased-b" (`BIASED_B`).

    Every row holds .66/3, .24/3 and .10/3 three times each. Parameters as in `uniform`.

    Examples
    --------
    >>> biased_b(range(10)).n_classes
    10
    """
    return labels_from_published(y, "biased-b", BIASED_B, classes, seed)


def noisy(
    y: Any, *, noise: float, base: Any = "strong", classes: Classes = None, seed: int = 0
) -> ComplementaryLabels:
    """Draw one label per example from (1 − η) base + η / q, wrong with probability η / q.

    Parameters
    ----------
    y : sequence
        The true class of each example, by name or number.
    noise : float
        η, the fraction of labels drawn blindly from all classes.
    base : {"strong", "weak"} or array of shape (q, q)
        The matrix to disturb; by name, always the same shuffle: `seed` moves the labels, not the matrix.
        For another one pass, say, ``strong_transition(10, seed=7)``. The names need q − 1 divisible by three.
    classes : int or sequence, optional
        All classes, in order; by default the sorted values of `y`.
    seed : int
        The same seed gives the same labels on every machine.

    Examples
    --------
    >>> noisy([0, 1, 2, 3], noise=0.1).per_example.tolist()
    [1, 1, 1, 1]
    """
    truth = encode_truth(y, classes)
    return labels_from_transition(truth, noisy_transition(noise, base, truth.n_classes), seed)


def from_transition(
    y: Any,
    transition: Any,
    *,
    draws: int = 1,
    distinct: bool = False,
    classes: Classes = None,
    seed: int = 0,
) -> ComplementaryLabels:
    """Draw labels from any matrix, p(k excluded | y) = T[y, k].

    Parameters
    ----------
    y : sequence
        The true class of each example, by name or number.
    transition : array of shape (q, q)
        Rows are true classes and sum to one; the diagonal is the probability of a wrong label.
    draws : int
        Labels drawn per example. They are independent and may repeat; the example gets their set union.
        Rows that would exclude every class are drawn again.
    distinct : bool
        Draw without replacement instead: exactly `draws` different labels, each from the rest of T[y].
    classes : int or sequence, optional
        All classes, in order; by default the sorted values of `y`.
    seed : int
        The same seed gives the same labels on every machine.

    Examples
    --------
    >>> always_the_next = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    >>> from_transition([0, 1, 2, 2], always_the_next).indices.tolist()
    [1, 2, 0, 0]
    """
    truth = encode_truth(y, classes)
    return labels_from_transition(truth, transition, seed, draws, distinct=distinct)


def labels_from_published(
    y: Any, name: str, transition: FloatArray, classes: Classes, seed: int
) -> ComplementaryLabels:
    """Draw one label per example from a matrix that was published for ten classes."""
    truth = encode_truth(y, classes)
    check_ten_classes(truth, name)
    return labels_from_transition(truth, transition, seed)


def labels_from_transition(
    truth: Truth, transition: Any, seed: int, draws: int = 1, *, distinct: bool = False
) -> ComplementaryLabels:
    """Draw labels from the rows of a matrix; see `from_transition`."""
    matrix = check_transition(transition, truth.classes)
    cumulative = cumulative_distribution(matrix)
    draws = check_integer("draws", draws, 1, truth.n_classes - 1 if distinct else None)
    too_few = np.count_nonzero(matrix, axis=1) < draws
    if distinct and too_few.any():
        raise MethodError(
            f"draws={draws}: the transition's row of true class {truth.classes[too_few][0]} has fewer classes "
            "above 0; lower draws, or leave distinct out."
        )

    def draw(random: np.random.Generator, codes: IntArray) -> BoolArray:
        excluded = np.zeros((len(codes), truth.n_classes), bool)
        rows, uniforms = np.arange(len(codes)), random.random((len(codes), draws))
        if not distinct:
            excluded[rows[:, None], sample_categorical(cumulative, codes, uniforms)] = True
            return excluded
        for column in uniforms.T:
            remaining = cumulative_distribution(np.where(excluded, 0, matrix[codes]))
            excluded[rows, sample_categorical(remaining, rows, column[:, None])[:, 0]] = True
        return excluded

    return draw_labels(truth, draw, seed)
