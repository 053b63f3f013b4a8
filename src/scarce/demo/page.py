"""The demonstration as one self-contained HTML page."""

import io
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray
from PIL import Image

from scarce._html import data_uri, make_environment
from scarce._plotting import (
    COLORS,
    DASHES,
    INK,
    draw_priors,
    figure_svg,
    legend_below,
    new_axes,
    percent_axis,
)
from scarce.demo.study import QUESTIONS, Demo
from scarce.training import PAPER

__all__ = ["COLUMNS", "is_report", "render_report", "result_rows"]

COLUMNS = ("method", "learned from", "without truth", "truth", "within 2 s.e.")
_GENERATOR_TAG = '<meta name="generator" content="scarce demo">'
_PACKAGES = ("scarce", "torch", "numpy", "scikit-learn")


@dataclass(frozen=True)
class _Curve:
    """A number per epoch; with `spread`, also a band of that half-width around `center`."""

    name: str
    values: Sequence[float]
    center: Sequence[float] | None = None
    spread: Sequence[float] | None = None


def render_report(demo: Demo, command: str) -> str:
    """Return the page that shows the questions, the learning curves, and how good the classifiers are.

    Parameters
    ----------
    demo : Demo
        From `scarce.demo.study.run_demo`.
    command : str
        The command that reproduces this page.

    Examples
    --------
    >>> from scarce.demo.study import run_demo
    >>> render_report(run_demo(epochs=1), "scarce demo").splitlines()[0]
    '<!doctype html>'
    """
    environment = make_environment("scarce.demo")
    environment.filters["percent"] = _percent
    return environment.get_template("demo.html").render(
        demo=demo,
        generator_tag=_GENERATOR_TAG,
        command=command,
        questions=QUESTIONS,
        recipe=PAPER,
        images=[(data_uri(_png(image.pixels), "png"), image.answers) for image in demo.images],
        figures={name: data_uri(svg.encode(), "svg+xml") for name, svg in _figures(demo).items()},
        classes=_class_rows(demo),
        below_zero=next((epoch for epoch, risk in enumerate(demo.uncorrected.risks, 1) if risk < 0), None),
        best_epoch=int(np.argmax(demo.uncorrected.accuracies)) + 1,
        columns=COLUMNS,
        rows=result_rows(demo),
        versions={"Python": platform.python_version()} | {name: version(name) for name in _PACKAGES},
    )


def result_rows(demo: Demo) -> list[tuple[str, ...]]:
    """Return the table of results: a tuple per run with the texts of `COLUMNS`."""
    return [
        (
            run.title,
            run.learned_from,
            f"{_percent(run.estimates[-1])} ± {_percent(run.standard_errors[-1])} %",
            f"{_percent(run.accuracies[-1])} %",
            "yes" if run.agrees else "no",
        )
        for run in demo.runs
    ]


def is_report(path: Path) -> bool:
    """Return whether a file is a page of the demonstration, which a new page may replace.

    Examples
    --------
    >>> is_report(Path("nowhere.html"))
    False
    """
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _GENERATOR_TAG.encode() in file.read(1000)


def _figures(demo: Demo) -> dict[str, str]:
    estimate = demo.priors
    assert estimate.low is not None
    assert estimate.high is not None
    with new_axes() as priors:
        names = demo.labels.classes.tolist()
        draw_priors(priors, names, estimate.raw, estimate.low, estimate.high, demo.frequencies,
                    "Share of each digit")  # fmt: skip
    with new_axes() as risks:
        _draw_risks(risks, [_Curve(run.title, run.risks) for run in (demo.corrected, demo.uncorrected)])
    with new_axes() as accuracies:
        curves = [
            _Curve(run.title, run.accuracies, run.estimates, [2 * error for error in run.standard_errors])
            for run in demo.runs
        ]
        _draw_accuracies(accuracies, curves)
    axes = {"priors": priors, "risks": risks, "accuracies": accuracies}
    return {name: figure_svg(each.figure) for name, each in axes.items()}


def _draw_risks(axes: Axes, curves: Sequence[_Curve]) -> None:
    """Draw risks by epoch, with a line at zero: a true risk cannot be negative."""
    for curve, color, line in zip(curves, COLORS, DASHES, strict=False):
        axes.plot(_epochs(curve), curve.values, line, color=color, label=curve.name)
    axes.axhline(0, color=INK, linewidth=1, zorder=1)
    axes.set(title="Risk on the training answers", xlabel="epoch")
    legend_below(axes, columns=2)


def _draw_accuracies(axes: Axes, curves: Sequence[_Curve]) -> None:
    """Draw accuracies by epoch, and the band of each curve that has one."""
    for curve, color, line in zip(curves, COLORS, DASHES, strict=False):
        axes.plot(_epochs(curve), curve.values, line, color=color, label=curve.name)
        if curve.center is not None and curve.spread is not None:
            low, high = np.subtract(curve.center, curve.spread), np.add(curve.center, curve.spread)
            axes.fill_between(_epochs(curve), low, high, color=color, alpha=0.16, linewidth=0)
    axes.set(title="Accuracy on the test images", xlabel="epoch", ylim=(0, 1.02))
    percent_axis(axes.yaxis)
    legend_below(axes, columns=2)


def _epochs(curve: _Curve) -> range:
    return range(1, len(curve.values) + 1)


def _class_rows(demo: Demo) -> list[dict[str, Any]]:
    """Return a row per class: the number of answers about it, its estimated prior and its true prior."""
    assert demo.labels.answers is not None
    assert demo.priors.low is not None
    assert demo.priors.high is not None
    yes, no = demo.labels.answers.counts(demo.labels.n_classes)
    columns = {
        "name": demo.labels.classes,
        "yes": yes,
        "no": no,
        "low": demo.priors.low,
        "prior": demo.priors.raw,
        "high": demo.priors.high,
        "truth": demo.frequencies,
        "covered": (demo.priors.low <= demo.frequencies) & (demo.frequencies <= demo.priors.high),
    }
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f}"


def _png(pixels: NDArray[np.uint8]) -> bytes:
    file = io.BytesIO()
    Image.fromarray(255 - pixels).save(file, "png")  # dark ink on white paper
    return file.getvalue()
