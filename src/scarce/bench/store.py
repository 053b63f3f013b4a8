"""The folder of an experiment: records of finished trials, checkpoints of unfinished ones, and who is at which."""

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scarce.bench.experiment import Experiment
from scarce.bench.locks import held, is_held
from scarce.bench.plan import is_current, plan, same_cell
from scarce.bench.record import TrialRecord
from scarce.errors import FileError
from scarce.files import make_folder, require_folder

__all__ = ["Store"]

_FOLDERS = ("records", "checkpoints", "locks")


@dataclass(frozen=True)
class Store:
    """A folder of trials; several processes, on several machines, may use it at once.

    Parameters
    ----------
    path : Path
        The folder; made when something is written to it.
    planned : mapping, optional
        Show only records of these cells, from each to the identity that is planned for it; see `of`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scarce.bench.record import key_of
    >>> with TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     identity = {"data": "digits", "setting": "uniform", "method": "scarce", "model": "mlp", "seed": 0}
    ...     store.save(TrialRecord(key_of(identity), identity, "SCARCE", "quick", "shortened", accuracy=0.9))
    ...     [record.accuracy for record in store.records()]
    [0.9]
    """

    path: Path
    planned: Mapping[str, Mapping[str, Any]] | None = None

    def of(self, experiment: Experiment) -> "Store":
        """Return the same store, showing only the records of the trials of an experiment.

        They are known by what was to be run, so that the data need not be at hand; of trials run with several versions
        of data or method, those of the present method count, and of these the latest.
        """
        trials = plan(experiment, lambda name: None)
        return Store(self.path, {same_cell(trial.identity): trial.identity for trial in trials})

    def require(self) -> "Store":
        """Refuse a folder that holds no trials.

        Examples
        --------
        >>> Store(Path("nowhere")).require()
        Traceback (most recent call last):
        scarce.errors.FileError: nowhere does not exist; check the path.
        """
        require_folder(self.path)
        if not any((self.path / name).is_dir() for name in _FOLDERS):
            raise FileError(
                f"{self.path} holds no records of trials; run an experiment first, or check the path."
            )
        return self

    def prepare(self) -> None:
        """Make the folders of the store; one that cannot be written to is a fault of the place, not of any trial."""
        for name in _FOLDERS:
            make_folder(self.path / name)

    def records(self) -> list[TrialRecord]:
        """Return all records, those first that were finished first; damaged ones are left out with a warning."""
        paths = (path for path in (self.path / "records").glob("*.json") if not path.name.startswith("."))
        found = (self.record(path.stem) for path in paths)
        records = sorted(filter(None, found), key=lambda record: (record.finished, record.key))
        if self.planned is None:
            return records
        earlier: dict[str, TrialRecord] = {}
        current: dict[str, TrialRecord] = {}
        for record in records:
            cell = same_cell(record.identity)
            if cell in self.planned:
                (current if is_current(record.identity, self.planned[cell]) else earlier)[cell] = record
        return list((earlier | current).values())

    def record(self, key: str) -> TrialRecord | None:
        """Return the record of a trial, if there is one that can be read; of a damaged one a warning tells."""
        path = self._record_path(key)
        if not os.path.lexists(path):  # also a link that leads nowhere is told of
            return None
        try:
            record = TrialRecord.load(path)
            if record.key != key:
                raise FileError(f"{path} is the record of {record.key}, under a wrong name.")
            fault = record.fault()
            if fault:
                raise FileError(f"{path} is damaged ({fault}).")
        except FileError as error:
            warnings.warn(f"{error} Its trial counts as not run.", stacklevel=2)
            return None
        return record

    def save(self, record: TrialRecord) -> None:
        """Write a record; the checkpoint of a trial that is done goes, and what a killed process had begun to write."""
        record.save(self._record_path(record.key))
        if record.status == "done":
            checkpoint = self.checkpoint(record.key)
            for path in (checkpoint, *checkpoint.parent.glob(f".{record.key}.*")):
                path.unlink(missing_ok=True)

    def checkpoint(self, key: str) -> Path:
        """Where the checkpoint of a trial is."""
        return self.path / "checkpoints" / f"{key}.safetensors"

    @contextmanager
    def claimed(self, key: str) -> Iterator[bool]:
        """Claim a trial while the block lasts, unless another process has; tell whether it is ours."""
        with held(self._lock_path(key)) as ours:
            yield ours

    def is_claimed(self, key: str) -> bool:
        """Tell whether a living process is at a trial."""
        return is_held(self._lock_path(key))

    def was_left(self, key: str) -> bool:
        """Tell whether a process that had claimed a trial has died."""
        return self._lock_path(key).exists() and not self.is_claimed(key)

    def _record_path(self, key: str) -> Path:
        return self.path / "records" / f"{key}.json"

    def _lock_path(self, key: str) -> Path:
        return self.path / "locks" / f"{key}.lock"
