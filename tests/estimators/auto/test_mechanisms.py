"""Mechanisms against the enumeration of all labels, and their parameters against simulation."""

from itertools import product

import numpy as np
import pytest
import torch

from scarce import ComplementaryLabels
from scarce.errors import LabelError, MethodError
from scarce.estimators.auto.class_dependence import compare_mechanisms, scar_of_priors
from scarce.estimators.auto.mechanism_choice import check_informative, choose_mechanisms
from scarce.estimators.auto.mechanism_parameters import (
    estimate_answers,
    estimate_class_conditional,
    estimate_scar,
)
from scarce.estimators.auto.mechanisms import AnswersWithErrors, CandidateSets, ClassConditional, Scar
from scarce.estimators.auto.out_of_fold import make_folds
from scarce.labels import Answers
from scarce.priors import candidate_shares
from scarce.simulate import ask, from_transition, scar, scar_single, uniform


def differences(log_likelihood):
    """What does not depend on a constant of the row."""
    return log_likelihood - log_likelihood.logsumexp(dim=1, keepdim=True)


def every_set(q):
    rows = [row for row in product([0, 1], repeat=q) if sum(row) < q]
    return ComplementaryLabels.from_indicator(np.array(rows))


def test_class_conditional_against_enumeration():
    C = np.array([[0.0, 0.3, 0.6], [0.2, 0.0, 0.5], [0.4, 0.1, 0.0]])
    labels = every_set(3)
    slow = [
        [np.prod([C[y, k] if row[k] else 1 - C[y, k] for k in range(3)]) for y in range(3)]
        for row in labels.indicator()
    ]
    found = ClassConditional(torch.from_numpy(C), single=False).log_likelihood(labels).exp()
    assert np.allclose(found, slow, atol=1e-11)


def test_scar_against_enumeration():
    c = torch.tensor([0.2, 0.5, 0.7], dtype=torch.float64)
    C = c.expand(3, 3) * (1 - torch.eye(3))
    labels = every_set(3)
    general = ClassConditional(C, single=False).log_likelihood(labels)
    found = Scar(c, single=False).log_likelihood(labels)
    assert torch.allclose(differences(found).exp(), differences(general).exp(), atol=1e-9)


def test_single_scar_is_scar_given_that_there_is_one_label():
    c = np.array([0.2, 0.5, 0.7])
    w = c / (1 - c)
    labels = ComplementaryLabels.from_lists([[0], [1], [2], []], classes=3)
    found = differences(Scar(torch.from_numpy(w), single=True).log_likelihood(labels)).exp()
    for k in range(3):
        # P(exactly k | y) of independent marks, divided by P(exactly one | y)
        exactly = np.array([[0.0 if j == y else w[j] for j in range(3)] for y in range(3)])
        likelihood = exactly[:, k] / exactly.sum(axis=1)
        assert np.allclose(found[k], likelihood / likelihood.sum(), atol=1e-9)
    assert np.allclose(found[3], 1 / 3)


def test_answers_against_enumeration():
    table = Answers.make([0, 0, 0, 1, 1], [0, 2, 0, 1, 2], [0, 1, 1, 0, -1], ["a", "a", "b", "b", "a"])
    labels = ComplementaryLabels.from_settled(table, 3, np.arange(3), conflict="drop")
    miss, false = {"a": 0.1, "b": 0.3}, {"a": 0.05, "b": 0.2}
    slow = np.ones((3, 3))
    for i, k, said, who in zip(table.example, table.class_index, table.answer, table.annotator, strict=True):
        for y in range(3):
            yes = 1 - miss[who] if y == k else false[who]
            slow[i, y] *= {1: yes, 0: 1 - yes, -1: 1.0}[int(said)]
    rates = (torch.tensor(list(one.values())) for one in (miss, false))
    found = AnswersWithErrors(np.array(["a", "b"]), *rates).log_likelihood(labels)
    assert np.allclose(differences(found).exp(), slow / slow.sum(axis=1, keepdims=True), atol=1e-6)


def test_confirmed_classes_are_certain():
    labels = ComplementaryLabels(np.array([0, 1, 1]), np.array([0]), np.arange(3), None, np.array([1, 2]))
    c = torch.full((3,), 0.3, dtype=torch.float64)
    for mechanism in (
        CandidateSets(),
        Scar(c, False),
        Scar(c, True),
        ClassConditional(c.expand(3, 3) * (1 - torch.eye(3)), False),
        AnswersWithErrors(np.array([]), torch.empty(0), torch.empty(0)),
    ):
        found = torch.softmax(mechanism.log_likelihood(labels), dim=1)
        assert np.allclose(found, [[0, 1, 0], [0, 0, 1]], atol=1e-9)


def knowing(y, q, certainty=0.9):
    """Out-of-fold predictions of somebody who knows the classes well, whatever the evidence."""
    p = np.full((len(y), q), (1 - certainty) / (q - 1))
    p[np.arange(len(y)), y] = certainty
    return lambda evidence: p


Y = np.random.default_rng(777).choice(4, 4000, p=[0.4, 0.3, 0.2, 0.1])


def test_scar_is_found_again():
    labels = scar(Y, c=[0.2, 0.6, 0.4, 0.3], seed=1)
    known = knowing(Y, 4)
    found, priors = estimate_scar(labels, known, known(None))
    assert not found.single
    assert np.allclose(priors, [0.4, 0.3, 0.2, 0.1], atol=0.05)
    assert np.allclose(found.chances, [0.2, 0.6, 0.4, 0.3], atol=0.05)


def gains_of_twenty_seeds(draw):
    """What mechanisms gain on 400 examples, of which a model names seven in ten for sure, as it says."""
    y = Y[:400]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        named = np.where(rng.random(400) < 0.7, y, rng.permutation(y))
        p = torch.from_numpy(0.7 * np.eye(4)[named] + 0.3 * np.array([0.4, 0.3, 0.2, 0.1]))
        yield compare_mechanisms(draw(y, seed), p, make_folds(400, seed=seed))


CYCLIC = np.array([[0, 0.8, 0.1, 0.1], [0.1, 0, 0.8, 0.1], [0.1, 0.1, 0, 0.8], [0.8, 0.1, 0.1, 0]])


@pytest.mark.parametrize(
    ("draw", "is_uniform", "depends_on_class"),
    [
        (lambda y, seed: uniform(y, seed=seed), True, False),
        (lambda y, seed: scar_single(y, c=[0.1, 0.2, 0.3, 0.5], seed=seed), False, False),
        (lambda y, seed: scar(y, c=[0.2, 0.6, 0.4, 0.3], seed=seed), False, False),
        (lambda y, seed: from_transition(y, CYCLIC, seed=seed), False, True),
    ],
)
def test_mechanisms_are_told_apart_by_held_out_labels(draw, is_uniform, depends_on_class):
    """Parameters that are not needed may seem to be, by chance, in a few of twenty samples; those that are always do."""
    found = [(gains.is_uniform, gains.depends_on_class) for gains in gains_of_twenty_seeds(draw)]
    assert found.count((is_uniform, depends_on_class)) >= (20 if depends_on_class else 16)


def test_gains_are_those_of_a_slow_loop():
    y = Y[:60]
    T = [[0, 0.5, 0.3, 0.2], [0.6, 0, 0.2, 0.2], [0.2, 0.2, 0, 0.6], [0.4, 0.3, 0.3, 0]]
    labels, p = from_transition(y, T), knowing(y, 4, 0.6)(None)
    fold, rest = np.arange(20), np.arange(20, 60)
    scar_of = scar_of_priors(labels[rest], torch.from_numpy(p[rest].mean(axis=0)))
    w, k = scar_of.chances.numpy(), labels.indices
    expected = 0.0
    for i in fold:
        under_scar = sum(p[i, c] * w[k[i]] / (1 - w[c]) for c in range(4) if c != k[i])
        expected += np.log(under_scar) - np.log(sum(p[i, c] / 3 for c in range(4) if c != k[i]))
    assert compare_mechanisms(labels, torch.from_numpy(p), [fold]).scar == pytest.approx(expected, abs=1e-6)


def test_a_transition_matrix_is_found_again():
    labels = from_transition(Y, CYCLIC)
    first = Scar(torch.full((4,), 0.25, dtype=torch.float64), single=True)
    found = estimate_class_conditional(labels, first, knowing(Y, 4, 0.999)).chances
    assert np.allclose(found.sum(dim=1), 1)
    assert np.allclose(found.diagonal(), 0)
    assert np.allclose(found, CYCLIC, atol=0.06)


def test_error_rates_are_found_again():
    labels = ask(Y, questions=3, seed=0)
    wrong = np.random.default_rng(0).random(len(labels.answers)) < 0.1
    answers = labels.answers
    table = Answers(
        answers.example,
        answers.class_index,
        np.where(wrong, 1 - answers.answer, answers.answer),
        answers.annotator,
    )
    noisy = ComplementaryLabels.from_settled(table, len(Y), labels.classes, conflict="drop")
    found, priors = estimate_answers(noisy, knowing(Y, 4, 0.999))
    assert np.allclose(found.false_negative_rates, 0.1, atol=0.03)
    assert np.allclose(found.false_positive_rates, 0.1, atol=0.03)
    assert np.allclose(priors, [0.4, 0.3, 0.2, 0.1], atol=0.03)


def test_a_class_that_is_excluded_almost_always():
    labels = ComplementaryLabels.from_lists([[0, 1]] * 9 + [[]], classes=3)
    assert torch.isfinite(
        scar_of_priors(labels, torch.from_numpy(candidate_shares(labels))).log_likelihood(labels)
    ).all()


@pytest.mark.parametrize(
    ("labels", "names", "criterion"),
    [
        (uniform(Y[:400]), ["candidate-sets", "class-conditional"], "candidate-sets"),
        (scar(Y[:400], c=[0.1, 0.5, 0.3, 0.4]), ["candidate-sets", "scar"], "scar"),
        (from_transition(Y[:400], CYCLIC), ["candidate-sets", "class-conditional"], "class-conditional"),
        (ask(Y[:400], questions=2), ["candidate-sets", "answers"], "answers"),
        (
            ComplementaryLabels.from_lists([[0, 1], [2, 3]] * 200, classes=4),
            ["candidate-sets"],
            "candidate-sets",
        ),
    ],
)
def test_what_labels_allow(labels, names, criterion):
    predict = knowing(Y[:400], 4, 0.99)
    chosen = choose_mechanisms(labels, predict, predict, make_folds(400))
    assert [mechanism.name for mechanism in chosen.mechanisms] == names
    assert chosen.criterion.name == criterion
    assert float(chosen.priors.sum()) == pytest.approx(1)


@pytest.mark.parametrize(
    "names", [["scar"], ["class-conditional"], ["candidate-sets"], ["scar", "candidate-sets"]]
)
def test_mechanisms_by_name(names):
    predict = knowing(Y[:400], 4)
    chosen = choose_mechanisms(scar(Y[:400], c=0.4), predict, predict, make_folds(400), names)
    assert {mechanism.name for mechanism in chosen.mechanisms} == set(names)
    assert chosen.criterion.name in names


def test_names_that_do_not_exist_or_do_not_suit():
    predict, labels = knowing(Y[:10], 4), uniform(Y[:10], classes=4)
    with pytest.raises(MethodError, match="mechanism 'scarce' is unknown"):
        choose_mechanisms(labels, predict, predict, make_folds(10), ["scarce"])
    with pytest.raises(MethodError, match="needs recorded answers"):
        choose_mechanisms(labels, predict, predict, make_folds(10), ["answers"])


def test_labels_that_say_nothing():
    with pytest.raises(LabelError, match="all 1 examples are empty"):
        check_informative(ComplementaryLabels.from_answer_matrix([["skip", "", ""]]))
