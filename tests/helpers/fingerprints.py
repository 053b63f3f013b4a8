"""Fingerprints: stored numbers of the library that a refactoring must not change.

A record belongs to a label and holds the name and the revision of what it pins, and its numbers to ten digits. Numbers may
change only together with the revision; see CONTRIBUTING.md.
"""

import json
import math
from collections.abc import Callable, Collection, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

Numbers = dict[str, Any]
TEN_DIGITS = 1e-9  # relative; the tenth digit is rounded
_NEGLIGIBLE = 1e-12  # absolute, for numbers that are zero up to rounding


class Fingerprints:
    """The records of a file: numbers are compared with them or, with `update`, replace them for a higher revision.

    Parameters
    ----------
    path : Path
        A JSON file, one record per line.
    labels : collection of str
        All current labels; an update removes the records of other labels.
    where : str
        Where to raise a revision; a format string with the fields {name} and {revision}.
    update : bool
        Whether `close` writes the file.
    """

    def __init__(self, path: Path, labels: Collection[str], where: str, *, update: bool) -> None:
        self.path, self.where, self.update = path, where, update
        self.labels = set(labels)
        self.records: dict[str, Numbers] = json.loads(path.read_text()) if path.exists() else {}

    def check(
        self, label: str, name: str, revision: int, numbers: Numbers, *, tolerance: float = TEN_DIGITS
    ) -> None:
        """Fail unless the numbers equal those of the file or, with `update`, may replace them."""
        new = {"name": name, "revision": revision} | {key: rounded(value) for key, value in numbers.items()}
        old = self.records.get(label)
        if self.update:
            self._replace(label, old, new, tolerance)
            return
        command = f"`pytest {_short(self.path.parent)} --update-fingerprints`"
        if old is None:
            pytest.fail(f"{label}: there is no fingerprint; run {command}.", pytrace=False)
        if old["revision"] != revision:
            pytest.fail(
                f"{label}: the fingerprint is of revision {old['revision']}, the code of {revision}; run {command}.",
                pytrace=False,
            )
        change = first_change(old, new, tolerance)
        if change:
            raised = self.where.format(name=name, revision=revision + 1)
            pytest.fail(
                f"{label}: {change}. If this is meant, raise {raised} and run {command}; a refactoring must not change "
                "numbers.",
                pytrace=False,
            )

    def _replace(self, label: str, old: Numbers | None, new: Numbers, tolerance: float) -> None:
        if old is not None and new["revision"] <= old["revision"]:
            both = {key: value for key, value in new.items() if key in old and key != "revision"}
            change = first_change({key: old[key] for key in both}, both, tolerance)
            if change or new["revision"] < old["revision"]:
                raised = self.where.format(name=new["name"], revision=old["revision"] + 1)
                pytest.fail(
                    f"{label}: {change or 'the revision was lowered'}; the fingerprint stays as it is. If this is meant, "
                    f"raise {raised} first; a refactoring must not change numbers.",
                    pytrace=False,
                )
            # Keep the digits that were written before.
            new = {key: old.get(key, value) for key, value in new.items()}
        self.records[label] = new

    def close(self) -> None:
        """With `update`, write the records, sorted, without those of labels that no longer exist."""
        if self.update:
            lines = [
                f"{json.dumps(label, ensure_ascii=False)}: {json.dumps(record, ensure_ascii=False)}"
                for label, record in sorted(self.records.items())
                if label in self.labels
            ]
            self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def first_change(old: Numbers, new: Numbers, tolerance: float) -> str:
    """Describe the first difference between two records; "" if there is none."""
    if old.keys() != new.keys():
        return f"the record held {', '.join(old)}, and holds {', '.join(new)}"
    for key, was in old.items():
        now = new[key]
        if not isinstance(was, list) or not isinstance(now, list):
            if not _same(was, now, tolerance):
                return f"{key} was {_show(was)}, is {_show(now)}"
            continue
        if len(was) != len(now):
            return f"{key} had {len(was)} numbers, has {len(now)}"
        for place, pair in enumerate(zip(was, now, strict=True)):
            if not _same(*pair, tolerance):
                return f"{key}[{place}] was {_show(pair[0])}, is {_show(pair[1])}"
    return ""


def _same(was: Any, now: Any, tolerance: float) -> bool:
    if isinstance(was, float) and isinstance(now, float):
        return math.isclose(was, now, rel_tol=tolerance, abs_tol=_NEGLIGIBLE)
    return type(was) is type(now) and bool(was == now)


def _show(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _short(folder: Path) -> Path:
    root = Path(__file__).parents[2]
    return folder.relative_to(root) if folder.is_relative_to(root) else folder


def rounded(value: Any) -> Any:
    """Round floats, also in lists and arrays, to ten significant digits; leave integers and text unchanged.

    Numbers that are zero up to rounding become zero.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        return 0.0 if abs(value) < _NEGLIGIBLE else float(f"{value:.10g}")
    return value


def waves(*shape: int, phase: float = 0.0) -> Tensor:
    """Return reproducible numbers from −1 to 1 without special structure."""
    return torch.cos(1.7 * torch.arange(math.prod(shape), dtype=torch.float64) + phase).reshape(shape)


def summary(tensors: Tensor | Iterable[Tensor]) -> list[float]:
    """Return the sum, the sum of squares and the projection on `waves` of all numbers in one or more tensors."""
    several = [tensors] if isinstance(tensors, Tensor) else tensors
    numbers = torch.cat([each.detach().double().flatten() for each in several])
    return [numbers.sum().item(), numbers.square().sum().item(), (numbers * waves(len(numbers))).sum().item()]


@contextmanager
def in_float64(seed: int):
    """Seed torch and make float64 its default dtype, in which ten digits agree on every machine."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_default_dtype(before)


def uncovered(names: Iterable[str], cases: dict[str, Any], name_of: Callable[[Any], str]) -> set[str]:
    """Return the names without a case."""
    return set(names) - {name_of(case) for case in cases.values()}
