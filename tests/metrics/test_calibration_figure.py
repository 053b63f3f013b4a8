"""The reliability diagram."""

from xml.etree import ElementTree

import numpy as np
import pytest

from scarce._plotting import figure_svg
from scarce.errors import MethodError
from scarce.metrics import Reliability
from scarce.metrics.calibration import reliability_figure

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
