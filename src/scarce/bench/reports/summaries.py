"""Summary tables of a report: regret, failures, priors, calibration, model selection and costs, as rows of text."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from scarce.bench.results.regret import Regret, regrets
from scarce.bench.results.results import ExperimentResults, finite_values
from scarce.bench.results.selection import criteria, epoch_choices, method_choices
from scarce.bench.runners.status import format_duration
from scarce.bench.trials.record import LAST_EPOCHS, TrialRecord

__all__ = ["SummaryTable", "last_epochs", "make_summary_tables"]


@dataclass(frozen=True)
class SummaryTable:
    """A table of texts: its first `n_text_columns` columns are words, the others numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_text_columns: int
    note: str = ""


def make_summary_tables(results: ExperimentResults) -> tuple[SummaryTable, ...]:
    """Return the summary tables that have rows.

    Examples
    --------
    >>> make_summary_tables(ExperimentResults("mine", "Mine", "paper", {}))
    ()
    """
    tables = (
        _regret_table(results),
        _failure_table(results),
        _prior_table(results),
        _calibration_table(results),
        _epoch_table(results),
        _method_table(results),
        _cost_table(results),
    )
    return tuple(table for table in tables if table.rows)


def last_epochs(results: ExperimentResults) -> str:
    """Return, as text, the epochs over which the accuracy of a trial is the mean: all, where there are few.

    Examples
    --------
    >>> last_epochs(ExperimentResults("mine", "Mine", "paper", {}))
    'last 10 epochs'
    """
    lengths = (len(record.curves.get("test_accuracy", ())) for record in results.done.values())
    counts = sorted({min(LAST_EPOCHS, length) for length in lengths if length}) or [LAST_EPOCHS]
    return "last epoch" if counts == [1] else f"last {' or '.join(map(str, counts))} epochs"


def _failure_table(results: ExperimentResults) -> SummaryTable:
    rows = [
        (*index.column, index.label, str(index.seed), record.error or "no reason given")
        for index, record in results.failed.items()
    ]
    return SummaryTable(
        "Failed trials",
        ("data", "setting", "model", "method", "seed", "error"),
        tuple(rows),
        n_text_columns=6,
    )


def _regret_table(results: ExperimentResults) -> SummaryTable:
    all_regrets = regrets(results) if results.kind == "classifiers" else []
    rows = [
        (
            regret.data,
            regret.setting,
            regret.best,
            *_percents(regret.best_accuracy, regret.accuracy, regret.value),
        )
        for regret in all_regrets
    ]
    if all_regrets:
        unbiased = [regret for regret in all_regrets if not regret.is_biased]
        if unbiased and len(unbiased) < len(all_regrets):
            rows.append(_mean_regret("mean without biased", unbiased))
        rows.append(_mean_regret("mean of all", all_regrets))
        worst = max(all_regrets, key=lambda regret: regret.value)
        rows.append((f"worst: {worst.data}", worst.setting, worst.best, "", "", *_percents(worst.value)))
    return SummaryTable(
        "Regret of the default",
        ("data", "setting", "best row", "best", "auto", "regret"),
        tuple(rows),
        n_text_columns=3,
        note="The best mean accuracy of a column minus that of auto, in percentage points, over the seeds that auto has. The best "
        "row is known from true labels alone, and the best of many rows is lucky, so some regret is unavoidable.",
    )


def _mean_regret(name: str, group: Iterable[Regret]) -> tuple[str, ...]:
    return name, "", "", "", "", *_percents(fmean(regret.value for regret in group))


def _percents(*fractions: float) -> tuple[str, ...]:
    return tuple(f"{100 * fraction:.2f}" for fraction in fractions)


def _prior_table(results: ExperimentResults) -> SummaryTable:
    errors: dict[tuple[str, ...], list[float]] = {}
    for index, record in results.done.items():
        true, source = record.priors.true, record.priors.source
        if record.accuracy is None or not true or source.startswith("frequencies"):  # nothing was estimated
            continue
        absolute_errors = [abs(a - b) for a, b in zip(record.priors.values or [], true, strict=True)]
        errors.setdefault((*index.column, index.label, source), []).append(fmean(absolute_errors))
    return SummaryTable(
        "How wrong the priors were",
        ("data", "setting", "model", "method", "priors", "mean absolute error"),
        tuple((*key, f"{fmean(values):.4f}") for key, values in errors.items()),
        n_text_columns=5,
        note="Priors that were estimated before or learned during training, compared with the class frequencies of the training "
        "data; the mean over classes and seeds.",
    )


def _calibration_table(results: ExperimentResults) -> SummaryTable:
    names = ("test_accuracy", "confidence", "calibration_error")
    found: dict[tuple[str, ...], list[tuple[float, ...]]] = {}
    for index, record in results.done.items():
        curves = [finite_values(record.curves.get(name, ())) for name in names]
        if all(curves):
            found.setdefault((*index.column, index.label), []).append(tuple(curve[-1] for curve in curves))
    return SummaryTable(
        "Calibration",
        ("data", "setting", "model", "method", "accuracy", "confidence", "calibration error"),
        tuple((*key, *_percents(*map(fmean, zip(*numbers, strict=True)))) for key, numbers in found.items()),
        n_text_columns=4,
        note="In per cent after the last epoch, the mean over seeds. Confidence: the mean of the highest probability. Calibration "
        "error: the mean distance between accuracy and confidence over 15 bins of equal width.",
    )


def _epoch_table(results: ExperimentResults) -> SummaryTable:
    rows = [
        (
            choice.data,
            _criterion_text(choice.criterion),
            str(choice.n),
            *_percents(choice.chosen, choice.last, choice.oracle),
        )
        for choice in epoch_choices(results)
    ]
    return SummaryTable(
        "Choosing the epoch without true labels",
        ("data", "criterion", "trials", "chosen epoch", "last epochs", "best epoch"),
        tuple(rows),
        n_text_columns=2,
        note=f"Mean test accuracy, in per cent, at the best epoch by each criterion, beside the mean of the {last_epochs(results)} "
        "(no selection, as in the tables) and the best epoch by true labels, over the trials for which the criterion is defined. "
        "Criteria use complementary labels of the same test images.",
    )


def _method_table(results: ExperimentResults) -> SummaryTable:
    names = criteria(results)
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for choice in method_choices(results):
        row = found.setdefault((choice.data, choice.model, choice.setting), {})
        row[choice.criterion] = f"{choice.chosen}\n{100 * choice.accuracy:.2f}"
        row.setdefault("best", f"{choice.best}\n{100 * choice.best_accuracy:.2f}")
    grids = list(dict.fromkeys((data, model) for data, model, _ in found))
    found = dict(
        sorted(found.items(), key=lambda item: grids.index(item[0][:2]))
    )  # in the order of the tables
    used = [name for name in names if any(name in row for row in found.values())]
    return SummaryTable(
        "Choosing the method without true labels",
        ("data", "model", "setting", *map(_criterion_text, used), "truly best"),
        tuple((*key, *(row.get(name, "–") for name in used), row["best"]) for key, row in found.items()),
        n_text_columns=4 + len(used),
        note=f"The best method by each criterion (mean over seeds and {last_epochs(results)}) among those for which it "
        "is defined, with its test accuracy in per cent. Criteria use complementary labels of the same test images.",
    )


def _criterion_text(criterion: str) -> str:
    return criterion.replace("_", " ")


def _cost_table(results: ExperimentResults) -> SummaryTable:
    by_label: dict[str, list[TrialRecord]] = {}
    for index in results.planned:
        if index in results.records:
            by_label.setdefault(index.label, []).append(results.records[index])
    rows = [_cost_row(label, records) for label, records in by_label.items()]
    if len(rows) > 1:
        rows.append(_cost_row("all", list(results.records.values())))
    return SummaryTable(
        "What it cost",
        ("method", "trials", "total time", "seconds per trial", "peak memory, MB"),
        tuple(rows),
        n_text_columns=1,
        note="Memory is the peak of the whole process, which may have run earlier trials.",
    )


def _cost_row(label: str, records: list[TrialRecord]) -> tuple[str, ...]:
    seconds = [record.seconds for record in records]
    memory = max(record.peak_memory_mb for record in records)
    return label, str(len(records)), format_duration(sum(seconds)), f"{fmean(seconds):.1f}", f"{memory:,.0f}"
