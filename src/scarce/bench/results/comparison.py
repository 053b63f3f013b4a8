"""Two stores side by side: what a change of the code, the recipe or the machine did."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from scarce._console import MAX_WIDTH, text_table
from scarce.bench.results.statistics import format_difference, paired_p
from scarce.bench.trials.packed import PackedStore
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store

__all__ = ["compare"]

Place = tuple[str, str, str, str]
_NONE = "none"
_Cells = Mapping[Place, Mapping[int, TrialRecord]]


def compare(first: Store | PackedStore, second: Store | PackedStore, width: int = MAX_WIDTH) -> str:
    """Return a table of the cells that both stores have, and a list of those that only one has.

    For each, over common seeds: the mean accuracies in per cent, their difference, the p-value of the paired t-test, and
    how many times as long the trials of the second took. Where no seed is common, the means are over all of each store.

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
        "\n".join(
            [
                f"A: {first.path}{_notes(before)}",
                f"B: {second.path}{_notes(after)}",
                *_differences(ours, theirs),
            ]
        ),
        text_table(columns, rows, n_text_columns=4, width=width)
        if rows
        else "no cell has accuracies in both stores",
    ]
    for name, here, there in (("A", ours, theirs), ("B", theirs, ours)):
        missing = [", ".join(place) for place in here if place not in there]
        if missing:
            blocks.append("\n".join([f"only in {name}:", *(f"  {place}" for place in missing)]))
    return "\n\n".join(blocks)


def _differences(first: _Cells, second: _Cells) -> list[str]:
    """Say in what the trials differ of the cells that both stores have: what was to be run, and by which versions."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    methods, data = set(), set()
    for place in first.keys() & second.keys():
        a, b = _settings(first[place]), _settings(second[place])
        for name in a.keys() | b.keys():
            sides = a.get(name, {_NONE}), b.get(name, {_NONE})
            if sides[0] == sides[1]:
                continue
            if name.endswith("_revision"):
                methods.add(place[3])
            elif name == "data_checksum":
                data.add(place[0])
            else:
                for known, more in zip(found.setdefault(name, (set(), set())), sides, strict=True):
                    known |= more
    told = [
        f"{name} {' or '.join(sorted(a))} in A, {' or '.join(sorted(b))} in B"
        for name, (a, b) in sorted(found.items())
    ]
    told += [
        f"the {what} of {', '.join(sorted(names))}"
        for what, names in (("code", methods), ("files", data))
        if names
    ]
    return [f"they differ: {'; '.join(told)}"] if told else []


def _settings(cell: Mapping[int, TrialRecord]) -> dict[str, set[str]]:
    """Return the fields of the specs of a cell's trials, but for the place and the seed, with all values."""
    found: dict[str, set[str]] = {}
    for record in cell.values():
        settings = record.spec.model_dump(mode="json")
        fields = {**settings, **settings["recipe"]}
        for name in fields.keys() - {"recipe", "data", "setting", "model", "seed"}:
            found.setdefault(name, set()).add(_NONE if fields[name] is None else str(fields[name]))
    return found


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
        cells.setdefault(_place(record), {})[record.spec.seed] = record
    return dict(sorted(cells.items()))


def _has_accuracy(record: TrialRecord) -> bool:
    return record.status == "done" and record.accuracy is not None


def _seeded(record: TrialRecord) -> tuple[Place, int]:
    return _place(record), record.spec.seed


def _place(record: TrialRecord) -> Place:
    return record.spec.data, record.spec.setting, record.spec.model, record.label


def _numbers(first: Mapping[int, TrialRecord], second: Mapping[int, TrialRecord]) -> tuple[str, ...]:
    seeds = sorted(first.keys() & second.keys())
    a, b = (
        {seed: 100 * (record.accuracy or 0.0) for seed, record in cell.items()} for cell in (first, second)
    )
    if not seeds:
        return f"{fmean(a.values()):.2f}", f"{fmean(b.values()):.2f}", "–", "–", "0", "–"
    mean_a, mean_b = (fmean(cell[seed] for seed in seeds) for cell in (a, b))
    p = paired_p(a, b)
    seconds = [sum(cell[seed].seconds for seed in seeds) for cell in (first, second)]
    return (
        f"{mean_a:.2f}",
        f"{mean_b:.2f}",
        format_difference(mean_b - mean_a),
        "–" if p is None else f"{p:.3f}",
        str(len(seeds)),
        f"{seconds[1] / seconds[0]:.2f}" if seconds[0] else "–",
    )
