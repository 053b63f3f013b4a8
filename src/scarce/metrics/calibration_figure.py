"""Reliability as a figure: accuracy against confidence, and how many examples stand behind each point."""

from typing import TYPE_CHECKING

import numpy as np

from scarce.errors import MethodError
from scarce.metrics.calibration import Reliability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["reliability_figure"]

_MARKS = ("o", "s", "^", "D", "v")
_FIRM = 10  # examples; the accuracy of fewer is chance, and a line through it would mislead
_FILLED = 0.84  # of a bin, by the bars of all curves


def reliability_figure(curves: dict[str, Reliability]) -> "Figure":
    """Draw the accuracy of each method against its confidence, where the diagonal is perfect, above counts.

    Parameters
    ----------
    curves : dict from name to Reliability
        One line each, through the bins with at least ten examples; those with fewer are open marks beside it. The
        legend gives the expected calibration error (ECE), the lower panel the number of examples of each bin.

    Returns
    -------
    Figure
        Of matplotlib; `scarce._plotting.figure_svg` makes a text of it.

    Examples
    --------
    >>> from scarce.metrics import reliability
    >>> figure = reliability_figure({"scarce": reliability([[0.9, 0.1], [0.9, 0.1]], [0, 1])})
    >>> figure.axes[0].get_legend_handles_labels()[1]
    ['scarce: ECE 40.0 %']
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import LogLocator

        from scarce._plotting import COLOURS, DASHES, INK, in_per_cent, new_axes
    except ImportError:
        raise MethodError("figures need matplotlib; install scarce[bench].") from None
    named = isinstance(curves, dict) and bool(curves)
    if not named or not all(isinstance(curve, Reliability) for curve in curves.values()):
        raise MethodError(
            f"curves is {curves!r:.60}; expected a Reliability for each name: {{'scarce': reliability(...)}}."
        )
    with new_axes(4.8, 4.8 + 0.24 * len(curves)) as first:
        figure = first.figure
        assert isinstance(figure, Figure)
        first.remove()
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        above.plot([0, 1], [0, 1], color=INK, linewidth=1, zorder=1)
        for place, (name, curve) in enumerate(curves.items()):
            colour, line, mark = (looks[place % len(looks)] for looks in (COLOURS, DASHES, _MARKS))
            look = {"color": colour, "marker": mark, "markersize": 5}
            firm = curve.counts >= _FIRM
            label = f"{name}: ECE {100 * curve.expected_error:.1f} %"
            above.plot(curve.confidence[firm], curve.accuracy[firm], linestyle=line, label=label, **look)
            above.plot(
                curve.confidence[~firm], curve.accuracy[~firm], linestyle="none", fillstyle="none", **look
            )
            bins = len(curve.counts)
            width = _FILLED / bins / len(curves)
            left = (np.arange(bins) + (1 - _FILLED) / 2) / bins + place * width
            below.bar(left, curve.counts, width, align="edge", color=colour)
        above.set(ylabel="accuracy", ylim=(-0.02, 1.02))
        below.set(xlabel="confidence", ylabel="examples", xlim=(-0.02, 1.02), yscale="log")
        below.set_ylim(bottom=0.7)  # a single example is seen
        below.yaxis.set_major_locator(LogLocator(numticks=4))
        below.yaxis.set_major_formatter("{x:,.0f}")
        for axis in (above.yaxis, below.xaxis):
            in_per_cent(axis)
        figure.align_ylabels()
        figure.legend(*above.get_legend_handles_labels(), loc="outside lower left")
        return figure
