"""The complementary risk as a criterion of model selection."""

import numpy as np
import pytest
import torch
from helpers.populations import PRIORS, Q, random_predictions_and_labels

from scarce.labels import ComplementaryLabels
from scarce.metrics import (
    _blocks,
    complementary_risk,
)
from scarce.risk import scarce_risk


@pytest.mark.parametrize("loss", ["sigmoid", "logistic", "square"])
@pytest.mark.parametrize("height", [1, 5, 8192])
def test_complementary_risk_equals_uncorrected_scarce_risk(monkeypatch, loss, height):
    monkeypatch.setattr(_blocks, "_MAX_CELLS", height * Q)
    logits, _, excluded, _ = random_predictions_and_labels(3, n=23)
    expected = scarce_risk(
        torch.tensor(logits),
        torch.tensor(excluded).double(),
        torch.tensor(PRIORS),
        loss=loss,
        correction="none",
    )
    labels = ComplementaryLabels.from_indicator(excluded)
    assert complementary_risk(logits, labels, PRIORS, loss=loss) == pytest.approx(expected.item(), abs=1e-12)


def test_complementary_risk_ignores_class_never_excluded():
    labels = ComplementaryLabels.from_single([0, 1, 0], classes=3)
    logits = np.zeros((3, 3))
    # two classes, each P = 1/2 − (1 − π)/2 and N = (1 − π)/2
    assert complementary_risk(logits, labels, [0.2, 0.3, 0.5]) == pytest.approx(1.0)


def test_complementary_risk_of_overfitted_model_is_negative():
    labels = ComplementaryLabels.from_single([0, 1, 2], classes=3)
    logits = -9.0 * labels.indicator(dtype=float) + 9.0 * (1 - labels.indicator(dtype=float))
    assert complementary_risk(logits, labels, [1 / 3] * 3) < -0.5


def test_complementary_risk_accepts_tensors_and_lists():
    labels = ComplementaryLabels.from_single([0, 1], classes=2)
    rows = [[0.5, -1.0], [2.0, 0.25]]
    value = complementary_risk(rows, labels, [0.5, 0.5])
    assert complementary_risk(torch.tensor(rows, requires_grad=True), labels, (0.5, 0.5)) == value
