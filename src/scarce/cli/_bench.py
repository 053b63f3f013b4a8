"""What the commands of ``scarce bench`` share: options, the experiment, its store, and counts of trials."""

from collections.abc import Iterable, Sized
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scarce.cli._options import RecipeName
from scarce.cli._runtime import needs_bench_extra
from scarce.errors import FileError, MethodError

if TYPE_CHECKING:
    from scarce.bench import Experiment, PackedStore, Plan, Status, Store, TrialRecord

ExperimentArgument = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="A name that `scarce bench list` shows, or a .toml file.",
        show_default=False,
    ),
]
StoreOption = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="The folder of the trials; by default bench/NAME. For packed results, their .jsonl file or its folder.",
        show_default=False,
    ),
]
WritableStoreOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Where to save the trials; by default bench/NAME.", show_default=False
    ),
]
OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="AXIS=NAME,...",
        help="Select trials by data, setting, method, model or seed: --only method=scarce,ga --only seed=0. A name that "
        "contains a comma needs an --only of its own.",
        show_default=False,
    ),
]
EpochsOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="The number of epochs; reports then call the protocol shortened.", show_default=False
    ),
]
SeedsOption = Annotated[
    int | None, typer.Option(min=1, help="The number of seeds, starting at 0.", show_default=False)
]
RecipeOption = Annotated[
    RecipeName | None,
    typer.Option(
        metavar="NAME",
        help="The training recipe, with its number of epochs: annealed, fast or paper.",
        show_default=False,
    ),
]
DataDirOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="The folder to search for data first.", show_default=False),
]


def load(name: str, epochs: int | None, seeds: int | None, recipe: RecipeName | None) -> "Experiment":
    """Return an experiment with the changes of the command line."""
    with needs_bench_extra("bench"):
        from scarce.bench import load_experiment

        return load_experiment(name).changed(epochs=epochs, seeds=seeds, recipe=recipe)


def parse_only(plan: "Plan", texts: Iterable[str] | None) -> dict[str, list[str]]:
    """Return the names by axis, as `Plan.select` takes them, of texts such as ``method=scarce,ga``.

    Parameters
    ----------
    plan : Plan
        The plan of all trials; their names may contain commas.
    texts : iterable of str or None
        Each has an axis and one or more names.

    Examples
    --------
    >>> from scarce.bench import Plan, load_experiment
    >>> parse_only(Plan.from_experiment(load_experiment("quick-digits")), ["method=scarce,ga", "seed=0"])
    {'method': ['scarce', 'ga'], 'seed': ['0']}
    """
    from scarce._validation import check_option
    from scarce.bench.trials.plan import AXES

    only: dict[str, list[str]] = {}
    for text in texts or ():
        axis, separator, names = (part.strip() for part in text.partition("="))
        if not (separator and names.strip(", ")):
            raise MethodError(
                f"--only {text!r} has no axis or no name; expected AXIS=NAME,..., such as method=scarce,ga."
            )
        check_option("axis", axis, AXES)
        is_one_name = any(names in trial.names(axis) for trial in plan)
        separate = [names] if is_one_name else [name.strip() for name in names.split(",") if name.strip()]
        only.setdefault(axis, []).extend(separate)
    return only


def open_store(path: Path | None, experiment: "Experiment") -> "Store | PackedStore":
    """Return the store at a path, by default that of the experiment."""
    from scarce.bench.trials.packed import open_store

    return open_store(path or Path("bench", experiment.name), experiment.name)


def open_writable_store(path: Path | None, experiment: "Experiment") -> "Store":
    """Return the store at a path; raise if the folder holds packed results, of this or another experiment."""
    from scarce.bench import Store

    opened = open_store(path, experiment)
    holds_packed = isinstance(opened, Store) and not opened.has_trials() and any(opened.path.glob("*.jsonl"))
    if not isinstance(opened, Store) or holds_packed:
        raise FileError(
            f"{opened.path} holds packed results, which are read-only; choose another folder with --store, and pack it with "
            "`scarce bench pack`."
        )
    return opened


def print_counts(found: "Status", missing: dict[str, str]) -> None:
    """Print how many trials are done, failed, running and left, the estimated time left, and which data are missing."""
    from scarce.bench.runners.status import format_duration

    groups: dict[str, Sized] = {
        "done": found.done,
        "failed": found.failed,
        "running": found.running,
        "left": found.pending,
    }
    total = sum(map(len, groups.values()))
    print(f"{count_text(total)}: {', '.join(f'{len(group)} {name}' for name, group in groups.items())}")
    seconds = found.seconds_left()
    if seconds:
        print(f"about {format_duration(seconds)} left with one process")
    for name, hint in missing.items():
        print(f"{name} is not downloaded, so its progress is unknown; {hint}")


def print_other_settings(plan: "Plan", records: Iterable["TrialRecord"], path: Path) -> None:
    """If none of the records belongs to the plan of all trials, print how many are of the experiment with other settings."""
    records = list(records)
    name = plan.experiment.name
    n_records = sum(record.experiment == name for record in records)
    if n_records and not plan.find_records(records):
        print(
            f"{path} holds {count_text(n_records)} of {name} with another recipe or other settings; to see them, "
            "pass the --epochs and --recipe of the run"
        )


def count_text(n: int) -> str:
    """Return a number of trials as text.

    Examples
    --------
    >>> count_text(1), count_text(2)
    ('1 trial', '2 trials')
    """
    return f"{n} trial{'s' * (n != 1)}"
