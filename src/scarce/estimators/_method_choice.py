"""Choose one method from the labels, for ``method="auto"`` where no stack is fitted."""

from typing import NamedTuple

from scarce.labels import ComplementaryLabels

# Exclusions per class, from measurements with one label per example: with 144 and 300, estimating how labels arise failed; with
# 500, it helped on some data and hurt on others; with 1,000, it needed early stopping; with 6,000, it did not.
_MIN_PER_CLASS = 500  # to estimate how labels arise
_MAX_PER_CLASS_TO_STOP_EARLY = 5_000


class MethodChoice(NamedTuple):
    """The name of a method, whether to use early stopping, and the reason in one line."""

    method: str
    early_stopping: bool
    reason: str


def choose_method(labels: ComplementaryLabels) -> MethodChoice:
    """Return the method for labels of this kind and number.

    ``answers`` if answers are recorded; else ``refine`` if there are at least 500 exclusions per class, enough to estimate how
    they arise, with early stopping below 5,000; else ``scarce``.

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
        why = "the labels record which questions were asked, and it does not matter how these were chosen"
        return MethodChoice("answers", False, f"method: answers, because {why}")
    per_class = len(labels.indices) / labels.n_classes
    if per_class < _MIN_PER_CLASS:
        why = f"{per_class:,.0f} exclusions per class are too few to estimate how they arise (at least {_MIN_PER_CLASS})"
        return MethodChoice("scarce", False, f"method: scarce, because {why}")
    why = "the labels may not be uniform, and refine estimates how they arise"
    stops = per_class < _MAX_PER_CLASS_TO_STOP_EARLY
    held_out = (
        f"; training stops early, because there are fewer than {_MAX_PER_CLASS_TO_STOP_EARLY:,} exclusions per class"
        * stops
    )
    return MethodChoice("refine", stops, f"method: refine, because {why}{held_out}")
