"""Figures show the numbers they are given."""

from xml.etree import ElementTree

import numpy as np
import pytest

from scarce._plotting import Curve, draw_accuracies, draw_priors, draw_risks, figure_svg, new_axes


def curves_of(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def test_draw_risks_starts_at_epoch_one_with_line_at_zero():
    with new_axes() as axes:
        draw_risks(axes, [Curve("a", [3.0, -1.0, -4.0]), Curve("b", [2.0, 1.0, 0.5])])
    lines = curves_of(axes)
    assert list(lines) == ["a", "b"]
    assert lines["a"].get_xydata().tolist() == [[1, 3.0], [2, -1.0], [3, -4.0]]
    assert lines["b"].get_ydata().tolist() == [2.0, 1.0, 0.5]
    (zero,) = [line for line in axes.lines if line not in lines.values()]
    assert list(zero.get_ydata()) == [0, 0]
    assert lines["a"].get_color() != lines["b"].get_color()
    assert lines["a"].get_linestyle() != lines["b"].get_linestyle()


def test_draw_accuracies_draws_band_around_estimate():
    with new_axes() as axes:
        draw_accuracies(axes, [Curve("a", [0.5, 0.75], [0.4, 0.8], [0.1, 0.05]), Curve("b", [0.9, 0.9])])
    assert curves_of(axes)["a"].get_ydata().tolist() == [0.5, 0.75]
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices
    for epoch, low, high in ((1, 0.3, 0.5), (2, 0.75, 0.85)):
        heights = corners[corners[:, 0] == epoch, 1]
        assert (heights.min(), heights.max()) == pytest.approx((low, high))


def test_draw_priors_draws_intervals_and_truth():
    with new_axes() as axes:
        draw_priors(axes, ["cat", "dog"], [0.4, 0.6], [0.3, 0.45], [0.55, 0.7], [0.5, 0.5])
    estimate = axes.containers[0]
    assert estimate.lines[0].get_ydata().tolist() == [0.4, 0.6]
    segments = np.array(estimate.lines[2][0].get_segments())
    assert segments[:, :, 1] == pytest.approx(np.array([[0.3, 0.55], [0.45, 0.7]]))
    assert curves_of(axes)["truth"].get_ydata().tolist() == [0.5, 0.5]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["cat", "dog"]


def test_figure_svg_is_reproducible_and_well_formed():
    texts = []
    for _ in range(2):
        with new_axes() as axes:
            draw_risks(axes, [Curve("a & b", [1.0, 2.0])])
        texts.append(figure_svg(axes.figure))
    assert texts[0] == texts[1]
    words = "".join(ElementTree.fromstring(texts[0]).itertext())
    assert "a & b" in words
    assert "epoch" in words
