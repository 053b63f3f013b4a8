"""Class priors with their uncertainty and their origin."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PriorEstimate"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PriorEstimate:
    """Class priors π: a distribution over the classes, how it was found, and how sure one can be.

    Attributes
    ----------
    values : array of shape (q,)
        π, summing to one.
    source : str
        How they were found: given, uniform, frequencies, or answers.
    raw : array of shape (q,)
        The estimates before they were made to sum to one.
    low, high : arrays of shape (q,) or None
        Bounds of a 95 % confidence interval of the raw estimates, where there is one.
    """

    values: FloatArray
    source: str
    raw: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        arrays = {"values": self.values, "raw": self.raw, "low": self.low, "high": self.high}
        return {
            "source": self.source,
            **{name: None if a is None else a.tolist() for name, a in arrays.items()},
        }
