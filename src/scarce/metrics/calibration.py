"""Calibration of predicted probabilities: of the predictions with confidence 0.8, 80 % should be correct.

These are the only metrics in this package that need true classes, for example those of a test set.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scarce._arrays import FloatArray, IntArray
from scarce._truth import Classes, encode_truth
from scarce._validation import check_integer
from scarce.errors import LabelError, MethodError
from scarce.metrics._blocks import to_float_matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAX_BINS = 1000
_SUM_TOLERANCE = 1e-3  # accepts probabilities rounded to three decimals
_MARKERS = ("o", "s", "^", "D", "v")
_MIN_BIN_COUNT = 10  # examples; with fewer the accuracy is mostly noise, and a line through it would mislead
_BAR_WIDTH_FRACTION = 0.84  # of the width of a bin, for the bars of all curves together


@dataclass(frozen=True, eq=False)
class Reliability:
    """A reliability curve: confidence and accuracy of predictions, in bins of equal width over the confidence.

    Attributes
    ----------
    confidence : array of shape (bins,)
        The mean of the largest probability over the examples in each bin; NaN in an empty bin.
    accuracy : array of shape (bins,)
        The fraction of the examples in each bin whose most probable class is the true one; NaN in an empty bin.
    counts : array of shape (bins,)
        The number of examples in each bin.

    See Also
    --------
    reliability : Computes it.
    reliability_figure : Draws it.

    Examples
    --------
    >>> Reliability(np.array([np.nan, 0.75]), np.array([np.nan, 0.5]), np.array([0, 4])).expected_error
    0.25
    """

    confidence: FloatArray
    accuracy: FloatArray
    counts: IntArray

    @property
    def expected_error(self) -> float:
        """The expected calibration error Σ_b (n_b / n) |accuracy_b − confidence_b|."""
        gaps = np.abs(self.accuracy - self.confidence)
        return float(np.nansum(self.counts * gaps) / self.counts.sum())


def reliability(probabilities: Any, y: Any, bins: int = 15, *, classes: Classes = None) -> Reliability:
    """Compare the confidence max_k p_k with the accuracy of argmax_k p_k, bin by bin.

    Of B bins, the b-th holds the examples with confidence in ((b − 1) / B, b / B].

    Parameters
    ----------
    probabilities : array of shape (n, q)
        Class probabilities from a classifier that was not trained on these examples; rows sum to one.
    y : array of shape (n,)
        Names of the true classes.
    bins : int
        B, the number of bins.
    classes : int or sequence, optional
        The class of each column, in order; by default the numbers 0 to q − 1.

    Returns
    -------
    Reliability
        Mean confidence, accuracy and count of each bin.

    Raises
    ------
    LabelError
        If the probabilities are not one distribution over the classes per entry of `y`, or `y` has unknown classes.
    MethodError
        If `bins` is not a whole number from 1 to 1000.

    See Also
    --------
    expected_calibration_error : The curve as one number.
    reliability_figure : Draw curves.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On Calibration of Modern Neural Networks", ICML 2017.
       https://arxiv.org/abs/1706.04599

    Examples
    --------
    >>> curve = reliability([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6]], ["cat", "dog", "dog"], 2, classes=["cat", "dog"])
    >>> curve.counts.tolist(), curve.confidence.round(3).tolist(), curve.accuracy.round(3).tolist()
    ([0, 3], [nan, 0.733], [nan, 0.667])
    """
    bins = check_integer("bins", bins, 1, _MAX_BINS)
    matrix = _probability_matrix(probabilities)
    truth = encode_truth(y, matrix.shape[1] if classes is None else classes)
    expected = (len(truth.codes), truth.n_classes)
    if matrix.shape != expected:
        raise LabelError(
            f"the probabilities have shape {matrix.shape}; expected {expected}: "
            "pass one row per entry of y and one column per class."
        )
    _check_distribution(matrix)
    highest = np.minimum(matrix.max(axis=1), 1)
    right = matrix.argmax(axis=1) == truth.codes
    bin_index = np.searchsorted(np.arange(1, bins) / bins, highest)
    counts = np.bincount(bin_index, minlength=bins)
    members = np.where(counts > 0, counts, np.nan)
    return Reliability(
        confidence=np.bincount(bin_index, highest, bins) / members,
        accuracy=np.bincount(bin_index, right, bins) / members,
        counts=counts,
    )


def expected_calibration_error(
    probabilities: Any, y: Any, bins: int = 15, *, classes: Classes = None
) -> float:
    """Σ_b (n_b / n) |accuracy_b − confidence_b| over the bins of `reliability`; 0 is best, 1 is worst.

    Parameters
    ----------
    probabilities, y, bins, classes
        As in `reliability`.

    Returns
    -------
    float
        The expected calibration error (ECE).

    See Also
    --------
    reliability : Confidence and accuracy of each bin.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On Calibration of Modern Neural Networks", ICML 2017.
       https://arxiv.org/abs/1706.04599

    Examples
    --------
    >>> round(expected_calibration_error([[0.9, 0.1], [0.9, 0.1]], [0, 1]), 3)
    0.4
    """
    return reliability(probabilities, y, bins, classes=classes).expected_error


def _probability_matrix(probabilities: Any) -> FloatArray:
    matrix = to_float_matrix(probabilities, "probabilities")
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise LabelError(
            f"the probabilities have shape {matrix.shape}; expected one row per example and one column per class: "
            "for two classes pass np.column_stack([1 - p, p])."
        )
    return matrix


def _check_distribution(matrix: FloatArray) -> None:
    invalid = ~(matrix >= 0).all(axis=1)  # also true for NaN
    if invalid.any():
        row = int(np.argmax(invalid))
        raise LabelError(
            f"row {row}: the lowest probability is {matrix[row].min():.4g}; expected numbers from 0 to 1: "
            "pass the output of predict_proba, not of decision_function."
        )
    sums = matrix.sum(axis=1)
    if (abs(sums - 1) > _SUM_TOLERANCE).any():
        row = int(np.argmax(abs(sums - 1) > _SUM_TOLERANCE))
        raise LabelError(
            f"row {row}: the probabilities sum to {sums[row]:.4g}; expected 1: divide each row by its sum."
        )


def reliability_figure(curves: dict[str, Reliability]) -> "Figure":
    """Draw a reliability diagram: accuracy against confidence, and below it the number of examples per bin.

    The diagonal is perfect calibration.

    Parameters
    ----------
    curves : dict of str to Reliability
        The curve to draw for each name in the legend, which also shows the expected calibration error (ECE). Lines connect the
        bins with at least ten examples; bins with fewer are open markers.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    MethodError
        If matplotlib is not installed, or `curves` is not a dict of `Reliability`.

    See Also
    --------
    reliability : Compute a curve.

    Examples
    --------
    >>> from scarce.metrics import reliability
    >>> figure = reliability_figure({"scarce": reliability([[0.9, 0.1], [0.9, 0.1]], [0, 1])})
    >>> figure.axes[0].get_legend_handles_labels()[1]
    ['scarce: ECE 40.0 %']
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import LogLocator

        from scarce._plotting import COLORS, DASHES, INK, new_axes, percent_axis
    except ImportError:
        raise MethodError("figures need matplotlib; install scarce[bench].") from None
    named = isinstance(curves, dict) and bool(curves)
    if not named or not all(isinstance(curve, Reliability) for curve in curves.values()):
        raise MethodError(
            f"curves is {curves!r:.60}; expected a Reliability for each name: {{'scarce': reliability(...)}}."
        )
    with new_axes(4.8, 4.8 + 0.24 * len(curves)) as axes:
        figure = axes.figure
        assert isinstance(figure, Figure)
        axes.remove()
        accuracy_axes, count_axes = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        accuracy_axes.plot([0, 1], [0, 1], color=INK, linewidth=1, zorder=1)
        for position, (name, curve) in enumerate(curves.items()):
            color, dashes, marker = (styles[position % len(styles)] for styles in (COLORS, DASHES, _MARKERS))
            style = {"color": color, "marker": marker, "markersize": 5}
            is_reliable = curve.counts >= _MIN_BIN_COUNT
            label = f"{name}: ECE {100 * curve.expected_error:.1f} %"
            accuracy_axes.plot(
                curve.confidence[is_reliable],
                curve.accuracy[is_reliable],
                linestyle=dashes,
                label=label,
                **style,
            )
            accuracy_axes.plot(
                curve.confidence[~is_reliable],
                curve.accuracy[~is_reliable],
                linestyle="none",
                fillstyle="none",
                **style,
            )
            bins = len(curve.counts)
            width = _BAR_WIDTH_FRACTION / bins / len(curves)
            left_edges = (np.arange(bins) + (1 - _BAR_WIDTH_FRACTION) / 2) / bins + position * width
            count_axes.bar(left_edges, curve.counts, width, align="edge", color=color)
        accuracy_axes.set(ylabel="accuracy", ylim=(-0.02, 1.02))
        count_axes.set(xlabel="confidence", ylabel="examples", xlim=(-0.02, 1.02), yscale="log")
        count_axes.set_ylim(bottom=0.7)  # so that a single example is visible
        count_axes.yaxis.set_major_locator(LogLocator(numticks=4))
        count_axes.yaxis.set_major_formatter("{x:,.0f}")
        for axis in (accuracy_axes.yaxis, count_axes.xaxis):
            percent_axis(axis)
        figure.align_ylabels()
        figure.legend(*accuracy_axes.get_legend_handles_labels(), loc="outside lower left")
        return figure
