"""What two runs must share for one to go on where the other stopped."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from scarce._hashing import bytes_digest
from scarce.errors import FileError
from scarce.labels import ComplementaryLabels
from scarce.methods import Problem
from scarce.training.sources import Source

if TYPE_CHECKING:
    from scarce.training.state import Run

__all__ = ["CHECKPOINT_FORMAT", "identity_of", "refuse_other_run"]

CHECKPOINT_FORMAT = 4
"""Changes when a run needs more of a checkpoint than earlier versions wrote, or finds it under other names."""


def identity_of(run: "Run", source: Source, problem: Problem) -> dict[str, Any]:
    """Return the settings and the fingerprints of model and data, by name."""
    weights = "\n".join(f"{name} {tuple(w.shape)} {w.dtype}" for name, w in run.model.state_dict().items())
    digest = bytes_digest([weights.encode()], short=True)
    return {
        "checkpoint_format": CHECKPOINT_FORMAT,
        **run.recipe.settings(),
        "method": run.method.facts.name,
        "method_params": {name: str(value) for name, value in run.method.params.items()},
        "model": f"{type(run.model).__name__} {digest}",
        "inputs": source.fingerprint(),
        "labels": _fingerprint(problem.labels),
        "priors": _numbers(problem.priors),
        "transition": _numbers(problem.transition),
        "callbacks": [type(callback).__name__ for callback in run.stateful_callbacks()],
    }


def refuse_other_run(path: Path, then: dict[str, Any], now: dict[str, Any]) -> None:
    """Raise a `FileError` that names the first difference between the identities of two runs."""
    if then.get("checkpoint_format") != CHECKPOINT_FORMAT:
        raise FileError(
            f"{path} is a checkpoint of another version of scarce (its format is {then.get('checkpoint_format')}, expected "
            f"{CHECKPOINT_FORMAT}); delete it (--restart) to train from the start, or choose another checkpoint."
        )
    for name, value in now.items():
        if then.get(name) != value:
            raise FileError(
                f"{path} belongs to another run: its {name} is {then.get(name)}, not {value}; "
                "delete it (--restart) to start anew, or choose another checkpoint."
            )


def _fingerprint(labels: ComplementaryLabels) -> str:
    parts = [part.tobytes() for part in (labels.indptr, labels.indices, labels.confirmed)]
    if labels.answers is not None:
        table = labels.answers
        parts += [part.tobytes() for part in (table.example, table.class_index, table.answer)]
        parts.append("\n".join(table.annotator.tolist()).encode())
    digest = bytes_digest([b"\n".join(parts)], short=True)
    return f"{labels.shape} {digest}"


def _numbers(values: Tensor | None) -> Any:
    return None if values is None else values.tolist()
