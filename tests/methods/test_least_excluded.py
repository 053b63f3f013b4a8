"""The least excluded class: its losses, and scores that allow for unequal exclusion rates."""

from math import log

import pytest
from helpers.methods import batch_of, double, loss_of, mean, sigmoid, softmax

from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, make_method

LOGITS = [[0.3, 1.0, -0.5], [0.2, -0.1, 0.9], [1.5, 0.0, 0.4], [-0.3, 0.8, 0.1]]


def prepared_least_excluded(labels):
    method = make_method("least-excluded")
    method.prepare(Problem(labels))
    return method.double()


def test_loss_of_single_labels_equals_cross_entropy_of_excluded_class():
    excluded_sets = [0, 1, 2, 1]
    labels = ComplementaryLabels.from_single(excluded_sets, classes=3)
    expected = mean([-log(softmax(f)[k]) for f, k in zip(LOGITS, excluded_sets, strict=True)])
    assert loss_of(prepared_least_excluded(labels), LOGITS, labels) == pytest.approx(expected)


@pytest.mark.parametrize("excluded_sets", [[[0, 1], [2], [1], [1]], [[0], [2], [], [1]]])
def test_loss_of_several_labels_equals_binary_cross_entropies(excluded_sets):
    labels = ComplementaryLabels.from_lists(excluded_sets, classes=3)
    losses = [
        -sum(log(sigmoid(v) if k in excluded else 1 - sigmoid(v)) for k, v in enumerate(f))
        for f, excluded in zip(LOGITS, excluded_sets, strict=True)
    ]
    assert loss_of(prepared_least_excluded(labels), LOGITS, labels) == pytest.approx(mean(losses))


@pytest.mark.parametrize("several", [False, True])
def test_scores_allow_for_unequal_exclusion_rates(several):
    """With rates of 60, 30 and 10 %, probabilities of 0.3, 0.25 and 0.45 point to class 0, although class 1 has the lowest."""
    excluded_sets = [[0]] * 6 + [[1]] * 3 + [[2]]
    if several:
        excluded_sets = [[0, 1]] * 3 + [[0]] * 3 + [[2]] + [[]] * 3
    labels = ComplementaryLabels.from_lists(excluded_sets, classes=3)
    assert labels.rates == pytest.approx([0.6, 0.3, 0.1])
    g = [0.3, 0.25, 0.45]
    f = double([[log(p / (1 - p)) if several else log(p) + 7 for p in g]])
    method = prepared_least_excluded(labels)
    scores = method.scores(f)
    assert scores[0].exp().tolist() == pytest.approx([0.6 / 0.3, 0.3 / 0.25, 0.1 / 0.45])
    assert scores.argmax().item() == method.probabilities(f).argmax().item() == 0


@pytest.mark.parametrize("excluded_sets", [[[0, 1], [0], [2], []], [[0], [0], [2], [1]]])
def test_loss_is_minimized_at_exclusion_rates_for_equal_rows(excluded_sets):
    """The loss is least where g equals the exclusion rates, and then all scores are equal."""
    labels = ComplementaryLabels.from_lists(excluded_sets, classes=3)
    method, rates = prepared_least_excluded(labels), double([[0.5, 0.25, 0.25]])
    f = (rates.log() if method.single_label else rates.logit()).requires_grad_(True)
    method.loss(f.expand(4, 3), batch_of(labels)).backward()
    assert f.grad.abs().max() < 1e-12
    assert method.scores(f.detach())[0].tolist() == pytest.approx([0, 0, 0], abs=1e-12)
