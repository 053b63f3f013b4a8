"""Reliability curves, their figure and the expected calibration error: by hand, by a slow loop and by construction."""

from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scarce._plotting import figure_svg
from scarce.errors import LabelError, MethodError
from scarce.metrics import Reliability, expected_calibration_error, reliability, reliability_figure

SIX = [[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.0, 0.0, 1.0]]


def test_reliability_matches_values_by_hand():
    """Five bins: 0.4 is in the second, 0.6 in the third, 0.7 and 0.8 in the fourth, 0.9 and 1 in the fifth."""
    curve = reliability(SIX, [0, 1, 1, 2, 0, 2], 5)
    assert curve.counts.tolist() == [0, 1, 1, 2, 2]
    assert curve.confidence == pytest.approx([np.nan, 0.4, 0.6, 0.75, 0.95], nan_ok=True)
    assert curve.accuracy == pytest.approx([np.nan, 1, 0, 0.5, 1], nan_ok=True)
    assert curve.expected_error == pytest.approx((0.6 + 0.6 + 2 * 0.25 + 2 * 0.05) / 6)


def test_calibration_error_of_one_bin_compares_means():
    error = expected_calibration_error(SIX, [0, 1, 1, 2, 0, 2], bins=1)
    assert error == pytest.approx(abs(4 / 6 - (0.9 + 0.8 + 0.7 + 0.4 + 0.6 + 1.0) / 6))


def test_calibration_error_of_certain_mistakes_is_one():
    assert expected_calibration_error([[1, 0], [0, 1]], [1, 0]) == 1
    assert expected_calibration_error([[1, 0], [0, 1]], [0, 1]) == 0


@pytest.mark.parametrize("bins", [10, 15, 100])
def test_reliability_puts_confidence_on_edge_into_lower_bin(bins):
    """Every edge, also where b / bins · bins is not an integer in floating point, such as 0.07 · 100."""
    edges = [b / bins for b in range(bins // 2 + 1, bins + 1)]
    for b, edge in enumerate(edges, start=bins // 2 + 1):
        assert np.flatnonzero(reliability([[edge, 1 - edge]], [0], bins).counts).tolist() == [b - 1]
        if edge < 1:
            above = np.nextafter(edge, 1)
            assert np.flatnonzero(reliability([[above, 1 - above]], [0], bins).counts).tolist() == [b]


@st.composite
def cases(draw):
    n, q = draw(st.integers(1, 60)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    p = rng.dirichlet(np.full(q, draw(st.sampled_from([0.2, 1.0, 5.0]))), n)
    return p, rng.integers(0, q, n), draw(st.integers(1, 30))


def slow(p, y, bins):
    """Counts and expected error, bin by bin and row by row."""
    counts, error = [], 0.0
    for b in range(bins):
        rows = [i for i in range(len(y)) if b / bins < max(p[i]) <= (b + 1) / bins]
        counts.append(len(rows))
        if rows:
            confidence = sum(max(p[i]) for i in rows) / len(rows)
            accuracy = sum(list(p[i]).index(max(p[i])) == y[i] for i in rows) / len(rows)
            error += len(rows) / len(y) * abs(accuracy - confidence)
    return counts, error


@given(cases())
def test_reliability_equals_slow_loop(case):
    counts, error = slow(*case)
    curve = reliability(*case)
    assert curve.counts.tolist() == counts
    assert curve.expected_error == pytest.approx(error, abs=1e-12)
    assert expected_calibration_error(*case) == curve.expected_error


@given(cases())
def test_reliability_bins_hold_every_row_once(case):
    p, y, bins = case
    curve = reliability(p, y, bins)
    assert 0 <= curve.expected_error <= 1
    assert len(curve.counts) == len(curve.accuracy) == len(curve.confidence) == bins
    assert curve.counts.sum() == len(y)
    seen = curve.counts > 0
    assert np.isnan(curve.accuracy[~seen]).all()
    assert np.isnan(curve.confidence[~seen]).all()
    assert curve.counts[seen] @ curve.accuracy[seen] == pytest.approx((p.argmax(axis=1) == y).sum())
    b = np.arange(bins)[seen]
    assert (curve.confidence[seen] > b / bins - 1e-12).all()
    assert (curve.confidence[seen] <= (b + 1) / bins + 1e-12).all()


@given(cases(), st.integers(0, 10**6))
def test_reliability_ignores_order_of_rows_and_classes(case, seed):
    p, y, bins = case
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(y)), rng.permutation(p.shape[1])
    curve, other = reliability(p, y, bins), reliability(p[rows], y[rows], bins)
    assert other.counts.tolist() == curve.counts.tolist()
    assert other.accuracy == pytest.approx(curve.accuracy, nan_ok=True)
    assert other.confidence == pytest.approx(curve.confidence, nan_ok=True)
    moved = reliability(p[:, columns], y, bins, classes=columns)
    assert moved.expected_error == pytest.approx(curve.expected_error, abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 20)), min_size=1, max_size=6), st.integers(1, 30)
)
def test_calibration_error_of_true_frequencies_is_zero(groups, bins):
    """Of 2m rows with probability (m + k) / 2m for the first class, k ≤ m, exactly that fraction belong to it."""
    p, y = [], []
    for m, k in groups:
        right = m + min(k, m)
        p += [[right / (2 * m), 1 - right / (2 * m)]] * (2 * m)
        y += [0] * right + [1] * (2 * m - right)
    assert expected_calibration_error(p, y, bins) == pytest.approx(0, abs=1e-12)


def test_reliability_accepts_class_names_in_any_order():
    named = reliability(SIX, ["dog", "cat", "cat", "ant", "dog", "ant"], 5, classes=["dog", "cat", "ant"])
    assert named.expected_error == reliability(SIX, [0, 1, 1, 2, 0, 2], 5).expected_error


def test_reliability_accepts_float32_tensors():
    """In float32 a confidence may slightly exceed one; it counts as one."""
    p = torch.tensor([[1.0000001, 0.0], [0.25, 0.75]], requires_grad=True)
    curve = reliability(p, torch.tensor([0, 0]), 4)
    assert curve.counts.tolist() == [0, 0, 1, 1]
    assert curve.confidence[2:].tolist() == [0.75, 1.0]
    assert curve.expected_error == pytest.approx(0.75 / 2)


@pytest.mark.parametrize(
    ("probabilities", "y", "options", "message"),
    [
        (
            [[0.5, 0.5]],
            [0, 1],
            {},
            r"the probabilities have shape \(1, 2\); expected \(2, 2\): pass one row per entry of y",
        ),
        ([[0.5, 0.5]], ["a"], {"classes": "abc"}, "classes is the single string 'abc'"),
        ([[0.5, 0.5]], ["a"], {"classes": ["a", "b", "c"]}, r"shape \(1, 2\); expected \(1, 3\)"),
        ([[0.5, 0.5]], ["cat"], {}, r"row 0: the true class cat is not one of the classes \(0, 1\)"),
        ([[0.5, 0.5]], [2], {}, "row 0: the true class 2 is not one of the classes"),
        ([[0.5, 0.5]], [[0]], {}, r"y has shape \(1, 1\)"),
        ([[0.5, 0.5]], [float("nan")], {}, "row 0: the true class is missing"),
        (np.empty((0, 2)), [], {}, "y is empty"),
        ([], [], {}, r"the probabilities have shape \(0,\); expected one row per example"),
        (
            [0.5, 0.5],
            [0, 1],
            {},
            r"shape \(2,\); expected .* for two classes pass np.column_stack\(\[1 - p, p\]\)",
        ),
        ([[1.0]], [0], {}, r"shape \(1, 1\); expected"),
        ([[0.5, 0.5], [1.0]], [0, 1], {}, "the probabilities are not a matrix of numbers"),
        ([["a", "b"]], [0], {}, "the probabilities are not a matrix of numbers"),
        (None, [0], {}, r"the probabilities have shape \(\); expected"),
        ([[0.5, 0.5], [0.5, 0.4]], [0, 1], {}, r"row 1: the probabilities sum to 0\.9; expected 1"),
        (
            [[0.5, 0.5], [-0.5, 1.5]],
            [0, 1],
            {},
            r"row 1: the lowest probability is -0\.5; expected .*predict_proba",
        ),
        ([[np.nan, 1.0]], [0], {}, "row 0: the lowest probability is nan"),
        ([[np.inf, 0.0]], [0], {}, "row 0: the probabilities sum to inf"),
    ],
)
def test_reliability_rejects_invalid_input(probabilities, y, options, message):
    for function in (reliability, expected_calibration_error):
        with pytest.raises(LabelError, match=message) as caught:
            function(probabilities, y, **options)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bins", [0, 2.5, 10**12])
def test_reliability_rejects_invalid_number_of_bins(bins):
    for function in (reliability, expected_calibration_error):
        with pytest.raises(MethodError, match=f"bins={bins}; expected a whole number from 1 to 1000"):
            function([[0.5, 0.5]], [0], bins=bins)


CURVE = Reliability(np.array([np.nan, 0.45, 0.8]), np.array([np.nan, 1.0, 0.5]), np.array([0, 3, 40]))


def test_reliability_figure_draws_points_counts_and_error():
    other = Reliability(np.array([0.5, 0.9]), np.array([0.5, 0.9]), np.array([10, 20]))
    figure = reliability_figure({"one": CURVE, "other": other})
    above, below = figure.axes
    diagonal, line, doubtful, second, _ = above.lines
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert line.get_xydata().tolist() == [[0.8, 0.5]]
    assert doubtful.get_xydata()[-1].tolist() == [0.45, 1.0]
    assert second.get_xydata().tolist() == [[0.5, 0.5], [0.9, 0.9]]
    assert line.get_color() != second.get_color()
    assert line.get_linestyle() != second.get_linestyle()
    error = 100 * (3 * 0.55 + 40 * 0.3) / 43
    assert above.get_legend_handles_labels()[1] == [f"one: ECE {error:.1f} %", "other: ECE 0.0 %"]
    bars = [[bar.get_height() for bar in group] for group in below.containers]
    assert bars == [[0, 3, 40], [10, 20]]
    for group, bins in zip(below.containers, (3, 2), strict=True):
        for b, bar in enumerate(group):
            assert b / bins <= bar.get_x() < bar.get_x() + bar.get_width() <= (b + 1) / bins


def test_reliability_figure_is_reproducible():
    texts = [figure_svg(reliability_figure({"a & b": CURVE})) for _ in range(2)]
    assert texts[0] == texts[1]
    assert "a & b: ECE" in "".join(ElementTree.fromstring(texts[0]).itertext())


@pytest.mark.parametrize("curves", [{}, {"scarce": 0.1}, [CURVE]])
def test_reliability_figure_rejects_invalid_curves(curves):
    with pytest.raises(MethodError, match="expected a Reliability for each name"):
        reliability_figure(curves)
