"""Which method suits the labels, where the user leaves the choice."""

from scarce.labels import ComplementaryLabels

__all__ = ["choose_method"]


def choose_method(labels: ComplementaryLabels) -> tuple[str, str]:
    """Return the name of a method for these labels, and one line that says which and why.

    Examples
    --------
    >>> choose_method(ComplementaryLabels.from_single([0, 1], classes=2))[0]
    'refine'
    >>> choose_method(ComplementaryLabels.from_answer_matrix([["no", ""], ["", "yes"]]))[0]
    'answers'
    """
    if labels.answers is not None:
        return "answers", (
            "method: answers, because it is recorded which questions were asked; how they were chosen then does not matter"
        )
    return "refine", (
        "method: refine, because nothing says that all wrong classes are excluded alike; it counts how they are"
    )
