"""Corrections of negative class risks: order, gradients, hand-computed values and errors."""

import hypothesis.extra.numpy as npst
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scarce.errors import MethodError
from scarce.risk import ClassRisks, make_correction

FLOATS = st.floats(-8, 8, allow_nan=False)


@given(npst.arrays(np.float64, 5, elements=FLOATS), npst.arrays(np.float64, 5, elements=st.floats(0, 8)))
def test_corrections_are_ordered_none_relu_abs(positive, negative):
    parts = ClassRisks(torch.tensor(positive), torch.tensor(negative))
    none, relu, absolute = (make_correction(name)(parts) for name in ("none", "relu", "abs"))
    assert (none <= relu).all()
    assert (relu <= absolute).all()
    torch.testing.assert_close(make_correction("leaky", slope=-1.0)(parts), absolute)
    torch.testing.assert_close(make_correction("leaky", slope=0.0)(parts), relu)


def test_nnpu_correction_ascends_violating_classes_only():
    parts = ClassRisks(torch.tensor([-0.3, -0.05, 0.2]), torch.tensor([1.0, 1.0, 1.0]))
    terms = make_correction("nnpu", beta=0.1, gamma=0.5)(parts)
    assert terms.tolist() == pytest.approx([0.15, 0.95, 1.2])


@pytest.mark.parametrize("correction", ["abs", "relu", "leaky"])
def test_corrections_have_no_gradient_at_zero(correction):
    positive = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    make_correction(correction)(ClassRisks(positive, torch.ones(1, dtype=torch.float64))).sum().backward()
    assert positive.grad.item() == 0


def test_leaky_correction_rejects_positive_slope():
    with pytest.raises(MethodError, match=r"slope=0.5 is positive"):
        make_correction("leaky", slope=0.5)
