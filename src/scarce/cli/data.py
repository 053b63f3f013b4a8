"""``scarce data``: list data sets, download them, and check their files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from scarce.datasets import LocatedFiles

_DataDirOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The folder to search first, before $SCARCE_DATA and the user's cache; downloads go to the first of these "
        "that is set.",
        show_default=False,
    ),
]


def list_(data_dir: _DataDirOption = None) -> None:
    """List the data sets and where they were found."""
    from scarce.cli._output import print_table
    from scarce.datasets import available_datasets, find_dataset

    rows = []
    for name, facts in available_datasets().items():
        found = find_dataset(name, data_dir)
        where = "not found" if any(files.missing for files in found) else _where(found)
        examples = f"{facts.n_train:,} + {facts.n_test:,}"
        rows.append([name, str(facts.n_classes), examples, " × ".join(map(str, facts.shape)), where])
    print_table(["name", "classes", "examples", "shape", "where"], rows)


def fetch(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="The data sets to download.", show_default=False)
    ],
    data_dir: _DataDirOption = None,
) -> None:
    """Download data sets that are missing on this machine."""
    from scarce.datasets import fetch_dataset
    from scarce.datasets.registry import facts_of

    for name in names:
        facts_of(name)  # raises if the name is unknown, before anything is downloaded
    for name in names:
        print(f"{name}: {_where(fetch_dataset(name, data_dir))}")


def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="The data sets to check; by default all that are on this machine.",
            show_default=False,
        ),
    ] = None,
    data_dir: _DataDirOption = None,
) -> None:
    """Check the files of data sets.

    The exit code is 1 if a file is missing or wrong.
    """
    from scarce.cli._output import print_table
    from scarce.datasets import available_datasets, find_dataset

    # Keyed by folder, because data sets share files.
    sets = {
        (found.folder, found.files): found
        for name in names or available_datasets()
        for found in find_dataset(name, data_dir)
        if names or found.paths
    }
    if not names:  # skip incomplete data sets whose files all belong to a complete one
        complete = [set(found.paths.values()) for found in sets.values() if not found.missing]
        sets = {
            key: found
            for key, found in sets.items()
            if not found.missing or not any(set(found.paths.values()) <= paths for paths in complete)
        }
    if not sets:
        print("no data sets found: nothing to check")
        return
    rows = [
        [file.name, found.state(file.name) if file.name in found.paths else "missing", str(found.folder)]
        for found in sets.values()
        for file in found.files.files
    ]
    print_table(["file", "state", "folder"], rows)
    if any(state in ("missing", "wrong") for _, state, _ in rows):
        raise typer.Exit(1)


def _where(found: "Sequence[LocatedFiles]") -> str:
    return ", ".join(dict.fromkeys(str(files.folder) for files in found)) or "comes with scikit-learn"
