"""Labels drawn from a transition matrix: the row of the true class is the distribution of the excluded class."""

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


def uniform(y: Any, *, classes: Classes = None, seed: int = 0) -> ComplementaryLabels:
    """Draw one label per example, uniformly from its wrong classes: π̄_k = (1 − π_k) / (q − 1).

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        One excluded class for each of the n examples.

    See Also
    --------
    uniform_multiple : Several labels per example.
    uniform_transition : The transition matrix of these labels.

    References
    ----------
    Ishida, Niu, Hu and Sugiyama, "Learning from complementary labels", NeurIPS 2017. https://arxiv.org/abs/1705.07541

    Examples
    --------
    >>> labels = uniform(["cat", "dog", "cow"])
    >>> labels.per_example.tolist()
    [1, 1, 1]
    """
    truth = encode_truth(y, classes)
    return labels_from_transition(truth, uniform_transition(truth.n_classes), seed)


def biased(y: Any, *, classes: Classes = None, seed: int = 0) -> ComplementaryLabels:
    """Draw one label per example from a randomly drawn biased matrix, for any number of classes.

    The seed determines both the matrix (see `biased_transition`) and the labels.

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        One excluded class for each of the n examples.

    See Also
    --------
    biased_a, biased_b : The published biased matrices for ten classes.
    biased_transition : Draw such a matrix.

    Examples
    --------
    >>> biased(["cat", "dog", "cow"]).per_example.tolist()
    [1, 1, 1]
    """
    truth = encode_truth(y, classes)
    return labels_from_transition(truth, biased_transition(truth.n_classes, seed=second_seed(seed)), seed)


def biased_a(y: Any, *, classes: Classes = None, seed: int = 0) -> ComplementaryLabels:
    """Draw one label per example of ten classes from the matrix "biased-a" (`BIASED_A`).

    Every row contains .75/3, .13/3 and .12/3, three times each.

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        One excluded class for each of the n examples.

    See Also
    --------
    biased_b : The same with weaker bias.
    biased : Biased labels for any number of classes.

    References
    ----------
    Wang, Ishida, Zhang, Niu and Sugiyama, "Learning with complementary labels revisited: The selected-completely-at-random
    setting is more practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> biased_a(range(10)).n_classes
    10
    """
    return labels_from_published(y, "biased-a", BIASED_A, classes, seed)


def biased_b(y: Any, *, classes: Classes = None, seed: int = 0) -> ComplementaryLabels:
    """Draw one label per example of ten classes from the matrix "biased-b" (`BIASED_B`).

    Every row contains .66/3, .24/3 and .10/3, three times each.

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        One excluded class for each of the n examples.

    See Also
    --------
    biased_a : The same with stronger bias.
    biased : Biased labels for any number of classes.

    References
    ----------
    Wang, Ishida, Zhang, Niu and Sugiyama, "Learning with complementary labels revisited: The selected-completely-at-random
    setting is more practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> biased_b(range(10)).n_classes
    10
    """
    return labels_from_published(y, "biased-b", BIASED_B, classes, seed)


def noisy(
    y: Any, *, noise: float, base: Any = "strong", classes: Classes = None, seed: int = 0
) -> ComplementaryLabels:
    """T = (1 − η) base + η / q: draw one label per example, which is wrong with probability η / q.

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    noise : float
        Noise level η: the fraction of labels drawn uniformly from all classes, the true one included.
    base : {"strong", "weak"} or array of shape (q, q)
        The transition matrix without noise. A name means one fixed matrix: `seed` changes the labels, not the matrix. For
        another shuffle pass, for example, ``strong_transition(10, seed=7)``. The names require q − 1 to be divisible by three.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        One excluded class for each of the n examples.

    See Also
    --------
    noisy_transition : The matrix of these labels.
    strong_transition, weak_transition : The named base matrices.

    References
    ----------
    Ye, Mai, Wang, Lin and Lin, "libcll: An extendable Python toolkit for complementary-label learning", 2024.
    https://arxiv.org/abs/2411.12276

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
    """Draw labels from any transition matrix, T[y, k] = p(k is excluded | true class y).

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    transition : array of shape (q, q)
        Transition matrix T. Rows are true classes and sum to one; T[y, y] is the probability of a wrong label.
    draws : int
        Number of labels drawn per example. By default draws are independent and may repeat: an example excludes all classes drawn
        for it. Rows that would exclude every class are drawn again.
    distinct : bool
        Draw without replacement: exactly `draws` different labels, each from T[y] without the classes already drawn.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        The labels of the n examples.

    See Also
    --------
    with_errors : Set the probability of wrong labels of a matrix.
    human : Labels from the matrices of human annotators.

    References
    ----------
    Yu, Liu, Gong and Tao, "Learning with biased complementary labels", ECCV 2018. https://arxiv.org/abs/1711.09535

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
    """Draw one label per example from a published 10 × 10 matrix; `name` is for messages."""
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
            f"draws={draws}: the transition row of true class {truth.classes[too_few][0]} has fewer classes with positive "
            "probability; lower draws, or leave out distinct=True."
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
