"""Figures: numbers in, axes filled; colours that stay apart for colour-blind eyes and in grey."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

__all__ = [
    "COLORS",
    "DASHES",
    "INK",
    "Curve",
    "draw_accuracies",
    "draw_priors",
    "draw_risks",
    "figure_svg",
    "percent_axis",
    "new_axes",
]

Numbers = Sequence[float] | NDArray[np.float64]

# Okabe and Ito's colours that are dark enough for lines; the dashes have another period, so that 28 looks are different.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#4d4d4d", "#cc79a7", "#56b4e9", "#e69f00")
DASHES = ("-", "--", "-.", ":")
INK = "#1f2933"
_LETTERS = 9  # that stand side by side on an inch
_FAINT = "#d5dbe1"
_STYLE: Any = {
    "axes.edgecolor": _FAINT,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlepad": 10,
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    "font.size": 11,
    "grid.color": _FAINT,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "lines.linewidth": 2.0,
    "svg.fonttype": "none",  # words stay words: smaller files, in the fonts of the reader
    "svg.hashsalt": "scarce",  # the same figure gives the same file
    "text.color": INK,
    "text.parse_math": False,  # a name is shown as it is, also with a $ in it
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
}


@dataclass(frozen=True)
class Curve:
    """A number per epoch, from the first; with `spread`, a band of that half-width around `centre`."""

    name: str
    values: Numbers
    centre: Numbers | None = None
    spread: Numbers | None = None


@contextmanager
def new_axes(width: float = 4.8, height: float = 3.6) -> Iterator[Axes]:
    """Give the axes of a new figure of that size in inches, in the house style.

    Examples
    --------
    >>> with new_axes() as axes:
    ...     draw_risks(axes, [Curve("a", [1.0, -0.5])])
    >>> figure_svg(axes.figure)[:4]
    '<svg'
    """
    with matplotlib.rc_context(_STYLE):
        yield Figure(figsize=(width, height)).subplots()


def figure_svg(figure: Any) -> str:
    """Return a figure as an SVG element; the same figure always gives the same text."""
    text = io.StringIO()
    with matplotlib.rc_context(_STYLE):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def draw_priors(
    axes: Axes,
    classes: Sequence[Any],
    estimates: Numbers,
    low: Numbers | None = None,
    high: Numbers | None = None,
    truth: Numbers | None = None,
    title: str = "Share of each class",
) -> None:
    """Draw the estimated prior of each class, with its interval and the true frequency where they are known."""
    places = np.arange(len(classes))
    spread = (
        None if low is None or high is None else [np.subtract(estimates, low), np.subtract(high, estimates)]
    )
    axes.errorbar(
        places,
        estimates,
        yerr=None if spread is None else np.maximum(spread, 0),
        fmt="o",
        color=COLORS[0],
        elinewidth=2,
        label="estimate" if spread is None else "estimate, 95 % interval",
    )
    if truth is not None:
        axes.plot(places, truth, "D", color=COLORS[1], fillstyle="none", markeredgewidth=1.8, label="truth")
    axes.set(title=title, xticks=places, xticklabels=classes)
    axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])  # a prior of zero is seen whole
    if sum(len(str(name)) for name in classes) > _LETTERS * axes.figure.bbox.width / axes.figure.dpi:
        axes.tick_params(axis="x", labelrotation=90)
    percent_axis(axes.yaxis)
    _legend_below(axes, columns=2)


def percent_axis(axis: Axis) -> None:
    """Mark shares in per cent, with as many digits as their distance needs."""
    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(lambda share, _: f"{100 * share:.4g}%")


def draw_risks(axes: Axes, curves: Sequence[Curve]) -> None:
    """Draw risks over the epochs, with a line at zero, below which no true risk can be."""
    for curve, colour, line in zip(curves, COLORS, DASHES, strict=False):
        axes.plot(_epochs(curve), curve.values, line, color=colour, label=curve.name)
    axes.axhline(0, color=INK, linewidth=1, zorder=1)
    axes.set(title="Risk on the training answers", xlabel="epoch")
    _legend_below(axes, columns=2)


def draw_accuracies(axes: Axes, curves: Sequence[Curve]) -> None:
    """Draw accuracies over the epochs, and the band of each curve that has one."""
    for curve, colour, line in zip(curves, COLORS, DASHES, strict=False):
        axes.plot(_epochs(curve), curve.values, line, color=colour, label=curve.name)
        if curve.centre is not None and curve.spread is not None:
            low, high = np.subtract(curve.centre, curve.spread), np.add(curve.centre, curve.spread)
            axes.fill_between(_epochs(curve), low, high, color=colour, alpha=0.16, linewidth=0)
    axes.set(title="Accuracy on the test images", xlabel="epoch", ylim=(0, 1.02))
    percent_axis(axes.yaxis)
    _legend_below(axes, columns=2)


def _epochs(curve: Curve) -> range:
    return range(1, len(curve.values) + 1)


def _legend_below(axes: Axes, columns: int) -> None:
    axes.figure.legend(loc="outside lower left", ncols=columns)
