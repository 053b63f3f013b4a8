"""Two stores side by side: what a change of the code, the recipe or the machine did."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from scarce.bench.record import TrialRecord
from scarce.bench.report_content import signed
from scarce.bench.statistics import paired_p
from scarce.bench.store import Store
from scarce.bench.text import text_table

__all__ = ["compare"]

Place = tuple[str, str, str, str]


def compare(first: Store, second: Store) -> str:
    """Return a table of the cells that both stores have, and a list of those that only one has.

    For each: the mean accuracies in per cent, their difference and the p-value of the paired t-test, both over common
    seeds, and how many times as long the trials of the second took.

    Examples
    --------
    >>> from pathlib import Path
    >>> print(compare(Store(Path("before")), Store(Path("after"))))
    A: before
    B: after
    <BLANKLINE>
    no cell has accuracies in both stores
    """
    before, after = first.records(), second.records()
    ours, theirs = _cells(before), _cells(after)
    common = [place for place in ours if place in theirs]
    rows = [(*place, *_numbers(ours[place], theirs[place])) for place in common]
    columns = ("data", "setting", "model", "method", "A", "B", "B − A", "p", "seeds", "time B/A")
    blocks = [
        f"A: {first.path}{_notes(before)}\nB: {second.path}{_notes(after)}",
        text_table(columns, rows, words=4) if rows else "no cell has accuracies in both stores",
    ]
    for name, here, there in (("A", ours, theirs), ("B", theirs, ours)):
        missing = [", ".join(place) for place in here if place not in there]
        if missing:
            blocks.append("\n".join([f"only in {name}:", *(f"  {place}" for place in missing)]))
    return "\n\n".join(blocks)


def _notes(records: Sequence[TrialRecord]) -> str:
    """Say what of a store is not compared: what was run again, as after a change of recipe, and what has no accuracy."""
    results = [_seeded(record) for record in records if _has_accuracy(record)]
    failed = {_seeded(record) for record in records if record.status == "failed"} - set(results)
    n_priors = sum(record.status == "done" and record.accuracy is None for record in records)
    counts = (
        (len(results) - len(set(results)), "earlier trial", " of the same cells"),
        (len(failed), "failed trial", ""),
        (n_priors, "trial", " of estimated priors, as only accuracies are compared"),
    )
    told = [f"{count} {what}{'s' * (count > 1)}{more}" for count, what, more in counts if count]
    return f" (without {', '.join(told)})" if told else ""


def _cells(records: Sequence[TrialRecord]) -> dict[Place, dict[int, TrialRecord]]:
    """Return the latest results, by cell and seed, in the order of their names."""
    cells: dict[Place, dict[int, TrialRecord]] = {}
    for record in filter(_has_accuracy, records):  # the oldest come first
        cells.setdefault(_place(record), {})[record.seed] = record
    return dict(sorted(cells.items()))


def _has_accuracy(record: TrialRecord) -> bool:
    return record.status == "done" and record.accuracy is not None


def _seeded(record: TrialRecord) -> tuple[Place, int]:
    return _place(record), record.seed


def _place(record: TrialRecord) -> Place:
    return record.data, record.setting, record.model, record.label


def _numbers(first: Mapping[int, TrialRecord], second: Mapping[int, TrialRecord]) -> tuple[str, ...]:
    seeds = sorted(first.keys() & second.keys())
    a, b = (
        {seed: 100 * (record.accuracy or 0.0) for seed, record in cell.items()} for cell in (first, second)
    )
    mean_a, mean_b = fmean(a.values()), fmean(b.values())
    if not seeds:
        return f"{mean_a:.2f}", f"{mean_b:.2f}", "–", "–", "0", "–"
    difference = fmean(b[seed] - a[seed] for seed in seeds)
    p = paired_p(a, b)
    seconds = [sum(cell[seed].seconds for seed in seeds) for cell in (first, second)]
    return (
        f"{mean_a:.2f}",
        f"{mean_b:.2f}",
        signed(difference),
        "–" if p is None else f"{p:.3f}",
        str(len(seeds)),
        f"{seconds[1] / seconds[0]:.2f}" if seconds[0] else "–",
    )
