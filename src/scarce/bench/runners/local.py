"""Running the trials of an experiment: what is done is left, what was begun goes on, what fails is told."""

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, Literal

import torch
from joblib import Parallel, delayed

from scarce.bench.trials.execution import run_trial
from scarce.bench.trials.plan import Trial
from scarce.bench.trials.record import TrialRecord, now
from scarce.bench.trials.store import Store
from scarce.methods import Method
from scarce.methods.registry import external_method_class, register

__all__ = ["Outcome", "execute", "failure", "run_local"]

_WAIT_SECONDS = 1.0
_MOST_CRASHES = 2
_KILLED = "its process was killed; perhaps memory is short"
# torch's random numbers belong to the process, so trials in threads of one (as a Dask worker may have) take turns.
_TURN = threading.Lock()


@dataclass(frozen=True)
class Outcome:
    """How a trial ended: done or failed now, or found done or failed by another process meanwhile, or still with it."""

    trial: Trial
    status: Literal["done", "failed", "elsewhere"]
    error: str | None = None
    accuracy: float | None = None
    seconds: float = 0.0


def execute(
    trial: Trial,
    store_path: str,
    data_dir: str | None,
    *,
    retry_failed: bool = False,
    wait: bool = False,
    method: type[Method] | None = None,
) -> Outcome:
    """Run one trial and store its record, unless another process has done so or is at it.

    Parameters
    ----------
    trial : Trial
        What to run.
    store_path, data_dir : str
        Where records go, and where to look for data first.
    retry_failed : bool
        Run it although there is the record of a failure.
    wait : bool
        If another process is at it, wait until that is done (or dead).
    method : type of Method, optional
        The trial's method, if this process may not know it; see `scarce.methods.registry.external_method_class`.
    """
    torch.set_num_threads(1)
    if method is not None:
        register(method)
    if parent_process() is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process answers it, and ends its workers
    store = Store(Path(store_path))
    store.prepare()
    while True:
        with _TURN, store.claimed(trial.key) as ours:
            if ours:
                with warnings.catch_warnings():
                    warnings.simplefilter(
                        "ignore"
                    )  # a damaged record has been told of where the run was started
                    known = store.record(trial.key)
                if known is None or (retry_failed and known.status == "failed"):
                    known = run_trial(trial, store.checkpoint(trial.key), data_dir)
                    store.save(known)
                return _outcome(trial, known)
        if not wait:
            return Outcome(trial, "elsewhere")
        time.sleep(_WAIT_SECONDS)


def run_local(
    trials: Sequence[Trial], store: Store, data_dir: str | None, *, jobs: int = 1, retry_failed: bool = False
) -> Iterator[Outcome]:
    """Run trials in `jobs` processes of this machine, and yield every outcome as it comes.

    Trials that another run on the same store is at come last: they are waited for, and taken over if it dies. Where a
    process is killed, as for want of memory, the trials that were being run are run one after the other; one whose
    process is then killed twice counts as failed.
    """
    options = {"store_path": str(store.path), "data_dir": data_dir, "retry_failed": retry_failed}
    waiting = {trial.key: trial for trial in trials}
    elsewhere = False
    while waiting:
        try:
            for outcome in _pool(list(waiting.values()), jobs, options | {"wait": elsewhere}):
                if outcome.status != "elsewhere":
                    del waiting[outcome.trial.key]
                    yield outcome
            elsewhere = True
        except BrokenExecutor:  # one process was killed from outside, and joblib has ended all others
            begun = [trial for trial in waiting.values() if store.was_left(trial.key)]
            # Where none had begun, one is run all the same, so that this comes to an end.
            for trial in begun or list(waiting.values())[:1]:
                outcome = _alone(trial, store, options)
                if outcome.status != "elsewhere":
                    del waiting[trial.key]
                    yield outcome


def failure(trial: Trial, error: str, store: Store) -> TrialRecord:
    """Store and return the record of a trial that could not even fail by itself, and free it of the dead who claimed it."""
    record = TrialRecord(
        spec=trial.spec,
        label=trial.label,
        experiment=trial.experiment,
        protocol=trial.protocol,
        status="failed",
        error=error,
        finished=now(),
    )
    with store.claimed(trial.key):
        known = store.record(trial.key)
        if known is not None and known.status == "done":  # another run on the same store was luckier
            return known
        store.save(record)
    return record


def _alone(trial: Trial, store: Store, options: dict[str, Any]) -> Outcome:
    """Run a trial in a process while no other runs, so that it is known whose fault it is if that is killed."""
    for _ in range(_MOST_CRASHES):
        try:
            (outcome,) = _pool([trial], 2, options)
        except BrokenExecutor:
            continue
        return outcome
    return _outcome(trial, failure(trial, _KILLED, store))


def _pool(trials: list[Trial], jobs: int, options: dict[str, Any]) -> Iterator[Outcome]:
    if jobs == 1:
        yield from (execute(trial, **options) for trial in trials)
        return
    # joblib replaces a process that has grown during a trial, which is no news to anyone.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    run: Callable[..., Any] = Parallel(
        n_jobs=max(2, min(jobs, len(trials))),  # one would be this process itself
        backend="loky",
        batch_size=1,
        pre_dispatch=jobs,
        return_as="generator_unordered",
    )
    tasks = (
        delayed(execute)(trial, **options, method=external_method_class(trial.spec.method))
        for trial in trials
    )
    with closing(run(tasks)) as outcomes:
        yield from outcomes


def _outcome(trial: Trial, record: TrialRecord) -> Outcome:
    return Outcome(trial, record.status, record.error, record.accuracy, record.seconds)
