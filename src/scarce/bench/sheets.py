"""What a report tells beside the results: failures, what criteria would have chosen, and costs, as rows of text."""

from dataclasses import dataclass
from statistics import fmean

from scarce.bench.record import LAST_EPOCHS, TrialRecord
from scarce.bench.selection import criteria, epoch_choices, method_choices
from scarce.bench.status import in_words
from scarce.bench.study import Study

__all__ = ["Sheet", "make_sheets"]


@dataclass(frozen=True)
class Sheet:
    """A table of plain words: its first `words` columns are text, the others numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int
    note: str = ""


def make_sheets(study: Study) -> tuple[Sheet, ...]:
    """Return the sheets that have rows.

    Examples
    --------
    >>> make_sheets(Study("mine", "Mine", "paper", {}))
    ()
    """
    sheets = (_failures(study), _epochs(study), _methods(study), _costs(study))
    return tuple(sheet for sheet in sheets if sheet.rows)


def _failures(study: Study) -> Sheet:
    rows = [
        (*slot.column, slot.label, str(slot.seed), record.error or "no reason given")
        for slot, record in study.failed.items()
    ]
    return Sheet(
        "Failed trials", ("data", "setting", "model", "method", "seed", "error"), tuple(rows), words=6
    )


def _epochs(study: Study) -> Sheet:
    rows = [
        (choice.data, _words(choice.criterion), str(choice.n), *(f"{100 * share:.2f}" for share in shares))
        for choice in epoch_choices(study)
        for shares in [(choice.chosen, choice.last, choice.oracle)]
    ]
    return Sheet(
        "Choosing the epoch without true labels",
        ("data", "criterion", "trials", "chosen epoch", f"last {LAST_EPOCHS}", "best epoch"),
        tuple(rows),
        words=2,
        note=f"Mean test accuracy, in per cent, at the epoch that each criterion likes best, beside the mean of the last "
        f"{LAST_EPOCHS} epochs (no choice, as in the tables) and the truly best epoch (which only true labels tell), over the "
        "trials for which the criterion is defined.",
    )


def _methods(study: Study) -> Sheet:
    names = criteria(study)
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for choice in method_choices(study):
        row = found.setdefault((choice.data, choice.model, choice.setting), {})
        row[choice.criterion] = f"{choice.chosen}\n{100 * choice.accuracy:.2f}"
        row.setdefault("best", f"{choice.best}\n{100 * choice.best_accuracy:.2f}")
    grids = list(dict.fromkeys((data, model) for data, model, _ in found))
    found = dict(sorted(found.items(), key=lambda item: grids.index(item[0][:2])))  # as the tables are
    used = [name for name in names if any(name in row for row in found.values())]
    return Sheet(
        "Choosing the method without true labels",
        ("data", "model", "setting", *map(_words, used), "truly best"),
        tuple((*place, *(row.get(name, "–") for name in used), row["best"]) for place, row in found.items()),
        words=4 + len(used),
        note=f"The method that each criterion likes best (mean over seeds and last {LAST_EPOCHS} epochs) among those for which it "
        "is defined, with its test accuracy in per cent.",
    )


def _words(criterion: str) -> str:
    return criterion.replace("_", " ")


def _costs(study: Study) -> Sheet:
    by_label: dict[str, list[TrialRecord]] = {}
    for slot in study.planned:
        if slot in study.records:
            by_label.setdefault(slot.label, []).append(study.records[slot])
    rows = [_cost(label, records) for label, records in by_label.items()]
    if len(rows) > 1:
        rows.append(_cost("all", list(study.records.values())))
    return Sheet(
        "What it cost",
        ("method", "trials", "total time", "seconds per trial", "peak memory, MB"),
        tuple(rows),
        words=1,
    )


def _cost(label: str, records: list[TrialRecord]) -> tuple[str, ...]:
    seconds = [record.seconds for record in records]
    memory = max(record.peak_memory_mb for record in records)
    return label, str(len(records)), in_words(sum(seconds)), f"{fmean(seconds):.1f}", f"{memory:,.0f}"
