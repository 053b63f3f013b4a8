"""Multi-class losses against hand-computed values."""

import math

import pytest
import torch

from scarce.risk import multiclass_loss


def test_multiclass_losses_match_hand_computed_values():
    logits = torch.log(torch.tensor([[0.5, 0.45, 0.05]], dtype=torch.float64))
    assert multiclass_loss("cce")(logits)[0].tolist() == pytest.approx(
        [-math.log(p) for p in (0.5, 0.45, 0.05)]
    )
    assert multiclass_loss("mae")(logits)[0].tolist() == pytest.approx([1.0, 1.1, 1.9])
    assert multiclass_loss("mse")(logits)[0].tolist() == pytest.approx([0.455, 0.555, 1.355])
    assert multiclass_loss("gce")(logits)[0, 0].item() == pytest.approx((1 - 0.5**0.7) / 0.7)
    expected = [-math.log(0.5), -math.log(0.45), math.log(10) + 1 - 10 * 0.05]
    assert multiclass_loss("phuber")(logits)[0].tolist() == pytest.approx(expected)
