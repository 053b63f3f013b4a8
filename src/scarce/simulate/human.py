"""Labels drawn with the frequencies, errors included, of the human annotators of CLCIFAR-10 and CLCIFAR-20.

The counts are those of Wang et al., "CLImage: Human-annotated datasets for complementary-label learning"
(https://arxiv.org/abs/2305.08295): one of the three labels of each image for CLCIFAR-10, all three for CLCIFAR-20. Annotators saw
four random classes and named one that the image does not show; 4.06 % and 2.81 % of these labels are wrong.
"""

import csv
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import Array, FloatArray
from scarce._class_names import check_classes, lookup_codes
from scarce._truth import Classes, check_true_classes, encode_truth
from scarce._validation import check_option
from scarce.errors import LabelError
from scarce.labels import ComplementaryLabels
from scarce.simulate.single_label import labels_from_transition

HUMAN_SOURCES = ("clcifar10", "clcifar20")
"""The data sets whose annotators `human` can simulate."""


class HumanCounts(NamedTuple):
    """How often human annotators excluded class k (column) for images of true class y (row).

    Attributes
    ----------
    classes : array of str of shape (q,)
        The class names.
    counts : array of int of shape (q, q)
        The number of labels k given to images of class y; the diagonal counts wrong labels.
    """

    classes: Array
    counts: NDArray[np.int64]


def human_counts(source: str = "clcifar10") -> HumanCounts:
    """Return the label counts of human annotators and the class names.

    Parameters
    ----------
    source : {"clcifar10", "clcifar20"}
        The data set: CLCIFAR-10 (q = 10) or CLCIFAR-20 (q = 20).

    Returns
    -------
    classes : array of str of shape (q,)
        The class names.
    counts : array of int of shape (q, q)
        How often annotators excluded class k (column) for images of true class y (row).

    See Also
    --------
    human_transition : The counts as a transition matrix.
    human : Draw labels from it.

    References
    ----------
    Wang, Mai, Ye, Lin and Lin, "CLImage: Human-annotated datasets for complementary-label learning", 2023.
    https://arxiv.org/abs/2305.08295

    Examples
    --------
    >>> classes, counts = human_counts("clcifar10")
    >>> classes[:3].tolist(), counts[0, :3].tolist()
    (['airplane', 'automobile', 'bird'], [288, 385, 449])
    """
    check_option("source", source, HUMAN_SOURCES)
    text = (files("scarce.simulate") / "data" / f"{source}.csv").read_text(encoding="utf-8")
    names, *rows = csv.reader(text.splitlines())
    return HumanCounts(np.array(names), np.array(rows, np.int64))


def human_transition(source: str = "clcifar10") -> FloatArray:
    """T[y, k] = counts[y, k] / Σ_l counts[y, l]: return the transition matrix of human annotators.

    Parameters
    ----------
    source : {"clcifar10", "clcifar20"}
        The data set: CLCIFAR-10 (q = 10) or CLCIFAR-20 (q = 20).

    Returns
    -------
    array of shape (q, q)
        p(k is excluded | true class y); the diagonal is the error rate of each class.

    See Also
    --------
    human_counts : The counts and the class names.
    human : Draw labels from this matrix.

    References
    ----------
    Wang, Mai, Ye, Lin and Lin, "CLImage: Human-annotated datasets for complementary-label learning", 2023.
    https://arxiv.org/abs/2305.08295

    Examples
    --------
    >>> human_transition("clcifar10").diagonal().mean().round(5)
    np.float64(0.04058)
    """
    counts = human_counts(source).counts
    totals: NDArray[np.int64] = counts.sum(axis=1, keepdims=True)
    return counts / totals


def human(
    y: Any, *, source: str = "clcifar10", draws: int = 3, classes: Classes = None, seed: int = 0
) -> ComplementaryLabels:
    """Draw labels with the frequencies and errors of human annotators; each example excludes what `draws` of them name.

    Parameters
    ----------
    y : sequence of length n
        The true class of each example: a class name of the source, or its index there.
    source : {"clcifar10", "clcifar20"}
        The data set whose annotators are simulated.
    draws : int
        Number of annotators per example. Each names one class; the names may repeat and may be wrong.
    classes : int or sequence, optional
        The q classes in the desired order: the names of the source in any order, or q other names, which replace those of the
        source in its order. By default the names of the source, or 0 to q − 1 if `y` contains numbers.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        From 1 to `draws` excluded classes for each of the n examples.

    See Also
    --------
    human_transition : The matrix from which each label is drawn.
    from_transition : Labels from any matrix.

    References
    ----------
    Wang, Mai, Ye, Lin and Lin, "CLImage: Human-annotated datasets for complementary-label learning", 2023.
    https://arxiv.org/abs/2305.08295

    Examples
    --------
    >>> labels = human(["cat", "dog", "ship"])
    >>> labels.n_classes, labels.per_example.max() <= 3
    (10, np.True_)
    """
    source_names, transition = human_counts(source).classes, human_transition(source)
    values = check_true_classes(y)
    if classes is None:
        classes = source_names if values.dtype.kind == "U" else len(source_names)
    names = check_classes(classes)
    if len(names) != len(source_names):
        raise LabelError(
            f"classes names {len(names)}; {source} has {len(source_names)}: leave out classes to use those of {source}."
        )
    truth = encode_truth(values, names)
    indices = lookup_codes(names, source_names)
    if (indices >= 0).all():
        transition = transition[np.ix_(indices, indices)]
    elif (indices >= 0).any():
        raise LabelError(
            f"class {names[indices < 0][0]} is not a class of {source}, but other names in classes are; "
            f"use only names of {source}, or none of them."
        )
    return labels_from_transition(truth, transition, seed, draws)
