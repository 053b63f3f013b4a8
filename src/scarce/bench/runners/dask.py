"""Running trials on the workers of a Dask cluster."""

import logging
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scarce.bench.runners.local import Outcome, execute, record_failure
from scarce.bench.trials._data import resolve_data_dir
from scarce.bench.trials.plan import Trial
from scarce.bench.trials.store import Store
from scarce.errors import FileError, ProcessError, ScarceError
from scarce.methods.registry import external_method_class

_RETRIES = 2
_TIMEOUT = "20s"


def run_on_cluster(
    trials: Iterable[Trial],
    store: Store,
    data_dir: str | Path | None,
    url: str,
    *,
    retry_failed: bool = False,
) -> Iterator[Outcome]:
    """Run trials on the workers of a Dask cluster, and yield each outcome as it arrives.

    The store must be on a drive that all machines share under the same path: if a worker dies, another one resumes its trial
    from the checkpoint.

    Parameters
    ----------
    trials : Plan or iterable of Trial
        The trials to run, from a `Plan` with data.
    store : Store
        Where to save the records.
    data_dir : str or Path, optional
        The folder that workers search for data first.
    url : str
        The address of the scheduler, such as ``tcp://host:8786``.
    retry_failed : bool
        Whether to run failed trials again.

    Yields
    ------
    Outcome
        How each trial ended.

    Raises
    ------
    FileError
        If no scheduler answers at `url`, or the workers do not write to the store.
    ProcessError
        If the scheduler stops.

    See Also
    --------
    run_local : Run trials in processes of this machine.

    Examples
    --------
    >>> from pathlib import Path
    >>> from scarce.bench import Plan, load_experiment
    >>> plan = Plan.from_experiment(load_experiment("quick-digits")).with_data()
    >>> for outcome in run_on_cluster(plan, Store(Path("/shared/bench")), None, "tcp://host:8786"):  # doctest: +SKIP
    ...     print(outcome)
    """
    folder = resolve_data_dir(data_dir)
    with _connect(url) as client:
        from distributed import as_completed

        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # errors are reported below
        options = {"retry_failed": retry_failed, "wait": True, "pure": False, "retries": _RETRIES}
        futures = {
            client.submit(
                execute,
                trial,
                str(store.path.resolve()),
                folder,
                method=external_method_class(trial.spec.method),
                **options,
            ): trial
            for trial in trials
        }
        try:
            for future in as_completed(futures):  # type: ignore[no-untyped-call]
                if future.status not in ("finished", "error"):
                    raise ProcessError(
                        f"the scheduler at {url} has stopped; start it again and rerun the same command to resume."
                    )
                yield _collect_outcome(future, futures[future], store)
        finally:
            if client.status == "running":
                client.cancel(list(futures))


def n_workers(url: str) -> int:
    """Return how many trials the workers of a scheduler run at once: one per worker, regardless of its number of threads."""
    with _connect(url) as client:
        count = len(client.nthreads())
    if not count:
        print(f"{url} has no workers yet; start one with `dask worker {url}`", file=sys.stderr)
    return max(1, count)


def _connect(url: str) -> Any:
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise ScarceError(
            f'--cluster needs {error.name}, which is not installed: pip install "scarce[dask]".'
        ) from None
    try:
        return Client(url, timeout=_TIMEOUT)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise FileError(
            f"no scheduler answers at {url} ({error}); start one with `dask scheduler`."
        ) from None


def _collect_outcome(future: object, trial: Trial, store: Store) -> Outcome:
    error = future.exception()  # type: ignore[attr-defined]
    if error is not None:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        record = record_failure(trial, f"its worker could not run it: {reason}", store)
        return Outcome(trial, "failed", record.error)
    outcome: Outcome = future.result()  # type: ignore[attr-defined]
    if outcome.status != "unfinished" and store.record(trial.key) is None:
        raise FileError(
            f"the workers of the cluster do not write to {store.path}; choose a --store on a drive that all machines share."
        )
    return outcome
