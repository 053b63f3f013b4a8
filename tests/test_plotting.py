"""Figures show the given numbers, and are reproducible."""

from xml.etree import ElementTree

import numpy as np
import pytest

from scarce._plotting import draw_priors, figure_svg, new_axes


def curves_of(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


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
            axes.plot([1, 2], [1.0, 2.0], label="a & b")
            axes.legend()
            axes.set(xlabel="epoch")
        texts.append(figure_svg(axes.figure))
    assert texts[0] == texts[1]
    words = "".join(ElementTree.fromstring(texts[0]).itertext())
    assert "a & b" in words
    assert "epoch" in words
