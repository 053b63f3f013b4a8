"""Checkpoints: everything that a run needs to resume, in one safetensors file that is written atomically."""

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from scarce._hashing import bytes_digest
from scarce._io.atomic import atomic_write
from scarce._io.paths import check_file
from scarce._io.schema import Mismatch, mapping, plain
from scarce._validation import shorten
from scarce.errors import FileError
from scarce.labels import ComplementaryLabels
from scarce.methods import Problem
from scarce.training._batches import Source

if TYPE_CHECKING:
    from scarce.training.state import TrainingState

_FORMAT = "scarce-state-1"
_TENSOR = "__tensor__"
CHECKPOINT_FORMAT = 5
"""Raise when checkpoints hold more than before, or the same under other names."""


def save_state(path: str | Path, state: dict[str, Any]) -> None:
    """Write nested dicts and lists of numbers, strings and tensors; an existing file is replaced atomically.

    Examples
    --------
    >>> import torch
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_state(f"{folder}/a.safetensors", {"epoch": 3, "weights": [torch.ones(2)]})
    ...     load_state(f"{folder}/a.safetensors")
    {'epoch': 3, 'weights': [tensor([1., 1.])]}
    """
    tensors: dict[str, Tensor] = {}

    def pack(value: Any, path_in_state: str) -> Any:
        if isinstance(value, Tensor):
            name = f"{len(tensors)} {path_in_state}"  # the number distinguishes {"a": {"b.c": …}} from {"a.b": {"c": …}}
            tensors[name] = value.detach().cpu().contiguous().clone()
            return {_TENSOR: name}
        if isinstance(value, dict):
            return {
                "keys": list(value),
                "values": [pack(item, f"{path_in_state}.{key}") for key, item in value.items()],
            }
        if isinstance(value, (list, tuple)):
            return [pack(item, f"{path_in_state}.{number}") for number, item in enumerate(value)]
        if isinstance(value, np.generic):
            return value.item()
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise FileError(
            f"{path} cannot hold {path_in_state}, a {type(value).__name__}; expected dicts, lists, numbers, text or tensors."
        )

    skeleton = json.dumps(pack(state, "state"))
    metadata = {"format": _FORMAT, "skeleton": skeleton, "checksum": _checksum(skeleton, tensors)}
    with atomic_write(path, force=True) as temporary:
        try:
            save_file(tensors, temporary, metadata=metadata)
        except (OSError, SafetensorError) as error:
            raise FileError(
                f"{path} cannot be written ({error}); an earlier version of it is kept."
            ) from error


def load_state(path: str | Path) -> dict[str, Any]:
    """Read what `save_state` wrote."""
    path = check_file(path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != _FORMAT:
                raise FileError(f"{path} is not a checkpoint of scarce; choose another path.")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise FileError(f"{path} is damaged ({error}); delete it (--restart) to start over.") from error
    skeleton = metadata.get("skeleton", "")
    if metadata.get("checksum") != _checksum(skeleton, tensors):
        raise FileError(f"{path} is damaged (its checksum is wrong); delete it (--restart) to start over.")

    def unpack(value: Any) -> Any:
        if isinstance(value, list):
            return [unpack(item) for item in value]
        if isinstance(value, dict):
            if _TENSOR in value:
                # Each is named once. A copy is aligned in memory like any other tensor; the last bit of a sum depends on that.
                return tensors.pop(value[_TENSOR]).clone()
            return dict(zip(value["keys"], map(unpack, value["values"]), strict=True))
        return value

    try:
        state = unpack(json.loads(skeleton))
    except (ValueError, TypeError, KeyError, RecursionError):  # a forged structure raises any of them
        state = None
    if not isinstance(state, dict):
        raise FileError(
            f"{path} is damaged (its structure is not that of a checkpoint); delete it (--restart) to start over."
        )
    return state


def _checksum(skeleton: str, tensors: dict[str, Tensor]) -> str:
    """Return a checksum; safetensors notices a truncated file, but not a changed byte in a tensor."""
    value = zlib.crc32(skeleton.encode())
    for name, tensor in sorted(tensors.items()):
        value = zlib.crc32(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode(), value)
        value = zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy().data, value)
    return f"{value:08x}"


def run_fingerprint(state: "TrainingState", source: Source, problem: Problem) -> dict[str, Any]:
    """Return the settings of a run and the fingerprints of its model and data, by name."""
    weights = "\n".join(f"{name} {tuple(w.shape)} {w.dtype}" for name, w in state.model.state_dict().items())
    digest = bytes_digest([weights.encode()], short=True)
    return {
        "checkpoint_format": CHECKPOINT_FORMAT,
        **state.recipe.settings(),
        "method": state.method.facts.name,
        "method_params": {name: str(value) for name, value in state.method.params.items()},
        "model": f"{type(state.model).__name__} {digest}",
        "inputs": source.fingerprint(),
        "labels": _labels_fingerprint(problem.labels),
        "priors": _to_list(problem.priors),
        "transition": _to_list(problem.transition),
        "callbacks": [type(callback).__name__ for callback in state.stateful_callbacks()],
    }


def check_same_run(path: Path, stored: Any, current: dict[str, Any]) -> None:
    """Raise a `FileError` that names the first difference if the fingerprints of two runs differ."""
    try:
        mapping(plain)(stored, "identity")
    except Mismatch:
        stored = {}
    found = stored.get("checkpoint_format")
    if type(found) is not int or found != CHECKPOINT_FORMAT:
        raise FileError(
            f"{path} is a checkpoint of another version of scarce (its format is {shorten(found)}, expected "
            f"{CHECKPOINT_FORMAT}); delete it (--restart) to train from the start, or choose another checkpoint."
        )
    for name, value in current.items():
        if stored.get(name) != value:
            raise FileError(
                f"{path} belongs to another run: its {name} is {_one_line(stored.get(name))}, not {_one_line(value)}; "
                "delete it (--restart) to start over, or choose another checkpoint."
            )


def _one_line(value: Any) -> str:
    is_short = isinstance(value, str) and value.isprintable() and len(value) <= 200
    return str(value) if is_short else shorten(value, limit=200)


def _labels_fingerprint(labels: ComplementaryLabels) -> str:
    arrays = [array.tobytes() for array in (labels.indptr, labels.indices, labels.confirmed)]
    if labels.answers is not None:
        table = labels.answers
        arrays += [array.tobytes() for array in (table.example, table.class_index, table.answer)]
        arrays.append("\n".join(table.annotator.tolist()).encode())
    digest = bytes_digest([b"\n".join(arrays)], short=True)
    return f"{labels.shape} {digest}"


def _to_list(values: Tensor | None) -> Any:
    return None if values is None else values.tolist()
