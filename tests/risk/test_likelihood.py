"""The likelihood of exclusions and answers: probabilities that sum to one, and minimisers that are the truth."""

import numpy as np
import pytest
import torch
from helpers.label_likelihoods import (
    CHANCES,
    ERRORS,
    LABEL_SETS,
    ONE_MARK,
    PX,
    SETS,
    SINGLES,
    Q,
    assert_truth_is_best,
    best_logits,
    conditional_story,
    conditioned_story,
    dialogues,
    double,
    gradient_at_truth,
    one_mark_story,
    population,
    quick,
    random_logits,
    random_rows,
    random_scar,
    scar_story,
    seeds,
)
from hypothesis import given

from scarce.methods.cc import cc_losses
from scarce.risk import (
    answer_evidence,
    conditional_evidence,
    evidence_losses,
    one_mark_evidence,
    one_mark_ratios,
    scar_evidence,
    scar_ratios,
)


def odds(chances):
    return chances / (1 - chances)


def told(story, sets, p):
    """Σ_y p_y P(marks | y) by the story."""
    return [sum(p[y].item() * story(marks, y) for y in range(Q)) for marks in sets]


# Probabilities -------------------------------------------------------------------------------------------------


@quick
@given(seeds)
def test_scar_gives_every_set_of_marks_the_probability_of_the_story(seed):
    rng = np.random.default_rng(seed)
    (chances, error_rate), f = random_scar(rng), random_logits(rng, 1)
    base = (SETS * chances + (1 - SETS) * (1 - chances)).prod(dim=1)
    loss = evidence_losses(f.expand(len(SETS), Q), scar_evidence(SETS, scar_ratios(chances, error_rate)))
    probability = base * torch.exp(-loss)
    assert probability.sum().item() == pytest.approx(1, abs=1e-10)
    story = scar_story(chances.tolist(), error_rate.tolist())
    assert probability.tolist() == pytest.approx(told(story, LABEL_SETS, f.softmax(1)[0]), abs=1e-10)


@quick
@given(seeds)
def test_exactly_one_mark_has_the_probability_of_the_story(seed):
    """w may be given in any unit, and P(k) = w_k exp(−loss) in all of them."""
    rng = np.random.default_rng(seed)
    (chances, error_rate), f = random_scar(rng), random_logits(rng, 1)
    weights = odds(chances) / odds(chances).sum()
    loss = evidence_losses(f.expand(Q, Q), scar_evidence(SINGLES, one_mark_ratios(weights, error_rate)))
    other = evidence_losses(f.expand(Q, Q), scar_evidence(SINGLES, one_mark_ratios(7 * weights, error_rate)))
    probability = weights * torch.exp(-loss)
    assert probability.sum().item() == pytest.approx(1, abs=1e-10)
    assert (7 * weights * torch.exp(-other)).tolist() == pytest.approx(probability.tolist(), abs=1e-10)
    story = conditioned_story(chances.tolist(), error_rate.tolist())
    assert probability.tolist() == pytest.approx(told(story, ONE_MARK, f.softmax(1)[0]), abs=1e-10)


@quick
@given(seeds)
def test_chances_by_class_give_the_probabilities_of_the_story(seed):
    rng = np.random.default_rng(seed)
    C, T, f = torch.from_numpy(rng.uniform(0, 1, (Q, Q))), random_rows(rng), random_logits(rng, 1)
    for evidence, story, sets in (
        (conditional_evidence(SETS, C), conditional_story(C.tolist()), LABEL_SETS),
        (one_mark_evidence(SINGLES, T), one_mark_story(T.tolist()), ONE_MARK),
    ):
        probability = torch.exp(-evidence_losses(f.expand(len(sets), Q), evidence))
        assert probability.sum().item() == pytest.approx(1, abs=1e-10)
        assert probability.tolist() == pytest.approx(told(story, sets, f.softmax(1)[0]), abs=1e-10)


# The truth is the minimiser ------------------------------------------------------------------------------------


def risk_of(evidence_of, story, sets=LABEL_SETS):
    x, marks, chance = population(story, sets)
    return lambda logits: (chance * evidence_losses(logits[x], evidence_of(marks))).sum()


@pytest.mark.parametrize("error_rate", [[0.0] * Q, ERRORS])
def test_the_truth_minimises_the_likelihood_under_scar(error_rate):
    ratios = scar_ratios(double(CHANCES), double(error_rate))
    assert_truth_is_best(risk_of(lambda marks: scar_evidence(marks, ratios), scar_story(CHANCES, error_rate)))


@pytest.mark.parametrize("error_rate", [[0.0] * Q, ERRORS])
def test_the_truth_minimises_the_likelihood_of_exactly_one_mark(error_rate):
    ratios = one_mark_ratios(odds(double(CHANCES)), double(error_rate))
    story = conditioned_story(CHANCES, error_rate)
    assert_truth_is_best(risk_of(lambda marks: scar_evidence(marks, ratios), story, ONE_MARK))


def test_the_truth_minimises_the_likelihood_of_chances_by_class():
    rng = np.random.default_rng(0)
    C, T = torch.from_numpy(rng.uniform(0.05, 0.9, (Q, Q))), random_rows(rng)
    assert_truth_is_best(risk_of(lambda marks: conditional_evidence(marks, C), conditional_story(C.tolist())))
    by_one = risk_of(lambda marks: one_mark_evidence(marks, T), one_mark_story(T.tolist()), ONE_MARK)
    assert_truth_is_best(by_one)


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


def test_equal_chances_assumed_where_they_differ_move_the_minimiser():
    """The tests above have teeth: CC fails the same one, and passes it only where the chances are equal."""
    for chances, right in ((CHANCES, False), ([0.4] * Q, True)):
        x, marks, chance = population(scar_story(chances, [0.0] * Q))
        possible = chance > 0  # CC knows no set of all classes
        x, marks, chance = x[possible], marks[possible], chance[possible]
        gradient = gradient_at_truth(lambda f: (chance * cc_losses(f[x], marks == 0)).sum())  # noqa: B023
        assert gradient < 1e-10 if right else gradient > 0.01


def test_errors_ignored_move_the_minimiser():
    ratios = scar_ratios(double(CHANCES), torch.zeros(Q).double())
    risk = risk_of(lambda marks: scar_evidence(marks, ratios), scar_story(CHANCES, ERRORS))
    assert gradient_at_truth(risk) > 0.01
