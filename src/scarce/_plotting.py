"""Figures: a shared style with color-blind-safe colors, and a plot of class priors."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

Numbers = Sequence[float] | NDArray[np.float64]

# The Okabe–Ito colors that are dark enough for lines. Seven colors and four dash styles give 28 distinct lines.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#4d4d4d", "#cc79a7", "#56b4e9", "#e69f00")
DASHES = ("-", "--", "-.", ":")
INK = "#1f2933"
_LETTERS_PER_INCH = 9
_GRID_COLOR = "#d5dbe1"
_STYLE: Any = {
    "axes.edgecolor": _GRID_COLOR,
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
    "grid.color": _GRID_COLOR,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "lines.linewidth": 2.0,
    "svg.fonttype": "none",  # keep text as text: smaller files
    "svg.hashsalt": "scarce",  # reproducible element ids
    "text.color": INK,
    "text.parse_math": False,  # names may contain $
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
}


@contextmanager
def new_axes(width: float = 4.8, height: float = 3.6) -> Iterator[Axes]:
    """Yield the axes of a new figure in the shared style; width and height are in inches.

    Examples
    --------
    >>> with new_axes() as axes:
    ...     _ = axes.plot([1, 2], [1.0, -0.5])
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
    """Plot the estimated prior of each of q classes, with its interval and the true frequency if they are given.

    All sequences have length q; `low` and `high` are the limits of the intervals.
    """
    positions = np.arange(len(classes))
    errors = (
        None if low is None or high is None else [np.subtract(estimates, low), np.subtract(high, estimates)]
    )
    axes.errorbar(
        positions,
        estimates,
        yerr=None if errors is None else np.maximum(errors, 0),
        fmt="o",
        color=COLORS[0],
        elinewidth=2,
        label="estimate" if errors is None else "estimate, 95 % interval",
    )
    if truth is not None:
        axes.plot(
            positions, truth, "D", color=COLORS[1], fillstyle="none", markeredgewidth=1.8, label="truth"
        )
    axes.set(title=title, xticks=positions, xticklabels=classes)
    axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])  # leaves room for the marker of a prior of zero
    if sum(len(str(name)) for name in classes) > _LETTERS_PER_INCH * axes.figure.bbox.width / axes.figure.dpi:
        axes.tick_params(axis="x", labelrotation=90)
    percent_axis(axes.yaxis)
    legend_below(axes, columns=2)


def percent_axis(axis: Axis) -> None:
    """Label fractions as percentages, with as many digits as needed to tell the ticks apart."""
    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(lambda fraction, _: f"{100 * fraction:.4g}%")


def legend_below(axes: Axes, columns: int) -> None:
    """Place the legend of the figure below its axes."""
    axes.figure.legend(loc="outside lower left", ncols=columns)
