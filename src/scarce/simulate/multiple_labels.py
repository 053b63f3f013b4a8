"""Several labels per example: draw their number first, then a uniform set of wrong classes of that size."""

from math import comb
from typing import Any

import numpy as np

from scarce._arrays import BoolArray, FloatArray, IntArray
from scarce._truth import Classes, encode_truth
from scarce._validation import check_integer, check_probabilities
from scarce.labels import ComplementaryLabels
from scarce.simulate._drawing import cumulative_distribution, draw_labels, sample_categorical, sample_subset


def uniform_multiple(
    y: Any, *, sizes: Any = None, classes: Classes = None, seed: int = 0
) -> ComplementaryLabels:
    """Draw the number s of labels of each example, then a uniform set of s wrong classes.

    By default every non-empty set of wrong classes is equally likely: p(s) = C(q−1, s) / (2^(q−1) − 1).

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    sizes : int or sequence of length q − 1, optional
        A number of labels for all examples, or the probabilities of s = 1, …, q − 1. Some implementations use
        p(s) = C(q, s) / (2^q − 2).
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        From 1 to q − 1 excluded classes for each of the n examples.

    See Also
    --------
    uniform : Exactly one label per example.
    scar : Independent exclusions, zero or more per example.

    References
    ----------
    Feng, Kaneko, Han, Niu, An and Sugiyama, "Learning with multiple complementary labels", ICML 2020.
    https://arxiv.org/abs/1912.12927

    Examples
    --------
    >>> uniform_multiple(["cat", "dog", "cow", "owl"], sizes=2).per_example.tolist()
    [2, 2, 2, 2]
    """
    truth = encode_truth(y, classes)
    q = truth.n_classes
    cumulative = cumulative_distribution(_size_probabilities(sizes, q)[None])

    def draw(random: np.random.Generator, codes: IntArray) -> BoolArray:
        uniforms = random.random((len(codes), q + 1))  # the last one chooses the size
        n_labels = sample_categorical(cumulative, np.zeros(len(codes), np.int64), uniforms[:, -1:])[:, 0] + 1
        return sample_subset(uniforms, codes[:, None] != np.arange(q), n_labels)

    return draw_labels(truth, draw, seed)


def _size_probabilities(sizes: Any, q: int) -> FloatArray:
    if sizes is None:
        return np.array([comb(q - 1, s) / (2 ** (q - 1) - 1) for s in range(1, q)])
    if not isinstance(sizes, (list, tuple)) and np.ndim(sizes) == 0:
        n_labels = check_integer("sizes", sizes, 1, q - 1)
        return np.array([float(s == n_labels) for s in range(1, q)])
    return check_probabilities("sizes", sizes, q - 1, f"the probabilities of 1 to {q - 1} labels")
