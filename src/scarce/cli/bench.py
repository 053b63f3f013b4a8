"""``scarce bench``: experiments, from a plan to a report."""

import os
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sized
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from scarce.errors import FileError, MethodError, ScarceError

if TYPE_CHECKING:
    from scarce.bench.runners.status import Status
    from scarce.bench.spec.experiment import Experiment
    from scarce.bench.trials.packed import PackedStore
    from scarce.bench.trials.plan import Trial
    from scarce.bench.trials.store import Store

__all__ = ["Selecting", "compare", "list_", "pack", "plan", "report", "run", "status"]

_EXTRAS = ("pydantic", "matplotlib", "jinja2")


class Selecting(TyperCommand):
    """A command with ``--only axis=names axis=names``: an option of typer takes one value, so each gets its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put ``--only`` before every further selection of the same option."""
        spread: list[str] = []
        selecting = False
        for word in args:
            is_selection = "=" in word and not word.startswith("-")
            if selecting and is_selection and spread[-1] != "--only":
                spread.append("--only")
            selecting = word.partition("=")[0] == "--only" or (selecting and is_selection)
            spread.append(word)
        return super().parse_args(ctx, spread)


_Experiment = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="A name that `scarce bench list` shows, or a .toml file.",
        show_default=False,
    ),
]
_StoreOption = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="Where trials are kept; by default bench/NAME. To look at packed results, their .jsonl file or its folder.",
        show_default=False,
    ),
]
_Only = Annotated[
    list[str] | None,
    typer.Option(
        metavar="AXIS=NAME,...",
        help="Only these: data, setting, method, model or seed, as in method=scarce,ga setting=uniform; may be repeated, "
        "as it must be for a further name with a comma in it.",
        show_default=False,
    ),
]
_Epochs = Annotated[
    int | None,
    typer.Option(min=1, help="Train so long; the protocol is then called shortened.", show_default=False),
]
_Seeds = Annotated[int | None, typer.Option(min=1, help="So many seeds, from 0 on.", show_default=False)]
_RecipeOption = Annotated[
    Literal["paper", "annealed"] | None,
    typer.Option(metavar="NAME", help="paper or annealed, with its number of epochs.", show_default=False),
]
_DataDir = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Look here first for data.", show_default=False)
]


def list_() -> None:
    """List the experiments that come with the library."""
    with _extras():
        from scarce.bench.spec.experiment import available_experiments
    from scarce.cli._output import print_table

    print_table(["name", "what"], available_experiments().items())


def plan(
    experiment: _Experiment,
    store: _StoreOption = None,
    only: _Only = None,
    epochs: _Epochs = None,
    seeds: _Seeds = None,
    recipe: _RecipeOption = None,
    data_dir: _DataDir = None,
) -> None:
    """Show what an experiment would run, and how much of it is done."""
    chosen = _chosen(experiment, epochs, seeds, recipe)
    trials, missing = _trials_at_hand(chosen, only, data_dir)
    from scarce.bench.runners.status import axis_rows, get_status
    from scarce.cli._output import print_table

    print(f"{chosen.name}: {chosen.title} (protocol: {chosen.protocol})")
    if chosen.description:
        print(chosen.description)
    print_table(["axis", "n", "names"], axis_rows(trials))
    _print_counts(get_status(trials, _store(store, chosen)), missing)


def status(
    experiment: _Experiment,
    store: _StoreOption = None,
    only: _Only = None,
    epochs: _Epochs = None,
    seeds: _Seeds = None,
    recipe: _RecipeOption = None,
    data_dir: _DataDir = None,
) -> None:
    """Show how far an experiment is, what is running, and what failed; the exit code is 1 if something did."""
    chosen = _chosen(experiment, epochs, seeds, recipe)
    trials, missing = _trials_at_hand(chosen, only, data_dir)
    from scarce.bench.runners.status import get_status

    place = _store(store, chosen).require()
    found = get_status(trials, place)
    _print_counts(found, missing)
    _tell_of_others(chosen, place)
    names = {trial.key: str(trial) for trial in trials}
    for trial in found.running:
        print(f"running: {trial}")
    for record in found.failed:
        print(f"failed: {names[record.key]}: {record.error}")
    if found.failed:
        raise typer.Exit(1)


def run(
    experiment: _Experiment,
    store: _StoreOption = None,
    only: _Only = None,
    epochs: _Epochs = None,
    seeds: _Seeds = None,
    recipe: _RecipeOption = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="DistributedContext; by default one per processor.", show_default=False),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Run on this Dask cluster instead, such as tcp://host:8786.",
            show_default=False,
        ),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Run trials again that failed; else they are left as they are."),
    ] = False,
    data_dir: _DataDir = None,
) -> None:
    """Run the trials of an experiment that are not done yet.

    Stopped or killed at any time, the same command goes on: what is done stays done, and a trial that was begun goes on
    from its last epoch. Several runs may share a store. The exit code is 1 if a trial failed, now or earlier.
    """
    chosen = _chosen(experiment, epochs, seeds, recipe)
    folder = None if data_dir is None else str(data_dir.resolve())
    from scarce.bench.runners.dask import n_workers, run_on_cluster
    from scarce.bench.runners.local import run_local
    from scarce.bench.runners.progress import TrialProgress
    from scarce.bench.runners.status import get_status
    from scarce.bench.trials.execution import data_checksum

    trials = _trials(chosen, only, lambda name: data_checksum(chosen.kind, name, folder))
    place = _writable_store(store, chosen)
    before = get_status(trials, place)
    to_run = before.to_run(retry_failed=retry_failed)
    left = [trial for trial in trials if trial.key in to_run]
    print(
        f"{chosen.name} ({chosen.protocol}): {_count(len(trials))}, {len(left)} to run; store {place.path}",
        flush=True,
    )
    at_once = n_workers(cluster) if cluster is not None else jobs or os.cpu_count() or 1
    outcomes = (
        run_local(left, place, folder, jobs=at_once, retry_failed=retry_failed)
        if cluster is None
        else run_on_cluster(left, place, folder, cluster, retry_failed=retry_failed)
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended politely, workers end too
    try:
        with closing(outcomes), TrialProgress(len(left), at_once, before.seconds_left()) as watch:  # type: ignore[type-var]
            for outcome in outcomes:
                watch.tell(outcome)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        raise typer.Exit(130) from None
    after = get_status(trials, place)
    print(f"{len(after.done)} done, {len(after.failed)} failed")
    if after.failed:
        print("`scarce bench status` shows why; --retry-failed runs them again", file=sys.stderr)
        raise typer.Exit(1)


def report(
    experiment: _Experiment,
    store: _StoreOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="A folder, or a .md file for the tables alone; by default the folder report of the store.",
            show_default=False,
        ),
    ] = None,
    test: Annotated[
        Literal["t", "wilcoxon"],
        typer.Option(metavar="NAME", help="t or wilcoxon: the paired test of what is bold."),
    ] = "t",
    holm: Annotated[
        bool, typer.Option("--holm", help="Correct the tests of a column for their number.")
    ] = False,
    terminal: Annotated[bool, typer.Option("--terminal", help="Show the tables here instead.")] = False,
    only: _Only = None,
    epochs: _Epochs = None,
    seeds: _Seeds = None,
    recipe: _RecipeOption = None,
) -> None:
    """Write a report: tables as the paper lays them out beside its numbers, figures, criteria and costs."""
    chosen = _chosen(experiment, epochs, seeds, recipe)
    with _extras():
        from scarce.bench.reports import report as write
        from scarce.bench.trials.packed import PackedStore
        from scarce.bench.trials.plan import plan

    wanted = _wanted(plan(chosen, lambda name: None), only)
    place = _store(store, chosen).require()
    target = out or (None if terminal else place.report_dir)
    kept_in = None if isinstance(place, PackedStore) else store
    given = {"--recipe": recipe, "--epochs": epochs, "--seeds": seeds, "--store": kept_in}
    options = [str(word) for pair in given.items() if pair[1] is not None for word in pair]
    options += [word for text in only or () for word in ("--only", text)]
    command = shlex.join(["scarce", "bench", "run", experiment, *options])
    write(
        chosen,
        place,
        target,
        command=command,
        test=test,
        holm=holm,
        terminal=terminal,
        only=wanted,
    )
    _tell_of_others(chosen, place)


def compare(
    first: Annotated[
        Path,
        typer.Argument(metavar="STORE", help="A folder of trials, or a packed file.", show_default=False),
    ],
    second: Annotated[Path, typer.Argument(metavar="STORE", help="Another.", show_default=False)],
) -> None:
    """Show the results of two stores side by side, for a before and an after."""
    with _extras():
        from scarce.bench.results.comparison import compare as compare_stores
        from scarce.bench.trials.packed import open_store

    from scarce._console import terminal_width

    print(compare_stores(open_store(first).require(), open_store(second).require(), terminal_width()))


def pack(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="A folder of trials.", show_default=False)],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write the packed files.")] = Path(
        "results"
    ),
) -> None:
    """Write the finished trials of a store into two small files per experiment, which report, compare and status read.

    NAME.jsonl has one line per trial, NAME.curves.jsonl.gz their curves. Trials that the files already hold are
    kept. The store is left as it is.
    """
    with _extras():
        from scarce.bench.trials.packed import pack as pack_store
        from scarce.bench.trials.store import Store

    for packed, n_trials in pack_store(Store(store).require(), out).items():
        print(f"{packed.path}: {_count(n_trials)}")


@contextmanager
def _extras() -> Iterator[None]:
    """Say what to install if a package is missing that only experiments need."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        raise ScarceError(
            f'scarce bench needs {error.name}, which is not installed: pip install "scarce[bench]".'
        ) from None


def _chosen(
    name: str, epochs: int | None, seeds: int | None, recipe: Literal["paper", "annealed"] | None
) -> "Experiment":
    with _extras():
        from scarce.bench.spec.experiment import load_experiment

    return load_experiment(name).changed(epochs=epochs, seeds=seeds, recipe=recipe)


def _store(path: Path | None, experiment: "Experiment") -> "Store | PackedStore":
    from scarce.bench.trials.packed import open_store

    return open_store(path or Path("bench", experiment.name), experiment.name)


def _writable_store(path: Path | None, experiment: "Experiment") -> "Store":
    from scarce.bench.trials.store import Store

    place = _store(path, experiment)
    if not isinstance(place, Store):
        raise FileError(
            f"{place.path} holds packed results, which are read-only; choose another --store, then `scarce bench pack` it."
        )
    return place


def _trials(
    experiment: "Experiment", only: list[str] | None, checksum: Callable[[str], str | None]
) -> "list[Trial]":
    """Return the selected trials; only of data that these need is the checksum asked for."""
    from scarce.bench.trials.plan import plan, select

    trials = plan(experiment, lambda name: None)
    wanted = _wanted(trials, only)
    used = {trial.spec.data for trial in select(trials, wanted)}
    return select(plan(experiment, lambda name: checksum(name) if name in used else None), wanted)


def _wanted(trials: "list[Trial]", only: list[str] | None) -> dict[str, list[str]]:
    """Return the names that are asked for, by axis."""
    wanted: dict[str, list[str]] = {}
    for text in only or ():
        axis, mark, names = (part.strip() for part in text.partition("="))
        if not (mark and names.strip(", ")):
            raise MethodError(
                f"--only {text!r} is not understood; expected axis=name,..., such as method=scarce,ga."
            )
        wanted.setdefault(axis, []).extend(_split(trials, axis, names))
    return wanted


def _split(trials: "list[Trial]", axis: str, text: str) -> list[str]:
    """Return the names of a list; one that is the name of trials as it stands may hold commas."""
    from scarce.bench.trials.plan import select

    try:
        select(trials, {axis: [text]})
    except MethodError:
        return [name.strip() for name in text.split(",") if name.strip()]
    return [text]


def _trials_at_hand(
    experiment: "Experiment", only: list[str] | None, data_dir: Path | None
) -> "tuple[list[Trial], dict[str, str]]":
    """Return the selected trials without fetching any data, and how to get the data that are not here, by name."""
    from scarce.bench.trials.execution import data_checksum
    from scarce.datasets import find_dataset
    from scarce.datasets.load_tables import find_table, table_facts

    missing: dict[str, str] = {}

    def checksum(name: str) -> str | None:
        is_table = experiment.kind == "classifiers"
        needed = [find_table(name, data_dir)] if is_table else find_dataset(name, data_dir)
        lacking = [file for found in needed if found is not None for file in found.missing]
        if lacking:
            missing[name] = (
                f"put {table_facts(name).folder}/{lacking[0]} into a folder named with --data-dir"
                if is_table
                else f"get it with: scarce data fetch {name}"
            )
            return None
        return data_checksum(
            experiment.kind, name, None if data_dir is None else str(data_dir.resolve()), False
        )

    return _trials(experiment, only, checksum), missing


def _tell_of_others(experiment: "Experiment", store: "Store | PackedStore") -> None:
    """If the store has nothing of the experiment as it was asked for, print what else it has of it."""
    from scarce.bench.trials.plan import plan, planned_records

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # damaged records have been reported
        records = store.records()
    others = sum(record.experiment == experiment.name for record in records)
    if others and not planned_records(plan(experiment, lambda name: None), records):
        print(
            f"{store.path} holds {_count(others)} of {experiment.name} with another recipe or other settings; the same --epochs "
            "and --recipe as for the run show them"
        )


def _count(n: int) -> str:
    return f"{n} trial{'s' * (n != 1)}"


def _print_counts(found: "Status", missing: dict[str, str]) -> None:
    from scarce.bench.runners.status import format_duration

    counts: dict[str, Sized] = {
        "done": found.done,
        "failed": found.failed,
        "running": found.running,
        "left": found.left,
    }
    total = sum(map(len, counts.values()))
    print(f"{_count(total)}: {', '.join(f'{len(part)} {name}' for name, part in counts.items())}")
    seconds = found.seconds_left()
    if seconds:
        print(f"the rest takes about {format_duration(seconds)}, divided by the number of processes")
    for name, remedy in missing.items():
        print(f"{name} is not here, so that what is done of it is unknown; {remedy}")
