"""Which method suits the labels, where the user leaves the choice."""

from typing import NamedTuple

from scarce.labels import ComplementaryLabels

__all__ = ["Choice", "choose_method"]

# Exclusions per class, by what was measured: with 144 and 300 of them, one per example, counting how labels come about
# went wrong; with 500 it was better here and worse there; with 1,000 it took early stopping, with 6,000 no longer.
_FEW, _PLENTY = 500, 5_000


class Choice(NamedTuple):
    """A method, whether to stop it early, and one line that says which and why."""

    method: str
    early_stopping: bool
    reason: str


def choose_method(labels: ComplementaryLabels) -> Choice:
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
        why = "it is recorded which questions were asked; how they were chosen then does not matter"
        return Choice("answers", False, f"method: answers, because {why}")
    per_class = len(labels.indices) / labels.n_classes
    if per_class < _FEW:
        why = (
            f"there are {per_class:,.0f} exclusions per class, too few to count how they come about ({_FEW})"
        )
        return Choice("scarce", False, f"method: scarce, because {why}")
    why = "nothing says that all wrong classes are excluded alike; it counts how they are"
    stops = per_class < _PLENTY
    held_out = f"; it is stopped early, as there are less than {_PLENTY:,} exclusions per class" * stops
    return Choice("refine", stops, f"method: refine, because {why}{held_out}")
