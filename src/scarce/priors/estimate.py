"""Class priors with their uncertainty and their origin."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scarce._arrays import FloatArray
from scarce.errors import MethodError, PriorError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PriorEstimate"]

_MAX_FIGURE_WIDTH = 16.0  # inches


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
