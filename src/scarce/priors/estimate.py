"""Class priors with their intervals and their source, and the normalization of raw estimates."""

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

_MAX_FIGURE_WIDTH = 16.0  # inches
_EPS = 1e-9  # tolerance, so that limits that sum to exactly one can be met despite rounding


@dataclass(frozen=True, eq=False)
class PriorEstimate:
    """Class priors π, with their source, the raw estimates and their confidence intervals.

    Attributes
    ----------
    values : array of shape (q,)
        π, summing to one.
    source : str
        Where they come from, such as ``"given"``, ``"uniform"``, ``"frequencies"``, ``"answers"``, ``"candidate shares"``, or the
        name of an estimator.
    raw : array of shape (q,)
        The estimates before they were made to sum to one.
    low, high : array of shape (q,) or None
        Bounds of the 95 % confidence intervals of the raw estimates; None without intervals.
    classes : array of shape (q,) or None
        The class names; None if they are unknown.

    See Also
    --------
    resolve_priors : Make one from names, numbers or an estimator.
    load_priors : Read one from a file that `save` wrote.

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
        """Sum of the raw estimates. If it is far from one, the labels or the assumptions are wrong."""
        return float(self.raw.sum())

    def by_class(self) -> Any:
        """Return a mapping from class names to priors, or the array of priors if there are no names."""
        return (
            self.values
            if self.classes is None
            else dict(zip(self.classes.tolist(), self.values.tolist(), strict=True))
        )

    def arranged(self, classes: NDArray[Any]) -> "PriorEstimate":
        """Return the estimate with its classes in another order, matched by name.

        Parameters
        ----------
        classes : array of shape (q,)
            The same class names in the new order.
        """
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
        """Return the estimate as plain data that JSON can store."""
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
        """Write the estimate to a JSON file, for `scarce.priors.load_priors` and ``scarce train --priors``."""
        from scarce.priors.io import save_priors

        save_priors(self, Path(path))

    def plot(self, truth: Any = None) -> "Figure":
        """Plot the raw estimate and interval of every class.

        Parameters
        ----------
        truth : array of shape (q,) or mapping by class name, optional
            The true priors, to plot next to the estimates.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, not yet saved.
        """
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
                f"truth has shape {np.shape(truth)}; expected {len(names)} numbers: pass one per class, or a mapping by class."
            )
        with new_axes(width=min(max(4.8, 0.3 * len(names)), _MAX_FIGURE_WIDTH)) as axes:
            draw_priors(axes, list(names), self.raw, self.low, self.high, truth, title)
            return axes.figure  # type: ignore[return-value]


def to_simplex(raw: Any, rates: Any, floor: float = 1e-3) -> FloatArray:
    """π_k = min(t r_k, 1 − π̄_k), with t such that Σ_k π_k = 1.

    Normalize raw estimates r to priors that agree with the labels: examples that exclude class k belong to other classes, so
    π_k ≤ 1 − π̄_k. What exceeds the limit of one class is distributed in proportion over the classes below their limits.

    Parameters
    ----------
    raw : array of shape (q,)
        r, raw estimates of π; clipped to [floor, 1].
    rates : array of shape (q,)
        π̄, the fraction of examples that exclude each class.
    floor : float
        Lower bound of the raw estimates, so that a class whose estimate is zero can still be learned.

    Returns
    -------
    array of shape (q,)
        π, summing to one.

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
            f"there are {len(proportions)} raw priors and {len(caps)} rates; pass one of each per class."
        )
    if (caps < 0).any() or (caps > 1).any():
        raise PriorError(
            f"the rates range from {1 - caps.max():g} to {1 - caps.min():g}; expected 0 to 1: divide counts by n."
        )
    check_number("floor", floor, high=1, open_low=True)
    if caps.sum() < 1 - _EPS / 2:
        raise PriorError(
            f"the rates sum to {np.sum(1 - caps):.4g} over {len(caps)} classes, so some example excludes every class; "
            f"expected a sum of at most {len(caps) - 1}: correct the exclusions."
        )
    proportions = np.clip(proportions, floor, 1.0)
    capped = np.zeros(len(proportions), bool)
    while True:
        scale = (1 - caps[capped].sum()) / proportions[~capped].sum()
        above = ~capped & (scale * proportions > caps + _EPS)
        if not above.any():
            priors: FloatArray = np.where(capped, caps, scale * proportions)
            return priors
        capped |= above  # for good: capping a class only raises the scale of the others
