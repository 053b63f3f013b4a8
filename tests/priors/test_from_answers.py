"""Priors from yes/no answers, with the Wilson interval."""

import pytest
from helpers.populations import labels_from_answer_counts
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from scarce.errors import PriorError
from scarce.priors import priors_from_answers


def test_priors_from_answers_are_shares_of_yes_by_hand():
    estimate = priors_from_answers(labels_from_answer_counts(yes=[3, 1, 2], no=[3, 4, 8], skip=[5, 0, 1]))
    assert estimate.raw.tolist() == pytest.approx([0.5, 0.2, 0.2])
    assert estimate.values.tolist() == pytest.approx([5 / 9, 2 / 9, 2 / 9])
    assert estimate.source == "answers"


def test_priors_from_answers_interval_equals_scipy_wilson():
    estimate = priors_from_answers(labels_from_answer_counts(yes=[3, 0, 7], no=[7, 20, 0]))
    for k, (yes, asked) in enumerate([(3, 10), (0, 20), (7, 7)]):
        expected = binomtest(yes, asked).proportion_ci(method="wilson")
        assert estimate.low[k] == pytest.approx(expected.low, abs=1e-12)
        assert estimate.high[k] == pytest.approx(expected.high, abs=1e-12)


def test_priors_from_answers_interval_of_15_in_25_by_hand():
    """Worked by hand: z = 1.96 gives (0.6 + 0.0768 ± 1.96 √(0.0096 + 0.001536)) / 1.1537."""
    estimate = priors_from_answers(labels_from_answer_counts(yes=[15, 10], no=[10, 15]))
    assert (estimate.low[0], estimate.high[0]) == (
        pytest.approx(0.4074, abs=1e-4),
        pytest.approx(0.7660, abs=1e-4),
    )


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=2, max_size=5))
def test_priors_from_answers_are_normalized_fractions(counts):
    yes, no = zip(*counts, strict=True)
    if sum(yes) == 0:
        return
    estimate = priors_from_answers(labels_from_answer_counts(yes, no))
    assert estimate.values.sum() == pytest.approx(1)
    raw = [y / (y + n) for y, n in counts]
    assert estimate.values.tolist() == pytest.approx([share / sum(raw) for share in raw])
    assert (estimate.low <= estimate.raw).all()
    assert (estimate.raw <= estimate.high).all()


def test_priors_from_answers_names_class_without_questions():
    labels = labels_from_answer_counts(yes=[1, 1, 0], no=[1, 2, 0], skip=[0, 0, 4])
    with pytest.raises(
        PriorError, match=r"there is no answer about class c, so its prior cannot be computed .*pass priors="
    ):
        priors_from_answers(labels)
