"""What one trial of an experiment left behind: a JSON file."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from scarce.errors import FileError
from scarce.files import require_file, written_aside

__all__ = ["LAST_EPOCHS", "TrialRecord", "key_of", "now"]

_FORMAT = "scarce-trial-1"
LAST_EPOCHS = 10
"""The accuracy of a trial is the mean over so many last epochs, or over all of them if there are fewer."""
# Records that were written before there were these are still read.
_LATER = {"finished", "n_examples"}


@dataclass(frozen=True)
class TrialRecord:
    """A trial that has been run.

    Attributes
    ----------
    key : str
        The name of the trial: a hash of its identity.
    identity : dict
        All that determines the result: kind, data, setting, method, model, seed, priors, transition, recipe, and the
        checksums of data and method.
    label : str
        The row in tables; several labels may share a method.
    experiment, protocol : str
        What it was run for, and whether as in the paper or shortened.
    status : {"done", "failed"}
        Whether there is a result.
    error : str or None
        One line that says why there is none.
    accuracy : float or None
        Mean test accuracy over the last ten epochs; None where the trial failed or estimates priors.
    curves, selection : dict of lists
        One number per epoch, None where it was not finite: what happened, and what criteria that need no true label made
        of the test images.
    priors : dict
        The priors that were used (or estimated): values and source; and the true ones.
    seconds, peak_memory_mb : float
        What it cost; the seconds are of all sessions if it was interrupted.
    versions, machine : dict
        By what and where it was run.
    finished : str
        When it ended, as `now` writes it; empty where this is not known.
    n_examples : int or None
        How many training examples it used; None where this is not known.

    Examples
    --------
    >>> identity = {"data": "digits", "setting": "uniform", "method": "scarce", "model": "mlp", "seed": 0}
    >>> record = TrialRecord(key_of(identity), identity, "SCARCE", "quick", "shortened", accuracy=0.9)
    >>> record.data, record.seed, record.accuracy
    ('digits', 0, 0.9)
    >>> TrialRecord.from_dict(record.to_dict()) == record
    True
    """

    key: str
    identity: dict[str, Any]
    label: str
    experiment: str
    protocol: Literal["paper", "shortened"]
    status: Literal["done", "failed"] = "done"
    error: str | None = None
    accuracy: float | None = None
    curves: dict[str, list[float | None]] = field(default_factory=dict)
    selection: dict[str, list[float | None]] = field(default_factory=dict)
    priors: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    peak_memory_mb: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    finished: str = ""
    n_examples: int | None = None

    @property
    def data(self) -> str:
        """The data set."""
        return str(self.identity["data"])

    @property
    def setting(self) -> str:
        """How the labels came about."""
        return str(self.identity["setting"])

    @property
    def method(self) -> str:
        """The method, by its name in the library."""
        return str(self.identity["method"])

    @property
    def model(self) -> str:
        """The network."""
        return str(self.identity["model"])

    @property
    def seed(self) -> int:
        """The seed of labels and training."""
        return int(self.identity["seed"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {"format": _FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, content: Any) -> "TrialRecord":
        """Take back what `to_dict` gave.

        Examples
        --------
        >>> TrialRecord.from_dict({"format": "another"})
        Traceback (most recent call last):
        scarce.errors.FileError: this is no record of a trial (its format is 'another', not 'scarce-trial-1').
        """
        got = content.get("format") if isinstance(content, dict) else type(content).__name__
        if got != _FORMAT:
            raise FileError(f"this is no record of a trial (its format is {got!r}, not {_FORMAT!r}).")
        known = {each.name for each in fields(cls)}
        given = {name: value for name, value in content.items() if name != "format"}
        wrong = known.symmetric_difference(given) - (_LATER - given.keys())
        if wrong:
            raise FileError(f"this record lacks or has beside what it should: {', '.join(sorted(wrong))}.")
        fault = _fault(_Stored, given)
        if fault:
            raise FileError(f"this record is damaged ({fault}).")
        return cls(**given)

    def fault(self) -> str | None:
        """Return in words what in the record does not belong together, if anything.

        Examples
        --------
        >>> TrialRecord("0123456789abcdef", {}, "SCARCE", "quick", "shortened", accuracy=0.9).fault()
        'its identity is that of another trial'
        """
        if key_of(self.identity) != self.key:
            return "its identity is that of another trial"
        is_of_priors = self.identity.get("kind") == "priors"
        result = self.priors.get("values") if is_of_priors else self.accuracy
        if self.status == "done" and result is None:
            return "its trial is done, but has no result"
        if self.accuracy is not None and not 0 <= self.accuracy <= 1:
            return f"its accuracy is {self.accuracy:g}, but should be a share"
        priors, true = (self.priors.get(name) or [] for name in ("values", "true"))
        if true and len(priors) != len(true):
            return f"it holds {len(priors)} priors for {len(true)} classes"
        return _fault(_Identity, self.identity)

    def save(self, path: Path) -> None:
        """Write the record; the file is either whole or not there."""
        with written_aside(path, force=True) as aside:
            aside.write_text(
                json.dumps(_finite(self.to_dict()), indent=1, allow_nan=False) + "\n", encoding="utf-8"
            )

    @classmethod
    def load(cls, path: Path) -> "TrialRecord":
        """Read a record, or say what is wrong with its file."""
        require_file(path)
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except FileError as error:
            raise FileError(f"{path}: {error}") from None
        except (ValueError, OSError, RecursionError) as error:
            raise FileError(f"{path} is damaged ({error}).") from error


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Identity(_Strict):
    """What of an identity is asked for wherever there are records."""

    kind: Literal["accuracy", "priors"] = "accuracy"
    data: str
    setting: str
    method: str
    model: str
    seed: int


class _Priors(_Strict):
    values: list[float] | None = None
    true: list[float] | None = None


_FIELDS: dict[str, Any] = {
    each.name: (_Priors if each.name == "priors" else each.type, None if each.name in _LATER else ...)
    for each in fields(TrialRecord)
}
# What a file may hold, which others than this program may have written or changed.
_Stored = create_model("_Stored", __base__=_Strict, **_FIELDS)


def _fault(model: type[_Strict], content: Any) -> str | None:
    try:
        model.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return None


def key_of(identity: Mapping[str, Any]) -> str:
    """Return the name of a trial: the first 16 hexadecimal digits of the SHA-256 of its identity, as JSON with sorted keys.

    Examples
    --------
    >>> key_of({"data": "digits", "seed": 0})
    'b5697b5c90ce141e'
    """
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def now() -> str:
    """Return the time, of Greenwich, such that later is greater.

    Examples
    --------
    >>> first = now()
    >>> first <= now(), len(first)
    (True, 32)
    """
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _finite(value: Any) -> Any:
    """JSON has no NaN or infinity: they become null."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
