"""Embeddings in commands: computing them, and checking that they are those that a classifier was trained on."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from scarce.errors import FeatureError, FileError, MethodError

if TYPE_CHECKING:
    from scarce.embeddings import Embedder
    from scarce.features import EmbeddingInfo, Features

_TABLES = (".csv", ".parquet")


def make_embedder(
    model: str, path: Path, text: str | None, layers: int | None, *, download: bool, device: str
) -> "Embedder":
    """Return the embedder for a folder of images, or for the column `text` of a table, after a check that they fit."""
    from scarce._io.paths import is_dir
    from scarce._io.tables import read_table
    from scarce._validation import abbreviate

    is_folder = is_dir(path)
    if is_folder and text is not None:
        raise MethodError(f"--text {text} is for tables; leave it out for the folder {path}.")
    if not is_folder and path.suffix.lower() not in _TABLES:
        raise FileError(
            f"{path} ends in {path.suffix or 'nothing'!r}; expected a folder of images or a .csv or .parquet table with texts: "
            "choose one of them."
        )
    if not is_folder and text is None:
        names = abbreviate(read_table(path).header)
        raise MethodError(f"{path} is a table with the columns {names}; choose the texts with --text COLUMN.")
    from scarce.embeddings import Embedder
    from scarce.training._runtime import check_device

    check_device(device)
    kind = "image" if is_folder else "text"
    return Embedder(model, kind, layers=layers, download=download, device=device)  # type: ignore[arg-type]


def embed_inputs(
    path: Path,
    embedder: "Embedder",
    out: Path | None,
    *,
    text: str | None,
    id_column: str | None,
    batch_size: int = 32,
    force: bool = False,
) -> "Features":
    """Embed a folder of images or a column of a table; with `out`, say how to resume if that is interrupted."""
    from scarce.embeddings import embed_images, embed_texts

    try:
        if text is None:
            if id_column is not None:
                raise MethodError(
                    f"--id-column {id_column} is for tables; leave it out: the ids of images are their paths."
                )
            return embed_images(path, embedder, out, batch_size=batch_size, force=force, verbose=True)
        return embed_texts(
            path, text, embedder, out, id_column=id_column, batch_size=batch_size, force=force, verbose=True
        )
    except KeyboardInterrupt:
        if out is None:
            raise
        print("interrupted; rerun the same command to resume", file=sys.stderr)
        raise typer.Exit(130) from None


def embed_for_model(
    path: Path, known: "EmbeddingInfo", model: str | None, id_column: str | None
) -> "Features | None":
    """Embed raw inputs with the pretrained model that a classifier was trained with; None if they are features already.

    `model` is where the pretrained model is now, if it has moved.
    """
    from scarce._io.paths import is_dir
    from scarce._io.tables import read_table
    from scarce.features._images import find_images

    if known.kind == "image":
        is_raw = is_dir(path) and bool(find_images(path))
    else:
        is_raw = path.suffix.lower() in _TABLES and known.text_column in read_table(path).header
    if not is_raw:
        return None
    text = known.text_column if known.kind == "text" else None
    is_hub = known.revision is not None and not Path(known.model).is_dir()
    name = model or (f"{known.model}@{known.revision}" if is_hub else known.model)
    fix = "pass its folder, or NAME@REVISION, with --embed"
    try:
        embedder = make_embedder(
            name, path, text, known.layers if known.kind == "text" else None, download=False, device="cpu"
        )
    except FileError as error:
        if model is not None:
            raise
        raise FileError(
            f"the model was trained on embeddings of {known}: {str(error).rstrip('.')}; {fix}."
        ) from None
    if not embedder.info.is_same(known):
        raise FeatureError(
            f"{name} is {embedder.info}, but the model was trained on embeddings of {known}; {fix}, or train again."
        )
    return embed_inputs(path, embedder, None, text=text, id_column=id_column)


def check_embedding(features: "Features", known: "EmbeddingInfo", path: Path) -> None:
    """Raise `FeatureError` if features were computed by another pretrained model than those a classifier was trained on."""
    if features.embedding is None:
        warnings.warn(
            f"{path} does not say which pretrained model computed it; the model was trained on embeddings of {known}. Write "
            "features with `scarce embed` to have this checked.",
            stacklevel=2,
        )
    elif not features.embedding.is_same(known):
        raise FeatureError(
            f"{path} was embedded by {features.embedding}, but the model was trained on embeddings of {known}; embed it with that "
            "model: scarce embed ... --model."
        )
