"""Binary losses: hand-computed values and the identities of linear-odd and symmetric losses."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scarce.risk import binary_loss

FLOATS = st.floats(-8, 8, allow_nan=False)


@pytest.mark.parametrize(
    ("name", "at_minus_2", "at_half"),
    [
        ("logistic", 2.126928, 0.474077),
        ("sigmoid", 0.880797, 0.377541),
        ("square", 2.25, 0.0625),
        ("exponential", 7.389056, 0.606531),
        ("hinge", 3.0, 0.5),
        ("double-hinge", 2.0, 0.25),
        ("ramp", 1.0, 0.25),
        ("savage", 3.103214, 0.570147),
        ("tangent", 10.331708, 0.005284),
    ],
)
def test_binary_losses_match_hand_computed_values(name, at_minus_2, at_half):
    values = binary_loss(name)(torch.tensor([-2.0, 0.5], dtype=torch.float64))
    assert values.tolist() == pytest.approx([at_minus_2, at_half], abs=1e-5)


@given(st.sampled_from(["logistic", "square", "double-hinge"]), FLOATS)
def test_linear_odd_losses_differ_by_margin(name, z):
    ell, z = binary_loss(name), torch.tensor(z, dtype=torch.float64)
    assert (ell(-z) - ell(z)).item() == pytest.approx(z.item(), abs=1e-12)


@given(st.sampled_from(["sigmoid", "ramp"]), FLOATS)
def test_symmetric_losses_sum_to_one(name, z):
    ell, z = binary_loss(name), torch.tensor(z, dtype=torch.float64)
    assert (ell(-z) + ell(z)).item() == pytest.approx(1)
