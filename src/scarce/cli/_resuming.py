"""Training that can be interrupted and resumed: the lock of the output, and messages about progress."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from scarce.cli._runtime import rank
from scarce.errors import FileError

if TYPE_CHECKING:
    from scarce.estimators import ScarceClassifier


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Lock the output folder of a training, or raise `FileError` if another process holds the lock."""
    from scarce._io.locks import held

    with held(Path(f"{out}.lock")) as acquired:
        if not acquired:
            raise FileError(f"another process is training into {out}; wait for it, or choose another --out.")
        yield


def fit_resumably(
    classifier: "ScarceClassifier", inputs: Any, target: Any, names: list[str] | None, checkpoint: Path
) -> None:
    """Fit, after saying what an interrupted run has finished; after Ctrl-C, say how to resume, and exit with 130."""
    if rank() == 0 and (progress := _describe_progress(checkpoint)):
        print(f"resuming {progress}, from {checkpoint}")
    try:
        sys.stdout.flush()
        classifier.fit(inputs, target, feature_names=names)
    except KeyboardInterrupt:
        progress = _describe_progress(checkpoint)
        if progress is None:
            raise
        print(f"interrupted {progress}; rerun the same command to resume", file=sys.stderr)
        raise typer.Exit(130) from None


def _describe_progress(checkpoint: Path) -> str | None:
    """Return what an interrupted fit has finished, or None if there is nothing."""
    from scarce.estimators.auto._network_store import NetworkStore, networks_folder
    from scarce.training._checkpoint import load_state

    if checkpoint.exists():
        return f"after epoch {load_state(checkpoint)['epoch']}"
    n_networks = len(NetworkStore(networks_folder(checkpoint)))
    return f"after {n_networks} networks" if n_networks else None
