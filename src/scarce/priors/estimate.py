"""Class priors with their uncertainty and their origin, and what makes them of raw estimates."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import FloatArray
from scarce._validation import check_number, check_numbers
from scarce.errors import MethodError, PriorError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PriorEstimate", "to_simplex"]

_MAX_FIGURE_WIDTH = 16.0  # inches
_EPS = 1e-9  # of a limit; were it none, limits that sum to just one could never be met


@dataclass(frozen=True, eq=False)
class PriorEstimate:
    """Class priors π: a distribution over the classes, how it was found, and its confidence interval.

    Attributes
    ----------
    values : array of shape (q,)
        π, summing to one.
    source : str
        How they were found: given, uniform, frequencies, answers, or the name of an estimator.
    raw : array of shape (q,)
        The estimates before they were made to sum to one.
    low, high : arrays of shape (q,) or None
        Bounds of a 95 % confidence interval of the raw estimates, where there is one.
    classes : array of shape (q,), optional
        The names of the classes.

    Examples
    --------
    >>> estimate = PriorEstimate(np.array([0.25, 0.75]), "best-bin", np.array([0.2, 0.6]), classes=np.array(["cat", "dog"]))
    >>> round(estimate.total, 3)
    0.8
    """

    values: FloatArray
    source: str
    raw: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    classes: NDArray[Any] | None = None

    @property
    def total(self) -> float:
        """Sum of the raw estimates: far from one, something is wrong with the labels or the assumptions."""
        return float(self.raw.sum())

    def by_class(self) -> Any:
        """Return the priors by class name, or in order where there are no names."""
        return (
            self.values
            if self.classes is None
            else dict(zip(self.classes.tolist(), self.values.tolist(), strict=True))
        )

    def arranged(self, classes: NDArray[Any]) -> "PriorEstimate":
        """Return the same estimate with its classes, compared by name, in another order."""
        if self.classes is None:
            return replace(self, classes=classes)
        positions = {str(name): position for position, name in enumerate(self.classes)}
        order = [positions[str(name)] for name in classes]
        reordered: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[order]
            for name in ("values", "raw", "low", "high")
        }
        return replace(self, **reordered, classes=classes)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        arrays = {
            "values": self.values,
            "raw": self.raw,
            "low": self.low,
            "high": self.high,
            "classes": self.classes,
        }
        return {
            "source": self.source,
            **{name: None if a is None else a.tolist() for name, a in arrays.items()},
        }

    def save(self, path: str | Path) -> None:
        """Write the estimate as JSON; ``scarce train --priors`` and `scarce.priors.load_priors` read it."""
        from scarce.priors.io import save_priors

        save_priors(self, Path(path))

    def plot(self, truth: Any = None) -> "Figure":
        """Draw the raw estimates with their intervals, class by class, and the true priors if they are known."""
        try:
            from scarce._plotting import draw_priors, new_axes
        except ImportError:
            raise MethodError("figures need matplotlib; install scarce[bench].") from None
        names = range(len(self.values)) if self.classes is None else self.classes.tolist()
        title = f"Share of each class: {self.source}, sum {self.total:.3f}"
        if isinstance(truth, Mapping):
            truth = [truth[name] for name in names]
        if truth is not None and np.shape(truth) != (len(names),):
            raise PriorError(
                f"truth has shape {np.shape(truth)}; expected {len(names)} numbers, one per class."
            )
        with new_axes(width=min(max(4.8, 0.3 * len(names)), _MAX_FIGURE_WIDTH)) as axes:
            draw_priors(axes, list(names), self.raw, self.low, self.high, truth, title)
            return axes.figure  # type: ignore[return-value]


def to_simplex(raw: Any, rates: Any, floor: float = 1e-3) -> FloatArray:
    """Return priors in the proportions of the raw estimates, none above what the exclusions of its class allow.

    An example that excludes class k is of another class, so π_k ≤ 1 − π̄_k. With r the raw estimates, clipped,

        π_k = min(t r_k, 1 − π̄_k),    t such that Σ_k π_k = 1:

    what is cut off at one class goes to the classes below their limits, in proportion.

    Parameters
    ----------
    raw : array of shape (q,)
        Raw estimates of π; clipped to [floor, 1].
    rates : array of shape (q,)
        π̄, the fraction of examples that exclude each class.
    floor : float
        The smallest raw estimate: a class that was estimated away can still be learned.

    Examples
    --------
    >>> to_simplex([0.6, 0.3, 0.3], [0.2, 0.2, 0.2]).tolist()
    [0.5, 0.25, 0.25]
    >>> to_simplex([0.6, 0.3, 0.3], [0.6, 0.2, 0.2]).tolist()
    [0.4, 0.3, 0.3]
    """
    proportions, caps = check_numbers(raw, "the raw priors"), 1 - check_numbers(rates, "the rates")
    if proportions.shape != caps.shape:
        raise PriorError(
            f"there are {len(proportions)} raw priors and {len(caps)} rates; expected one of each per class."
        )
    if (caps < 0).any() or (caps > 1).any():
        raise PriorError(
            f"the rates go from {1 - caps.max():g} to {1 - caps.min():g}; expected fractions from 0 to 1."
        )
    check_number("floor", floor, high=1, open_low=True)
    if caps.sum() < 1 - _EPS / 2:
        raise PriorError(
            f"the rates sum to {np.sum(1 - caps):.4g} over {len(caps)} classes, so some example excludes every class; "
            f"expected a sum of at most {len(caps) - 1}: look for wrong exclusions."
        )
    proportions = np.clip(proportions, floor, 1.0)
    capped = np.zeros(len(proportions), bool)
    while True:
        scale = (1 - caps[capped].sum()) / proportions[~capped].sum()
        above = ~capped & (scale * proportions > caps + _EPS)
        if not above.any():
            priors: FloatArray = np.where(capped, caps, scale * proportions)
            return priors
        capped |= above  # what they lose only raises the scale of the others, so none comes back
