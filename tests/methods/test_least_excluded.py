"""The least excluded class: its losses, and scores that allow for unequal exclusion rates."""

from math import log

import pytest
from helpers.methods import batch_of, double, loss_of, mean, sigmoid, softmax

from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, make_method

LOGITS = [[0.3, 1.0, -0.5], [0.2, -0.1, 0.9], [1.5, 0.0, 0.4], [-0.3, 0.8, 0.1]]


def least_excluded(labels):
    method = make_method("least-excluded")
    method.prepare(Problem(labels))
    return method.double()


def test_with_one_label_each_the_loss_is_the_cross_entropy_of_the_excluded_class():
    marks = [0, 1, 2, 1]
    labels = ComplementaryLabels.from_single(marks, classes=3)
    wanted = mean([-log(softmax(f)[k]) for f, k in zip(LOGITS, marks, strict=True)])
    assert loss_of(least_excluded(labels), LOGITS, labels) == pytest.approx(wanted)


@pytest.mark.parametrize("marks", [[[0, 1], [2], [1], [1]], [[0], [2], [], [1]]])
def test_otherwise_every_class_is_a_question_of_its_own(marks):
    labels = ComplementaryLabels.from_lists(marks, classes=3)
    losses = [
        -sum(log(sigmoid(v) if k in excluded else 1 - sigmoid(v)) for k, v in enumerate(f))
        for f, excluded in zip(LOGITS, marks, strict=True)
    ]
    assert loss_of(least_excluded(labels), LOGITS, labels) == pytest.approx(mean(losses))


@pytest.mark.parametrize("several", [False, True])
def test_a_class_that_is_rarely_excluded_anyhow_is_not_named_for_that(several):
    """Excluded by 60, 30 and 10 % of all rows: 0.3, 0.25 and 0.45 here say class 0, though class 1 has the lowest."""
    marks = [[0]] * 6 + [[1]] * 3 + [[2]]
    if several:
        marks = [[0, 1]] * 3 + [[0]] * 3 + [[2]] + [[]] * 3
    labels = ComplementaryLabels.from_lists(marks, classes=3)
    assert labels.rates == pytest.approx([0.6, 0.3, 0.1])
    g = [0.3, 0.25, 0.45]
    f = double([[log(p / (1 - p)) if several else log(p) + 7 for p in g]])
    method = least_excluded(labels)
    scores = method.scores(f)
    assert scores[0].exp().tolist() == pytest.approx([0.6 / 0.3, 0.3 / 0.25, 0.1 / 0.45])
    assert scores.argmax().item() == method.probabilities(f).argmax().item() == 0


@pytest.mark.parametrize("marks", [[[0, 1], [0], [2], []], [[0], [0], [2], [1]]])
def test_of_rows_that_look_alike_nothing_is_known_but_the_rates(marks):
    """The loss is least where g is how often each class is excluded, and then no class stands out."""
    labels = ComplementaryLabels.from_lists(marks, classes=3)
    method, rates = least_excluded(labels), double([[0.5, 0.25, 0.25]])
    f = (rates.log() if method.one_mark else rates.logit()).requires_grad_(True)
    method.loss(f.expand(4, 3), batch_of(labels)).backward()
    assert f.grad.abs().max() < 1e-12
    assert method.scores(f.detach())[0].tolist() == pytest.approx([0, 0, 0], abs=1e-12)
