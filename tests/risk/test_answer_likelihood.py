"""The likelihood of exclusions and answers: probabilities that sum to one, and minimisers that are the truth."""

import pytest
import torch
from helpers.label_likelihoods import (
    PX,
    Q,
    assert_truth_is_best,
    best_logits,
    dialogues,
    double,
)

from scarce.risk import (
    answer_evidence,
    evidence_losses,
)


def until_yes(x, said):
    """At most three questions, the next one by x and the last answer; none after a "yes"."""
    if len(said) == 3 or (said and said[-1][2]):
        return None
    return [(0, 1, 2), (3, 1, 0), (1, 3, 2)][x][len(said)], (x + len(said)) % 2


def doubting(x, said):
    """A second annotator is asked the same if the first said "yes", and about another class otherwise."""
    if not said:
        return x, 0
    if len(said) == 1:
        return (x, 1) if said[0][2] else ((x + 1) % Q, x % 2)
    return ((x + 2) % Q, 0) if len(said) == 2 else None


@pytest.mark.parametrize("policy", [until_yes, doubting])
@pytest.mark.parametrize(
    ("false_negative_rate", "false_positive_rate"), [([0, 0], [0, 0]), ([0.2, 0.05], [0.1, 0.3])]
)
def test_the_truth_minimises_the_likelihood_of_answers_however_questions_are_chosen(
    policy, false_negative_rate, false_positive_rate
):
    everything = [one for one in dialogues(policy, false_negative_rate, false_positive_rate) if one[2] > 0]
    xs, chance = torch.tensor([x for x, _, _ in everything]), double([p for *_, p in everything])
    assert chance.sum().item() == pytest.approx(1)
    row, asked, who, yes = (
        torch.tensor(column)
        for column in zip(
            *((i, *one) for i, (_, said, _) in enumerate(everything) for one in said), strict=True
        )
    )
    false_negative_rate, false_positive_rate = (
        double(false_negative_rate)[who],
        double(false_positive_rate)[who],
    )
    evidence, constant = answer_evidence(
        (len(everything), Q), row, asked, yes, false_negative_rate, false_positive_rate
    )

    def losses(logits):
        return evidence_losses(logits[xs], evidence) - constant

    assert_truth_is_best(lambda logits: (chance * losses(logits)).sum())
    # At the truth, exp(−loss) is the probability of the dialogue itself: the choice of questions adds nothing.
    dialogue = double([PX[x] for x in xs]) * torch.exp(-losses(best_logits()))
    assert dialogue.tolist() == pytest.approx(chance.tolist(), abs=1e-10)
