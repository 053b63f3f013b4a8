"""The settings other papers and programs print, exactly."""

from typing import Any

import numpy as np

from scarce._arrays import FloatArray
from scarce._class_names import check_classes
from scarce._validation import check_option, check_probability, check_transition
from scarce.errors import LabelError
from scarce.simulate._drawing import generator
from scarce.simulate.transitions import scar_single_transition

__all__ = [
    "BIASED_A",
    "BIASED_B",
    "SCAR_A",
    "SCAR_A_RATES",
    "SCAR_B",
    "SCAR_B_RATES",
    "noisy_transition",
    "strong_transition",
    "weak_transition",
]


def _frozen(array: Any) -> FloatArray:
    frozen: FloatArray = np.array(array, np.float64)
    frozen.flags.writeable = False
    return frozen


def _biased(high: float, middle: float, low: float) -> FloatArray:
    # Every printed row is the row above it moved by one. The print rounds the thirds and so sums to .999.
    first = np.array([0, high, middle, low, middle, low, high, low, high, middle]) / 3
    return _frozen([np.roll(first, y) for y in range(10)])


BIASED_A = _biased(0.75, 0.13, 0.12)
BIASED_B = _biased(0.66, 0.24, 0.10)

# Target rates π̄; the ten classes count as balanced, so c = π̄ / 0.9. The two are permutations of each other.
SCAR_A_RATES = _frozen([0.05, 0.05, 0.2, 0.2, 0.1, 0.1, 0.05, 0.05, 0.1, 0.1])
SCAR_B_RATES = _frozen([0.1, 0.1, 0.2, 0.05, 0.05, 0.1, 0.1, 0.2, 0.05, 0.05])
SCAR_A = _frozen(scar_single_transition(SCAR_A_RATES / 0.9))
SCAR_B = _frozen(scar_single_transition(SCAR_B_RATES / 0.9))


def weak_transition(n_classes: int = 10, *, seed: int = 0) -> FloatArray:
    """Return a weakly biased matrix: thirds of the wrong classes share .45, .30 and .25, shuffled in every row.

    Examples
    --------
    >>> sorted(weak_transition(4)[0].round(2).tolist())
    [0.0, 0.25, 0.3, 0.45]
    """
    return _shuffled((0.45, 0.30, 0.25), n_classes, seed)


def strong_transition(n_classes: int = 10, *, seed: int = 0) -> FloatArray:
    """Return a strongly biased matrix: thirds of the wrong classes share .75, .24 and .01, shuffled in every row.

    Examples
    --------
    >>> sorted(strong_transition(4)[0].round(2).tolist())
    [0.0, 0.01, 0.24, 0.75]
    """
    return _shuffled((0.75, 0.24, 0.01), n_classes, seed)


def noisy_transition(noise: float, base: Any = "strong", n_classes: int = 10) -> FloatArray:
    """Mix a matrix with labels drawn blindly from all classes, T = (1 − η) base + η / q.

    A label is then wrong with probability η / q (when `base` makes no errors).

    Parameters
    ----------
    noise : float
        η, the share of blind labels.
    base : {"strong", "weak"} or array of shape (q, q)
        The matrix to disturb; by name, the shuffle of seed 0 over `n_classes` classes.
    n_classes : int
        Number of classes q.

    Examples
    --------
    >>> noisy_transition(0.2, [[0, 1], [1, 0]], 2).tolist()
    [[0.1, 0.9], [0.9, 0.1]]
    """
    noise, names = check_probability("noise", noise), check_classes(n_classes)
    if isinstance(base, str):
        base = _BASES[check_option("base", base, _BASES, also="a transition matrix")](len(names))
    return (1 - noise) * check_transition(base, names) + noise / len(names)


_BASES = {"strong": strong_transition, "weak": weak_transition}


def _shuffled(levels: tuple[float, float, float], n_classes: int, seed: int) -> FloatArray:
    q = len(check_classes(n_classes))
    third, rest = divmod(q - 1, 3)
    if rest:
        raise LabelError(
            f"{q} classes: the wrong classes must fall into three equal groups, as with 4, 7 or 10 classes; "
            "use from_transition with a matrix of your own."
        )
    places = np.argsort(generator(seed).random((q, q - 1)), axis=1, kind="stable")
    transition = np.zeros((q, q))
    transition[~np.eye(q, dtype=bool)] = np.repeat(np.array(levels) / third, third)[places].ravel()
    return transition
