"""Running one trial: from its identity to its record."""

import os
import platform
import resource
import sys
import time
import warnings
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from scarce.bench.grid import OWN_LABELS
from scarce.bench.judge import CRITERIA, Judge
from scarce.bench.network import network_for
from scarce.bench.plan import Trial
from scarce.bench.record import LAST_EPOCHS, TrialRecord
from scarce.datasets import ImageData, load_dataset
from scarce.errors import FileError
from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.priors import PRIOR_ESTIMATORS, PriorEstimate, corrupt, resolve_priors
from scarce.priors.scored import ScoredEstimator
from scarce.simulate import simulate
from scarce.training import Recipe, train
from scarce.training.checkpoint import load_state

__all__ = ["load_data", "run_trial"]

_CURVES = ("epoch", "loss", "learning_rate", "test_accuracy")
_PACKAGES = ("scarce", "torch", "numpy")


@lru_cache(maxsize=2)
def load_data(name: str, data_dir: str | None, download: bool = True) -> ImageData:
    """Return a data set, kept in memory for the next trial."""
    return load_dataset(name, data_dir, download)


def run_trial(trial: Trial, checkpoint: Path, data_dir: str | None = None) -> TrialRecord:
    """Run a trial, going on from its checkpoint if there is one; an error becomes part of the record.

    Parameters
    ----------
    trial : Trial
        From `scarce.bench.plan.plan`.
    checkpoint : Path
        Written after every epoch.
    data_dir : str, optional
        Where to look for data first.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scarce.bench.experiment import load_experiment
    >>> from scarce.bench.plan import plan
    >>> experiment = load_experiment("quick-digits").changed(epochs=2)
    >>> trial = plan(experiment, lambda name: load_data(name, None).checksum)[-1]
    >>> with TemporaryDirectory() as folder:
    ...     record = run_trial(trial, Path(folder, "checkpoint"))
    >>> record.status, len(record.curves["test_accuracy"]), sorted(record.selection)[0]
    ('done', 2, 'approximated_accuracy')
    """
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # they are for one who trains by hand; the record holds the numbers
            result = _result(trial.identity, checkpoint, data_dir, started)
    except Exception as error:  # whatever a method may do: the other trials must go on
        reason = " ".join(str(error).split()) or "no message"
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        result = {"status": "failed", "error": f"{kind}{reason}", "seconds": time.perf_counter() - started}
    return TrialRecord(
        key=trial.key,
        identity=trial.identity,
        label=trial.label,
        experiment=trial.experiment,
        protocol=trial.protocol,
        peak_memory_mb=_peak_memory_mb(),
        versions={name: version(name) for name in _PACKAGES} | {"python": platform.python_version()},
        machine={"cpus": os.cpu_count(), "threads": torch.get_num_threads(), "platform": platform.platform()},
        **result,
    )


def _result(
    identity: dict[str, Any], checkpoint: Path, data_dir: str | None, started: float
) -> dict[str, Any]:
    data, seed = load_data(identity["data"], data_dir), identity["seed"]
    if data.checksum != identity["data_checksum"]:
        raise FileError(
            f"the files of {data.name} hold other data here than where the experiment was planned."
        )
    q = len(data.classes)
    rows = np.random.default_rng(seed).permutation(len(data.X_train))[: identity["n_train"]]
    rows.sort()  # all of them are then in their own order, as the paper has them
    X, y = data.X_train[rows], data.y_train[rows]
    labels = _labels(identity, data, rows)
    recipe = Recipe(**identity["recipe"], seed=seed)

    def make(number: int) -> nn.Module:
        return network_for(identity["model"], X, q, number)

    if identity["kind"] == "priors":
        estimator = PRIOR_ESTIMATORS[identity["method"]](seed=seed, **identity["method_params"])
        if isinstance(estimator, ScoredEstimator):
            estimator = replace(estimator, recipe=recipe)
        estimate = estimator.estimate(X, labels, make_model=make)
        return {"priors": estimate.as_dict(), "seconds": time.perf_counter() - started}

    priors = _priors(identity["priors"], X, y, labels, make, seed)
    test_labels = _test_labels(identity, data)
    _drop_damaged(checkpoint)
    history = train(
        make(seed),
        make_method(identity["method"], **identity["method_params"]),
        X,
        labels,
        recipe,
        priors=priors.values,
        transition=identity["transition"],
        make_model=lambda: make(seed + 1),
        callbacks=[Judge(data.X_test, data.y_test, test_labels, priors.values, started)],
        checkpoint=checkpoint,
    )
    return {
        "accuracy": float(np.mean(history["test_accuracy"][-LAST_EPOCHS:])),
        "curves": {name: history[name] for name in _CURVES},
        "selection": {name: history[name] for name in CRITERIA},
        "priors": priors.as_dict(),
        "seconds": sum(history["session_seconds"]),
    }


def _labels(identity: dict[str, Any], data: ImageData, rows: NDArray[Any]) -> ComplementaryLabels:
    if identity["process"] is None:
        assert data.labels is not None
        return data.labels[rows]
    return _drawn(identity, data.y_train[rows], len(data.classes), identity["seed"])


def _test_labels(identity: dict[str, Any], data: ImageData) -> ComplementaryLabels:
    """Draw labels of the test images as those of the training images came about, but independently of them."""
    other = int(np.random.SeedSequence((identity["seed"], 1)).generate_state(1)[0])
    if identity["process"] is None:
        identity = identity | {"process": "human", "setting_params": {"source": OWN_LABELS[data.name]}}
    return _drawn(identity, data.y_test, len(data.classes), other)


def _drawn(identity: dict[str, Any], y: NDArray[Any], q: int, seed: int) -> ComplementaryLabels:
    return simulate(identity["process"], y, classes=q, seed=seed, **identity["setting_params"])


def _priors(
    wanted: Any, X: NDArray[Any], y: NDArray[Any], labels: ComplementaryLabels, make: Any, seed: int
) -> PriorEstimate:
    if wanted in ("uniform", "estimate"):
        return resolve_priors(
            wanted, labels, lambda e: replace(e, seed=seed).estimate(X, labels, make_model=make)
        )
    true = np.bincount(y, minlength=labels.n_classes) / len(y)
    if wanted == "true":
        return PriorEstimate(true, "frequencies", true, classes=labels.classes)
    wrong = corrupt(true, wanted["corrupt"], seed)
    return PriorEstimate(
        wrong, f"frequencies, corrupted by {wanted['corrupt']:g}", true, classes=labels.classes
    )


def _drop_damaged(checkpoint: Path) -> None:
    if checkpoint.exists():
        try:
            load_state(checkpoint)
        except FileError:
            checkpoint.unlink()


def _peak_memory_mb() -> float:
    """Return the most memory that this process has had, in 10⁶ bytes; Linux counts it in KiB, macOS in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024) / 1e6
