"""The figures of an experiment: comparisons, learning curves, sample sizes, and the figures of the paper if they were run."""

from collections.abc import Sequence
from textwrap import fill

from scarce._plotting import COLORS, INK, percent_axis
from scarce.bench.reports.figures._panels import (
    Drawing,
    draw_band,
    draw_points,
    legend_below,
    legend_name,
    line_styles,
    new_panels,
    trial_curves,
)
from scarce.bench.reports.figures._paper import draw_overfitting, draw_prior_estimates, draw_sensitivity
from scarce.bench.reports.figures._sample_sizes import draw_sample_sizes
from scarce.bench.results._tables import ResultTable, make_tables
from scarce.bench.results.results import ExperimentResults

_MAX_BARS = 5  # per group
_MIN_BAR_HEIGHT = 20  # per cent; the number does not fit into a lower bar
_TITLE_WIDTH = 30  # characters


def draw_figures(results: ExperimentResults) -> list[Drawing]:
    """Return the figures for which there are records.

    Examples
    --------
    >>> from scarce.bench import Plan, collect, load_experiment
    >>> draw_figures(collect(Plan.from_experiment(load_experiment("quick-digits")), []))
    []
    """
    if results.kind == "priors":
        drawings = [draw_prior_estimates(results)]
    else:
        tables = [
            table for table in make_tables(results) if any(cell.values for cell in table.cells.values())
        ]
        sensitivity = draw_sensitivity(results)  # in which each row of the table is a point
        sizes = draw_sample_sizes(results)  # in which each column is a point
        compared = [] if sensitivity or sizes else _comparisons(tables)
        drawings = [sensitivity, sizes, draw_overfitting(results), *compared, *_learning_curves(results)]
    return [drawing for drawing in drawings if drawing is not None]


def _comparisons(tables: Sequence[ResultTable]) -> list[Drawing]:
    """Draw bars for few methods in one setting, otherwise a panel of dots per setting."""
    if tables and all(len(table.columns) == 1 and len(table.rows) <= _MAX_BARS for table in tables):
        return [_bars(tables)]
    return [_dots(table) for table in tables]


def _bars(tables: Sequence[ResultTable]) -> Drawing:
    rows = list(dict.fromkeys(row for table in tables for row in table.rows))
    width = 0.8 / len(rows)
    with new_panels(1, max(4.4, 0.8 + 0.5 * len(rows) * len(tables)), 3.4) as (figure, [axes]):
        for number, row in enumerate(rows):
            bars = [
                (group + (number - (len(rows) - 1) / 2) * width, cell.summary)
                for group, table in enumerate(tables)
                if (cell := table.cells.get((row, table.columns[0]))) and cell.summary
            ]
            for x, summary in bars:
                is_low = summary.mean < _MIN_BAR_HEIGHT
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
                [x for x, _ in bars],
                [summary.mean for _, summary in bars],
                width * 0.92,
                yerr=[summary.std or 0.0 for _, summary in bars],
                color=COLORS[number % len(COLORS)],
                error_kw={"ecolor": INK, "elinewidth": 1.4},
                label=legend_name(row),
            )
        names = [
            f"{table.data}\n{fill(', '.join(filter(None, (table.columns[0], table.model))), _TITLE_WIDTH)}"
            for table in tables
        ]
        axes.set(title="Test accuracy, %", xticks=range(len(tables)), xticklabels=names)
        legend_below(figure)
    caption = "Test accuracy in per cent: mean over seeds, ± one standard deviation."
    return Drawing("comparison", "Comparison", caption, figure)


def _dots(table: ResultTable) -> Drawing:
    heights = {row: -number for number, row in enumerate(table.rows)}
    shift = 0.15 if table.has_paper else 0.0
    with new_panels(
        len(table.columns), _panel_width(len(table.columns)), 0.9 + 0.36 * len(table.rows), share="all"
    ) as (figure, panels):
        for axes, column in zip(panels, table.columns, strict=True):
            cells = [(heights[row], cell) for row in table.rows if (cell := table.cells.get((row, column)))]
            ours = [(y + shift, cell.summary.mean, cell.summary.std) for y, cell in cells if cell.summary]
            paper = [(y - shift, cell.paper.mean, cell.paper.std) for y, cell in cells if cell.paper]
            for label, points in (("ours", ours), ("paper", paper)):
                if points:
                    y, means, stds = zip(*points, strict=True)
                    draw_points(axes, means, y, xerr=[std or 0.0 for std in stds], label=label)
            for height, mean, _ in ours:
                right_margin = axes.get_yaxis_transform()
                axes.text(
                    1.02, height - shift, f"{mean:.1f}", transform=right_margin, va="center", color=COLORS[0]
                )
            axes.set(
                title=fill(column, _TITLE_WIDTH),
                ylim=(min(heights.values()) - 0.6, 0.6),
                yticks=list(heights.values()),
            )
            axes.set_yticklabels(list(heights))
            axes.grid(True, axis="both")
        legend_below(figure)
    caption = f"Test accuracy in per cent on {table.title}: mean over seeds, ± one standard deviation"
    return Drawing(
        f"comparison-{_slug(table.data, table.model)}",
        f"Comparison: {table.title}",
        f"{caption}, and the paper's." if table.has_paper else f"{caption}.",
        figure,
    )


def _learning_curves(results: ExperimentResults) -> list[Drawing]:
    done = results.done
    n_epochs = done.record.map(lambda record: len(record.curves.get("test_accuracy", []))).astype(int)
    trials = done[n_epochs > 1]
    styles = line_styles(results.labels)
    drawings = []
    for (data, model), by_setting in trials.groupby(["data", "model"], sort=False):
        n_settings = by_setting.setting.nunique()
        lengths_differ = False
        with new_panels(n_settings, _panel_width(n_settings), 2.6, share="y") as (figure, panels):
            for axes, (setting, methods) in zip(
                panels, by_setting.groupby("setting", sort=False), strict=True
            ):
                by_label = dict(list(methods.groupby("label")))
                for label in (label for label in results.labels if label in by_label):
                    curves = trial_curves(by_label[label], "test_accuracy")
                    lengths_differ |= len(curves) > 1
                    draw_band(axes, curves, label, **styles[label])
                axes.set_title(fill(setting, _TITLE_WIDTH))
                percent_axis(axes.yaxis)
            legend_below(figure)
        caption = f"Test accuracy by epoch on {data} with {model}: mean over seeds, ± one standard deviation"
        caption += "; seeds with different numbers of epochs are drawn separately." if lengths_differ else "."
        title = f"Learning curves: {data}, {model}"
        drawings.append(Drawing(f"curves-{_slug(data, model)}", title, caption, figure))
    return drawings


def _panel_width(count: int) -> float:
    """Return the width of a panel in inches; a single panel is wider."""
    return 4.8 if count == 1 else 3.1


def _slug(*names: str) -> str:
    """Return a name that is valid on every file system."""
    return "-".join("".join(c if c.isalnum() or c in "._-" else "-" for c in name) for name in names if name)
