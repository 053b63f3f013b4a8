"""The store of an experiment: a folder with records of finished trials, checkpoints, and locks of running trials."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scarce._io.locks import held, is_held
from scarce._io.paths import check_dir, make_dir
from scarce._io.temporary import clean_leftovers
from scarce.bench.trials.record import TrialRecord
from scarce.errors import FileError

_SUBFOLDERS = ("records", "checkpoints", "locks")


@dataclass(frozen=True)
class Store:
    """A folder of trials, which several processes on several machines may use at once.

    Parameters
    ----------
    path : Path
        The folder; created on the first write.

    See Also
    --------
    PackedStore : Finished trials in two small files.
    open_store : Open the store at a path.
    run_local : Run trials and store their records.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scarce.bench.spec.trial import TrialSpec
    >>> spec = TrialSpec(data="digits", n_train=9, setting="uniform", method="scarce", model="mlp", seed=0, recipe={})
    >>> with TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     store.save(TrialRecord(spec=spec, label="SCARCE", experiment="quick", protocol="shortened", accuracy=0.9))
    ...     [record.accuracy for record in store.records()]
    [0.9]
    """

    path: Path

    @property
    def report_dir(self) -> Path:
        """The default folder of reports."""
        return self.path / "report"

    def check_exists(self) -> "Store":
        """Return the store itself; raise if the folder does not hold trials.

        Examples
        --------
        >>> Store(Path("nowhere")).check_exists()
        Traceback (most recent call last):
        scarce.errors.FileError: nowhere does not exist; run an experiment first, or check the path.
        """
        if not os.path.lexists(self.path):
            raise FileError(f"{self.path} does not exist; run an experiment first, or check the path.")
        check_dir(self.path)
        if not self.has_trials():
            raise FileError(
                f"{self.path} holds no records of trials; run an experiment first, or check the path."
            )
        return self

    def has_trials(self) -> bool:
        """Return whether the folder has been used as a store."""
        return any((self.path / name).is_dir() for name in _SUBFOLDERS)

    def make_dirs(self) -> None:
        """Create the folders of the store."""
        for name in _SUBFOLDERS:
            make_dir(self.path / name)

    def records(self) -> list[TrialRecord]:
        """Return all records in the order in which they were finished; warn of damaged ones and skip them."""
        paths = (path for path in (self.path / "records").glob("*.json") if not path.name.startswith("."))
        found = (self.record(path.stem) for path in paths)
        return sorted(filter(None, found), key=lambda record: (record.finished, record.key))

    def record(self, key: str) -> TrialRecord | None:
        """Return the record of a trial; None, with a warning, if it is damaged."""
        path = self._record_path(key)
        if not os.path.lexists(path):  # also true for a broken link, which is reported below
            return None
        try:
            record = TrialRecord.load(path)
            if record.key != key:
                raise FileError(f"{path} holds the record of {record.key}; rename or delete it.")
        except FileError as error:
            warnings.warn(f"{error} Its trial counts as not run.", stacklevel=2)
            return None
        return record

    def save(self, record: TrialRecord) -> None:
        """Write a record; delete the checkpoint of a trial that is done, and temporary files of killed processes."""
        record.save(self._record_path(record.key))
        if record.status == "done":
            checkpoint = self.checkpoint(record.key)
            checkpoint.unlink(missing_ok=True)
            clean_leftovers(checkpoint)

    def checkpoint(self, key: str) -> Path:
        """Return the path of the checkpoint of a trial."""
        return self.path / "checkpoints" / f"{key}.safetensors"

    @contextmanager
    def claimed(self, key: str) -> Iterator[bool]:
        """Claim a trial for the block, unless another process has claimed it; yield whether it was claimed."""
        with held(self._lock_path(key)) as acquired:
            yield acquired

    def is_claimed(self, key: str) -> bool:
        """Return whether a living process is running a trial."""
        return is_held(self._lock_path(key))

    def is_abandoned(self, key: str) -> bool:
        """Return whether the process that had claimed a trial has died."""
        return self._lock_path(key).exists() and not self.is_claimed(key)

    def _record_path(self, key: str) -> Path:
        return self.path / "records" / f"{key}.json"

    def _lock_path(self, key: str) -> Path:
        return self.path / "locks" / f"{key}.lock"
