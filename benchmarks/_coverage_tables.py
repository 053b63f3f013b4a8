"""The tables of the coverage study: records to Markdown."""

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import sklearn
import torch
from scipy.stats import binom

from _coverage_cells import (
    COLLAPSED_FRACTION,
    COLLAPSED_PRIOR,
    DATA,
    FAR_OFF,
    FEW_ROWS,
    LABELS,
    MAX_FALSE_ALARMS,
    MAX_LOSS,
    MAX_ROWS,
    MIN_ALARMED,
    MIN_CLOSE,
    MIN_COVERAGE,
    MIN_MEDIOCRE_ACCURACY,
    MNIST_TEST,
    MNIST_TRAIN,
    MODELS,
    P_CLEAR,
    SEED,
    Key,
    Record,
)
from scarce import __version__

# Tables


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], n_text: int) -> list[str]:
    """Return the lines of a Markdown table; the columns after the first `n_text` are numbers."""
    ruler = "|" + "---|" * n_text + "---:|" * (len(columns) - n_text)
    return [f"| {' | '.join(columns)} |", ruler, *(f"| {' | '.join(row)} |" for row in rows), ""]


def percent(fraction: float | None) -> str:
    return "–" if fraction is None else f"{100 * fraction:.0f}"


def points(value: float) -> str:
    return f"{100 * value:+.1f}"


def alarm_names(record: Record) -> str:
    named = sorted(record["alarms"].items(), key=lambda pair: -pair[1])
    return ", ".join(f"{name} {percent(share)}" for name, share in named) or "–"


def where(record: Record) -> list[str]:
    return [record["data"], LABELS[record["labels"]].title, record["priors"], record["model"]]


def far_alarmed_fraction(cells: Sequence[Record]) -> float | None:
    """Return the fraction of the repeats that have an alarm, among those far from the truth."""
    n_far = sum(cell["n_far"] for cell in cells)
    return 1 - sum(cell["n_missed"] for cell in cells) / n_far if n_far else None


def is_clear(record: Record) -> bool:
    """Return whether the coverage is significantly below the goal."""
    n = record["repeats"]
    return bool(binom.cdf(round(record["coverage"] * n), n, MIN_COVERAGE) < P_CLEAR)


def goal_lines(cells: Sequence[Record], selection: Sequence[Record]) -> list[str]:
    """Return the goals and the results."""
    holding = [cell for cell in cells if cell["holds"]]
    violated = [cell for cell in cells if not cell["holds"] and cell["n_far"]]
    healthy = [cell for cell in holding if cell["model"] == "good"]
    below = [cell for cell in holding if cell["coverage"] < MIN_COVERAGE]
    silent = [cell for cell in violated if cell["far_alarmed"] < MIN_ALARMED]
    false = [cell for cell in healthy if cell["alarmed"] >= MAX_FALSE_ALARMS]
    false_otherwise = [
        cell
        for cell in false
        if sum(share for name, share in cell["alarms"].items() if name != "few-labels") >= MAX_FALSE_ALARMS
    ]
    worse = [cell for cell in selection if cell["within"] < MIN_CLOSE]
    n_far = sum(cell["n_far"] for cell in violated)
    n_misleading = sum(cell["n_misleading"] for cell in violated)
    misled = 1 - sum(cell["n_misled"] for cell in violated) / max(n_misleading, 1)
    mean_coverage = np.mean([cell["coverage"] for cell in holding])
    rows = [
        [
            f"coverage at least {percent(MIN_COVERAGE)} % where the assumptions hold",
            f"mean {100 * mean_coverage:.1f} %",
            f"{len(below)} of {len(holding)} below, {sum(map(is_clear, below))} clearly",
        ],
        [
            f"where they do not: an alarm in at least {percent(MIN_ALARMED)} % of the repeats off by more than "
            f"{percent(FAR_OFF)} points",
            f"{percent(far_alarmed_fraction(violated))} % of {n_far:,} such repeats; {percent(misled)} % of the "
            f"{n_misleading:,} whose interval does not cover the truth",
            f"{len(silent)} of {len(violated)} with such repeats below",
        ],
        [
            f"alarms on healthy fits (good model, assumptions hold) below {percent(MAX_FALSE_ALARMS)} %",
            f"mean {100 * np.mean([cell['alarmed'] for cell in healthy]):.1f} %" if healthy else "–",
            f"{len(false)} of {len(healthy)} not below, {len(false_otherwise)} of them by alarms other than few-labels",
        ],
        [
            f"selection within {percent(MAX_LOSS)} points of the best in at least {percent(MIN_CLOSE)} %",
            f"mean {100 * np.mean([cell['within'] for cell in selection]):.1f} %" if selection else "–",
            f"{len(worse)} of {len(selection)} below",
        ],
    ]
    lines = ["## Goals", "", *table(["goal", "reached", "cells"], rows, 3)]
    lines += [
        f'"Clearly" below: at a true coverage of {percent(MIN_COVERAGE)} % so few intervals would cover in less than '
        f"{P_CLEAR:.0%} of all runs.",
        "",
    ]
    if below:
        rows = [
            [
                *where(cell),
                percent(cell["coverage"]) + (" *" if is_clear(cell) else ""),
                percent(cell["truth"]),
                points(cell["bias"]),
                f"{100 * cell['spread']:.1f}",
                f"{100 * cell['width']:.0f}",
            ]
            for cell in sorted(below, key=lambda cell: float(cell["coverage"]))
        ]
        columns = [
            "data",
            "labels",
            "priors",
            "model",
            "coverage (%)",
            "truth (%)",
            "bias",
            "spread",
            "width",
        ]
        lines += ["Below the goal of coverage (* clearly); bias, spread and width in points:", ""]
        lines += table(columns, rows, 4)
    if silent:
        rows = [
            [*where(cell), str(cell["n_far"]), percent(cell["far_alarmed"]), points(cell["bias"])]
            for cell in sorted(silent, key=lambda cell: -int(cell["n_missed"]))
        ]
        columns = ["data", "labels", "priors", "model", "repeats far off", "with an alarm (%)", "bias"]
        lines += ["Far off without an alarm:", "", *table(columns, rows, 4)]
    if false:
        rows = [[*where(cell), percent(cell["alarmed"]), alarm_names(cell)] for cell in false]
        columns = ["data", "labels", "priors", "model", "alarms (%)", "by name (%)"]
        lines += ["False alarms:", "", *table(columns, rows, 4)]
    return lines


def summary_lines(cells: Sequence[Record]) -> list[str]:
    """Return coverage, width and alarms over all data sets, by label kind and model."""
    lines = ["## Over all data sets", ""]
    columns = ["labels", "priors", "assumptions", *MODELS]
    kinds = [(kind, variant) for kind, one in LABELS.items() for variant in one.variants]

    def rows_of(show: Callable[[list[Record]], str]) -> Iterator[list[str]]:
        for kind, variant in kinds:
            of = {
                model: [
                    cell
                    for cell in cells
                    if (cell["labels"], cell["priors"], cell["model"]) == (kind, variant.name, model)
                ]
                for model in MODELS
            }
            if any(of.values()):
                shown = [show(of[model]) if of[model] else "–" for model in MODELS]
                yield [LABELS[kind].title, variant.name, "hold" if variant.holds else "violated", *shown]

    def mean_and(name: str, extreme: Callable[[list[float]], float]) -> Callable[[list[Record]], str]:
        def show(found: list[Record]) -> str:
            values = [float(cell[name]) for cell in found]
            return f"{100 * np.mean(values):.1f} ({percent(extreme(values))})"

        return show

    def far(found: list[Record]) -> str:
        n_far = sum(cell["n_far"] for cell in found)
        return f"{n_far} ({percent(far_alarmed_fraction(found))})" if n_far else "0"

    def biases(found: list[Record]) -> str:
        values = [float(cell["bias"]) for cell in found]
        return f"{points(float(np.mean(values)))} ({points(max(values, key=abs))})"

    shown: list[tuple[str, Callable[[list[Record]], str]]] = [
        (
            "Coverage of the 95 % interval, in percent: mean (minimum) over data sets",
            mean_and("coverage", min),
        ),
        ("Estimate minus truth, in points: mean (largest) over data sets", biases),
        ("Width of the interval, in points: mean (largest)", mean_and("width", max)),
        ("Repeats with an alarm, in percent: mean (largest)", mean_and("alarmed", max)),
        (f"Repeats off by more than {percent(FAR_OFF)} points (percent of them with an alarm)", far),
    ]
    for title, show in shown:
        lines += [f"### {title}", "", *table(columns, rows_of(show), 3)]
    return lines


def detail_lines(cells: Sequence[Record]) -> list[str]:
    """Return a table for every data set."""
    columns = [
        "labels",
        "priors",
        "model",
        "coverage",
        "bias",
        "spread",
        "width",
        "far",
        "alarm",
        "alarms by name",
    ]
    lines = ["## By data set", "", "In percent and points; `far` is the number of repeats far off.", ""]
    for name in dict.fromkeys(cell["data"] for cell in cells):
        found = [cell for cell in cells if cell["data"] == name]
        truths = {cell["model"]: cell["truth"] for cell in found}
        known = ", ".join(f"{model} {100 * truth:.1f} %" for model, truth in truths.items())
        rows = [
            [
                *where(cell)[1:],
                percent(cell["coverage"]),
                points(cell["bias"]),
                f"{100 * cell['spread']:.1f}",
                f"{100 * cell['width']:.0f}",
                str(cell["n_far"]),
                percent(cell["alarmed"]),
                alarm_names(cell),
            ]
            for cell in found
        ]
        title = f"### {name}: {found[0]['n_rows']} rows per repeat; true accuracies {known}"
        lines += [title, "", *table(columns, rows, 3)]
    return lines


def selection_lines(selection: Sequence[Record]) -> list[str]:
    """Return how often the choice is close to the best model, by data set and label kind."""
    names = [name for name in DATA if any(cell["data"] == name for cell in selection)]
    found = {(cell["data"], cell["labels"], cell["size"]): cell for cell in selection}
    lines = [
        "## Model selection",
        "",
        f"Percent of the repeats in which the model with the highest estimated accuracy of eight (two of them collapsed) is within "
        f"{percent(MAX_LOSS)} points of the best; priors and error rates estimated from the labels, once for all models. In "
        "brackets the mean loss of accuracy in points.",
        "",
    ]
    sizes = {"many": f"{MAX_ROWS} rows, at most twice the population", "few": f"{FEW_ROWS} rows"}
    for size, title in sizes.items():
        rows = []
        for kind, one in LABELS.items():
            of = [found.get((name, kind, size)) for name in names]
            if any(of):
                shown = [f"{percent(c['within'])} ({100 * c['mean_loss']:.1f})" if c else "–" for c in of]
                rows.append([one.title, *shown])
        lines += [f"### {title}", "", *table(["labels", *names], rows, 1)]
    truths = {name: next(cell["truth"] for cell in selection if cell["data"] == name) for name in names}
    columns = ["data", *next(iter(truths.values()), {})]
    rows = [[name, *(f"{100 * value:.1f}" for value in truth.values())] for name, truth in truths.items()]
    return [*lines, "True accuracies of the models, in percent:", "", *table(columns, rows, 1)]


def report(records: Mapping[Key, Record]) -> str:
    """Return all tables as Markdown."""
    cells = [record for record in records.values() if record["part"] == "coverage"]
    selection = [record for record in records.values() if record["part"] == "selection"]
    counts = sorted({record["repeats"] for record in records.values()})
    lines = [
        "# Accuracy without true labels: coverage, alarms, model selection",
        "",
        f"How far `scarce.metrics.complementary_report` can be trusted, over {' or '.join(map(str, counts))} label draws per cell.",
        "",
    ]
    if cells:
        lines += goal_lines(cells, selection) + summary_lines(cells) + detail_lines(cells)
    if selection:
        lines += selection_lines(selection)
    lines += [
        "## Protocol",
        "",
        f"    python benchmarks/accuracy_coverage.py --data-dir DIR --repeats {counts[-1]}",
        "",
        f"All seeds follow from {SEED}, the names of data set and label kind, the number of rows and the number of the repeat. "
        f"The population is {MNIST_TEST:,} test images of MNIST (models trained on {MNIST_TRAIN:,} training images), or one half "
        f"of a table, stratified (models trained on the other). A repeat draws min({MAX_ROWS}, 2 × population) rows with "
        "replacement and labels them afresh; the truth is the accuracy on the whole population. Given priors are those of the "
        "population.",
        "",
        "Models, trained once with true labels: good, a network with one hidden layer of 64 units; mediocre, logistic regression "
        f"on the fewest random columns that reach {percent(MIN_MEDIOCRE_ACCURACY)} %; collapsed, one random class for "
        f"{percent(COLLAPSED_FRACTION)} % of the rows, else the prediction of the good model, whose confidence it has, with a "
        f"learned prior of {COLLAPSED_PRIOR} for that class. The other models pass the class frequencies of their training rows "
        "as learned priors.",
        "",
        'SCAR labels have exclusion probabilities from 0.1 to 0.5, reshuffled in every repeat. Biased labels are "biased-a" for '
        "ten classes, and by a new random matrix in every repeat for others. Questions are random. Assumptions are violated by "
        "biased labels, and by wrong labels of which the estimator does not know. It learns error rates of answers by itself.",
        "",
        f"scarce {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}, torch {torch.__version__}, python "
        f"{platform.python_version()}.",
    ]
    return "\n".join(lines) + "\n"
