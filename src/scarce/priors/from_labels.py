"""Class priors from labels alone: the fraction of "yes" answers, or the candidate shares."""

from scarce._validation import abbreviate
from scarce.errors import PriorError
from scarce.labels import ComplementaryLabels
from scarce.labels._candidate_shares import candidate_shares
from scarce.metrics import wilson_interval
from scarce.priors.estimate import PriorEstimate, to_simplex


def priors_from_answers(labels: ComplementaryLabels) -> PriorEstimate:
    """π_k ∝ yes_k / (yes_k + no_k), with the Wilson interval of this fraction.

    The raw estimates are unbiased if the questions were chosen without looking at the examples.

    Parameters
    ----------
    labels : ComplementaryLabels
        Labels made from yes/no answers. Every class must have been asked about, and some answer must be "yes".

    Returns
    -------
    PriorEstimate
        Priors that sum to one, with the raw fractions and their 95 % intervals.

    See Also
    --------
    feasible_priors : Priors from labels without recorded answers.
    resolve_priors : Resolve any value of a parameter ``priors``.

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
            f"there is no answer about class {abbreviate(labels.classes[asked == 0])}, so its prior cannot be computed "
            "from the answers; collect answers about it, or pass priors=[...]."
        )
    if yes.sum() == 0:
        raise PriorError(
            "no answer is 'yes', so priors cannot be computed from the answers; pass priors='uniform' or the priors themselves."
        )
    raw = yes / asked
    low, high = wilson_interval(yes, asked)
    return PriorEstimate(raw / raw.sum(), "answers", raw, low, high, labels.classes)


def feasible_priors(labels: ComplementaryLabels) -> PriorEstimate:
    """Return the candidate shares, clipped to what the labels allow: π_k ≤ 1 − π̄_k.

    The candidate share of class k is mean_i 1[k ∈ S_i] / |S_i|, where S_i are the classes that example i does not exclude. It is
    biased towards uniform priors, but needs no features.

    Parameters
    ----------
    labels : ComplementaryLabels
        The excluded classes of n examples.

    Returns
    -------
    PriorEstimate
        Priors that sum to one; ``raw`` holds the candidate shares.

    See Also
    --------
    candidate_shares : The shares before they are clipped.
    resolve_priors : Falls back to these priors if none can be estimated.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([["cat"], ["cat", "cow"]], classes=["cat", "cow", "dog"])
    >>> feasible_priors(labels).values.round(3).tolist()
    [0.0, 0.25, 0.75]
    """
    shares = candidate_shares(labels)
    return PriorEstimate(to_simplex(shares, labels.rates), "candidate shares", shares, classes=labels.classes)
