"""Read and write class priors as JSON files."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from scarce._io.atomic import atomic_write
from scarce._io.json import read_json
from scarce._io.schema import Mismatch, anything, fields, list_of, names, number, optional, text
from scarce.errors import FileError
from scarce.priors.estimate import PriorEstimate

_FORMAT = "scarce-priors-1"
_TOLERANCE = 1e-3  # of the sum of the priors; they may be learned in single precision


def save_priors(estimate: PriorEstimate, path: Path, *, force: bool = False) -> None:
    """Write an estimate with its class names; `force` overwrites an existing file."""
    text = json.dumps({"format": _FORMAT, **estimate.as_dict()}, indent=2, ensure_ascii=False)
    with atomic_write(path, force=force) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def load_priors(path: str | Path) -> PriorEstimate:
    """Read priors that `PriorEstimate.save` or ``scarce priors --out`` wrote.

    Parameters
    ----------
    path : str or Path
        The JSON file.

    Returns
    -------
    PriorEstimate
        Equal to the one that was saved.

    Raises
    ------
    FileError
        If the file does not exist, is damaged, or does not hold estimated priors.

    See Also
    --------
    PriorEstimate.save : Write the file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "priors.json"
    >>> PriorEstimate(np.array([0.25, 0.75]), "given", np.array([0.25, 0.75])).save(path)
    >>> load_priors(path).values.tolist()
    [0.25, 0.75]
    >>> load_priors("nowhere.json")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere.json does not exist; check the path.
    """
    stored = read_json(path)
    if not is_estimate(stored):
        raise FileError(
            f"{path} does not hold estimated priors; choose a file written by `scarce priors --out` or PriorEstimate.save."
        )
    try:
        return priors_from_dict(stored)
    except ValueError as error:
        raise FileError(
            f"{path} is damaged ({error}); restore it from a copy, or estimate the priors again."
        ) from error


def is_estimate(stored: Any) -> bool:
    """Return whether the content of a JSON file is a saved `PriorEstimate` rather than plain numbers.

    Examples
    --------
    >>> is_estimate({"cat": 0.3, "dog": 0.7})
    False
    """
    return isinstance(stored, dict) and stored.get("format") == _FORMAT


def priors_from_dict(stored: dict[str, Any]) -> PriorEstimate:
    """Return the estimate that `PriorEstimate.as_dict` returned as plain data.

    Examples
    --------
    >>> estimate = PriorEstimate(np.array([0.5, 0.5]), "uniform", np.array([0.5, 0.5]))
    >>> priors_from_dict(estimate.as_dict()).source
    'uniform'
    """
    _PRIORS(stored, "")
    q = len(stored["values"])
    for name in ("raw", "low", "high", "classes"):
        optional(list_of(anything, q))(stored.get(name), name)
    if abs(sum(stored["values"]) - 1) > _TOLERANCE:
        raise Mismatch("the sum of values", f"{sum(stored['values']):.4g}", "1")
    arrays = {
        name: None
        if stored.get(name) is None
        else np.array(stored[name], None if name == "classes" else float)
        for name in ("values", "raw", "low", "high", "classes")
    }
    return PriorEstimate(source=stored["source"], **arrays)  # type: ignore[arg-type]


_PRIORS = fields(
    {"source": text, "values": list_of(number(0, 1)), "raw": list_of(number())},
    {
        "format": text,
        "classes": optional(names),
        **dict.fromkeys(("low", "high"), optional(list_of(number(finite=False)))),
    },
)
