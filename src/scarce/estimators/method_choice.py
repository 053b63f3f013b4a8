"""The choice of a method by the labels, for ``method="auto"``."""

from typing import NamedTuple

from scarce.labels import ComplementaryLabels

__all__ = ["MethodChoice", "choose_method"]

# Exclusions per class, by what was measured: with 144 and 300 of them, one per example, estimating how labels arise
# went wrong; with 500 it was better on some data and worse on others; with 1,000 it needed early stopping, with 6,000 it did not.
_MIN_PER_CLASS = 500  # to estimate how labels arise
_MAX_PER_CLASS_TO_STOP_EARLY = 5_000


class MethodChoice(NamedTuple):
    """A method, whether to stop it early, and one line that says which and why."""

    method: str
    early_stopping: bool
    reason: str


def choose_method(labels: ComplementaryLabels) -> MethodChoice:
    """Return a method for these labels.

    Examples
    --------
    >>> choose_method(ComplementaryLabels.from_answer_matrix([["no", ""], ["", "yes"]])).method
    'answers'
    >>> choose_method(ComplementaryLabels.from_single([0, 1], classes=2)).method
    'scarce'
    >>> choose_method(ComplementaryLabels.from_single([0, 1] * 800, classes=2))[:2]
    ('refine', True)
    """
    if labels.answers is not None:
        why = "the labels record which questions were asked, so how these were chosen does not matter"
        return MethodChoice("answers", False, f"method: answers, because {why}")
    per_class = len(labels.indices) / labels.n_classes
    if per_class < _MIN_PER_CLASS:
        why = f"there are {per_class:,.0f} exclusions per class, too few to estimate how they arise ({_MIN_PER_CLASS})"
        return MethodChoice("scarce", False, f"method: scarce, because {why}")
    why = "labels may not be uniform; refine estimates how they arise"
    stops = per_class < _MAX_PER_CLASS_TO_STOP_EARLY
    held_out = (
        f"; it is stopped early, as there are fewer than {_MAX_PER_CLASS_TO_STOP_EARLY:,} exclusions per class"
        * stops
    )
    return MethodChoice("refine", stops, f"method: refine, because {why}{held_out}")
