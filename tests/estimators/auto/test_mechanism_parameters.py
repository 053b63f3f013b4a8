"""Parameters of labelling mechanisms, estimated from simulated labels."""

import numpy as np
import torch
from helpers.mechanisms import CYCLIC, Y, confident_predictor

from scarce import ComplementaryLabels
from scarce.estimators.auto._mechanism_parameters import (
    estimate_answers,
    estimate_class_conditional,
    estimate_scar,
)
from scarce.estimators.auto._mechanisms import Scar
from scarce.labels import Answers
from scarce.simulate import ask, from_transition, scar


def test_estimate_scar_recovers_parameters():
    labels = scar(Y, c=[0.2, 0.6, 0.4, 0.3], seed=1)
    known = confident_predictor(Y, 4)
    found, priors = estimate_scar(labels, known, known(None))
    assert not found.single
    assert np.allclose(priors, [0.4, 0.3, 0.2, 0.1], atol=0.05)
    assert np.allclose(found.exclusion_probabilities, [0.2, 0.6, 0.4, 0.3], atol=0.05)


def test_estimate_class_conditional_recovers_transition_matrix():
    labels = from_transition(Y, CYCLIC)
    first = Scar(torch.full((4,), 0.25, dtype=torch.float64), single=True)
    found = estimate_class_conditional(
        labels, first, confident_predictor(Y, 4, 0.999)
    ).exclusion_probabilities
    assert np.allclose(found.sum(dim=1), 1)
    assert np.allclose(found.diagonal(), 0)
    assert np.allclose(found, CYCLIC, atol=0.06)


def test_estimate_answers_recovers_error_rates():
    labels = ask(Y, questions=3, seed=0)
    wrong = np.random.default_rng(0).random(len(labels.answers)) < 0.1
    answers = labels.answers
    table = Answers(
        answers.example,
        answers.class_index,
        np.where(wrong, 1 - answers.answer, answers.answer),
        answers.annotator,
    )
    noisy = ComplementaryLabels._from_resolved(table, len(Y), labels.classes, conflict="drop")
    found, priors = estimate_answers(noisy, confident_predictor(Y, 4, 0.999))
    assert np.allclose(found.false_negative_rates, 0.1, atol=0.03)
    assert np.allclose(found.false_positive_rates, 0.1, atol=0.03)
    assert np.allclose(priors, [0.4, 0.3, 0.2, 0.1], atol=0.03)
