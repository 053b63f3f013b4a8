"""Read and write class priors as JSON files."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from scarce._io.atomic import atomic_write
from scarce._io.json import read_json
from scarce.errors import FileError
from scarce.priors.estimate import PriorEstimate

_FORMAT = "scarce-priors-1"


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
    except (KeyError, TypeError, ValueError) as error:
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
    arrays = {
        name: None
        if stored.get(name) is None
        else np.array(stored[name], None if name == "classes" else float)
        for name in ("values", "raw", "low", "high", "classes")
    }
    values, classes = arrays["values"], arrays["classes"]
    if values is None or arrays["raw"] is None or not isinstance(stored.get("source"), str):
        raise ValueError("values, raw or source is missing")
    if any(
        (array is not None and array.shape != values.shape) or values.ndim != 1 for array in arrays.values()
    ):
        raise ValueError("its lists have different lengths")
    if not all(
        np.isfinite(array).all()
        for name, array in arrays.items()
        if name in ("values", "raw") and array is not None
    ):
        raise ValueError("values or raw are not finite")
    if classes is not None and len(set(map(str, classes))) < len(classes):
        raise ValueError("a class name appears twice")
    return PriorEstimate(source=stored["source"], **arrays)  # type: ignore[arg-type]
