"""Running trials in local processes: skip finished ones, resume interrupted ones, record failures."""

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, Literal

import torch
from joblib import Parallel, delayed

from scarce.bench.trials._data import resolve_data_dir
from scarce.bench.trials.execution import is_environment_failure, run_trial
from scarce.bench.trials.plan import Trial
from scarce.bench.trials.record import TrialRecord, now
from scarce.bench.trials.store import Store
from scarce.errors import ScarceError
from scarce.methods import Method
from scarce.methods.registry import external_method_class, register

_WAIT_SECONDS = 1.0
_MAX_CRASHES = 2
_KILLED_MESSAGE = "its process was killed, perhaps because it ran out of memory; free memory or lower --jobs"
# The threads of a process, as in a Dask worker, share torch's random generator, so their trials take turns.
_TRIAL_LOCK = threading.Lock()


@dataclass(frozen=True)
class Outcome:
    """How a trial ended.

    Attributes
    ----------
    trial : Trial
        The trial.
    status : {"done", "failed", "unfinished", "elsewhere"}
        Whether it has a result, ended in an error, could not be finished because of the environment, such as a full disk, or is
        being run by another process. An unfinished trial has no record; the next run continues it.
    error : str or None
        Why there is no result.
    accuracy : float or None
        The test accuracy, if it has one.
    seconds : float
        The time it took.

    See Also
    --------
    run_local : Run trials and yield their outcomes.

    Examples
    --------
    >>> from scarce.bench import Plan, load_experiment
    >>> trial = Plan.from_experiment(load_experiment("quick-digits")).trials[0]
    >>> Outcome(trial, "done", accuracy=0.9).error is None
    True
    """

    trial: Trial
    status: Literal["done", "failed", "unfinished", "elsewhere"]
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
    """Run one trial and store its record, unless it has a record or another process is running it.

    Parameters
    ----------
    trial : Trial
        The trial to run.
    store_path, data_dir : str
        The store, and the folder to search for data first.
    retry_failed : bool
        Whether to run it again if it failed.
    wait : bool
        Whether to wait if another process is running it.
    method : type of Method, optional
        The method of the trial, if it is not registered in this process; see `scarce.methods.registry.external_method_class`.
    """
    torch.set_num_threads(1)
    if method is not None:
        register(method)
    if parent_process() is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles it and ends its workers
    store = Store(Path(store_path))
    store.make_dirs()
    while True:
        with _TRIAL_LOCK, store.claimed(trial.key) as acquired:
            if acquired:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the parent process warns of damaged records
                    record = store.record(trial.key)
                if record is None or (retry_failed and record.status == "failed"):
                    try:
                        record = run_trial(trial, store.checkpoint(trial.key), data_dir)
                        store.save(record)
                    except (ScarceError, OSError) as error:
                        if not is_environment_failure(error):
                            raise
                        return Outcome(trial, "unfinished", " ".join(str(error).split()))
                return _outcome(trial, record)
        if not wait:
            return Outcome(trial, "elsewhere")
        time.sleep(_WAIT_SECONDS)


def run_local(
    trials: Iterable[Trial],
    store: Store,
    data_dir: str | Path | None = None,
    *,
    jobs: int = 1,
    retry_failed: bool = False,
) -> Iterator[Outcome]:
    """Run trials in `jobs` processes on this machine, and yield each outcome as it arrives.

    Trials with a record are skipped, and interrupted ones are resumed. Trials that another run is executing on the same store
    come last: this run waits for them, and takes over if the other run dies. If a process is killed, for example because memory
    runs out, the trials that were running are retried one at a time; a trial whose process is then killed twice counts as failed.
    If this process is killed, its workers end too.

    Parameters
    ----------
    trials : Plan or iterable of Trial
        The trials to run, from a `Plan` with data.
    store : Store
        Where to save the records.
    data_dir : str or Path, optional
        The folder to search for data first.
    jobs : int
        The number of processes.
    retry_failed : bool
        Whether to run failed trials again.

    Yields
    ------
    Outcome
        How each trial ended.

    See Also
    --------
    run_trial : Run a single trial without a store.
    collect : Combine a plan with the records of its trials.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scarce.bench import Plan, load_experiment
    >>> plan = Plan.from_experiment(load_experiment("quick-digits").changed(epochs=1, seeds=1)).with_data()
    >>> with TemporaryDirectory() as folder:
    ...     outcomes = list(run_local(plan.select(method="scarce"), Store(Path(folder))))
    >>> [outcome.status for outcome in outcomes]
    ['done', 'done']
    """
    options = {
        "store_path": str(store.path),
        "data_dir": resolve_data_dir(data_dir),
        "retry_failed": retry_failed,
    }
    pending = {trial.key: trial for trial in trials}
    wait = False
    while pending:
        try:
            for outcome in _pool(list(pending.values()), jobs, options | {"wait": wait}):
                if outcome.status != "elsewhere":
                    del pending[outcome.trial.key]
                    yield outcome
            wait = True
        except BrokenExecutor:  # a process was killed, and joblib has ended all others
            interrupted = [trial for trial in pending.values() if store.is_abandoned(trial.key)]
            # If no trial had started, run one anyway, so that this loop ends.
            for trial in interrupted or list(pending.values())[:1]:
                outcome = _run_isolated(trial, store, options)
                if outcome.status != "elsewhere":
                    del pending[trial.key]
                    yield outcome


def record_failure(trial: Trial, error: str, store: Store) -> TrialRecord:
    """Store and return the failure of a trial whose worker died, and release its lock."""
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
        existing = store.record(trial.key)
        if existing is not None and existing.status == "done":  # by another run on the same store
            return existing
        store.save(record)
    return record


def _run_isolated(trial: Trial, store: Store, options: dict[str, Any]) -> Outcome:
    """Run a trial while no other runs; if its process is killed, this trial is the cause."""
    for _ in range(_MAX_CRASHES):
        try:
            (outcome,) = _pool([trial], 2, options)
        except BrokenExecutor:
            continue
        return outcome
    return _outcome(trial, record_failure(trial, _KILLED_MESSAGE, store))


def _pool(trials: list[Trial], jobs: int, options: dict[str, Any]) -> Iterator[Outcome]:
    if jobs == 1:
        yield from (execute(trial, **options) for trial in trials)
        return
    # joblib replaces a process whose memory grew during a trial, and warns of it.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    run: Callable[..., Any] = Parallel(
        n_jobs=max(2, min(jobs, len(trials))),  # with one, joblib would use this process
        backend="loky",
        batch_size=1,
        pre_dispatch=jobs,
        return_as="generator_unordered",
        initializer=_end_with_parent,
    )
    tasks = (
        delayed(execute)(trial, **options, method=external_method_class(trial.spec.method))
        for trial in trials
    )
    with closing(run(tasks)) as outcomes:
        yield from outcomes


def _end_with_parent() -> None:
    """Start a thread that ends this process soon after its parent process was killed; files are written atomically."""
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        while os.getppid() == parent.pid:
            time.sleep(_WAIT_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _outcome(trial: Trial, record: TrialRecord) -> Outcome:
    return Outcome(trial, record.status, record.error, record.accuracy, record.seconds)
