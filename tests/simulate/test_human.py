"""Labels drawn from the counts of human annotators, and the counts themselves."""

import numpy as np
import pytest
from helpers.label_shares import exclusion_shares, within_five_errors

from scarce.errors import MethodError
from scarce.simulate import human, human_counts, human_transition


def test_human_labels_follow_class_names_in_any_order():
    names = human_counts("clcifar20").classes
    backwards = names[::-1]
    y = np.repeat(names, 5000)
    labels = human(y, source="clcifar20", draws=1, classes=backwards)
    assert labels.classes.tolist() == backwards.tolist()
    got = exclusion_shares(labels, np.repeat(np.arange(20)[::-1], 5000))
    assert within_five_errors(got, human_transition("clcifar20")[::-1, ::-1], 5000)


def test_human_labels_are_equal_for_names_and_numbers():
    numbers = np.arange(1000) % 10
    names = human_counts("clcifar10").classes[numbers]
    by_number, by_name = human(numbers, seed=2), human(names, seed=2)
    assert by_number.indices.tolist() == by_name.indices.tolist()
    assert by_name.classes[3] == "cat"
    renamed = human(np.array(list("abcdefghij"))[numbers], seed=2, classes=list("abcdefghij"))
    assert renamed.indices.tolist() == by_number.indices.tolist()


def test_human_counts_match_published_sums_and_error_rates():
    ten, twenty = human_counts("clcifar10"), human_counts("clcifar20")
    assert ten.counts.sum(1).tolist() == [5000] * 10
    assert twenty.counts.sum(1).tolist() == [7500] * 18 + [9000, 6000]
    assert np.trace(ten.counts) / ten.counts.sum() == pytest.approx(0.04058)
    assert np.trace(twenty.counts) / twenty.counts.sum() == pytest.approx(0.02807, abs=5e-6)
    assert ten.classes[[0, 3, 9]].tolist() == ["airplane", "cat", "truck"]
    assert twenty.classes[[14, 18]].tolist() == ["people", "transportation vehicles"]
    people = twenty.counts.sum(0)[14] / twenty.counts.sum()
    assert people == pytest.approx(0.0668, abs=5e-5)
    assert human_transition("clcifar10")[3, :4].tolist() == [0.1604, 0.1728, 0.0806, 0.0386]


def test_human_counts_rejects_unknown_source():
    with pytest.raises(MethodError, match="expected 'clcifar10' or 'clcifar20'"):
        human_counts("cifar")
