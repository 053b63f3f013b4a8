"""The figures of the paper, drawn from our records: overfitting, wrong priors, estimated priors."""

from collections import Counter

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from pandas import DataFrame

from scarce._plotting import COLORS, INK, percent_axis
from scarce.bench.reports.figures.panels import (
    Drawing,
    draw_band,
    draw_points,
    legend_below,
    legend_name,
    line_styles,
    new_panels,
    trial_curves,
)
from scarce.bench.results.paper import paper_priors
from scarce.bench.results.results import COLUMN, ExperimentResults
from scarce.bench.spec.trial import Perturbed
from scarce.bench.trials.specs import sigma_text

__all__ = ["draw_overfitting", "draw_prior_estimates", "draw_sensitivity"]

_MARKERS = "osD^vPX*<>"
_UNCORRECTED = "scarce-ure"
_TITLES = {_UNCORRECTED: "uncorrected (URE)", "scarce": "corrected (SCARCE)"}


def draw_overfitting(results: ExperimentResults) -> Drawing | None:
    """Return Figure 1 of the paper, the uncorrected risk and the corrected risk, if both were trained."""
    done = results.done[results.done.method.isin(_TITLES)]
    has_curves = done.record.map(
        lambda record: all(record.curves.get(name) for name in ("loss", "test_accuracy"))
    )
    trials = done[has_curves.astype(bool)]
    by_column = {
        column: dict(list(rows.groupby(["method", "label"], sort=False)))
        for column, rows in trials.groupby(COLUMN, sort=False)
        if rows.method.nunique() == len(_TITLES)
    }
    if not by_column:
        return None
    all_rows = sorted({row for rows in by_column.values() for row in rows})
    n_variants = Counter(method for method, _ in all_rows)
    titles = {row: _TITLES[row[0]] if n_variants[row[0]] == 1 else row[1] for row in all_rows}
    styles = dict(zip(all_rows, line_styles([", ".join(row) for row in all_rows]).values(), strict=True))
    with new_panels(2 * len(by_column), 3.8, 2.8, columns=2) as (figure, panels):
        for number, ((data, setting, model), rows) in enumerate(by_column.items()):
            losses = {row: trial_curves(trials, "loss") for row, trials in rows.items()}
            accuracies = {row: trial_curves(trials, "test_accuracy") for row, trials in rows.items()}
            negative_from = [
                int(epoch) + 1
                for (method, _), groups in losses.items()
                if method == _UNCORRECTED
                for curves in groups
                for epoch in np.flatnonzero(curves.mean(axis=0) < 0)[:1]
            ]
            for axes, curves, what in zip(
                panels[2 * number :], (losses, accuracies), ("training risk", "test accuracy"), strict=False
            ):
                for row in rows:
                    draw_band(axes, curves[row], titles[row], **styles[row])
                for epoch in negative_from:
                    axes.axvline(epoch, color=COLORS[3], linestyle=":", linewidth=1.4, zorder=1)
                axes.set_title(f"{data}, {setting}, {model}\n{what}")
            panels[2 * number].axhline(0, color=INK, linewidth=1, zorder=1)
            percent_axis(panels[2 * number + 1].yaxis)
        legend_below(figure)
    caption = (
        "Training risk and test accuracy by epoch, with and without correction: mean over seeds, ± one standard deviation. "
        "The dotted line marks the first epoch with a negative mean of the uncorrected risk, which no true risk can have."
    )
    return Drawing("overfitting", "Overfitting without correction", caption, figure)


def draw_sensitivity(results: ExperimentResults) -> Drawing | None:
    """Return Figure 2 (b) of the paper, the accuracy with wrong priors, if there are such trials."""
    rows = []
    for trial in results.done.dropna(subset="accuracy").itertuples():
        priors = trial.record.spec.priors
        if isinstance(priors, Perturbed):
            label = trial.label.removesuffix(f", {sigma_text(priors.perturb)}")
            name = ", ".join((label, trial.data, trial.setting, trial.model))
            rows.append((name, priors.perturb, trial.accuracy))
    if not rows:
        return None
    trials = DataFrame(rows, columns=["name", "sigma", "accuracy"])
    styles = line_styles(trials["name"].unique())
    with new_panels(1, 5.6, 3.6) as (figure, [axes]):
        for number, (name, by_sigma) in enumerate(trials.groupby("name", sort=False)):
            accuracy = by_sigma.groupby("sigma").accuracy
            mean, std = accuracy.mean(), accuracy.std().fillna(0.0)  # zero for a single run
            marker, style = _MARKERS[number % len(_MARKERS)], styles[name]
            axes.plot(mean.index, mean, marker=marker, label=legend_name(name), **style)
            axes.fill_between(
                mean.index, mean - std, mean + std, color=style["color"], alpha=0.16, linewidth=0
            )
        axes.set(title="Accuracy on the test images", xlabel="σ: how wrong the priors are")
        percent_axis(axes.yaxis)
        legend_below(figure)
    caption = (
        "Test accuracy against the standard deviation σ of the factors by which the true priors were multiplied: mean over "
        "seeds, ± one standard deviation."
    )
    return Drawing("sensitivity", "Wrong priors", caption, figure)


def draw_prior_estimates(results: ExperimentResults) -> Drawing | None:
    """Return the estimated priors of each class and those of the paper, if any were estimated."""
    by_panel = results.done.groupby([*COLUMN, "label"], sort=False)
    if not len(by_panel):
        return None
    published = paper_priors()
    with new_panels(len(by_panel), 3.8, 2.8, columns=2) as (figure, panels):
        for axes, ((data, setting, model, label), trials) in zip(panels, by_panel, strict=True):
            values = np.array([record.priors.values for record in trials.record], dtype=float)
            classes = np.arange(values.shape[1])
            draw_points(axes, classes - 0.13, values.mean(axis=0), yerr=_std(values), label="ours")
            if trials.paper.iloc[0] and data in published:
                mean, std = published[data]
                draw_points(axes, classes + 0.13, mean, yerr=std, label="paper")
            axes.set(title=f"{data}, {setting}\n{label}, {model}", xlabel="class", ylim=(0, None))
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))  # whole per cents
            percent_axis(axes.yaxis)
        legend_below(figure)
    caption = "Estimated class priors: mean over seeds, ± one standard deviation, and the paper's where it has them."
    return Drawing("priors", "Estimated class priors", caption, figure)


def _std(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation over the first axis; zero for a single row."""
    return np.asarray(rows.std(axis=0, ddof=1) if len(rows) > 1 else np.zeros(rows.shape[1:]))
