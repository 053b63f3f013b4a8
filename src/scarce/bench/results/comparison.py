"""Comparison of two stores: the effect of a change of the code, the recipe or the machine."""

from collections.abc import Sequence

from pandas import DataFrame

from scarce._console import MAX_WIDTH, text_table
from scarce.bench.results.statistics import format_difference, paired_p
from scarce.bench.trials.packed import PackedStore
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store

__all__ = ["compare_stores"]

_CELL = ["data", "setting", "model", "method"]
_TRIAL = [*_CELL, "seed"]
_NONE = "none"


def compare_stores(first: Store | PackedStore, second: Store | PackedStore, width: int = MAX_WIDTH) -> str:
    """Return a table of the cells that both stores have, and a list of those that only one has.

    For each cell, over the common seeds: the mean accuracies in per cent, their difference, the p-value of the paired t-test,
    and the ratio of the times. Without a common seed, the means are over all seeds of each store.

    Parameters
    ----------
    first, second : Store or PackedStore
        Shown as A and B.
    width : int
        The maximum number of columns of the text.

    See Also
    --------
    open_store : Return the store at a path.

    Examples
    --------
    >>> from pathlib import Path
    >>> print(compare_stores(Store(Path("before")), Store(Path("after"))))
    A: before
    B: after
    <BLANKLINE>
    no cell has accuracies in both stores
    """
    all_a, all_b = (_trials(store.records()) for store in (first, second))
    a, b = (_latest_results(trials) for trials in (all_a, all_b))
    cells_a, cells_b = dict(list(a.groupby(_CELL))), dict(list(b.groupby(_CELL)))  # sorted by their names
    common = [key for key in cells_a if key in cells_b]
    rows = [(*key, *_numbers(cells_a[key], cells_b[key])) for key in common]
    columns = (*_CELL, "A", "B", "B − A", "p", "seeds", "time B/A")
    stores = [f"A: {first.path}{_notes(all_a, a)}", f"B: {second.path}{_notes(all_b, b)}"]
    differences = _differences([(key, cells_a[key], cells_b[key]) for key in common])
    blocks = [
        "\n".join([*stores, *differences]),
        text_table(columns, rows, n_text_columns=4, width=width)
        if rows
        else "no cell has accuracies in both stores",
    ]
    for name, cells in (("A", cells_a), ("B", cells_b)):
        unmatched = [", ".join(key) for key in cells if key not in common]
        if unmatched:
            blocks.append("\n".join([f"only in {name}:", *(f"  {key}" for key in unmatched)]))
    return "\n\n".join(blocks)


def _trials(records: Sequence[TrialRecord]) -> DataFrame:
    """Return one row per record, the oldest first."""
    rows = [
        (
            *(record.spec.data, record.spec.setting, record.spec.model, record.label, record.spec.seed),
            *(record.status, record.accuracy, record.seconds, record.spec),
        )
        for record in records
    ]
    trials = DataFrame(rows, columns=[*_TRIAL, "status", "accuracy", "seconds", "spec"])
    return trials.assign(accuracy=trials.accuracy.astype(float))


def _latest_results(trials: DataFrame) -> DataFrame:
    has_accuracy = (trials.status == "done") & trials.accuracy.notna()
    return trials[has_accuracy].drop_duplicates(_TRIAL, keep="last")


def _notes(trials: DataFrame, results: DataFrame) -> str:
    """Return which trials of a store are not compared: earlier ones of the same cells, failed ones, and those without accuracy."""
    done = trials[trials.status == "done"]
    failed = _keys(trials[trials.status == "failed"]) - _keys(results)
    n_priors = int(done.accuracy.isna().sum())
    counts = (
        (len(done) - n_priors - len(results), "earlier trial", " of the same cells"),
        (len(failed), "failed trial", ""),
        (n_priors, "trial", " of estimated priors, as only accuracies are compared"),
    )
    texts = [f"{count} {what}{'s' * (count > 1)}{more}" for count, what, more in counts if count]
    return f" (without {', '.join(texts)})" if texts else ""


def _keys(trials: DataFrame) -> set[tuple[object, ...]]:
    return set(trials[_TRIAL].itertuples(index=False, name=None))


def _numbers(first: DataFrame, second: DataFrame) -> tuple[str, ...]:
    pairs = first.merge(second, on="seed", suffixes=("_a", "_b")).set_index("seed")
    if pairs.empty:
        return f"{100 * first.accuracy.mean():.2f}", f"{100 * second.accuracy.mean():.2f}", "–", "–", "0", "–"
    a, b = 100 * pairs.accuracy_a, 100 * pairs.accuracy_b
    p = paired_p(a.to_dict(), b.to_dict())
    seconds_a, seconds_b = pairs.seconds_a.sum(), pairs.seconds_b.sum()
    return (
        f"{a.mean():.2f}",
        f"{b.mean():.2f}",
        format_difference(b.mean() - a.mean()),
        "–" if p is None else f"{p:.3f}",
        str(len(pairs)),
        f"{seconds_b / seconds_a:.2f}" if seconds_a else "–",
    )


def _differences(common: Sequence[tuple[tuple[str, ...], DataFrame, DataFrame]]) -> list[str]:
    """Return a line that names the settings, code and data in which the cells that both stores have differ, if any."""
    differing: dict[str, tuple[set[str], set[str]]] = {}
    methods, data = set(), set()
    for (name_of_data, _, _, method), first, second in common:
        a, b = _settings(first), _settings(second)
        for name in a.keys() | b.keys():
            sides = a.get(name, {_NONE}), b.get(name, {_NONE})
            if sides[0] == sides[1]:
                continue
            if name.endswith("_revision"):
                methods.add(method)
            elif name == "data_checksum":
                data.add(name_of_data)
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


def _settings(cell: DataFrame) -> dict[str, set[str]]:
    """Return the values of every field of the specs of a cell, except those of its key and the seed."""
    found: dict[str, set[str]] = {}
    for spec in cell.spec:
        settings = spec.model_dump(mode="json")
        fields = {**settings, **settings["recipe"]}
        for name in fields.keys() - {"recipe", "data", "setting", "model", "seed"}:
            found.setdefault(name, set()).add(_NONE if fields[name] is None else str(fields[name]))
    return found
