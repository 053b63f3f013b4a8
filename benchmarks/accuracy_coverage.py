"""How far `complementary_report` can be trusted: coverage of its intervals, alarms, and model selection.

    python benchmarks/accuracy_coverage.py --data-dir DIR [--out results/accuracy] [--repeats 200] [--only data=ecoli labels=scar]

For each data set, models are trained once with true labels. The held-out rows are the population. Every repeat draws rows from
it with replacement, draws new complementary labels for them, and compares the estimated accuracy with the true accuracy on the
whole population. Writes OUT/coverage.jsonl (one line per cell) and OUT/coverage.md.

Rerun the same command to resume: cells that were recorded with the same number of repeats are skipped. Pass --restart after a
change of the library. DIR must contain `mnist/` and `tables/`.
"""

import json
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from _common import make_parser, write
from _coverage_cells import (
    DATA,
    FEW_ROWS,
    LABELS,
    MODELS,
    NAME,
    Key,
    Record,
    coverage_cells,
    n_rows_of,
    selection_cell,
    train_models,
)
from _coverage_tables import report

# Running and resuming


def all_keys(data: Sequence[str], kinds: Sequence[str]) -> list[Key]:
    """Return the keys of all cells, in the order of the run."""
    keys: list[Key] = []
    for name in data:
        for kind in kinds:
            keys += [("coverage", name, kind, v.name, m) for v in LABELS[kind].variants for m in MODELS]
            keys += [("selection", name, kind, size) for size in ("many", "few")]
    return keys


def key_of(record: Record) -> Key:
    fields = ("priors", "model") if record["part"] == "coverage" else ("size",)
    return (record["part"], record["data"], record["labels"], *(record[name] for name in fields))


def read_records(path: Path) -> dict[Key, Record]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {key_of(record): record for record in map(json.loads, lines)}


def write_records(path: Path, records: Mapping[Key, Record]) -> None:
    """Write all records in the order of the run."""
    position = {key: n for n, key in enumerate(all_keys(DATA, list(LABELS)))}
    order = sorted((key for key in records if key in position), key=position.__getitem__)
    write(path, "".join(json.dumps(records[key]) + "\n" for key in order))


def run(path: Path, data_dir: Path, wanted: Sequence[Key], repeats: int, restart: bool) -> dict[Key, Record]:
    """Run the wanted cells that have no record, and write the records after every label kind."""
    records, started = read_records(path), time.monotonic()
    todo = [key for key in wanted if restart or records.get(key, {}).get("repeats") != repeats]
    for name in DATA:
        cells = [key for key in todo if key[1] == name]
        if not cells:
            continue
        population = train_models(name, data_dir)
        truths = ", ".join(f"{model} {population.truth(model):.3f}" for model in population.models)
        print(f"{name}: {len(population.y)} rows, {population.n_classes} classes; {truths}", file=sys.stderr)
        for kind in dict.fromkeys(key[2] for key in cells):
            pairs = [(key[3], key[4]) for key in cells if key[0] == "coverage" and key[2] == kind]
            for record in coverage_cells(population, kind, pairs, repeats):
                records[key_of(record)] = record
            for key in cells:
                if key[0] == "selection" and key[2] == kind:
                    n_rows = n_rows_of(population) if key[3] == "many" else FEW_ROWS
                    result = selection_cell(population, kind, n_rows, repeats)
                    head = {"part": "selection", "data": name, "labels": kind, "size": key[3]}
                    records[key] = {**head, "repeats": repeats, "n_rows": n_rows, **result}
            write_records(path, records)
            print(f"  {kind}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    return records


def parse_only(options: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the data sets and label kinds named by ``data=a,b labels=c``; by default all.

    Examples
    --------
    >>> parse_only(["data=ecoli,vowel", "labels=scar"])
    (['ecoli', 'vowel'], ['scar'])
    """
    known = {"data": list(DATA), "labels": list(LABELS)}
    chosen = dict(known)
    for option in options:
        name, _, values = option.partition("=")
        unknown = [value for value in values.split(",") if value not in known.get(name, ())]
        if unknown:
            raise SystemExit(
                f"--only {option}: expected data= with {', '.join(DATA)}, or labels= with {', '.join(LABELS)}."
            )
        chosen[name] = [value for value in known[name] if value in values.split(",")]
    return chosen["data"], chosen["labels"]


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("results/accuracy"))
    parser.add_argument("--repeats", type=int, default=200, help="label draws per cell")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="NAME=VALUE", help="data=... and labels=..., with commas"
    )
    parser.add_argument("--restart", action="store_true", help="run all cells again, also recorded ones")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # models that have not converged would warn
    data, kinds = parse_only(options.only)
    path = options.out / f"{NAME}.jsonl"
    records = run(path, options.data_dir, all_keys(data, kinds), options.repeats, options.restart)
    write(options.out / f"{NAME}.md", report(records))


if __name__ == "__main__":
    main()
