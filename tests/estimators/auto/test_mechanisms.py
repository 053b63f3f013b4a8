"""Likelihoods of labelling mechanisms against the enumeration of all labels."""

from itertools import product

import numpy as np
import torch

from scarce import ComplementaryLabels
from scarce.estimators.auto._mechanisms import AnswersWithErrors, CandidateSets, ClassConditional, Scar
from scarce.labels import Answers


def normalise_rows(log_likelihood):
    """Log likelihoods up to a constant per row, normalised to sum to one."""
    return log_likelihood - log_likelihood.logsumexp(dim=1, keepdim=True)


def every_label_set(q):
    rows = [row for row in product([0, 1], repeat=q) if sum(row) < q]
    return ComplementaryLabels.from_indicator(np.array(rows))


def test_class_conditional_equals_enumeration():
    C = np.array([[0.0, 0.3, 0.6], [0.2, 0.0, 0.5], [0.4, 0.1, 0.0]])
    labels = every_label_set(3)
    slow = [
        [np.prod([C[y, k] if row[k] else 1 - C[y, k] for k in range(3)]) for y in range(3)]
        for row in labels.indicator()
    ]
    found = ClassConditional(torch.from_numpy(C), single=False).log_likelihood(labels).exp()
    assert np.allclose(found, slow, atol=1e-11)


def test_scar_equals_class_conditional_with_equal_rows():
    c = torch.tensor([0.2, 0.5, 0.7], dtype=torch.float64)
    C = c.expand(3, 3) * (1 - torch.eye(3))
    labels = every_label_set(3)
    general = ClassConditional(C, single=False).log_likelihood(labels)
    found = Scar(c, single=False).log_likelihood(labels)
    assert torch.allclose(normalise_rows(found).exp(), normalise_rows(general).exp(), atol=1e-9)


def test_single_label_scar_equals_scar_given_one_label():
    c = np.array([0.2, 0.5, 0.7])
    w = c / (1 - c)
    labels = ComplementaryLabels.from_lists([[0], [1], [2], []], classes=3)
    found = normalise_rows(Scar(torch.from_numpy(w), single=True).log_likelihood(labels)).exp()
    for k in range(3):
        # P(exactly k | y) of independent exclusions, divided by P(exactly one | y)
        exactly = np.array([[0.0 if j == y else w[j] for j in range(3)] for y in range(3)])
        likelihood = exactly[:, k] / exactly.sum(axis=1)
        assert np.allclose(found[k], likelihood / likelihood.sum(), atol=1e-9)
    assert np.allclose(found[3], 1 / 3)


def test_answers_with_errors_equal_enumeration():
    table = Answers.from_columns(
        [0, 0, 0, 1, 1], [0, 2, 0, 1, 2], [0, 1, 1, 0, -1], ["a", "a", "b", "b", "a"]
    )
    labels = ComplementaryLabels._from_resolved(table, 3, np.arange(3), conflict="drop")
    miss, false = {"a": 0.1, "b": 0.3}, {"a": 0.05, "b": 0.2}
    slow = np.ones((3, 3))
    for i, k, said, who in zip(table.example, table.class_index, table.answer, table.annotator, strict=True):
        for y in range(3):
            yes = 1 - miss[who] if y == k else false[who]
            slow[i, y] *= {1: yes, 0: 1 - yes, -1: 1.0}[int(said)]
    rates = (torch.tensor(list(one.values())) for one in (miss, false))
    found = AnswersWithErrors(np.array(["a", "b"]), *rates).log_likelihood(labels)
    assert np.allclose(normalise_rows(found).exp(), slow / slow.sum(axis=1, keepdims=True), atol=1e-6)


def test_mechanisms_treat_confirmed_classes_as_certain():
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
