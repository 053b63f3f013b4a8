"""Every reference record of the SCARCE risks: values and gradients in float64."""

import pytest
import torch
from helpers.golden import EXTREME, records, tensors

from scarce.risk import (
    BINARY_LOSSES,
    CORRECTIONS,
    MULTICLASS_LOSSES,
    binary_loss,
    class_risks,
    class_sums,
    make_correction,
    multiclass_loss,
    multiclass_scarce_risk,
    scarce_risk,
)

LOSS_NAMES = {"exp": "exponential", "double_hinge": "double-hinge"}
CORRECTION_PARAMS = {"lam": "slope", "beta": "beta", "gamma": "gamma"}


def scarce_params(params):
    """The parameters of a record under the names of scarce."""
    rates = params.get("pibar")
    loss = params.get("L") or params.get("loss", "logistic")
    extra = {ours: params[theirs] for theirs, ours in CORRECTION_PARAMS.items() if theirs in params}
    return {
        "loss": LOSS_NAMES.get(loss, loss),
        "form": params["form"],
        "correction": make_correction(params["correction"], **extra),
        "rates": None if rates is None else torch.tensor(rates, dtype=torch.float64),
        "absent": "keep",
    }


@pytest.mark.parametrize("record", records("scarce_ovr", "scarce_multiclass"))
def test_scarce_risk_matches_golden_value_and_gradient(record):
    risk = scarce_risk if record["method"] == "scarce_ovr" else multiclass_scarce_risk
    logits, excluded, priors = tensors(record)
    value = risk(logits, excluded, priors, **scarce_params(record["params"]))
    value.backward()
    assert value.item() == pytest.approx(record["loss"], abs=1e-9)
    torch.testing.assert_close(
        logits.grad, torch.tensor(record["grad"], dtype=torch.float64), atol=1e-9, rtol=0
    )


@pytest.mark.parametrize("record", records("scarce_ovr", "scarce_multiclass"))
def test_class_risks_match_golden_terms(record):
    logits, excluded, priors = tensors(record)
    chosen = scarce_params(record["params"])
    if record["method"] == "scarce_ovr":
        losses, negated = binary_loss(chosen["loss"])(logits), binary_loss(chosen["loss"])(-logits)
    else:
        losses, negated = multiclass_loss(chosen["loss"])(logits), None
    risks = class_risks(
        class_sums(losses, negated, excluded),
        priors,
        form=chosen["form"],
        rates=chosen["rates"],
        absent="keep",
    )
    terms = chosen["correction"](risks)
    torch.testing.assert_close(
        terms, torch.tensor(record["per_class"], dtype=torch.float64), atol=1e-9, rtol=0
    )


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("loss", [*BINARY_LOSSES, *MULTICLASS_LOSSES])
@pytest.mark.parametrize("form", ["batch", "dataset", "ht"])
def test_scarce_risk_of_extreme_logits_is_finite_in_float32(loss, correction, form):
    logits, excluded, priors = tensors(EXTREME, torch.float32)
    risk = scarce_risk if loss in BINARY_LOSSES else multiclass_scarce_risk
    value = risk(
        logits,
        excluded,
        priors,
        loss=loss,
        correction=correction,
        form=form,
        rates=torch.tensor([0.3, 0.3, 0.0]),
    )
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(logits.grad).all()


def test_scarce_risk_of_extreme_logits_matches_golden_value():
    logits, excluded, priors = tensors(EXTREME, torch.float32)
    assert scarce_risk(logits, excluded, priors, absent="keep").item() == pytest.approx(
        EXTREME["loss"], rel=1e-4
    )


@pytest.mark.parametrize("form", ["batch", "dataset", "ht"])
@pytest.mark.parametrize("correction", ["none", "abs", "relu", "leaky", "nnpu"])
@pytest.mark.parametrize("loss", ["logistic", "sigmoid", "square", "exponential", "savage", "tangent"])
def test_scarce_risk_passes_gradcheck(loss, correction, form):
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(6, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    excluded = (torch.rand(6, 4, generator=generator) < 0.4).double()
    priors = torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=torch.float64)
    rates = torch.tensor([0.3, 0.4, 0.5, 0.6], dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda f: scarce_risk(f, excluded, priors, loss=loss, correction=correction, form=form, rates=rates),
        (logits,),
    )
