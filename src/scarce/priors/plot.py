"""Class priors as a figure."""

from typing import TYPE_CHECKING, Any

from scarce.errors import MethodError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from scarce.priors.estimate import PriorEstimate

__all__ = ["plot_priors"]


def plot_priors(estimate: "PriorEstimate", truth: Any = None) -> "Figure":
    """Draw the raw estimates with their intervals, class by class, and the true priors if they are known."""
    try:
        from scarce.figures import draw_priors, new_axes
    except ImportError:
        raise MethodError("figures need matplotlib; install scarce[bench].") from None
    names = range(len(estimate.values)) if estimate.classes is None else estimate.classes.tolist()
    title = f"Share of each class: {estimate.source}, sum {estimate.total:.3f}"
    with new_axes(width=max(4.8, 0.45 * len(names))) as axes:
        draw_priors(axes, list(names), estimate.raw, estimate.low, estimate.high, truth, title)
        return axes.figure  # type: ignore[return-value]
