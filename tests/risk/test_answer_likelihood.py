"""The loss of answers is lowest at the truth, whatever questions were asked."""

import pytest
import torch
from helpers.label_likelihoods import PX, TRUTH, Q, assert_minimized_at_truth, double, true_logits

from scarce.risk import answer_log_likelihood, marginal_nll


def dialogues(policy, false_negative_rate, false_positive_rate):
    """Return all dialogues under a policy that chooses (class, annotator) or None, given x and the answers so far.

    Yields x, a list of (class, annotator, answer), and the probability of both, summed over the true class.
    """

    def branches(x, answers, per_class):
        question = policy(x, answers)
        if question is None:
            yield x, answers, sum(per_class)
            return
        k, who = question
        for answer in (True, False):
            yes = [1 - false_negative_rate[who] if y == k else false_positive_rate[who] for y in range(Q)]
            joint = [p * (s if answer else 1 - s) for p, s in zip(per_class, yes, strict=True)]
            yield from branches(x, [*answers, (k, who, answer)], joint)

    for x, px in enumerate(PX):
        yield from branches(x, [], [px * p for p in TRUTH[x]])


def ask_until_yes(x, answers):
    """At most three questions, chosen by x and the last answer; none after a "yes"."""
    if len(answers) == 3 or (answers and answers[-1][2]):
        return None
    return [(0, 1, 2), (3, 1, 0), (1, 3, 2)][x][len(answers)], (x + len(answers)) % 2


def confirm_yes(x, answers):
    """Ask a second annotator the same question after a "yes", and about another class otherwise."""
    if not answers:
        return x, 0
    if len(answers) == 1:
        return (x, 1) if answers[0][2] else ((x + 1) % Q, x % 2)
    return ((x + 2) % Q, 0) if len(answers) == 2 else None


@pytest.mark.parametrize("policy", [ask_until_yes, confirm_yes])
@pytest.mark.parametrize(
    ("false_negative_rate", "false_positive_rate"), [([0, 0], [0, 0]), ([0.2, 0.05], [0.1, 0.3])]
)
def test_answer_loss_is_minimized_at_truth_for_any_question_policy(
    policy, false_negative_rate, false_positive_rate
):
    every_dialogue = [
        one for one in dialogues(policy, false_negative_rate, false_positive_rate) if one[2] > 0
    ]
    xs, probability = torch.tensor([x for x, _, _ in every_dialogue]), double([p for *_, p in every_dialogue])
    assert probability.sum().item() == pytest.approx(1)
    row, asked, who, yes = (
        torch.tensor(column)
        for column in zip(
            *((i, *one) for i, (_, answers, _) in enumerate(every_dialogue) for one in answers), strict=True
        )
    )
    false_negative_rate, false_positive_rate = (
        double(false_negative_rate)[who],
        double(false_positive_rate)[who],
    )
    log_likelihood, constant = answer_log_likelihood(
        (len(every_dialogue), Q), row, asked, yes, false_negative_rate, false_positive_rate
    )

    def losses(logits):
        return marginal_nll(logits[xs], log_likelihood) - constant

    assert_minimized_at_truth(lambda logits: (probability * losses(logits)).sum())
    # At the truth, exp(−loss) is the probability of the dialogue, however the questions are chosen.
    dialogue = double([PX[x] for x in xs]) * torch.exp(-losses(true_logits()))
    assert dialogue.tolist() == pytest.approx(probability.tolist(), abs=1e-10)
