"""Class priors with their uncertainty and their origin."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

from scarce._arrays import FloatArray

__all__ = ["PriorEstimate"]


@dataclass(frozen=True, eq=False)
class PriorEstimate:
    """Class priors π: a distribution over the classes, how it was found, and how sure one can be.

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
    >>> import numpy as np
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
        places = {str(name): place for place, name in enumerate(self.classes)}
        order = [places[str(name)] for name in classes]
        moved: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[order]
            for name in ("values", "raw", "low", "high")
        }
        return replace(self, **moved, classes=classes)

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
        from scarce.priors.plot import plot_priors

        return plot_priors(self, truth)
