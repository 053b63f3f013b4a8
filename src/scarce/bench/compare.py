"""Two stores side by side: what a change of the code, the recipe or the machine did."""

from collections.abc import Mapping
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
    >>> compare(Store(Path("nowhere")), Store(Path("nowhere")))
    'no cell has results in both stores'
    """
    ours, theirs = _cells(first), _cells(second)
    common = [place for place in ours if place in theirs]
    rows = [(*place, *_numbers(ours[place], theirs[place])) for place in common]
    columns = ("data", "setting", "model", "method", "A", "B", "B − A", "p", "seeds", "time B/A")
    blocks = [text_table(columns, rows, words=4) if rows else "no cell has results in both stores"]
    for name, here, there in (("A", ours, theirs), ("B", theirs, ours)):
        missing = [", ".join(place) for place in here if place not in there]
        if missing:
            blocks.append("\n".join([f"only in {name}:", *(f"  {place}" for place in missing)]))
    if rows:
        blocks.insert(0, "\n".join(_title(name, store) for name, store in (("A", first), ("B", second))))
    return "\n\n".join(blocks)


def _title(name: str, store: Store) -> str:
    """Say so where a store holds a cell and seed more than once, as after a change of recipe or method."""
    results = _results(store)
    n_earlier = len(results) - len({(*_place(record), record.seed) for record in results})
    return f"{name}: {store.path}" + (
        f" (without {n_earlier} earlier trials of the same cells)" if n_earlier else ""
    )


def _cells(store: Store) -> dict[Place, dict[int, TrialRecord]]:
    """Return the latest results, by cell and seed, in the order of their names."""
    cells: dict[Place, dict[int, TrialRecord]] = {}
    for record in _results(store):  # the oldest come first
        cells.setdefault(_place(record), {})[record.seed] = record
    return dict(sorted(cells.items()))


def _results(store: Store) -> list[TrialRecord]:
    return [record for record in store.records() if record.status == "done" and record.accuracy is not None]


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
