"""``scarce labels``: describe, convert and simulate labels."""

from pathlib import Path
from typing import Annotated

import typer

from scarce.cli._options import (
    ClassesOption,
    ConflictOption,
    ForceOption,
    FormOption,
    IdColumnOption,
    set_option,
)
from scarce.cli._parsing import parse_classes, parse_settings, translate_type_errors

_LabelsArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Complementary labels: .csv, .npz, .npy, .parquet, .json or .jsonl.",
        show_default=False,
    ),
]
_OutArgument = Annotated[
    Path, typer.Argument(metavar="OUT", help="The file to write: .csv or .npz.", show_default=False)
]


def describe(
    file: _LabelsArgument,
    form: FormOption = None,
    classes: ClassesOption = None,
    conflict: ConflictOption = "raise",
) -> None:
    """Summarize labels, class by class."""
    from scarce.cli._output import show_labels
    from scarce.labels import read_labels

    labels = read_labels(file, form=form, classes=parse_classes(classes), conflict=conflict)
    show_labels(labels.summary())


def convert(
    file: _LabelsArgument,
    out: _OutArgument,
    form: FormOption = None,
    classes: ClassesOption = None,
    conflict: ConflictOption = "raise",
    force: ForceOption = False,
) -> None:
    """Convert labels to .csv (readable) or .npz (compact)."""
    from scarce.labels import read_labels

    labels = read_labels(file, form=form, classes=parse_classes(classes), conflict=conflict)
    labels.save(out, force=force)
    print(f"wrote the labels of {labels.n_examples:,} examples to {out}")


def simulate(
    truth: Annotated[
        Path,
        typer.Argument(
            metavar="TRUTH", help="True classes: .csv, .parquet, .npy or an idx file.", show_default=False
        ),
    ],
    out: _OutArgument,
    process: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="The process that generates labels; see `scarce labels processes`."
        ),
    ] = "uniform",
    settings: Annotated[list[str] | None, set_option("process", "rates=0.3")] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="The random seed; the same seed gives the same labels.")
    ] = 0,
    classes: ClassesOption = None,
    id_column: IdColumnOption = None,
    force: ForceOption = False,
) -> None:
    """Draw complementary labels from true classes."""
    from dataclasses import replace

    from scarce.features import read_truth
    from scarce.simulate import simulate as draw_labels

    values, ids = read_truth(truth, id_column)
    params = {"seed": seed, "classes": parse_classes(classes)} | parse_settings(settings)
    with translate_type_errors(params):
        labels = draw_labels(process, values, **params)
    replace(labels, ids=ids).save(out, force=force)
    print(f"wrote the labels of {labels.n_examples:,} examples to {out}")


def processes() -> None:
    """List the processes that `simulate` offers."""
    from inspect import getdoc, signature

    from scarce.cli._output import print_table
    from scarce.simulate import PROCESSES

    common = ("y", "classes", "seed")
    print_table(
        ["name", "takes (--set)", "description"],
        [
            [
                name,
                ", ".join(param for param in signature(process).parameters if param not in common) or "-",
                (getdoc(process) or "").split("\n\n")[0].replace("\n", " "),
            ]
            for name, process in PROCESSES.items()
        ],
    )
