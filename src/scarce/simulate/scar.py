"""SCAR (selected completely at random): each wrong class k is excluded with the same probability c_k for every example."""

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
    """p(k is excluded | y) = c_k for all y ≠ k: exclude every wrong class independently, zero or more per example.

    Class k is then excluded by the fraction π̄_k = c_k (1 − π_k) of all examples.

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    c : float or sequence of length q, optional
        Exclusion probabilities c_k; one number applies to all classes. Give either `c` or `rates`.
    rates : float or sequence of length q, optional
        Target rates π̄_k. They give c_k = π̄_k / (1 − π_k), with π the class frequencies in `y`.
    error_rate : float
        Probability that an example wrongly excludes its true class. Rows that would exclude every class are drawn again; with few
        classes and large c this makes errors slightly rarer.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        The labels of the n examples.

    See Also
    --------
    scar_unequal : Unequal probabilities for any number of classes.
    scar_single : Exactly one label per example.
    ask : Yes/no answers instead of exclusions.

    References
    ----------
    Wang, Ishida, Zhang, Niu and Sugiyama, "Learning with complementary labels revisited: The selected-completely-at-random
    setting is more practical", ICML 2024. https://arxiv.org/abs/2311.15502

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
    """Draw labels as `scar` does, with unequal exclusion probabilities for any number of classes.

    The c_k are q equally spaced numbers from `low` to `high` in random order. The seed determines both the order and the labels.

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    low, high : float
        The lowest and the highest exclusion probability.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        The labels of the n examples.

    See Also
    --------
    scar : Labels from given probabilities or rates.

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
    """Draw one label per example: draw as `scar` does, and repeat until exactly one class is excluded.

    The labels are drawn directly from the resulting distribution, `scar_single_transition`. Exactly one label per example
    contradicts SCAR unless all c_k are equal, so the actual rates differ from `rates`: use ``labels.rates``. Another reading of
    "one label at given rates" draws from π̄ until the class is wrong; for that, use `from_transition` with
    T[y, k] = π̄_k / (1 − π̄_y) for k ≠ y.

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    rates : float or sequence of length q, optional
        Rates π̄_k of the independent draws, c_k = π̄_k / (1 − π_k), with π the class frequencies in `y`. Give either `rates` or `c`.
    c : float or sequence of length q, optional
        Exclusion probabilities c_k.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        One excluded class for each of the n examples.

    See Also
    --------
    scar : Zero or more labels per example, exactly SCAR.
    scar_single_transition : The transition matrix of these labels.
    scar_a, scar_b : The published rates for ten classes.

    References
    ----------
    Wang, Ishida, Zhang, Niu and Sugiyama, "Learning with complementary labels revisited: The selected-completely-at-random
    setting is more practical", ICML 2024. https://arxiv.org/abs/2311.15502

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
    """Draw one label per example of ten classes as in "SCAR-a": `scar_single` with c = `SCAR_A_RATES` / 0.9.

    On balanced classes the published rates .05, .10 and .20 become .0456, .0963 and .2163.

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        One excluded class for each of the n examples.

    See Also
    --------
    scar_b : The same rates for other classes.
    scar_single : One label per example from any rates.

    References
    ----------
    Wang, Ishida, Zhang, Niu and Sugiyama, "Learning with complementary labels revisited: The selected-completely-at-random
    setting is more practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> scar_a(range(10)).n_classes
    10
    """
    return labels_from_published(y, "SCAR-a", SCAR_A, classes, seed)


def scar_b(y: Any, *, classes: Classes = None, seed: int = 0) -> ComplementaryLabels:
    """Draw one label per example of ten classes as in "SCAR-b": `scar_single` with c = `SCAR_B_RATES` / 0.9.

    The rates are those of `scar_a`, assigned to other classes.

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine.

    Returns
    -------
    ComplementaryLabels
        One excluded class for each of the n examples.

    See Also
    --------
    scar_a : The same rates for other classes.
    scar_single : One label per example from any rates.

    References
    ----------
    Wang, Ishida, Zhang, Niu and Sugiyama, "Learning with complementary labels revisited: The selected-completely-at-random
    setting is more practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> scar_b(range(10)).n_classes
    10
    """
    return labels_from_published(y, "SCAR-b", SCAR_B, classes, seed)


def _exclusion_probabilities(truth: Truth, c: Any, rates: Any) -> FloatArray:
    """Return c_k, shape (q,), as given or from target rates."""
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
            f"of the examples belongs to this class; lower its rate to at most {max_rates[k]:g}."
        )
    return np.minimum(np.divide(targets, max_rates, out=np.zeros_like(max_rates), where=max_rates > 0), 1)
