"""Several labels per example: a uniform set of wrong classes, of a size that is drawn first."""

from math import comb
from typing import Any

import numpy as np

from scarce._arrays import BoolArray, FloatArray, IntArray
from scarce._truth import Classes, encode_truth
from scarce._validation import check_integer, check_probabilities
from scarce.labels import ComplementaryLabels
from scarce.simulate._drawing import cumulative_distribution, draw_labels, sample_categorical, sample_subset

__all__ = ["uniform_multiple"]


def uniform_multiple(
    y: Any, *, sizes: Any = None, classes: Classes = None, seed: int = 0
) -> ComplementaryLabels:
    """Choose the number s of labels of an example, then a uniform set of s wrong classes.

    By default every non-empty set of wrong classes is equally likely, p(s) = C(q−1, s) / (2^(q−1) − 1).

    Parameters
    ----------
    y : sequence
        The true class of each example, by name or number.
    sizes : int or sequence of float, optional
        The same number of labels for all examples, or the q − 1 probabilities of s = 1, …, q − 1. Some programs
        use p(s) = C(q, s) / (2^q − 2).
    classes : int or sequence, optional
        All classes, in order; by default the sorted values of `y`.
    seed : int
        The same seed gives the same labels on every machine.

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
    if np.ndim(sizes) == 0:
        n_labels = check_integer("sizes", sizes, 1, q - 1)
        return np.array([float(s == n_labels) for s in range(1, q)])
    return check_probabilities("sizes", sizes, q - 1, f"the probabilities of 1 to {q - 1} labels")
