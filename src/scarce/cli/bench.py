"""``scarce bench``: experiments, from a plan to a report."""

import os
import shlex
import signal
import sys
import warnings
from collections.abc import Iterable, Sized
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from scarce.cli._runtime import needs_bench_extra
from scarce.errors import FileError

if TYPE_CHECKING:
    from scarce.bench.runners.status import Status
    from scarce.bench.spec.experiment import Experiment
    from scarce.bench.trials.packed import PackedStore
    from scarce.bench.trials.plan import Trial
    from scarce.bench.trials.store import Store

__all__ = ["SelectionCommand", "compare", "list_", "pack", "plan", "report", "run", "status"]


class SelectionCommand(TyperCommand):
    """A command with ``--only axis=names axis=names``, though an option of typer takes only one value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert ``--only`` before every further selection of the same option."""
        expanded: list[str] = []
        after_only = False
        for word in args:
            is_selection = "=" in word and not word.startswith("-")
            if after_only and is_selection and expanded[-1] != "--only":
                expanded.append("--only")
            after_only = word.partition("=")[0] == "--only" or (after_only and is_selection)
            expanded.append(word)
        return super().parse_args(ctx, expanded)


_ExperimentArgument = Annotated[
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
_OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="AXIS=NAME,...",
        help="Only these: data, setting, method, model or seed, as in method=scarce,ga setting=uniform; may be repeated, "
        "as it must be for a further name with a comma in it.",
        show_default=False,
    ),
]
_EpochsOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="The number of epochs; the protocol is then called shortened.", show_default=False
    ),
]
_SeedsOption = Annotated[
    int | None, typer.Option(min=1, help="The number of seeds, from 0 on.", show_default=False)
]
_RecipeOption = Annotated[
    Literal["paper", "annealed"] | None,
    typer.Option(metavar="NAME", help="paper or annealed, with its number of epochs.", show_default=False),
]
_DataDirOption = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Look here first for data.", show_default=False)
]


def list_() -> None:
    """List the experiments that come with the library."""
    with needs_bench_extra("bench"):
        from scarce.bench.spec.experiment import available_experiments
    from scarce.cli._output import print_table

    print_table(["name", "what"], available_experiments().items())


def plan(
    experiment: _ExperimentArgument,
    store: _StoreOption = None,
    only: _OnlyOption = None,
    epochs: _EpochsOption = None,
    seeds: _SeedsOption = None,
    recipe: _RecipeOption = None,
    data_dir: _DataDirOption = None,
) -> None:
    """Show what an experiment would run, and how much of it is done."""
    loaded, trials, missing = _plan(experiment, only, epochs, seeds, recipe, data_dir)
    from scarce.bench.runners.status import axis_rows, get_status
    from scarce.cli._output import print_table

    print(f"{loaded.name}: {loaded.title} (protocol: {loaded.protocol})")
    if loaded.description:
        print(loaded.description)
    print_table(["axis", "n", "names"], axis_rows(trials))
    _print_counts(get_status(trials, _open_store(store, loaded)), missing)


def status(
    experiment: _ExperimentArgument,
    store: _StoreOption = None,
    only: _OnlyOption = None,
    epochs: _EpochsOption = None,
    seeds: _SeedsOption = None,
    recipe: _RecipeOption = None,
    data_dir: _DataDirOption = None,
) -> None:
    """Show how far an experiment is, what is running, and what failed; the exit code is 1 if something did."""
    loaded, trials, missing = _plan(experiment, only, epochs, seeds, recipe, data_dir)
    from scarce.bench.runners.status import get_status

    opened = _open_store(store, loaded).check_exists()
    found = get_status(trials, opened)
    _print_counts(found, missing)
    _print_other_settings(loaded, opened)
    names = {trial.key: str(trial) for trial in trials}
    for trial in found.running:
        print(f"running: {trial}")
    for record in found.failed:
        print(f"failed: {names[record.key]}: {record.error}")
    if found.failed:
        raise typer.Exit(1)


def run(
    experiment: _ExperimentArgument,
    store: _StoreOption = None,
    only: _OnlyOption = None,
    epochs: _EpochsOption = None,
    seeds: _SeedsOption = None,
    recipe: _RecipeOption = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="The number of processes; by default one per processor.", show_default=False
        ),
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
    data_dir: _DataDirOption = None,
) -> None:
    """Run the trials of an experiment that are not done yet.

    After an interruption, rerun the same command to resume: trials that are done are skipped, and one that was interrupted
    continues from its last epoch. Several runs may share a store. The exit code is 1 if a trial failed, now or earlier.
    """
    loaded = _load(experiment, epochs, seeds, recipe)
    from scarce.bench.runners.dask import n_workers, run_on_cluster
    from scarce.bench.runners.local import run_local
    from scarce.bench.runners.progress import TrialProgress
    from scarce.bench.runners.status import get_status
    from scarce.bench.trials.plan import plan_selected

    trials, _ = plan_selected(loaded, only or (), data_dir)
    opened = _open_writable_store(store, loaded)
    before = get_status(trials, opened)
    to_run = before.to_run(retry_failed=retry_failed)
    pending = [trial for trial in trials if trial.key in to_run]
    print(
        f"{loaded.name} ({loaded.protocol}): {_count(len(trials))}, {len(pending)} to run; store {opened.path}",
        flush=True,
    )
    folder = None if data_dir is None else str(data_dir.resolve())
    n_parallel = n_workers(cluster) if cluster is not None else jobs or os.cpu_count() or 1
    outcomes = (
        run_local(pending, opened, folder, jobs=n_parallel, retry_failed=retry_failed)
        if cluster is None
        else run_on_cluster(pending, opened, folder, cluster, retry_failed=retry_failed)
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that workers are ended too
    try:
        with closing(outcomes), TrialProgress(len(pending), n_parallel, before.seconds_left()) as progress:  # type: ignore[type-var]
            for outcome in outcomes:
                progress.update(outcome)
    except KeyboardInterrupt:
        print("interrupted; rerun the same command to resume", file=sys.stderr)
        raise typer.Exit(130) from None
    after = get_status(trials, opened)
    print(f"{len(after.done)} done, {len(after.failed)} failed")
    if after.failed:
        print("`scarce bench status` shows why; --retry-failed runs them again", file=sys.stderr)
        raise typer.Exit(1)


def report(
    experiment: _ExperimentArgument,
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
        typer.Option(metavar="NAME", help="t or wilcoxon: the paired test that decides what is bold."),
    ] = "t",
    holm: Annotated[
        bool, typer.Option("--holm", help="Correct the tests of a column for multiple testing.")
    ] = False,
    terminal: Annotated[bool, typer.Option("--terminal", help="Show the tables here instead.")] = False,
    only: _OnlyOption = None,
    epochs: _EpochsOption = None,
    seeds: _SeedsOption = None,
    recipe: _RecipeOption = None,
) -> None:
    """Write a report: tables as the paper lays them out beside its numbers, figures, criteria and costs."""
    loaded = _load(experiment, epochs, seeds, recipe)
    with needs_bench_extra("bench"):
        from scarce.bench.reports import write_report
        from scarce.bench.trials.packed import PackedStore
        from scarce.bench.trials.plan import parse_selection
        from scarce.bench.trials.plan import plan as plan_trials

    selection = parse_selection(plan_trials(loaded), only or ())
    opened = _open_store(store, loaded).check_exists()
    writable = None if isinstance(opened, PackedStore) else store
    given = {"--recipe": recipe, "--epochs": epochs, "--seeds": seeds, "--store": writable}
    options = [str(word) for pair in given.items() if pair[1] is not None for word in pair]
    options += [word for text in only or () for word in ("--only", text)]
    write_report(
        loaded,
        opened,
        out or (None if terminal else opened.report_dir),
        command=shlex.join(["scarce", "bench", "run", experiment, *options]),
        test=test,
        holm=holm,
        terminal=terminal,
        only=selection,
    )
    _print_other_settings(loaded, opened)


def compare(
    first: Annotated[
        Path,
        typer.Argument(metavar="STORE", help="A folder of trials, or a packed file.", show_default=False),
    ],
    second: Annotated[Path, typer.Argument(metavar="STORE", help="Another.", show_default=False)],
) -> None:
    """Show the results of two stores side by side, for a before and an after."""
    with needs_bench_extra("bench"):
        from scarce.bench.results.comparison import compare_stores
        from scarce.bench.trials.packed import open_store

    from scarce._console import terminal_width

    print(
        compare_stores(open_store(first).check_exists(), open_store(second).check_exists(), terminal_width())
    )


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
    with needs_bench_extra("bench"):
        from scarce.bench.trials.packed import pack as pack_store
        from scarce.bench.trials.store import Store

    for packed, n_trials in pack_store(Store(store).check_exists(), out).items():
        print(f"{packed.path}: {_count(n_trials)}")


def _load(
    name: str, epochs: int | None, seeds: int | None, recipe: Literal["paper", "annealed"] | None
) -> "Experiment":
    with needs_bench_extra("bench"):
        from scarce.bench.spec.experiment import load_experiment

    return load_experiment(name).changed(epochs=epochs, seeds=seeds, recipe=recipe)


def _plan(
    name: str,
    only: Iterable[str] | None,
    epochs: int | None,
    seeds: int | None,
    recipe: Literal["paper", "annealed"] | None,
    data_dir: Path | None,
) -> "tuple[Experiment, list[Trial], dict[str, str]]":
    """Return an experiment, its selected trials, and how to get data that are missing, without downloading any."""
    experiment = _load(name, epochs, seeds, recipe)
    from scarce.bench.trials.plan import plan_selected

    return experiment, *plan_selected(experiment, only or (), data_dir, download=False)


def _open_store(path: Path | None, experiment: "Experiment") -> "Store | PackedStore":
    from scarce.bench.trials.packed import open_store

    return open_store(path or Path("bench", experiment.name), experiment.name)


def _open_writable_store(path: Path | None, experiment: "Experiment") -> "Store":
    from scarce.bench.trials.store import Store

    opened = _open_store(path, experiment)
    if not isinstance(opened, Store):
        raise FileError(
            f"{opened.path} holds packed results, which are read-only; choose another --store, then `scarce bench pack` it."
        )
    return opened


def _print_other_settings(experiment: "Experiment", store: "Store | PackedStore") -> None:
    """If the store has no trial of the experiment with these settings, print how many it has with others."""
    from scarce.bench.trials.plan import plan as plan_trials
    from scarce.bench.trials.plan import planned_records

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # damaged records have been reported
        records = store.records()
    n_records = sum(record.experiment == experiment.name for record in records)
    if n_records and not planned_records(plan_trials(experiment), records):
        print(
            f"{store.path} holds {_count(n_records)} of {experiment.name} with another recipe or other settings; pass the same "
            "--epochs and --recipe as for the run to see them"
        )


def _count(n: int) -> str:
    return f"{n} trial{'s' * (n != 1)}"


def _print_counts(found: "Status", missing: dict[str, str]) -> None:
    from scarce.bench.runners.status import format_duration

    groups: dict[str, Sized] = {
        "done": found.done,
        "failed": found.failed,
        "running": found.running,
        "left": found.pending,
    }
    total = sum(map(len, groups.values()))
    print(f"{_count(total)}: {', '.join(f'{len(group)} {name}' for name, group in groups.items())}")
    seconds = found.seconds_left()
    if seconds:
        print(f"the rest takes about {format_duration(seconds)}, divided by the number of processes")
    for name, hint in missing.items():
        print(f"{name} is not downloaded, so its progress is unknown; {hint}")
