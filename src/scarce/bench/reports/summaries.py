"""What a report tells beside the results: failures, what criteria would have chosen, and costs, as rows of text."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from scarce.bench.results.regret import Regret, regrets
from scarce.bench.results.results import ExperimentResults, finished
from scarce.bench.results.selection import criteria, epoch_choices, method_choices
from scarce.bench.runners.status import format_duration
from scarce.bench.trials.record import LAST_EPOCHS, TrialRecord

__all__ = ["SummaryTable", "last_epochs", "make_sheets"]


@dataclass(frozen=True)
class SummaryTable:
    """A table of plain words: its first `words` columns are text, the others numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int
    note: str = ""


def make_sheets(study: ExperimentResults) -> tuple[SummaryTable, ...]:
    """Return the sheets that have rows.

    Examples
    --------
    >>> make_sheets(ExperimentResults("mine", "Mine", "paper", {}))
    ()
    """
    sheets = (
        _regrets(study),
        _failures(study),
        _priors(study),
        _calibration(study),
        _epochs(study),
        _methods(study),
        _costs(study),
    )
    return tuple(sheet for sheet in sheets if sheet.rows)


def last_epochs(study: ExperimentResults) -> str:
    """Return in words over which epochs the accuracy of a trial is the mean: all, where there are few.

    Examples
    --------
    >>> last_epochs(ExperimentResults("mine", "Mine", "paper", {}))
    'last 10 epochs'
    """
    lengths = (len(record.curves.get("test_accuracy", ())) for record in study.done.values())
    counts = sorted({min(LAST_EPOCHS, length) for length in lengths if length}) or [LAST_EPOCHS]
    return "last epoch" if counts == [1] else f"last {' or '.join(map(str, counts))} epochs"


def _failures(study: ExperimentResults) -> SummaryTable:
    rows = [
        (*slot.column, slot.label, str(slot.seed), record.error or "no reason given")
        for slot, record in study.failed.items()
    ]
    return SummaryTable(
        "Failed trials", ("data", "setting", "model", "method", "seed", "error"), tuple(rows), words=6
    )


def _regrets(study: ExperimentResults) -> SummaryTable:
    found = regrets(study) if study.kind == "classifiers" else []
    rows = [
        (one.data, one.setting, one.best, *_per_cent(one.best_accuracy, one.accuracy, one.value))
        for one in found
    ]
    if found:
        usual = [one for one in found if not one.is_biased]
        if usual and len(usual) < len(found):
            rows.append(_mean_regret("mean without biased", usual))
        rows.append(_mean_regret("mean of all", found))
        worst = max(found, key=lambda one: one.value)
        rows.append((f"worst: {worst.data}", worst.setting, worst.best, "", "", *_per_cent(worst.value)))
    return SummaryTable(
        "Regret of the default",
        ("data", "setting", "best row", "best", "auto", "regret"),
        tuple(rows),
        words=3,
        note="The best mean accuracy of a column less that of auto, in percentage points, over the seeds that auto has. Which row "
        "is the best is known from true labels alone, and the best of many rows is lucky, so that some regret is "
        "unavoidable.",
    )


def _mean_regret(name: str, found: Iterable[Regret]) -> tuple[str, ...]:
    return name, "", "", "", "", *_per_cent(fmean(one.value for one in found))


def _per_cent(*shares: float) -> tuple[str, ...]:
    return tuple(f"{100 * share:.2f}" for share in shares)


def _priors(study: ExperimentResults) -> SummaryTable:
    errors: dict[tuple[str, ...], list[float]] = {}
    for slot, record in study.done.items():
        true, source = record.priors.true, record.priors.source
        if record.accuracy is None or not true or source.startswith("frequencies"):  # nothing was estimated
            continue
        misses = [abs(a - b) for a, b in zip(record.priors.values or [], true, strict=True)]
        errors.setdefault((*slot.column, slot.label, source), []).append(fmean(misses))
    return SummaryTable(
        "How wrong the priors were",
        ("data", "setting", "model", "method", "priors", "mean absolute error"),
        tuple((*place, f"{fmean(found):.4f}") for place, found in errors.items()),
        words=5,
        note="Priors that were estimated before or learned during training, beside the shares of the classes in the training "
        "data; the mean over classes and seeds.",
    )


def _calibration(study: ExperimentResults) -> SummaryTable:
    names = ("test_accuracy", "confidence", "calibration_error")
    found: dict[tuple[str, ...], list[tuple[float, ...]]] = {}
    for slot, record in study.done.items():
        curves = [finished(record.curves.get(name, ())) for name in names]
        if all(curves):
            found.setdefault((*slot.column, slot.label), []).append(tuple(curve[-1] for curve in curves))
    return SummaryTable(
        "Calibration",
        ("data", "setting", "model", "method", "accuracy", "confidence", "calibration error"),
        tuple(
            (*place, *(f"{100 * fmean(values):.2f}" for values in zip(*numbers, strict=True)))
            for place, numbers in found.items()
        ),
        words=4,
        note="In per cent after the last epoch, the mean over seeds. Confidence: the mean of the highest probability. Calibration "
        "error: the mean distance between accuracy and confidence over 15 bins of equal width.",
    )


def _epochs(study: ExperimentResults) -> SummaryTable:
    rows = [
        (choice.data, _words(choice.criterion), str(choice.n), *(f"{100 * share:.2f}" for share in shares))
        for choice in epoch_choices(study)
        for shares in [(choice.chosen, choice.last, choice.oracle)]
    ]
    return SummaryTable(
        "Choosing the epoch without true labels",
        ("data", "criterion", "trials", "chosen epoch", "last epochs", "best epoch"),
        tuple(rows),
        words=2,
        note=f"Mean test accuracy, in per cent, at the epoch that each criterion likes best, beside the mean of the "
        f"{last_epochs(study)} (no choice, as in the tables) and the truly best epoch (which only true labels tell), over the "
        "trials for which the criterion is defined. Criteria see complementary labels of the same test images.",
    )


def _methods(study: ExperimentResults) -> SummaryTable:
    names = criteria(study)
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for choice in method_choices(study):
        row = found.setdefault((choice.data, choice.model, choice.setting), {})
        row[choice.criterion] = f"{choice.chosen}\n{100 * choice.accuracy:.2f}"
        row.setdefault("best", f"{choice.best}\n{100 * choice.best_accuracy:.2f}")
    grids = list(dict.fromkeys((data, model) for data, model, _ in found))
    found = dict(sorted(found.items(), key=lambda item: grids.index(item[0][:2])))  # as the tables are
    used = [name for name in names if any(name in row for row in found.values())]
    return SummaryTable(
        "Choosing the method without true labels",
        ("data", "model", "setting", *map(_words, used), "truly best"),
        tuple((*place, *(row.get(name, "–") for name in used), row["best"]) for place, row in found.items()),
        words=4 + len(used),
        note=f"The method that each criterion likes best (mean over seeds and {last_epochs(study)}) among those for which it "
        "is defined, with its test accuracy in per cent. Criteria see complementary labels of the same test images.",
    )


def _words(criterion: str) -> str:
    return criterion.replace("_", " ")


def _costs(study: ExperimentResults) -> SummaryTable:
    by_label: dict[str, list[TrialRecord]] = {}
    for slot in study.planned:
        if slot in study.records:
            by_label.setdefault(slot.label, []).append(study.records[slot])
    rows = [_cost(label, records) for label, records in by_label.items()]
    if len(rows) > 1:
        rows.append(_cost("all", list(study.records.values())))
    return SummaryTable(
        "What it cost",
        ("method", "trials", "total time", "seconds per trial", "peak memory, MB"),
        tuple(rows),
        words=1,
        note="Memory is that of the whole process at its highest, earlier trials in it included.",
    )


def _cost(label: str, records: list[TrialRecord]) -> tuple[str, ...]:
    seconds = [record.seconds for record in records]
    memory = max(record.peak_memory_mb for record in records)
    return label, str(len(records)), format_duration(sum(seconds)), f"{fmean(seconds):.1f}", f"{memory:,.0f}"
