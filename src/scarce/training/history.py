"""What happened, epoch by epoch."""

from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["History"]


@dataclass
class History:
    """One record of named numbers per epoch.

    Examples
    --------
    >>> history = History([{"epoch": 1, "loss": 2.0}, {"epoch": 2, "loss": 1.5}])
    >>> history["loss"]
    [2.0, 1.5]
    """

    records: list[dict[str, float]] = field(default_factory=list)

    def __getitem__(self, name: str) -> list[float]:
        return [record[name] for record in self.records]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, float]]:
        return iter(self.records)
