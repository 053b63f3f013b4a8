"""Figures of several panels in the shared style, with distinct line styles for a dozen methods."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from pandas import DataFrame

from scarce._plotting import COLORS, DASHES, new_axes

__all__ = [
    "Drawing",
    "draw_band",
    "draw_points",
    "legend_below",
    "legend_name",
    "line_styles",
    "new_panels",
    "trial_curves",
]


@dataclass(frozen=True)
class Drawing:
    """A figure with the name of its files, its title and its caption."""

    name: str
    title: str
    caption: str
    figure: Figure


@contextmanager
def new_panels(
    count: int, width: float, height: float, columns: int = 3, share: Literal["none", "y", "all"] = "none"
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Yield a figure of `count` panels, each `width` by `height` inches, in rows of at most `columns`.

    Examples
    --------
    >>> with new_panels(4, 2.0, 2.0) as (figure, panels):
    ...     len(figure.axes)
    4
    """
    columns = min(columns, count)
    rows = ceil(count / columns)
    with new_axes(width * columns + 0.4, height * rows + 0.1) as first:
        figure = first.figure
        assert isinstance(figure, Figure)
        first.remove()
        grid = figure.subplots(rows, columns, squeeze=False, sharex=share == "all", sharey=share != "none")
        panels = list(grid.flat)
        for axes in panels[count:]:
            axes.remove()
        for axes in panels[max(0, count - columns) : count]:  # the lowest of each column, even above a gap
            axes.tick_params(labelbottom=True)
        yield figure, panels[:count]


def line_styles(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a color and a dash pattern for every name, as keyword arguments of matplotlib."""
    return {
        name: {"color": COLORS[number % len(COLORS)], "linestyle": DASHES[number % len(DASHES)]}
        for number, name in enumerate(names)
    }


def legend_name(label: str) -> str:
    """Return a label that matplotlib shows in legends even if it starts with an underscore.

    Examples
    --------
    >>> legend_name("scarce"), len(legend_name("_mine")), legend_name("_mine").isprintable()
    ('scarce', 6, False)
    """
    return f"\N{ZERO WIDTH SPACE}{label}" if label.startswith("_") else label


def draw_band(axes: Axes, groups: Sequence[NDArray[np.float64]], label: str, **style: Any) -> None:
    """Draw the mean of the curves of each group, and a band of one standard deviation if it has several."""
    for rows in groups:
        epochs, mean = range(1, rows.shape[1] + 1), rows.mean(axis=0)
        axes.plot(epochs, mean, label=legend_name(label), **style)
        if len(rows) > 1:
            std = rows.std(axis=0, ddof=1)
            axes.fill_between(epochs, mean - std, mean + std, color=style["color"], alpha=0.16, linewidth=0)
    axes.set_xlabel("epoch")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def draw_points(axes: Axes, x: Any, y: Any, *, label: str, **spread: Any) -> None:
    """Draw numbers with their standard deviations: ours as filled dots, the paper's as open diamonds."""
    marker, color, face = ("D", COLORS[1], "white") if label == "paper" else ("o", COLORS[0], COLORS[0])
    style: dict[str, Any] = {"color": color, "markerfacecolor": face, "markersize": 5.5, "elinewidth": 1.5}
    axes.errorbar(x, y, fmt=marker, label=label, **(style | spread))


def trial_curves(trials: DataFrame, name: str) -> list[NDArray[np.float64]]:
    """Return the curves of the trials: one array of shape (n_trials, n_epochs) per length, with NaN for None."""
    by_length: dict[int, list[Sequence[float | None]]] = {}
    for record in trials.record:
        by_length.setdefault(len(record.curves[name]), []).append(record.curves[name])
    return [np.array(rows, dtype=float) for rows in by_length.values()]


def legend_below(figure: Figure) -> None:
    """Put one legend for all panels below them, in as many columns as fit."""
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    max_columns = figure.get_figwidth() / (0.6 + 0.085 * max(map(len, handles)))  # inches per character
    columns = max(1, min(len(handles), int(max_columns)))
    figure.set_figheight(
        figure.get_figheight() + 0.24 * ceil(len(handles) / columns)
    )  # extra height, so that the panels keep their size
    figure.legend(list(handles.values()), list(handles), loc="outside lower left", ncols=columns)
