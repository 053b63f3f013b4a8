"""The file next to an array of embeddings, ``NAME.npy.json``: ids, and the model that computed them."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scarce._arrays import Array
from scarce._hashing import bytes_digest
from scarce._io.atomic import atomic_write
from scarce._io.json import read_json
from scarce._io.schema import Mismatch, either, fields, integer, list_of, optional, text
from scarce._limits import check_names_fit
from scarce.errors import FileError
from scarce.features.embedding_info import EmbeddingInfo, check_embedding_info

_FORMAT = "scarce-embeddings-1"
_CHUNK_BYTES = 2**20
_MAX_ID = 2**63
_check_record = fields(
    {
        "format": text,
        "embedding": check_embedding_info,
        "ids": optional(list_of(either("text or a whole number", text, integer(-_MAX_ID, _MAX_ID - 1)))),
        "inputs_sha256": text,
        "array_sha256": text,
    }
)


@dataclass(frozen=True, eq=False)
class EmbeddingFile:
    """The content of the file: what computed the array, the ids of its rows, a digest of the inputs, and one of the array file."""

    embedding: EmbeddingInfo
    ids: Array | None
    inputs_sha256: str
    array_sha256: str


def sidecar_path(path: Path) -> Path:
    """Return the path of the file that describes an array of embeddings.

    Examples
    --------
    >>> sidecar_path(Path("features.npy")).name
    'features.npy.json'
    """
    return path.with_name(f"{path.name}.json")


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return bytes_digest(iter(lambda: file.read(_CHUNK_BYTES), b""))


def write_sidecar(path: Path, content: EmbeddingFile) -> None:
    """Write the file that describes the array at `path` atomically; it replaces an earlier one."""
    record = {
        "format": _FORMAT,
        "embedding": content.embedding.as_dict(),
        "inputs_sha256": content.inputs_sha256,
        "array_sha256": content.array_sha256,
        "ids": None if content.ids is None else content.ids.tolist(),
    }
    with atomic_write(sidecar_path(path), force=True) as temporary:
        temporary.write_text(json.dumps(record, ensure_ascii=False, indent=1), encoding="utf-8")


def read_sidecar(path: Path) -> EmbeddingFile | None:
    """Return what is known of an array of embeddings, or None if there is no file next to it that says so.

    Raises `FileError` if there is one, but it is damaged or describes another array.
    """
    beside = sidecar_path(path)
    if not beside.exists():
        return None
    record = read_json(beside)
    if not isinstance(record, dict) or "array_sha256" not in record:
        return None  # a file of the user's own
    fix = "embed the examples again, or remove it to use the array without ids"
    try:
        _check_record(record, "")
    except Mismatch as error:
        raise FileError(f"{beside} is damaged: {error}; {fix}.") from None
    if record["format"] != _FORMAT:
        raise FileError(
            f"{beside} has the format {record['format']!r}, expected {_FORMAT!r}; it was written by a newer version: update scarce."
        )
    if file_digest(path) != record["array_sha256"]:
        raise FileError(f"{beside} does not describe {path.name}: its checksum differs; {fix}.")
    ids = record["ids"]
    if ids and isinstance(ids[0], str):
        check_names_fit(ids, "id")
    return EmbeddingFile(
        EmbeddingInfo.from_dict(record["embedding"]),
        None if ids is None else np.array(ids),
        record["inputs_sha256"],
        record["array_sha256"],
    )
