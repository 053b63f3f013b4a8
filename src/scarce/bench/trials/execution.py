"""Running one trial: from its spec to its record."""

import os
import platform
import resource
import sys
import time
import warnings
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from torch import nn

from scarce.bench.spec._grid import HUMAN_LABELED
from scarce.bench.spec.trial import Perturbed, PriorSource, TrialSpec
from scarce.bench.trials._classifiers import classifier_result
from scarce.bench.trials._data import (
    check_checksum,
    draw_labels,
    load_data,
    resolve_data_dir,
    sample_rows,
)
from scarce.bench.trials._evaluation import EpochEvaluator
from scarce.bench.trials.plan import Trial
from scarce.bench.trials.record import LAST_EPOCHS, TrialRecord, now
from scarce.datasets import ImageDataset
from scarce.errors import DivergedError, EnvironmentFailure, FileError
from scarce.estimators._early_stopping import make_early_stopping, split_rows
from scarce.labels import ComplementaryLabels
from scarce.methods import Method, make_method
from scarce.metrics.criteria import RECORDED_CRITERIA
from scarce.priors import PRIOR_ESTIMATORS, PriorEstimate, perturb_priors, resolve_priors
from scarce.priors._score_based import ScoredEstimator
from scarce.priors.resolve import learned_priors
from scarce.training import Callback, map_logits, train
from scarce.training._build import build_paper_model
from scarce.training._checkpoint import CHECKPOINT_FORMAT, load_state

_CURVES = ("loss", "test_accuracy", "confidence", "calibration_error")
_VALIDATION_FRACTION, _PATIENCE = 0.1, 10  # of early stopping, as in ScarceClassifier
_PACKAGES = ("scarce", "torch", "numpy")


def run_trial(
    trial: Trial, checkpoint: Path | None = None, data_dir: str | Path | None = None
) -> TrialRecord:
    """Run a trial and return its record; an error becomes part of the record, unless its cause is the environment.

    Parameters
    ----------
    trial : Trial
        From a `Plan` with data.
    checkpoint : Path, optional
        A file to resume from if it exists; it is written after every epoch.
    data_dir : str or Path, optional
        The folder to search for data first.

    Returns
    -------
    TrialRecord
        The result, its cost, and the versions and machine. With ``status="failed"``, `error` says why there is no result.

    Raises
    ------
    OSError, ScarceError
        If the environment is the cause, as `is_environment_failure` decides: the trial can be run again.

    See Also
    --------
    run_local : Run many trials and store their records.

    Examples
    --------
    >>> from scarce.bench import Plan, load_experiment
    >>> plan = Plan.from_experiment(load_experiment("quick-digits").changed(epochs=2)).with_data()
    >>> record = run_trial(plan.trials[-1])
    >>> record.status, len(record.curves["test_accuracy"]), sorted(record.selection)[0]
    ('done', 2, 'approximated_accuracy')
    """
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings are for interactive use
            result = _result(trial.spec, checkpoint, resolve_data_dir(data_dir), started)
    except (Exception, SystemExit) as error:  # a method may raise anything, and other trials must still run
        if is_environment_failure(error):
            raise
        reason = " ".join(str(error).split()) or "no message"
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        result = {"status": "failed", "error": f"{kind}{reason}", "seconds": time.perf_counter() - started}
    return TrialRecord(
        spec=trial.spec,
        label=trial.label,
        experiment=trial.experiment,
        protocol=trial.protocol,
        peak_memory_mb=_peak_memory_mb(),
        versions={name: version(name) for name in _PACKAGES} | {"python": platform.python_version()},
        machine={"cpus": os.cpu_count(), "threads": torch.get_num_threads(), "platform": platform.platform()},
        finished=now(),
        **result,
    )


def is_environment_failure(error: BaseException) -> bool:
    """Return whether an error is not the fault of the method: the disk is full, a file cannot be read, or a download failed.

    Examples
    --------
    >>> is_environment_failure(OSError(28, "No space left on device")), is_environment_failure(ValueError("no such loss"))
    (True, False)
    """
    if isinstance(error, FileError) and isinstance(error.__cause__, OSError | SafetensorError):
        return True
    return isinstance(error, OSError | EnvironmentFailure) and not isinstance(error, DivergedError)


def _result(spec: TrialSpec, checkpoint: Path | None, data_dir: str | None, started: float) -> dict[str, Any]:
    if spec.kind == "classifiers":
        return classifier_result(spec, data_dir, started)
    data, seed = load_data(spec.data, data_dir), spec.seed
    check_checksum(data, spec)
    q = len(data.classes)
    train_rows = sample_rows(data.y_train, spec.n_train, spec.imbalance, seed)
    test_rows = sample_rows(data.y_test, len(data.y_test), spec.imbalance, seed)
    X, y = data.X_train[train_rows], data.y_train[train_rows]
    labels = _train_labels(spec, data, train_rows)
    true_priors = np.bincount(y, minlength=q) / len(y)

    def make_model(seed: int) -> nn.Module:
        return build_paper_model(spec.model, X, q, seed)

    if spec.kind == "priors":
        estimator = PRIOR_ESTIMATORS[spec.method](seed=seed, **spec.method_params)
        if isinstance(estimator, ScoredEstimator):
            estimator = replace(estimator, recipe=spec.make_recipe())
        estimate = estimator.estimate(X, labels, make_model=make_model)
        return {
            "priors": estimate.as_dict() | {"true": true_priors.tolist()},
            "seconds": time.perf_counter() - started,
            "n_examples": len(y),
        }

    priors = _make_priors(spec.priors, X, true_priors, labels, make_model, seed)
    model, method = make_model(seed), make_method(spec.method, **spec.method_params)
    X_test, y_test = data.X_test[test_rows], data.y_test[test_rows]
    callbacks: list[Callback] = [
        EpochEvaluator(X_test, y_test, _test_labels(spec, data, y_test), priors, started)
    ]
    kept_rows = np.arange(len(y))
    if spec.early_stopping:
        held_out, kept_rows = split_rows(len(y), _VALIDATION_FRACTION, seed)
        callbacks += make_early_stopping(X, labels, held_out, method, priors, _PATIENCE, "cpu")
    if checkpoint is not None:
        _remove_unusable(checkpoint)
    history = train(
        model,
        method,
        X[kept_rows],
        labels[kept_rows],
        spec.make_recipe(),
        priors=None if priors is None else priors.values,
        transition=spec.transition,
        make_model=lambda: make_model(seed + 1),
        callbacks=callbacks,
        checkpoint=checkpoint,
    )
    used = priors or learned_priors(method, labels.classes)
    last = history["test_accuracy"][-LAST_EPOCHS:]
    return {
        "accuracy": _accuracy(model, method, X_test, y_test) if spec.early_stopping else float(np.mean(last)),
        "curves": {name: history[name] for name in _CURVES},
        "selection": {name: history[name] for name in RECORDED_CRITERIA},
        "priors": used.as_dict() | {"true": true_priors.tolist()},
        "seconds": sum(history["session_seconds"]),
        "n_examples": len(kept_rows),
    }


def _accuracy(model: nn.Module, method: Method, X: NDArray[Any], y: NDArray[Any]) -> float:
    predicted = map_logits(model, X, lambda logits: method.scores(logits).argmax(dim=1))
    return float((predicted.numpy() == y).mean())


def _train_labels(spec: TrialSpec, data: ImageDataset, rows: NDArray[Any]) -> ComplementaryLabels:
    if spec.process is None:
        assert data.labels is not None
        return data.labels[rows]
    return draw_labels(spec, data.y_train[rows], len(data.classes), spec.seed)


def _test_labels(spec: TrialSpec, data: ImageDataset, y: NDArray[Any]) -> ComplementaryLabels:
    """Draw labels of the test images by the process of the training labels, independent of them."""
    test_seed = int(np.random.SeedSequence((spec.seed, 1)).generate_state(1)[0])
    if spec.process is None:
        source = {"process": "human", "setting_params": {"source": HUMAN_LABELED[data.name]}}
        spec = spec.model_copy(update=source)
    return draw_labels(spec, y, len(data.classes), test_seed)


def _make_priors(
    source: PriorSource,
    X: NDArray[Any],
    true: NDArray[Any],
    labels: ComplementaryLabels,
    make_model: Any,
    seed: int,
) -> PriorEstimate | None:
    """Return the priors that a trial uses; None if the method learns them."""
    if source == "learn":
        return None
    if source in ("uniform", "estimate"):
        return resolve_priors(source, labels, X, make_model=make_model, seed=seed)
    if source == "true":
        return PriorEstimate(true, "frequencies", true, classes=labels.classes)
    assert isinstance(source, Perturbed)
    wrong = perturb_priors(true, source.perturb, seed)
    return PriorEstimate(wrong, f"frequencies, corrupted by {source.perturb:g}", true, classes=labels.classes)


def _remove_unusable(checkpoint: Path) -> None:
    """Delete a checkpoint that is damaged or was written by another version, so that the trial starts from the beginning."""
    if checkpoint.exists():
        try:
            state = load_state(checkpoint)
        except FileError:
            checkpoint.unlink()
            return
        if state.get("identity", {}).get("checkpoint_format") != CHECKPOINT_FORMAT:
            checkpoint.unlink()


def _peak_memory_mb() -> float:
    """Return the peak memory of this process in 10⁶ bytes; Linux counts it in KiB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6
