"""Labels like those people gave for the images of CLCIFAR-10 and CLCIFAR-20, errors included.

The counts are those of Wang et al., "CLImage: Human-annotated datasets for complementary-label learning": one of
the three labels of each image for CLCIFAR-10, all three for CLCIFAR-20. People were shown four random classes and
named one that the image is not; 4.06 % and 2.81 % of these labels are wrong.
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

__all__ = ["HUMAN_SOURCES", "HumanCounts", "human", "human_counts", "human_transition"]

HUMAN_SOURCES = ("clcifar10", "clcifar20")


class HumanCounts(NamedTuple):
    """How often people excluded class k (column) from images of class y (row)."""

    classes: Array
    counts: NDArray[np.int64]


def human_counts(source: str = "clcifar10") -> HumanCounts:
    """Return the counts of a source with the names of its classes.

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
    """Return the matrix of a source: its counts, divided by the sums of their rows.

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
    """Draw labels from the counts of human annotators, the set union of `draws` people per example.

    Parameters
    ----------
    y : sequence
        The true class of each example: a class name of the source, or its number there.
    source : {"clcifar10", "clcifar20"}
        The data set whose counts are used.
    draws : int
        Annotators per example; their labels may repeat, and may be wrong.
    classes : int or sequence, optional
        The classes in the order wanted: the names of the source in any order, or as many other names, which then
        stand for the classes of the source in its order. By default its names, or its numbers if `y` has those.
    seed : int
        The same seed gives the same labels on every machine.

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
            f"classes names {len(names)}; {source} has {len(source_names)}, leave classes out to use them."
        )
    truth = encode_truth(values, names)
    indices = lookup_codes(names, source_names)
    if (indices >= 0).all():
        transition = transition[np.ix_(indices, indices)]
    elif (indices >= 0).any():
        raise LabelError(
            f"class {names[indices < 0][0]} is not a class of {source}, though others are; use its names, or only other names."
        )
    return labels_from_transition(truth, transition, seed, draws)
