"""SCAR: classes selected completely at random to be excluded, each with a probability of its own."""

from typing import Any

import numpy as np

from scarce._arrays import BoolArray, FloatArray, IntArray
from scarce._truth import Classes, Truth, encode_truth
from scarce._validation import check_per_class, check_probability, renamed_parameters
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.simulate._drawing import draw_labels, make_generator, second_seed
from scarce.simulate.single_label import labels_from_published, labels_from_transition
from scarce.simulate.transitions import SCAR_A, SCAR_B, scar_single_transition

__all__ = ["scar", "scar_a", "scar_b", "scar_single", "scar_unequal"]


@renamed_parameters(error="error_rate")
def scar(
    y: Any,
    *,
    c: Any = None,
    rates: Any = None,
    error_rate: float = 0.0,
    classes: Classes = None,
    seed: int = 0,
) -> ComplementaryLabels:
    """Exclude every wrong class k independently with probability c_k: zero or more labels.

    The excluded classes do not depend on the true class otherwise, p(k excluded | y) = c_k for all y ≠ k, and
    class k is excluded at the rate π̄_k = c_k (1 − π_k).

    Parameters
    ----------
    y : sequence
        The true class of each example, by name or number.
    c : float or sequence of float
        The probabilities c_k; one number stands for all classes. Give either `c` or `rates`.
    rates : float or sequence of float
        Target rates π̄_k instead: c_k = π̄_k / (1 − π_k), with π the class frequencies in `y`.
    error_rate : float
        The probability that an example excludes its own class as well, a wrong label. Rows that would exclude
        every class are drawn again, which with few classes and large c makes errors somewhat rarer.
    classes : int or sequence, optional
        All classes, in order; by default the sorted values of `y`.
    seed : int
        The same seed gives the same labels on every machine.

    Examples
    --------
    >>> scar(["cat", "dog", "cow"], c=1).indicator(dtype=int).tolist()
    [[0, 1, 1], [1, 1, 0], [1, 0, 1]]
    """
    truth = encode_truth(y, classes)
    exclusion_probabilities, error_rate = (
        _exclusion_probabilities(truth, c, rates),
        check_probability("error_rate", error_rate),
    )

    def draw(random: np.random.Generator, codes: IntArray) -> BoolArray:
        uniforms = random.random((len(codes), truth.n_classes))
        excluded: BoolArray = uniforms < exclusion_probabilities
        true_cells = np.arange(len(codes)), codes
        excluded[true_cells] = uniforms[true_cells] < error_rate
        return excluded

    return draw_labels(truth, draw, seed)


def scar_unequal(
    y: Any, *, low: float = 0.1, high: float = 0.5, classes: Classes = None, seed: int = 0
) -> ComplementaryLabels:
    """Exclude classes as `scar` does, with unequal probabilities for any number of classes.

    The c_k are q equally spaced numbers from `low` to `high` in random order; the seed draws the order and the labels.

    Parameters
    ----------
    y : sequence
        The true class of each example, by name or number.
    low, high : float
        The lowest and the highest probability.
    classes : int or sequence, optional
        All classes, in order; by default the sorted values of `y`.
    seed : int
        The same seed gives the same labels on every machine.

    Examples
    --------
    >>> labels = scar_unequal([0, 1, 2] * 1000, low=0.3, high=0.9)
    >>> sorted((labels.rates * 3 / 2).round(1).tolist())
    [0.3, 0.6, 0.9]
    """
    q = encode_truth(y, classes).n_classes
    low, high = check_probability("low", low), check_probability("high", high)
    order = np.argsort(make_generator(second_seed(seed)).random(q), kind="stable")
    return scar(y, c=np.linspace(low, high, q)[order], classes=classes, seed=seed)


def scar_single(
    y: Any, rates: Any = None, *, c: Any = None, classes: Classes = None, seed: int = 0
) -> ComplementaryLabels:
    """Draw one label per example: the draws of `scar`, repeated until there is exactly one label.

    They are drawn directly from the distribution this leads to, `scar_single_transition`. Exactly one label and SCAR
    cannot both hold unless all c_k are equal, so the rates that come out differ from `rates`: use those of the
    labels. Another reading of "one label at given rates", drawing from π̄ until the class is wrong, is
    ``from_transition`` with T[y, k] = π̄_k / (1 − π̄_y).

    Parameters
    ----------
    y : sequence
        The true class of each example, by name or number.
    rates : float or sequence of float
        The rates π̄_k of the independent draws: c_k = π̄_k / (1 − π_k), with π the class frequencies in `y`.
    c : float or sequence of float
        The probabilities c_k instead.
    classes : int or sequence, optional
        All classes, in order; by default the sorted values of `y`.
    seed : int
        The same seed gives the same labels on every machine.

    Examples
    --------
    >>> scar_single(["cat", "dog", "cow"], [0.1, 0.1, 0.3]).per_example.tolist()
    [1, 1, 1]
    """
    truth = encode_truth(y, classes)
    return labels_from_transition(
        truth, scar_single_transition(_exclusion_probabilities(truth, c, rates)), seed
    )


def scar_a(y: Any, *, classes: Classes = None, seed: int = 0) -> ComplementaryLabels:
    """Draw one label per example of ten classes by "SCAR-a": `scar_single` with c = `SCAR_A_RATES` / 0.9.

    On balanced classes the printed rates .05, .10 and .20 come out as .0456, .0963 and .2163. Parameters as in
    `uniform`.

    Examples
    --------
    >>> scar_a(range(10)).n_classes
    10
    """
    return labels_from_published(y, "SCAR-a", SCAR_A, classes, seed)


def scar_b(y: Any, *, classes: Classes = None, seed: int = 0) -> ComplementaryLabels:
    """Draw one label per example of ten classes by "SCAR-b": `scar_single` with c = `SCAR_B_RATES` / 0.9.

    The rates are those of `scar_a` for other classes. Parameters as in `uniform`.

    Examples
    --------
    >>> scar_b(range(10)).n_classes
    10
    """
    return labels_from_published(y, "SCAR-b", SCAR_B, classes, seed)


def _exclusion_probabilities(truth: Truth, c: Any, rates: Any) -> FloatArray:
    """Return c_k, given or from target rates."""
    if (c is None) == (rates is None):
        got = "neither" if c is None else "both"
        raise MethodError(
            f"got {got} of c and rates; give exactly one: c=0.5 for p(k excluded | y ≠ k), or rates=0.5 for "
            "p(k excluded)."
        )
    if rates is None:
        return check_per_class("c", c, truth.classes)
    targets, max_rates = check_per_class("rates", rates, truth.classes), 1 - truth.priors
    too_high = targets > max_rates + 1e-12
    if too_high.any():
        k = int(np.argmax(too_high))
        needed = f"c = {targets[k] / max_rates[k]:.4g}" if max_rates[k] else "an infinite c"
        raise MethodError(
            f"class {truth.classes[k]}: the rate {targets[k]:g} needs {needed}, above 1, because a fraction {truth.priors[k]:g} "
            f"of the examples is of this class; lower its rate to at most {max_rates[k]:g}."
        )
    return np.minimum(np.divide(targets, max_rates, out=np.zeros_like(max_rates), where=max_rates > 0), 1)
