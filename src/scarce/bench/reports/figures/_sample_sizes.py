"""The accuracy of classifiers against the number of training images."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.isotonic import isotonic_regression

from scarce._plotting import percent_axis
from scarce.bench.reports.figures._panels import Drawing, line_styles, new_panels
from scarce.bench.results.results import ExperimentResults
from scarce.bench.spec.trial import TrialSpec
from scarce.bench.trials._specs import size_text
from scarce.datasets.registry import facts_of

_MIN_SIZES = 3  # points of a line
_MARKERS = "osD^vPX*<>"
_LABEL_HEIGHT = 0.07  # of the height of a panel


def draw_sample_sizes(results: ExperimentResults) -> Drawing | None:
    """Return the accuracy against the number of training images, if a row has results for at least three numbers.

    There is a panel for every data set and setting. Rows that are trained on true labels are in all panels of their data set.
    """
    trials = _trials_by_size(results)
    if trials.empty:
        return None
    compared = trials[~trials.has_true_labels]
    panels = list((trials if compared.empty else compared).groupby(["data", "setting"], sort=False).groups)
    styles = {
        label: style | {"marker": _MARKERS[number % len(_MARKERS)]}
        for number, (label, style) in enumerate(line_styles(results.labels).items())
    }
    with new_panels(len(panels), 5.2, 3.4, columns=2, share="y") as (figure, all_axes):
        for axes, (data, setting) in zip(all_axes, panels, strict=True):
            is_shown = (trials.setting == setting) | trials.has_true_labels
            shown = trials[(trials.data == data) & is_shown]
            ends = {}
            for label, rows in shown.groupby("label", sort=False):
                accuracy = rows.groupby("n_train").accuracy
                mean, std = accuracy.mean(), accuracy.std().fillna(0.0)  # zero for a single run
                style = styles[label]
                axes.plot(mean.index, mean, **style)
                axes.fill_between(
                    mean.index, mean - std, mean + std, color=style["color"], alpha=0.16, linewidth=0
                )
                ends[label] = mean.index[-1], mean.iloc[-1]
            sizes = sorted(shown.n_train.unique())
            axes.set(
                title=f"{data}, {setting}", xlabel="training images", ylabel="test accuracy", xscale="log"
            )
            axes.xaxis.set_major_locator(FixedLocator(sizes))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
            percent_axis(axes.yaxis)
            _label_ends(axes, ends, {label: style["color"] for label, style in styles.items()})
    caption = (
        "Test accuracy against the number of training images: mean over seeds, ± one standard deviation."
    )
    if trials.has_true_labels.any() and not compared.empty:
        names = ", ".join(trials.label[trials.has_true_labels].unique())
        caption += f" For comparison, {names}: labels that exclude every wrong class."
    return Drawing("sample-sizes", "Accuracy by the number of training images", caption, figure)


def spread(heights: Sequence[float], gap: float) -> NDArray[np.float64]:
    """Return the heights of labels that are at least `gap` apart, in the same order and as close to the given ones as possible.

    Examples
    --------
    >>> spread([0.5, 0.9, 0.5], 0.1).round(3).tolist()
    [0.45, 0.9, 0.55]
    """
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(order))
    placed = np.empty(len(order))
    placed[order] = isotonic_regression(np.asarray(heights, float)[order] - steps) + steps
    return placed


def _trials_by_size(results: ExperimentResults) -> DataFrame:
    """Return the trials of rows with enough numbers of training images; their settings are without the number."""
    rows = []
    for trial in results.done.itertuples():
        spec = trial.record.spec
        if spec.split == "standard":
            setting = spec.setting.removesuffix(f", {size_text(spec.n_train)}")
            rows.append(
                (spec.data, setting, trial.label, spec.n_train, trial.accuracy, _has_true_labels(spec))
            )
    trials = DataFrame(
        rows, columns=["data", "setting", "label", "n_train", "accuracy", "has_true_labels"]
    ).astype({"has_true_labels": bool})
    n_sizes = trials.groupby(["data", "setting", "label"]).n_train.transform("nunique")
    return trials[n_sizes >= _MIN_SIZES]


def _has_true_labels(spec: TrialSpec) -> bool:
    """Return whether the labels of a trial exclude every wrong class."""
    n_wrong = facts_of(spec.data).n_classes - 1
    return spec.process == "uniform-multiple" and spec.setting_params.get("sizes") == n_wrong


def _label_ends(axes: Axes, ends: dict[str, tuple[float, float]], colors: dict[str, str]) -> None:
    """Write the name of each line at its right end, moved up or down if names would overlap."""
    low, high = axes.get_ylim()
    heights = spread([y for _, y in ends.values()], _LABEL_HEIGHT * (high - low))
    for (label, (x, _)), height in zip(ends.items(), heights, strict=True):
        axes.annotate(
            label, (x, height), (8, 0), textcoords="offset points", va="center", color=colors[label],
            annotation_clip=False,
        )  # fmt: skip
