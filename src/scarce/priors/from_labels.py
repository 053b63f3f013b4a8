"""Class priors that labels give without features: the share of "yes" among answers, and the shares of the candidates."""

from scarce._validation import abbreviate
from scarce.errors import PriorError
from scarce.labels import ComplementaryLabels
from scarce.labels.candidate_shares import candidate_shares
from scarce.metrics import wilson_interval
from scarce.priors.estimate import PriorEstimate, to_simplex

__all__ = ["candidate_shares", "feasible_priors", "priors_from_answers"]


def priors_from_answers(labels: ComplementaryLabels) -> PriorEstimate:
    """Estimate π_k = yes_k / (yes_k + no_k), with Wilson's interval, then make the estimates sum to one.

    Right when the classes to ask about were chosen without looking at the example.

    Examples
    --------
    >>> answers = {"example_id": range(4), "class_name": ["a", "a", "b", "b"], "answer": ["yes", "no", "no", "yes"]}
    >>> priors_from_answers(ComplementaryLabels.from_answers(answers)).values.tolist()
    [0.5, 0.5]
    """
    if labels.answers is None:
        raise PriorError(
            "priors='answers' needs labels made from answers (ComplementaryLabels.from_answers or "
            "from_answer_matrix); pass priors='uniform' or the priors themselves."
        )
    yes, no = (counts.astype(float) for counts in labels.answers.counts(labels.n_classes))
    asked = yes + no
    if (asked == 0).any():
        raise PriorError(
            f"nobody was asked about class {abbreviate(labels.classes[asked == 0])}, so its prior cannot be read from the "
            "answers; ask about it, or pass priors=[...]."
        )
    if yes.sum() == 0:
        raise PriorError(
            "no answer is 'yes', so priors cannot be read from the answers; pass priors='uniform' or the priors themselves."
        )
    raw = yes / asked
    low, high = wilson_interval(yes, asked)
    return PriorEstimate(raw / raw.sum(), "answers", raw, low, high, labels.classes)


def feasible_priors(labels: ComplementaryLabels) -> PriorEstimate:
    """Return the candidate shares, none above what the exclusions of its class allow: π_k ≤ 1 − π̄_k.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([["cat"], ["cat", "cow"]], classes=["cat", "cow", "dog"])
    >>> feasible_priors(labels).values.round(3).tolist()
    [0.0, 0.25, 0.75]
    """
    shares = candidate_shares(labels)
    return PriorEstimate(to_simplex(shares, labels.rates), "candidate shares", shares, classes=labels.classes)
