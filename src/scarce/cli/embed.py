"""``scarce embed``: images or texts in, the vectors of a pretrained model out."""

from pathlib import Path
from typing import Annotated

import typer

from scarce.cli._embedding import embed_inputs, make_embedder
from scarce.cli._options import (
    DeviceOption,
    DownloadOption,
    ForceOption,
    IdColumnOption,
    LayersOption,
    TextOption,
)


def embed(
    inputs: Annotated[
        Path,
        typer.Argument(
            metavar="INPUTS",
            help="A folder of images, or a .csv or .parquet table with a column of texts.",
            show_default=False,
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME_OR_FOLDER",
            help="A folder with a model of transformers, or NAME or NAME@REVISION of one in the cache of the hub.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FILE.npy",
            help="The file to write; ids and model go to FILE.npy.json next to it.",
            show_default=False,
        ),
    ],
    text: TextOption = None,
    layers: LayersOption = None,
    id_column: IdColumnOption = None,
    batch_size: Annotated[int, typer.Option(metavar="N", min=1, help="Images or texts per batch.")] = 32,
    download: DownloadOption = False,
    device: DeviceOption = "cpu",
    force: ForceOption = False,
) -> None:
    """Turn images or texts into vectors with a pretrained model.

    The vectors are features for train, predict and evaluate, which check that they come from the same model. To resume an
    interrupted run, repeat the command.
    """
    from scarce._io.paths import check_writable, is_dir

    is_dir(inputs)  # before importing torch, which takes seconds
    check_writable(out, force=True, inputs=(inputs,))
    before = out.stat().st_mtime_ns if out.exists() else None
    embedder = make_embedder(model, inputs, text, layers, download=download, device=device)
    features = embed_inputs(
        inputs, embedder, out, text=text, id_column=id_column, batch_size=batch_size, force=force
    )
    if before == out.stat().st_mtime_ns:
        print(f"{out} is up to date")
        return
    n, width = features.values.shape
    print(f"wrote {n:,} × {width:,} features to {out}, from {embedder.info}")
