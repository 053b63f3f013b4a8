"""Comparison of two stores: the effect of a change in the code, the recipe or the machine."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from scarce._console import MAX_WIDTH, text_table
from scarce.bench.results._statistics import format_difference, paired_p
from scarce.bench.trials.packed import PackedStore
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store

CellKey = tuple[str, str, str, str]
"""Data, setting, model and label."""
_NONE = "none"
_Cells = Mapping[CellKey, Mapping[int, TrialRecord]]


def compare_stores(first: Store | PackedStore, second: Store | PackedStore, width: int = MAX_WIDTH) -> str:
    """Return a table of the cells that are in both stores, and a list of those that are in only one.

    A cell is a combination of data, setting, model and method. The table has, over the common seeds, the mean accuracies in per
    cent, their difference, the p-value of the paired t-test, and the ratio of the times. Without a common seed, the means are
    over all seeds of each store.

    Parameters
    ----------
    first, second : Store or PackedStore
        Shown as A and B.
    width : int
        The maximum width of the text in characters.

    Returns
    -------
    str
        The table and the list, ready to print.

    See Also
    --------
    open_store : Open the store at a path.

    Examples
    --------
    >>> from pathlib import Path
    >>> print(compare_stores(Store(Path("before")), Store(Path("after"))))
    A: before
    B: after
    <BLANKLINE>
    no data, setting, model and method has accuracies in both stores
    """
    records_a, records_b = first.records(), second.records()
    cells_a, cells_b = _cells(records_a), _cells(records_b)
    rows = [(*key, *_numbers(cells_a[key], cells_b[key])) for key in cells_a if key in cells_b]
    columns = ("data", "setting", "model", "method", "A", "B", "B − A", "p", "seeds", "time B/A")
    blocks = [
        "\n".join(
            [
                f"A: {first.path}{_notes(records_a)}",
                f"B: {second.path}{_notes(records_b)}",
                *_differences(cells_a, cells_b),
            ]
        ),
        text_table(columns, rows, n_text_columns=4, width=width)
        if rows
        else "no data, setting, model and method has accuracies in both stores",
    ]
    for name, cells, other in (("A", cells_a, cells_b), ("B", cells_b, cells_a)):
        unmatched = [", ".join(key) for key in cells if key not in other]
        if unmatched:
            blocks.append("\n".join([f"only in {name}:", *(f"  {key}" for key in unmatched)]))
    return "\n\n".join(blocks)


def _differences(first: _Cells, second: _Cells) -> list[str]:
    """Return a line that names the settings, code and data in which the cells that both stores have differ, if any."""
    differing: dict[str, tuple[set[str], set[str]]] = {}
    methods, data = set(), set()
    for key in first.keys() & second.keys():
        a, b = _settings(first[key]), _settings(second[key])
        for name in a.keys() | b.keys():
            sides = a.get(name, {_NONE}), b.get(name, {_NONE})
            if sides[0] == sides[1]:
                continue
            if name.endswith("_revision"):
                methods.add(key[3])
            elif name == "data_checksum":
                data.add(key[0])
            else:
                for known, more in zip(differing.setdefault(name, (set(), set())), sides, strict=True):
                    known |= more
    texts = [
        f"{name} {' or '.join(sorted(a))} in A, {' or '.join(sorted(b))} in B"
        for name, (a, b) in sorted(differing.items())
    ]
    texts += [
        f"the {what} of {', '.join(sorted(names))}"
        for what, names in (("code", methods), ("files", data))
        if names
    ]
    return [f"they differ: {'; '.join(texts)}"] if texts else []


def _settings(cell: Mapping[int, TrialRecord]) -> dict[str, set[str]]:
    """Return the values of each field of the specs of a cell, except the fields that name the cell, and the seed."""
    found: dict[str, set[str]] = {}
    for record in cell.values():
        settings = record.spec.model_dump(mode="json")
        fields = {**settings, **settings["recipe"]}
        for name in fields.keys() - {"recipe", "data", "setting", "model", "seed"}:
            found.setdefault(name, set()).add(_NONE if fields[name] is None else str(fields[name]))
    return found


def _notes(records: Sequence[TrialRecord]) -> str:
    """Return which records of a store are not compared: earlier ones of the same trial, and those without an accuracy."""
    results = [_trial_key(record) for record in records if _has_accuracy(record)]
    failed = {_trial_key(record) for record in records if record.status == "failed"} - set(results)
    n_priors = sum(record.status == "done" and record.accuracy is None for record in records)
    counts = (
        (len(results) - len(set(results)), "earlier trial", " of the same cells"),
        (len(failed), "failed trial", ""),
        (n_priors, "trial", " of estimated priors: only accuracies are compared"),
    )
    texts = [f"{count} {what}{'s' * (count > 1)}{more}" for count, what, more in counts if count]
    return f" (without {', '.join(texts)})" if texts else ""


def _cells(records: Sequence[TrialRecord]) -> dict[CellKey, dict[int, TrialRecord]]:
    """Return the latest results by cell and seed, sorted by the names of the cells."""
    cells: dict[CellKey, dict[int, TrialRecord]] = {}
    for record in filter(_has_accuracy, records):  # the oldest come first
        cells.setdefault(_cell_key(record), {})[record.spec.seed] = record
    return dict(sorted(cells.items()))


def _has_accuracy(record: TrialRecord) -> bool:
    return record.status == "done" and record.accuracy is not None


def _trial_key(record: TrialRecord) -> tuple[CellKey, int]:
    return _cell_key(record), record.spec.seed


def _cell_key(record: TrialRecord) -> CellKey:
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
