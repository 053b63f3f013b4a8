"""The record of a trial: its specification, result and cost, as a JSON file."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from scarce._io.atomic import atomic_write
from scarce._io.paths import check_file
from scarce._io.schema import Mismatch, check_depth
from scarce._validation import shorten
from scarce.bench.spec._base import StrictModel, describe_error
from scarce.bench.spec.trial import ProtocolName, TrialSpec
from scarce.errors import FileError

_FORMAT = "scarce-trial-2"
LAST_EPOCHS = 10
"""The accuracy of a trial is the mean over this number of last epochs, or over all if there are fewer."""


def _finite(value: Any) -> Any:
    """Return JSON values with None in place of NaN and infinity, which JSON does not support."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


Curves = Annotated[dict[str, list[float | None]], BeforeValidator(_finite)]


class Priors(StrictModel):
    """The priors that were used or estimated, their source, and the true priors."""

    model_config = ConfigDict(extra="allow")

    source: str = ""
    values: list[float] | None = None
    true: list[float] | None = None

    @model_validator(mode="after")
    def _check_lengths(self) -> Self:
        n_values, n_classes = len(self.values or []), len(self.true or [])
        if n_classes and n_values != n_classes:
            raise ValueError(f"got {n_values} values for {n_classes} classes")
        return self


class TrialRecord(StrictModel):
    """The record of a trial that has been run.

    Attributes
    ----------
    spec : TrialSpec
        Everything that determines the result.
    label : str
        The row in tables; several labels may share a method.
    experiment, protocol : str
        The experiment it was run for, and whether that follows the paper.
    status : {"done", "failed"}
        Whether there is a result.
    error : str or None
        Why there is no result, in one line.
    accuracy : float or None
        Mean test accuracy over the last ten epochs (with early stopping, at the chosen epoch; of a classifier, after `fit`); None
        if the trial failed or estimates priors.
    curves, selection : dict of lists
        One number per epoch, None if it is not finite: training loss, test accuracy and calibration; and the criteria that need
        no true labels, computed on the test images.
    priors : Priors
        The priors that were used or estimated, and the true priors.
    seconds, peak_memory_mb : float
        The cost; if the trial was interrupted, the seconds are summed over all sessions.
    versions, machine : dict
        The software and the machine that ran it.
    finished : str
        The UTC time at the end, as `now` returns it; empty if unknown.
    n_examples : int or None
        The number of training examples; None if unknown.
    reason : str or None
        How the automatic default explains its choice.

    See Also
    --------
    run_trial : Run a trial and return its record.
    Store : A folder of records.

    Examples
    --------
    >>> spec = TrialSpec(data="digits", n_train=9, setting="uniform", method="scarce", model="mlp", seed=0, recipe={})
    >>> record = TrialRecord(spec=spec, label="SCARCE", experiment="quick", protocol="shortened", accuracy=0.9)
    >>> record.spec.data, record.spec.seed, record.accuracy
    ('digits', 0, 0.9)
    >>> TrialRecord.from_dict(record.to_dict()) == record
    True
    """

    spec: TrialSpec
    label: str
    experiment: str
    protocol: ProtocolName
    status: Literal["done", "failed"] = "done"
    error: str | None = None
    accuracy: Annotated[float, Field(ge=0, le=1)] | None = None
    priors: Priors = Priors()
    seconds: float = 0.0
    peak_memory_mb: float = 0.0
    versions: dict[str, str] = Field(default_factory=dict)
    machine: dict[str, Any] = Field(default_factory=dict)
    finished: str = ""
    n_examples: int | None = None
    reason: str | None = None
    curves: Curves = Field(default_factory=dict)
    selection: Curves = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_has_result(self) -> Self:
        result = self.priors.values if self.spec.kind == "priors" else self.accuracy
        if self.status == "done" and result is None:
            raise ValueError("the trial is done, but has no result")
        return self

    @property
    def key(self) -> str:
        """The hash of the spec, see `TrialSpec.key`."""
        return self.spec.key

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON; infinite numbers and NaN become None."""
        content = self.model_dump(mode="json", exclude={"spec"})
        return _finite({"format": _FORMAT, "key": self.key, "spec": self.spec.as_dict(), **content})  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, content: Any) -> "TrialRecord":
        """Restore a record from the data that `to_dict` returned.

        Examples
        --------
        >>> TrialRecord.from_dict({"format": "another"})
        Traceback (most recent call last):
        scarce.errors.FileError: not a record of a trial: its format is 'another', expected 'scarce-trial-2'.
        """
        found = content.get("format") if isinstance(content, dict) else type(content).__name__
        if found != _FORMAT:
            raise FileError(f"not a record of a trial: its format is {shorten(found)}, expected {_FORMAT!r}.")
        try:
            check_depth(content)
        except Mismatch as error:
            raise FileError(f"this record is damaged ({error}).") from None
        fields = {name: value for name, value in content.items() if name not in ("format", "key")}
        try:
            record = cls.model_validate(fields)
        except ValidationError as error:
            raise FileError(f"this record is damaged ({describe_error(error)}).") from None
        if content.get("key") != record.key:
            raise FileError("this record is damaged (its key belongs to another spec).")
        return record

    def save(self, path: Path) -> None:
        """Write the record atomically."""
        with atomic_write(path, force=True) as temporary:
            temporary.write_text(
                json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n", encoding="utf-8"
            )

    @classmethod
    def load(cls, path: Path) -> "TrialRecord":
        """Read a record; raise a `FileError` if the file is damaged."""
        check_file(path)
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except FileError as error:
            raise FileError(f"{path}: {error}") from None
        except (ValueError, OSError, RecursionError) as error:
            raise FileError(f"{path} is damaged ({error}).") from error


def now() -> str:
    """Return the UTC time as a sortable string.

    Examples
    --------
    >>> first = now()
    >>> first <= now(), len(first)
    (True, 32)
    """
    return datetime.now(UTC).isoformat(timespec="microseconds")
