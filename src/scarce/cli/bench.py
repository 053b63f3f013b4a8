"""``scarce bench``: experiments, from a plan to a report."""

import os
import shlex
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from scarce.cli._bench import (
    DataDirOption,
    EpochsOption,
    ExperimentArgument,
    OnlyOption,
    RecipeOption,
    SeedsOption,
    StoreOption,
    WritableStoreOption,
    count_text,
    load,
    open_store,
    open_writable_store,
    parse_only,
    print_counts,
    print_other_settings,
)
from scarce.cli._runtime import needs_bench_extra


def list_() -> None:
    """List the experiments that come with the library."""
    with needs_bench_extra("bench"):
        from scarce.bench import available_experiments

        experiments = available_experiments()
    from scarce.cli._output import print_table

    print_table(["name", "title"], experiments.items())


def status(
    experiment: ExperimentArgument,
    store: StoreOption = None,
    only: OnlyOption = None,
    epochs: EpochsOption = None,
    seeds: SeedsOption = None,
    recipe: RecipeOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Show which trials of an experiment are done, running or failed.

    Nothing is downloaded, and the store need not exist yet. The exit code is 1 if a trial failed.
    """
    loaded = load(experiment, epochs, seeds, recipe)
    from scarce.bench import Plan, get_status
    from scarce.bench.runners.status import axis_rows
    from scarce.cli._output import print_table

    plan = Plan.from_experiment(loaded)
    selected = plan.select(**parse_only(plan, only)).with_data(data_dir, download=False)
    opened = open_store(store, loaded)
    records = opened.records()
    found = get_status(selected, opened, records)
    print(f"{loaded.name}: {loaded.title} (protocol: {loaded.protocol})")
    if loaded.description:
        print(loaded.description)
    print_table(["axis", "n", "names"], axis_rows(selected))
    print_counts(found, selected.missing)
    print_other_settings(plan, records, opened.path)
    names = {trial.key: str(trial) for trial in selected}
    for trial in found.running:
        print(f"running: {trial}")
    for record in found.failed:
        print(f"failed: {names[record.key]}: {record.error}")
    if found.failed:
        raise typer.Exit(1)


def run(
    experiment: ExperimentArgument,
    store: WritableStoreOption = None,
    only: OnlyOption = None,
    epochs: EpochsOption = None,
    seeds: SeedsOption = None,
    recipe: RecipeOption = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="The number of processes; by default one per CPU.", show_default=False),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The scheduler of a Dask cluster to run on instead, such as tcp://host:8786.",
            show_default=False,
        ),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed trials again; by default they are skipped.")
    ] = False,
    data_dir: DataDirOption = None,
) -> None:
    """Run the trials of an experiment that are not done yet.

    After an interruption, rerun the same command to resume: trials that are done are skipped, and one that was interrupted
    continues from its last epoch. Several runs may share a store. A full disk or a missing network connection does not make a
    trial fail: the next run continues it. The exit code is 1 if a trial failed, now or earlier, or could not be finished.
    """
    loaded = load(experiment, epochs, seeds, recipe)
    from scarce.bench import Plan, get_status, run_local, run_on_cluster
    from scarce.bench.runners._progress import TrialProgress
    from scarce.bench.runners.dask import n_workers

    plan = Plan.from_experiment(loaded)
    selected = plan.select(**parse_only(plan, only))
    opened = open_writable_store(store, loaded)  # first, since data may be a long download
    plan = selected.with_data(data_dir)
    before = get_status(plan, opened)
    to_run = before.to_run(retry_failed=retry_failed)
    pending = [trial for trial in plan if trial.key in to_run]
    print(
        f"{loaded.name} ({loaded.protocol}): {count_text(len(plan))}, {len(pending)} to run; store {opened.path}",
        flush=True,
    )
    n_parallel = n_workers(cluster) if cluster is not None else jobs or os.cpu_count() or 1
    outcomes = (
        run_local(pending, opened, data_dir, jobs=n_parallel, retry_failed=retry_failed)
        if cluster is None
        else run_on_cluster(pending, opened, data_dir, cluster, retry_failed=retry_failed)
    )
    try:
        with closing(outcomes), TrialProgress(len(pending), n_parallel, before.seconds_left()) as progress:  # type: ignore[type-var]
            for outcome in outcomes:
                progress.update(outcome)
    except KeyboardInterrupt:
        print("interrupted; rerun the same command to resume", file=sys.stderr)
        raise typer.Exit(130) from None
    after = get_status(plan, opened)
    print(f"{len(after.done)} done, {len(after.failed)} failed")
    if progress.unfinished:
        reason = (progress.unfinished[-1].error or "").rstrip(".")
        text = f"{count_text(len(progress.unfinished))} could not be finished: {reason}; rerun the same command to continue"
        print(text, file=sys.stderr)
    if after.failed:
        print("`scarce bench status` shows why; --retry-failed runs them again", file=sys.stderr)
    if after.failed or progress.unfinished:
        raise typer.Exit(1)


def report(
    experiment: ExperimentArgument,
    store: StoreOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="A folder, or a .md file for the tables alone; by default the folder report in the store.",
            show_default=False,
        ),
    ] = None,
    test: Annotated[
        Literal["t", "wilcoxon"],
        typer.Option(
            metavar="NAME", help="The paired test that decides which results are bold: t or wilcoxon."
        ),
    ] = "t",
    holm: Annotated[
        bool, typer.Option("--holm", help="Correct the tests of a column for multiple testing.")
    ] = False,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Print the tables instead; with --out, write the files too.")
    ] = False,
    only: OnlyOption = None,
    epochs: EpochsOption = None,
    seeds: SeedsOption = None,
    recipe: RecipeOption = None,
) -> None:
    """Write a report: tables, figures, model selection and costs.

    The tables have the layout of the paper's and, where the paper has the experiment, its numbers.
    """
    loaded = load(experiment, epochs, seeds, recipe)
    with needs_bench_extra("bench"):
        from scarce.bench import PackedStore, Plan, collect, show_report, write_report

    plan = Plan.from_experiment(loaded)
    selected = plan.select(**parse_only(plan, only))
    opened = open_store(store, loaded).check_exists()
    records = opened.records()
    results = collect(selected, records)
    writable = None if isinstance(opened, PackedStore) else store
    given = {"--recipe": recipe, "--epochs": epochs, "--seeds": seeds, "--store": writable}
    options = [str(word) for pair in given.items() if pair[1] is not None for word in pair]
    options += [word for text in only or () for word in ("--only", text)]
    command = shlex.join(["scarce", "bench", "run", experiment, *options])
    if terminal:
        show_report(results, command=command, test=test, holm=holm)
    if out is not None or not terminal:
        folder = out or opened.report_dir
        written = write_report(results, folder, command=command, test=test, holm=holm)
        print(folder if written == [folder] else f"{folder}: {', '.join(path.name for path in written)}")
    print_other_settings(plan, records, opened.path)


def compare(
    first: Annotated[
        Path,
        typer.Argument(
            metavar="STORE",
            help="Shown as A: a folder of trials, or a packed .jsonl file.",
            show_default=False,
        ),
    ],
    second: Annotated[
        Path, typer.Argument(metavar="STORE", help="Shown as B: the same.", show_default=False)
    ],
) -> None:
    """Compare two stores, such as before and after a change."""
    with needs_bench_extra("bench"):
        from scarce.bench import compare_stores, open_store

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
    """Pack the finished trials of a store into two small files.

    For each experiment, NAME.jsonl has one line per trial, and NAME.curves.jsonl.gz has their curves. The commands
    status, report and compare read them. Trials that are only in existing packed files are kept. The store is not changed.
    """
    with needs_bench_extra("bench"):
        from scarce.bench import Store
        from scarce.bench import pack as pack_store

    for packed, n_trials in pack_store(Store(store).check_exists(), out).items():
        print(f"{packed.path}: {count_text(n_trials)}")
