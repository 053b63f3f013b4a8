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
from scarce.bench.record import LAST_EPOCHS, TrialRecord, now
from scarce.datasets import ImageData, load_dataset
from scarce.errors import FileError
from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.priors import PRIOR_ESTIMATORS, PriorEstimate, corrupt, learned_priors, resolve_priors
from scarce.priors.scored import ScoredEstimator
from scarce.simulate import simulate
from scarce.training import Recipe, train
from scarce.training.checkpoint import load_state
from scarce.training.identity import CHECKPOINT_FORMAT

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
    except (Exception, SystemExit) as error:  # whatever a method may do: the other trials must go on
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
        finished=now(),
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
    imbalance = identity.get("imbalance")
    rows = chosen_rows(data.y_train, identity["n_train"], imbalance, seed)
    shown = chosen_rows(data.y_test, len(data.y_test), imbalance, seed)
    X, y = data.X_train[rows], data.y_train[rows]
    labels = _labels(identity, data, rows)
    recipe = Recipe(**identity["recipe"], seed=seed)
    true = np.bincount(y, minlength=q) / len(y)

    def make(number: int) -> nn.Module:
        return network_for(identity["model"], X, q, number)

    if identity["kind"] == "priors":
        estimator = PRIOR_ESTIMATORS[identity["method"]](seed=seed, **identity["method_params"])
        if isinstance(estimator, ScoredEstimator):
            estimator = replace(estimator, recipe=recipe)
        estimate = estimator.estimate(X, labels, make_model=make)
        return {
            "priors": estimate.as_dict() | {"true": true.tolist()},
            "seconds": time.perf_counter() - started,
            "n_examples": len(y),
        }

    priors = _priors(identity["priors"], X, true, labels, make, seed)
    method = make_method(identity["method"], **identity["method_params"])
    X_test, y_test = data.X_test[shown], data.y_test[shown]
    _drop_unusable(checkpoint)
    history = train(
        make(seed),
        method,
        X,
        labels,
        recipe,
        priors=None if priors is None else priors.values,
        transition=identity["transition"],
        make_model=lambda: make(seed + 1),
        callbacks=[Judge(X_test, y_test, _test_labels(identity, data, y_test), priors, started)],
        checkpoint=checkpoint,
    )
    used = priors or learned_priors(method, labels.classes)
    return {
        "accuracy": float(np.mean(history["test_accuracy"][-LAST_EPOCHS:])),
        "curves": {name: history[name] for name in _CURVES},
        "selection": {name: history[name] for name in CRITERIA},
        "priors": used.as_dict() | {"true": true.tolist()},
        "seconds": sum(history["session_seconds"]),
        "n_examples": len(y),
    }


def _labels(identity: dict[str, Any], data: ImageData, rows: NDArray[Any]) -> ComplementaryLabels:
    if identity["process"] is None:
        assert data.labels is not None
        return data.labels[rows]
    return _drawn(identity, data.y_train[rows], len(data.classes), identity["seed"])


def chosen_rows(y: NDArray[Any], n_rows: int, imbalance: float | None, seed: int) -> NDArray[np.intp]:
    """Return which images a trial uses, in their own order: `n_rows` at random, then fewer of every further class.

    Of class k of q the share imbalance^(−k / (q − 1)) is kept.

    Examples
    --------
    >>> y = np.repeat([0, 1, 2], 100)
    >>> np.bincount(y[chosen_rows(y, 300, 4, seed=0)]).tolist()
    [100, 50, 25]
    """
    rows = np.random.default_rng(seed).permutation(len(y))[:n_rows]
    if imbalance is not None:
        q = int(y.max()) + 1
        classes = [rows[y[rows] == k] for k in range(q)]
        kept = [round(len(own) * imbalance ** (-k / (q - 1))) for k, own in enumerate(classes)]
        rows = np.concatenate([own[:number] for own, number in zip(classes, kept, strict=True)])
    return np.sort(rows)


def _test_labels(identity: dict[str, Any], data: ImageData, y: NDArray[Any]) -> ComplementaryLabels:
    """Draw labels of the test images as those of the training images came about, but independently of them."""
    other = int(np.random.SeedSequence((identity["seed"], 1)).generate_state(1)[0])
    if identity["process"] is None:
        identity = identity | {"process": "human", "setting_params": {"source": OWN_LABELS[data.name]}}
    return _drawn(identity, y, len(data.classes), other)


def _drawn(identity: dict[str, Any], y: NDArray[Any], q: int, seed: int) -> ComplementaryLabels:
    return simulate(identity["process"], y, classes=q, seed=seed, **identity["setting_params"])


def _priors(
    wanted: Any, X: NDArray[Any], true: NDArray[Any], labels: ComplementaryLabels, make: Any, seed: int
) -> PriorEstimate | None:
    """Return the priors a trial is to use; None if the method is to learn them."""
    if wanted == "learn":
        return None
    if wanted in ("uniform", "estimate"):
        return resolve_priors(
            wanted, labels, lambda e: replace(e, seed=seed).estimate(X, labels, make_model=make)
        )
    if wanted == "true":
        return PriorEstimate(true, "frequencies", true, classes=labels.classes)
    wrong = corrupt(true, wanted["corrupt"], seed)
    return PriorEstimate(
        wrong, f"frequencies, corrupted by {wanted['corrupt']:g}", true, classes=labels.classes
    )


def _drop_unusable(checkpoint: Path) -> None:
    """Remove a checkpoint that is damaged, or that another version wrote: the trial then begins anew."""
    if checkpoint.exists():
        try:
            state = load_state(checkpoint)
        except FileError:
            checkpoint.unlink()
            return
        if state.get("identity", {}).get("checkpoint_format") != CHECKPOINT_FORMAT:
            checkpoint.unlink()


def _peak_memory_mb() -> float:
    """Return the most memory that this process has had, in 10⁶ bytes; Linux counts it in KiB, macOS in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024) / 1e6
