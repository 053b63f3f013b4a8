"""Standardized columns: mean, standard deviation, constant columns and saved state."""

import pytest
import torch

from scarce.models import Standardize


def test_standardize_gives_zero_mean_and_unit_deviation():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(200, 3, generator=generator) * torch.tensor([1.0, 50.0, 0.01]) + torch.tensor(
        [0.0, -7.0, 3.0]
    )
    y = Standardize(x.mean(dim=0), x.std(dim=0, correction=0))(x)
    torch.testing.assert_close(y.mean(dim=0), torch.zeros(3), atol=1e-4, rtol=0)
    torch.testing.assert_close(y.std(dim=0, correction=0), torch.ones(3), atol=1e-4, rtol=0)


@pytest.mark.parametrize("noise", [0.0, 1e-17, 1e-9])
def test_standardize_only_centers_constant_columns(noise):
    """Due to rounding, a constant column of 0.1 may have a deviation of 1e-17; dividing by it would amplify rounding errors."""
    layer = Standardize(torch.tensor([0.1, 5.0]), torch.tensor([noise, 2.0]))
    assert layer(torch.tensor([[0.1000001, 9.0]]))[0].tolist() == pytest.approx([0.0, 2.0], abs=1e-6)


def test_standardize_statistics_are_saved_but_not_trained():
    layer = Standardize(torch.tensor([1.0]), torch.tensor([2.0]))
    assert {name: value.tolist() for name, value in layer.state_dict().items()} == {
        "mean": [1.0],
        "scale": [2.0],
    }
    assert list(layer.parameters()) == []
    assert layer.double()(torch.tensor([[5.0]]).double()).tolist() == [[2.0]]
