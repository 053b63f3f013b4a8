"""Class priors as a figure."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from scarce.errors import MethodError, PriorError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from scarce.priors.estimate import PriorEstimate

__all__ = ["plot_priors"]

_WIDEST = 16.0  # inches


def plot_priors(estimate: "PriorEstimate", truth: Any = None) -> "Figure":
    """Draw the raw estimates with their intervals, class by class, and the true priors if they are known."""
    try:
        from scarce._plotting import draw_priors, new_axes
    except ImportError:
        raise MethodError("figures need matplotlib; install scarce[bench].") from None
    names = range(len(estimate.values)) if estimate.classes is None else estimate.classes.tolist()
    title = f"Share of each class: {estimate.source}, sum {estimate.total:.3f}"
    if isinstance(truth, Mapping):
        truth = [truth[name] for name in names]
    if truth is not None and np.shape(truth) != (len(names),):
        raise PriorError(f"truth has shape {np.shape(truth)}; expected {len(names)} numbers, one per class.")
    with new_axes(width=min(max(4.8, 0.3 * len(names)), _WIDEST)) as axes:
        draw_priors(axes, list(names), estimate.raw, estimate.low, estimate.high, truth, title)
        return axes.figure  # type: ignore[return-value]
