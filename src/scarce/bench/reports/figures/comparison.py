"""The figures of an experiment, from its records: which ones there are depends on what was run."""

from collections.abc import Sequence
from textwrap import fill

from scarce._plotting import COLORS, INK, percent_axis
from scarce.bench.reports.figures._panels import (
    Drawing,
    draw_band,
    draw_points,
    legend_below,
    legend_name,
    looks_of,
    new_panels,
    trial_curves,
)
from scarce.bench.reports.figures.paper import draw_overfitting, draw_prior_estimates, draw_sensitivity
from scarce.bench.results.results import ExperimentResults, TrialIndex
from scarce.bench.results.tables import ResultTable, make_tables

__all__ = ["draw_study"]

_FEW = 5  # rows that bars side by side can show
_LOW = 20  # per cent; a number has no room in a bar that is lower
_TITLE = 30  # characters of a panel's title in one line


def draw_study(study: ExperimentResults) -> list[Drawing]:
    """Return the figures that the records of a study allow.

    Examples
    --------
    >>> draw_study(ExperimentResults("mine", "Mine", "paper", {}))
    []
    """
    if study.kind == "priors":
        drawings = [draw_prior_estimates(study)]
    else:
        tables = [table for table in make_tables(study) if any(cell.values for cell in table.cells.values())]
        sensitivity = draw_sensitivity(study)  # with it, a row of the table is a point of one line
        compared = [] if sensitivity else _comparisons(tables)
        drawings = [sensitivity, draw_overfitting(study), *compared, *_learning_curves(study)]
    return [drawing for drawing in drawings if drawing is not None]


def _comparisons(tables: Sequence[ResultTable]) -> list[Drawing]:
    """Few methods in one setting are bars; otherwise every setting is a panel of dots."""
    if tables and all(len(table.columns) == 1 and len(table.rows) <= _FEW for table in tables):
        return [_bars(tables)]
    return [_dots(table) for table in tables]


def _bars(tables: Sequence[ResultTable]) -> Drawing:
    rows = list(dict.fromkeys(row for table in tables for row in table.rows))
    width = 0.8 / len(rows)
    with new_panels(1, max(4.4, 0.8 + 0.5 * len(rows) * len(tables)), 3.4) as (figure, [axes]):
        for place, row in enumerate(rows):
            shown = [
                (group + (place - (len(rows) - 1) / 2) * width, cell.summary)
                for group, table in enumerate(tables)
                if (cell := table.cells.get((row, table.columns[0]))) and cell.summary
            ]
            for x, summary in shown:
                is_low = summary.mean < _LOW
                axes.annotate(
                    f"{summary.mean:.1f}",
                    (x, 2 + is_low * (summary.mean + (summary.std or 0.0))),
                    ha="center",
                    va="bottom",
                    rotation=90,
                    color=INK if is_low else "white",
                    weight="bold",
                )
            axes.bar(
                [x for x, _ in shown],
                [summary.mean for _, summary in shown],
                width * 0.92,
                yerr=[summary.std or 0.0 for _, summary in shown],
                color=COLORS[place % len(COLORS)],
                error_kw={"ecolor": INK, "elinewidth": 1.4},
                label=legend_name(row),
            )
        names = [
            f"{table.data}\n{fill(', '.join(filter(None, (table.columns[0], table.model))), _TITLE)}"
            for table in tables
        ]
        axes.set(title="Test accuracy, %", xticks=range(len(tables)), xticklabels=names)
        legend_below(figure)
    caption = "Test accuracy in per cent: mean over seeds, ± one standard deviation."
    return Drawing("comparison", "Comparison", caption, figure)


def _dots(table: ResultTable) -> Drawing:
    places = {row: -place for place, row in enumerate(table.rows)}
    shift = 0.15 if table.has_paper else 0.0
    with new_panels(
        len(table.columns), _width(len(table.columns)), 0.9 + 0.36 * len(table.rows), share="all"
    ) as (figure, panels):
        for axes, column in zip(panels, table.columns, strict=True):
            cells = [(places[row], cell) for row in table.rows if (cell := table.cells.get((row, column)))]
            ours = [(y + shift, cell.summary.mean, cell.summary.std) for y, cell in cells if cell.summary]
            paper = [(y - shift, cell.paper.mean, cell.paper.std) for y, cell in cells if cell.paper]
            for label, points in (("ours", ours), ("paper", paper)):
                if points:
                    y, means, stds = zip(*points, strict=True)
                    draw_points(axes, means, y, xerr=[std or 0.0 for std in stds], label=label)
            for height, mean, _ in ours:
                beside = axes.get_yaxis_transform()
                axes.text(1.02, height - shift, f"{mean:.1f}", transform=beside, va="center", color=COLORS[0])
            axes.set(
                title=fill(column, _TITLE),
                ylim=(min(places.values()) - 0.6, 0.6),
                yticks=list(places.values()),
            )
            axes.set_yticklabels(list(places))
            axes.grid(True, axis="both")
        legend_below(figure)
    caption = f"Test accuracy in per cent on {table.title}: mean over seeds, ± one standard deviation"
    return Drawing(
        f"comparison-{_slug(table.data, table.model)}",
        f"Comparison: {table.title}",
        f"{caption}, and the paper's." if table.has_paper else f"{caption}.",
        figure,
    )


def _learning_curves(study: ExperimentResults) -> list[Drawing]:
    places: dict[tuple[str, str], dict[str, dict[str, list[TrialIndex]]]] = {}
    for slot, record in study.done.items():
        if len(record.curves.get("test_accuracy", [])) > 1:
            settings = places.setdefault((slot.data, slot.model), {})
            settings.setdefault(slot.setting, {}).setdefault(slot.label, []).append(slot)
    looks = looks_of(study.labels)
    drawings = []
    for (data, model), settings in places.items():
        are_apart = False
        with new_panels(len(settings), _width(len(settings)), 2.6, share="y") as (figure, panels):
            for axes, (setting, methods) in zip(panels, settings.items(), strict=True):
                for label in (label for label in study.labels if label in methods):
                    curves = trial_curves(study, methods[label], "test_accuracy")
                    are_apart |= len(curves) > 1
                    draw_band(axes, curves, label, **looks[label])
                axes.set_title(fill(setting, _TITLE))
                percent_axis(axes.yaxis)
            legend_below(figure)
        caption = f"Test accuracy by epoch on {data} with {model}: mean over seeds, ± one standard deviation"
        caption += (
            "; seeds that were trained for different numbers of epochs are drawn apart." if are_apart else "."
        )
        title = f"Learning curves: {data}, {model}"
        drawings.append(Drawing(f"curves-{_slug(data, model)}", title, caption, figure))
    return drawings


def _width(count: int) -> float:
    """Of a panel, in inches: one alone is wider."""
    return 4.8 if count == 1 else 3.1


def _slug(*names: str) -> str:
    """Return a name that any file system takes."""
    return "-".join("".join(c if c.isalnum() or c in "._-" else "-" for c in name) for name in names if name)
