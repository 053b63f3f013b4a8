"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

# Listed here because the registries import torch.
ModelName = Literal["linear", "mlp", "lenet", "resnet", "densenet"]
RecipeName = Literal["annealed", "fast", "paper"]

FeaturesArgument = Annotated[
    Path,
    typer.Argument(
        metavar="FEATURES",
        help="A table (.csv, .parquet), an array (.npy, .npz), an idx file, or a folder of images or shards.",
        show_default=False,
    ),
]
ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A folder that `scarce train` wrote.", show_default=False)
]
FormOption = Annotated[
    str | None,
    typer.Option(
        metavar="FORM",
        help="How to read the labels file, if its header does not say: answers, answer-matrix, lists, indicator "
        "(1 is 'not this class'), candidates (1 is 'still possible'), single, columns, "
        "label-studio-excluded, label-studio-answer, prodigy.",
        show_default=False,
    ),
]
ClassesOption = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,C",
        help="All classes, in order, if the file does not name them; 10 means 0 to 9.",
        show_default=False,
    ),
]
ConflictOption = Annotated[
    Literal["raise", "drop", "majority"],
    typer.Option(
        help="What to do when answers contradict each other: raise an error, drop those answers, or follow the majority."
    ),
]
JoinOption = Annotated[
    Literal["exact", "inner", "left"],
    typer.Option(
        help="What to do when ids differ: exact raises an error; inner keeps the examples that have both features and labels; "
        "left keeps every row of features, unlabelled where it has no label.",
    ),
]
IdColumnOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The id column in a table of features or true classes; by default example_id or id.",
        show_default=False,
    ),
]
ImageSizeOption = Annotated[
    str | None,
    typer.Option(
        metavar="48x64",
        help="Height x width to scale and crop the images of a folder to. By default, that of the images the model was trained on; "
        "for a new model, 32x32, unless all images have one size of at most 64x64.",
        show_default=False,
    ),
]
EmbedOption = Annotated[
    str | None,
    typer.Option(
        "--embed",
        metavar="NAME_OR_FOLDER",
        help="Where the pretrained model of the embeddings is, if it is not where it was in training.",
        show_default=False,
    ),
]
TextOption = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="The column of a table with the texts to embed.", show_default=False),
]
LayersOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="For texts: how many of the last layers to use, side by side; by default 4. 1 is as in sentence-transformers.",
        show_default=False,
    ),
]
DownloadOption = Annotated[
    bool,
    typer.Option("--download", help="Download the pretrained model from the hub if it is not in its cache."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]
LabelsOption = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="Complementary labels, that is, what each example is not: .csv, .npz, .npy, .parquet, .json or .jsonl.",
        show_default=False,
    ),
]
SeedOption = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, max=2**32 - 1, help="The random seed; the same seed gives the same result."
    ),
]
DeviceOption = Annotated[
    str, typer.Option(metavar="NAME", help="The device to compute on, such as cpu or cuda.")
]


def set_option(whose: str, example: str) -> Any:
    """Return the option ``--set``, which takes parameters of the object `whose`, such as the method."""
    return typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help=f"A parameter of the {whose}, such as {example}; 0.1,0.2 is a list, and matrix.npy reads an array. Repeatable.",
        show_default=False,
    )
