"""What one trial of an experiment left behind: a JSON file."""

import json
import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from scarce.errors import FileError
from scarce.files import require_file, written_aside

__all__ = ["LAST_EPOCHS", "TrialRecord"]

_FORMAT = "scarce-trial-1"
LAST_EPOCHS = 10
"""The accuracy of a trial is the mean over so many last epochs."""


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
        One number per epoch: what happened, and what criteria that need no true label made of the test images.
    priors : dict
        The priors that were used (or estimated): values and source.
    seconds, peak_memory_mb : float
        What it cost; the seconds are of all sessions if it was interrupted.
    versions, machine : dict
        By what and where it was run.

    Examples
    --------
    >>> record = TrialRecord("0123456789abcdef", {"data": "digits", "seed": 0}, "SCARCE", "quick", "shortened", accuracy=0.9)
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
    curves: dict[str, list[float]] = field(default_factory=dict)
    selection: dict[str, list[float]] = field(default_factory=dict)
    priors: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    peak_memory_mb: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)

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
        wrong = known.symmetric_difference(content.keys() - {"format"})
        if wrong:
            raise FileError(f"this record lacks or has beside what it should: {', '.join(sorted(wrong))}.")
        return cls(**{name: content[name] for name in known})

    def save(self, path: Path) -> None:
        """Write the record; the file is either whole or not there."""
        with written_aside(path, force=True) as aside:
            aside.write_text(
                json.dumps(_finite(self.to_dict()), indent=1, allow_nan=False) + "\n", encoding="utf-8"
            )

    @classmethod
    def load(cls, path: Path) -> "TrialRecord":
        """Read a record, or say what is wrong with its file."""
        try:
            return cls.from_dict(json.loads(require_file(path).read_text(encoding="utf-8")))
        except FileError as error:
            raise FileError(f"{path}: {error}") from None
        except (ValueError, OSError) as error:
            raise FileError(f"{path} is damaged ({error}).") from error


def _finite(value: Any) -> Any:
    """JSON has no NaN or infinity: they become null."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
