"""What happened, epoch by epoch."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["History"]


@dataclass
class History:
    """One record of named numbers, or lists of numbers, per epoch.

    Examples
    --------
    >>> history = History([{"epoch": 1, "loss": 2.0}, {"epoch": 2, "loss": 1.5}])
    >>> history["loss"]
    [2.0, 1.5]
    """

    records: list[dict[str, Any]] = field(default_factory=list)

    def __getitem__(self, name: str) -> list[Any]:
        return [record[name] for record in self.records]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records)
