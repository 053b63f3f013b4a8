"""Temperature scaling by the likelihood of held-out labels."""

import numpy as np
import pytest
import torch

from scarce.estimators.auto._temperature import best_temperature, scaled, with_temperature
from scarce.models import make_model


def test_best_temperature_undoes_overconfidence():
    random = np.random.default_rng(0)
    true = random.dirichlet(np.ones(4), 2000)
    y = (random.random((2000, 1)) > true.cumsum(axis=1)).sum(axis=1)
    E = torch.full((2000, 4), -30.0)
    E[np.arange(2000), y] = 0.0
    too_sure = true**2 / (true**2).sum(axis=1, keepdims=True)
    assert best_temperature(too_sure, E) == pytest.approx(2.0)
    np.testing.assert_allclose(scaled(too_sure, 2.0), true, atol=1e-5)
    assert best_temperature(true, E) == 1.0


def test_predictions_that_are_too_unsure_are_left_alone():
    p = np.array([[0.6, 0.4]] * 10)
    assert best_temperature(p, torch.tensor([[0.0, -9.0]] * 10)) == 1
    np.testing.assert_allclose(scaled(p, 1.0), p)


@pytest.mark.parametrize("module", ["mlp", "lenet", "resnet", "densenet"])
def test_with_temperature_divides_the_logits(module):
    model = make_model(module, (3, 12, 12), 3).eval()
    images = torch.rand(4, 3, 12, 12, generator=torch.Generator().manual_seed(0))
    before = model(images)
    torch.testing.assert_close(with_temperature(model, 4.0)(images), before / 4)
    assert torch.equal(model(images), before)  # the original is unchanged
