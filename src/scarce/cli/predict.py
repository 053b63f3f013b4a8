"""``scarce predict``: the most likely class of every example, as CSV."""

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from scarce.cli._inputs import get_embedding, load_model, read_inputs
from scarce.cli._options import (
    EmbedOption,
    FeaturesArgument,
    ForceOption,
    IdColumnOption,
    ImageSizeOption,
    ModelArgument,
)
from scarce.cli._output import data_stream, show_note
from scarce.errors import FileError

if TYPE_CHECKING:
    from scarce.estimators import ScarceClassifier
    from scarce.features import Features

# Spreadsheet programs read these as the start of a formula, also after spaces and as full-width characters.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def predict(
    model: ModelArgument,
    features: FeaturesArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="The file to write; by default, print to the terminal.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Add a column with the probability of each class.")
    ] = False,
    spreadsheet_safe: Annotated[
        bool,
        typer.Option(
            "--spreadsheet-safe",
            help="Write ' before ids and names that a spreadsheet program would run as a formula, such as =1+1.",
        ),
    ] = False,
    id_column: IdColumnOption = None,
    image_size: ImageSizeOption = None,
    embed: EmbedOption = None,
    force: ForceOption = False,
) -> None:
    """Predict the class of every example."""
    from scarce._io.atomic import atomic_write

    if out is None:
        classifier, names = load_model(model)
        inputs = read_inputs(
            features, id_column, image_size, names, classifier.input_shape_, get_embedding(classifier), embed
        )
        show_note(inputs, beside_data=True)
        _write_predictions(classifier, inputs, data_stream(), every, spreadsheet_safe)
        return
    if out.resolve() == features.resolve():
        raise FileError(f"{out} holds the features; choose another name for the predictions.")
    # Opened first, so that a path that cannot be written fails before the work starts.
    with atomic_write(out, force=force) as temporary:
        classifier, names = load_model(model)
        inputs = read_inputs(
            features, id_column, image_size, names, classifier.input_shape_, get_embedding(classifier), embed
        )
        show_note(inputs)
        with temporary.open("w", encoding="utf-8", newline="") as file:
            _write_predictions(classifier, inputs, file, every, spreadsheet_safe)
    print(f"wrote {len(inputs.values):,} predictions to {out}")


def _write_predictions(
    model: "ScarceClassifier", features: "Features", file: TextIO, every: bool, spreadsheet_safe: bool
) -> None:
    """Write one row per example: the id or row number, the predicted class and its probability."""
    from scarce._class_names import lookup_codes

    # Not the arg-max of the probabilities: where several round to 1, only the scores differ.
    best = lookup_codes(model.predict(features.values), model.classes_)
    probabilities = model.predict_proba(features.values)
    names = [str(name) for name in model.classes_.tolist()]
    ids = range(len(best)) if features.ids is None else features.ids.tolist()
    if spreadsheet_safe:
        names, ids = [_escape_formula(name) for name in names], [_escape_formula(str(name)) for name in ids]
    header = ["row" if features.ids is None else "example_id", "class", "probability"]
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header + [f"p_{name}" for name in names] * every)
    for row, code, row_probabilities in zip(ids, best.tolist(), probabilities.tolist(), strict=True):
        writer.writerow(
            [row, names[code], f"{row_probabilities[code]:.6g}"]
            + [f"{p:.6g}" for p in row_probabilities] * every
        )


def _escape_formula(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
