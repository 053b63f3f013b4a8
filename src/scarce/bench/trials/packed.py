"""Packed results, two files per experiment: one line per trial, and the compressed curves of all trials."""

import gzip
import io
import json
import warnings
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scarce._io.atomic import atomic_write
from scarce._io.paths import check_file
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store
from scarce.errors import FileError

_SUFFIX = ".jsonl"
_MAX_RATIO, _FREE_BYTES = 50, 2**20  # curves are compressed to about a third
_CURVES = ("curves", "selection")


@dataclass(frozen=True)
class PackedStore:
    """The packed results of one experiment; read-only.

    ``NAME.jsonl`` holds one line per trial: its spec, key, accuracy, priors, cost and versions. ``NAME.curves.jsonl.gz`` in the
    same folder holds the curves and criteria by key, to nine significant digits: with six, two epochs may seem equally good.

    Parameters
    ----------
    path : Path
        The file ``NAME.jsonl``.

    See Also
    --------
    pack : Write the packed files of a store.
    open_store : Open the store at a path.

    Examples
    --------
    >>> PackedStore(Path("results/quick-mnist.jsonl")).curves_path.name
    'quick-mnist.curves.jsonl.gz'
    """

    path: Path

    @property
    def report_dir(self) -> Path:
        """The default folder of reports."""
        return self.path.with_name(f"{self.path.stem}-report")

    @property
    def curves_path(self) -> Path:
        """The file of curves."""
        return self.path.with_name(f"{self.path.stem}.curves{_SUFFIX}.gz")

    def check_exists(self) -> "PackedStore":
        """Return the store itself; raise if the file does not exist."""
        check_file(self.path)
        return self

    def records(self) -> list[TrialRecord]:
        """Return all records in the order in which they were finished; warn of damaged lines and skip them."""
        return sorted(self._by_key.values(), key=lambda record: (record.finished, record.key))

    def record(self, key: str) -> TrialRecord | None:
        """Return the record of a trial if there is one."""
        return self._by_key.get(key)

    def is_claimed(self, key: str) -> bool:
        """Return False: trials do not run in packed results."""
        return False

    @cached_property
    def _by_key(self) -> dict[str, TrialRecord]:
        lines = self._lines()
        curves = {line["key"]: line for line in self._curves() if isinstance(line.get("key"), str)}
        by_key = {}
        for number, text in enumerate(lines, start=1):
            try:
                content = json.loads(text)
                key = content.get("key") if isinstance(content, dict) else None
                line = curves.get(key, {}) if isinstance(key, str) else {}
                with_curves = {name: line[name] for name in _CURVES if name in line}
                record = TrialRecord.from_dict(content | with_curves if with_curves else content)
            except (ValueError, RecursionError) as error:
                reason = str(error) if isinstance(error, FileError) else f"it is not valid JSON ({error})."
                warnings.warn(
                    f"{self.path}, line {number}: {reason} Its trial counts as not run.", stacklevel=2
                )
                continue
            by_key[record.key] = record
        return by_key

    def _lines(self) -> list[str]:
        try:
            return check_file(self.path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(f"{self.path} is damaged ({error}); restore it from a copy.") from error

    def _curves(self) -> list[dict[str, Any]]:
        try:
            content = self.curves_path.read_bytes()
            limit = _MAX_RATIO * len(content) + _FREE_BYTES
            with gzip.open(io.BytesIO(content)) as file:
                text = file.read(limit + 1).decode("utf-8")
            if not text:
                raise ValueError("it is empty")
            if len(text) > limit:
                raise ValueError(f"{len(content)} bytes hold more than {limit}")
            return [line for line in map(json.loads, text.splitlines()) if isinstance(line, dict)]
        except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
            warnings.warn(
                f"{self.curves_path} cannot be read ({error}); curves and criteria are left out.",
                stacklevel=2,
            )
            return []


def open_store(path: Path, experiment: str | None = None) -> Store | PackedStore:
    """Return the store at a path, which need not exist.

    Parameters
    ----------
    path : Path
        A packed file, a folder with the packed file of the experiment, or a folder of trials.
    experiment : str, optional
        The name of the experiment; without it, a folder is always a folder of trials.

    Returns
    -------
    Store or PackedStore
        A `PackedStore` for packed files.

    See Also
    --------
    Store : A folder of trials.
    PackedStore : Finished trials in two small files.

    Examples
    --------
    >>> open_store(Path("results/quick-mnist.jsonl"), "quick-mnist")
    PackedStore(path=PosixPath('results/quick-mnist.jsonl'))
    >>> open_store(Path("bench/quick-mnist"), "quick-mnist")
    Store(path=PosixPath('bench/quick-mnist'))
    """
    if path.suffix == _SUFFIX:
        return PackedStore(path)
    packed = path / f"{experiment}{_SUFFIX}"
    return PackedStore(packed) if experiment and packed.is_file() else Store(path)


def pack(store: Store, out: Path) -> dict[PackedStore, int]:
    """Write the records of a store into two files per experiment.

    Trials that are only in existing packed files are kept; if a trial is in both, the record in the store wins.

    Parameters
    ----------
    store : Store
        The store with the trials.
    out : Path
        The folder to write to.

    Returns
    -------
    dict of PackedStore to int
        How many trials each packed file now has.

    Raises
    ------
    FileError
        If the store has no finished trials, or an existing packed file is damaged.

    See Also
    --------
    PackedStore : The packed files.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scarce.bench import Plan, TrialRecord, load_experiment
    >>> trial = Plan.from_experiment(load_experiment("quick-digits")).trials[0]
    >>> record = TrialRecord(spec=trial.spec, label="nn", experiment="quick-digits", protocol="own", accuracy=0.9)
    >>> with TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     store.save(record)
    ...     [(packed.path.name, n) for packed, n in pack(store, Path(folder)).items()]
    [('quick-digits.jsonl', 1)]
    """
    by_experiment: dict[str, list[TrialRecord]] = {}
    for record in store.records():
        by_experiment.setdefault(record.experiment, []).append(record)
    if not by_experiment:
        raise FileError(f"{store.path} holds no finished trials; run an experiment first, or check the path.")
    counts = {}
    for name, records in by_experiment.items():
        target = PackedStore(out / f"{name}{_SUFFIX}")
        merged = _read_existing(target) | {record.key: record for record in records}
        _write(target, merged.values())
        counts[PackedStore(target.path)] = len(merged)  # not `target`, which has cached the old lines
    return counts


def _read_existing(target: PackedStore) -> dict[str, TrialRecord]:
    """Return the records of a packed file; raise if it is damaged, since rewriting it would lose results."""
    if not target.path.exists():
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return {record.key: record for record in target.records()}
        except UserWarning as warning:
            raise FileError(
                f"{target.path} is damaged and was not changed ({warning}) Restore it from a copy, or choose another --out."
            ) from None


def _write(target: PackedStore, records: Iterable[TrialRecord]) -> None:
    lines, curves = [], []
    for record in sorted(records, key=_sort_key):
        content = record.to_dict()
        rounded = {name: _round_curves(content.pop(name)) for name in _CURVES}
        lines.append(json.dumps(content, ensure_ascii=False, separators=(",", ":")))
        curves.append(json.dumps({"key": record.key, **rounded}, separators=(",", ":")))
    # The curves first: if this is interrupted, curves without a line are harmless.
    with atomic_write(target.curves_path, force=True) as temporary:
        temporary.write_bytes(gzip.compress("\n".join([*curves, ""]).encode(), mtime=0))
    with atomic_write(target.path, force=True) as temporary:
        temporary.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _sort_key(record: TrialRecord) -> tuple[object, ...]:
    spec = record.spec
    return spec.data, spec.setting, spec.model, record.label, spec.seed, record.finished, record.key


def _round_curves(curves: dict[str, list[float | None]]) -> dict[str, list[float | None]]:
    return {
        name: [None if value is None else float(f"{value:.9g}") for value in values]
        for name, values in curves.items()
    }
