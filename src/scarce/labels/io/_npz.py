"""Read and write labels as ``.npz`` files: complete, compact and without pickle."""

from pathlib import Path

import numpy as np

from scarce._arrays import Array
from scarce._io.arrays import read_arrays
from scarce.errors import FileError
from scarce.labels.answers import Answers
from scarce.labels.container import ComplementaryLabels

FORMAT = "scarce-labels-1"
_COLUMN_KINDS = {"indptr": "iu", "indices": "iu", "classes": "iufbU", "confirmed": "iu"}
_ANSWER_KINDS = {
    "answers.example": "iu",
    "answers.class_index": "iu",
    "answers.answer": "iu",
    "answers.annotator": "U",
}


def write_npz(labels: ComplementaryLabels, path: Path) -> None:
    """Write labels to `path`, which ends in ``.npz``."""
    arrays: dict[str, Array] = {"format": np.array(FORMAT)}
    arrays |= {name: getattr(labels, name) for name in _COLUMN_KINDS}
    if labels.ids is not None:
        arrays["ids"] = labels.ids
    if labels.answers is not None:
        arrays |= {name: getattr(labels.answers, name.removeprefix("answers.")) for name in _ANSWER_KINDS}
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def read_npz(path: Path) -> ComplementaryLabels:
    """Read labels that `write_npz` wrote."""
    arrays = read_arrays(path)
    found = str(arrays.get("format", ""))
    if found != FORMAT:
        if found.startswith("scarce-labels-"):
            raise FileError(
                f"{path} has the format {found!r} of another version of scarce; expected {FORMAT!r}: write it "
                "again with this version."
            )
        raise FileError(
            f"{path} does not contain labels written by scarce; save your own matrix as .npy and pass its form= (--form)."
        )
    kinds = _COLUMN_KINDS | ({"ids": "iufbU"} if "ids" in arrays else {})
    kinds |= _ANSWER_KINDS if any(name in arrays for name in _ANSWER_KINDS) else {}
    for name, allowed in kinds.items():
        if name not in arrays or arrays[name].ndim != 1 or arrays[name].dtype.kind not in allowed:
            raise FileError(
                f"{path} is damaged: the column {name!r} is missing or malformed; write it again."
            )
    answers = None
    if "answers.example" in arrays:
        answers = Answers(*(arrays[name] for name in _ANSWER_KINDS))
    return ComplementaryLabels(
        arrays["indptr"],
        arrays["indices"],
        arrays["classes"],
        arrays.get("ids"),
        arrays["confirmed"],
        answers,
    )
