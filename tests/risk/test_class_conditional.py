"""Class-conditional likelihoods, and the probabilities that are estimated from counted rows."""

import numpy as np
import pytest
import torch
from helpers.label_likelihoods import (
    LABEL_SETS,
    ONE_MARK,
    SETS,
    SINGLES,
    Q,
    assert_truth_is_best,
    conditional_story,
    one_mark_story,
    quick,
    random_logits,
    random_rows,
    random_scar,
    risk_of,
    seeds,
    told,
)
from hypothesis import given

from scarce.methods.forward import forward_losses
from scarce.risk import (
    conditional_evidence,
    evidence_losses,
    one_mark_evidence,
    scar_evidence,
    scar_ratios,
)


@quick
@given(seeds)
def test_one_mark_under_a_known_matrix_is_forward(seed):
    rng = np.random.default_rng(seed)
    f, T = random_logits(rng, Q), random_rows(rng)
    for transition in (T, T * (1 - torch.eye(Q))):
        got = evidence_losses(f, one_mark_evidence(SINGLES, transition))
        wanted = forward_losses(f, torch.arange(Q), transition.log())
        assert got.tolist() == pytest.approx(wanted.tolist(), abs=1e-6)


@quick
@given(seeds)
def test_scar_is_the_matrix_whose_columns_are_constant_off_the_diagonal(seed):
    chances, error_rate = random_scar(np.random.default_rng(seed))
    C = torch.where(torch.eye(Q) > 0, error_rate, chances.expand(Q, Q))
    scar = scar_evidence(SETS, scar_ratios(chances, error_rate))
    base = SETS @ chances.log() + (1 - SETS) @ (1 - chances).log()
    torch.testing.assert_close(conditional_evidence(SETS, C), scar + base[:, None])


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


def test_the_truth_minimises_the_likelihood_of_chances_by_class():
    rng = np.random.default_rng(0)
    C, T = torch.from_numpy(rng.uniform(0.05, 0.9, (Q, Q))), random_rows(rng)
    assert_truth_is_best(risk_of(lambda marks: conditional_evidence(marks, C), conditional_story(C.tolist())))
    by_one = risk_of(lambda marks: one_mark_evidence(marks, T), one_mark_story(T.tolist()), ONE_MARK)
    assert_truth_is_best(by_one)
