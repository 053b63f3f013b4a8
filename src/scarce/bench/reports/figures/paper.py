"""The figures of the paper from our records: overfitting, wrong priors, estimated priors."""

from collections import Counter

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

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
from scarce.bench.results.results import ExperimentResults, TrialIndex
from scarce.bench.spec.trial import Perturbed
from scarce.bench.trials.plan import sigma_text

__all__ = ["draw_overfitting", "draw_prior_estimates", "draw_sensitivity"]

_MARKERS = "osD^vPX*<>"
_UNCORRECTED = "scarce-ure"
_TITLES = {_UNCORRECTED: "uncorrected (URE)", "scarce": "corrected (SCARCE)"}


def draw_overfitting(results: ExperimentResults) -> Drawing | None:
    """Return Figure 1 of the paper, the uncorrected risk beside the corrected one, if both were trained."""
    by_column: dict[tuple[str, str, str], dict[tuple[str, str], list[TrialIndex]]] = {}
    for index, record in results.done.items():
        if record.spec.method in _TITLES and record.curves.get("loss") and record.curves.get("test_accuracy"):
            by_column.setdefault(index.column, {}).setdefault((record.spec.method, index.label), []).append(
                index
            )
    by_column = {
        column: rows for column, rows in by_column.items() if {method for method, _ in rows} == set(_TITLES)
    }
    if not by_column:
        return None
    all_rows = sorted({row for rows in by_column.values() for row in rows})
    n_variants = Counter(method for method, _ in all_rows)
    titles = {row: _TITLES[row[0]] if n_variants[row[0]] == 1 else row[1] for row in all_rows}
    styles = dict(zip(all_rows, line_styles([", ".join(row) for row in all_rows]).values(), strict=True))
    with new_panels(2 * len(by_column), 3.8, 2.8, columns=2) as (figure, panels):
        for number, ((data, setting, model), rows) in enumerate(by_column.items()):
            losses = {row: trial_curves(results, indices, "loss") for row, indices in rows.items()}
            accuracies = {
                row: trial_curves(results, indices, "test_accuracy") for row, indices in rows.items()
            }
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
    accuracies: dict[str, dict[float, list[float]]] = {}
    for index, record in results.done.items():
        priors = record.spec.priors
        if isinstance(priors, Perturbed) and record.accuracy is not None:
            sigma = priors.perturb
            name = ", ".join((index.label.removesuffix(f", {sigma_text(sigma)}"), *index.column))
            accuracies.setdefault(name, {}).setdefault(sigma, []).append(record.accuracy)
    if not accuracies:
        return None
    with new_panels(1, 5.6, 3.6) as (figure, [axes]):
        for number, ((name, by_sigma), style) in enumerate(
            zip(accuracies.items(), line_styles(list(accuracies)).values(), strict=True)
        ):
            sigmas = sorted(by_sigma)
            mean = np.array([np.mean(by_sigma[sigma]) for sigma in sigmas])
            std = np.array([_std(np.array(by_sigma[sigma])) for sigma in sigmas])
            axes.plot(sigmas, mean, marker=_MARKERS[number % len(_MARKERS)], label=legend_name(name), **style)
            axes.fill_between(sigmas, mean - std, mean + std, color=style["color"], alpha=0.16, linewidth=0)
        axes.set(title="Accuracy on the test images", xlabel="σ: how wrong the priors are")
        percent_axis(axes.yaxis)
        legend_below(figure)
    caption = (
        "Test accuracy against the standard deviation σ of the factors by which the true priors were multiplied: mean over "
        "seeds, ± one standard deviation."
    )
    return Drawing("sensitivity", "Wrong priors", caption, figure)


def draw_prior_estimates(results: ExperimentResults) -> Drawing | None:
    """Return the estimated priors of every class beside the paper's, if any were estimated."""
    by_panel: dict[tuple[str, str, str, str], list[TrialIndex]] = {}
    for index in results.done:
        by_panel.setdefault((*index.column, index.label), []).append(index)
    if not by_panel:
        return None
    published = paper_priors()
    with new_panels(len(by_panel), 3.8, 2.8, columns=2) as (figure, panels):
        for axes, ((data, setting, model, label), indices) in zip(panels, by_panel.items(), strict=True):
            values = np.array([results.done[index].priors.values for index in indices], dtype=float)
            classes = np.arange(values.shape[1])
            draw_points(axes, classes - 0.13, values.mean(axis=0), yerr=_std(values), label="ours")
            if results.planned[indices[0]] and data in published:
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
