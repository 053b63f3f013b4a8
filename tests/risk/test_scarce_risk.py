"""The SCARCE risks: slow loops, identities between forms, and hand-computed values."""

import math

import hypothesis.extra.numpy as npst
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scarce.errors import MethodError
from scarce.risk import BINARY_LOSSES, multiclass_scarce_risk, scarce_risk

Q = 4
FLOATS = st.floats(-8, 8, allow_nan=False)


@st.composite
def batches(draw, every_class=True):
    """Logits, exclusions (0 to q − 1 per row) and priors; with every class excluded somewhere if `every_class`."""
    n = draw(st.integers(Q + 1, 12))
    logits = draw(npst.arrays(np.float64, (n, Q), elements=FLOATS))
    excluded = draw(npst.arrays(np.bool_, (n, Q)))
    excluded[excluded.all(axis=1), 0] = False
    if every_class:
        excluded[:Q] = np.eye(Q)
    weights = draw(npst.arrays(np.float64, Q, elements=st.floats(0.1, 1)))
    return torch.tensor(logits), torch.tensor(excluded).double(), torch.tensor(weights / weights.sum())


def slow_risk(logits, excluded, priors, loss, correct):
    """The batch form as a loop over classes and rows."""
    total = 0.0
    for k in range(len(priors)):
        all_losses = [loss(row[k]) for row in logits]
        negatives = [row[k] for row, out in zip(logits, excluded, strict=True) if out[k]]
        if not negatives:
            continue
        others = 1 - priors[k]
        positive = sum(all_losses) / len(all_losses) - others * sum(loss(f) for f in negatives) / len(
            negatives
        )
        total += correct(positive) + others * sum(loss(-f) for f in negatives) / len(negatives)
    return total


@given(batches(every_class=False))
def test_scarce_risk_equals_slow_loop(batch):
    logits, excluded, priors = batch
    slow = slow_risk(
        logits.tolist(), excluded.tolist(), priors.tolist(), lambda z: math.log1p(math.exp(-z)), abs
    )
    assert scarce_risk(logits, excluded, priors).item() == pytest.approx(slow, abs=1e-9)


@given(
    batches(), st.sampled_from([*BINARY_LOSSES]), st.sampled_from(["none", "abs", "relu", "leaky", "nnpu"])
)
def test_scarce_risk_forms_agree_at_batch_rates(batch, loss, correction):
    logits, excluded, priors = batch
    rates = excluded.mean(dim=0)
    forms = [
        scarce_risk(logits, excluded, priors, loss=loss, form=form, rates=rates, correction=correction)
        for form in ("batch", "dataset", "ht")
    ]
    assert forms[1].item() == pytest.approx(forms[0].item(), rel=1e-9, abs=1e-9)
    assert forms[2].item() == pytest.approx(forms[0].item(), rel=1e-9, abs=1e-9)


@given(batches(every_class=False))
def test_uncorrected_logistic_risk_is_linear_in_excluded_scores(batch):
    logits, excluded, priors = batch
    counts = excluded.sum(dim=0).clamp(min=1)
    expected = (
        torch.nn.functional.softplus(-logits).mean(dim=0)
        + (1 - priors) * (excluded * logits).sum(dim=0) / counts
    )
    value = scarce_risk(logits, excluded, priors, correction="none", absent="keep")
    assert value.item() == pytest.approx(expected.sum().item(), abs=1e-9)


@given(batches())
def test_mae_risk_equals_constant_plus_excluded_probability(batch):
    logits, excluded, priors = batch
    p = torch.softmax(logits, dim=1)
    mean_excluded = (excluded * p).sum(dim=0) / excluded.sum(dim=0).clamp(min=1)
    expected = 2 * Q - 2 - 2 * (1 - priors).sum() + 2 * ((1 - priors) * mean_excluded).sum()
    value = multiclass_scarce_risk(logits, excluded, priors, loss="mae", correction="none")
    assert value.item() == pytest.approx(expected.item(), abs=1e-9)


def test_scarce_risk_skips_absent_class_unless_kept():
    logits = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
    excluded = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    priors = torch.full((3,), 1 / 3)
    logits.requires_grad_(True)
    scarce_risk(logits, excluded, priors).backward()
    assert (logits.grad[:, 0] == 0).all()
    kept = scarce_risk(logits, excluded, priors, absent="keep")
    skipped = scarce_risk(logits, excluded, priors)
    assert (kept - skipped).item() == pytest.approx(0.337745, abs=1e-5)


@given(batches(), st.permutations(range(Q)))
def test_scarce_risk_is_invariant_to_order_of_classes_and_rows(batch, order):
    logits, excluded, priors = batch
    value = scarce_risk(logits, excluded, priors).item()
    assert scarce_risk(logits[:, order], excluded[:, order], priors[order]).item() == pytest.approx(
        value, abs=1e-9
    )
    rows = torch.randperm(len(logits), generator=torch.Generator().manual_seed(0))
    assert scarce_risk(logits[rows], excluded[rows], priors).item() == pytest.approx(value, abs=1e-9)


@given(st.integers(3, 20), st.integers(0, 10_000))
def test_scarce_risk_of_full_exclusions_equals_one_versus_rest_risk(n, seed):
    rng = np.random.default_rng(seed)
    y = torch.tensor(np.concatenate([[0, 1, 2], rng.integers(0, 3, n)]))
    logits = torch.tensor(rng.normal(size=(len(y), 3)))
    onehot = torch.nn.functional.one_hot(y, 3).double()
    signs = 2 * onehot - 1
    expected = torch.nn.functional.softplus(-signs * logits).sum(dim=1).mean()
    assert scarce_risk(logits, 1 - onehot, onehot.mean(dim=0)).item() == pytest.approx(
        expected.item(), abs=1e-12
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "cubic"}, "loss='cubic' is unknown; expected 'logistic', 'sigmoid'"),
        ({"correction": "square"}, "correction='square' is unknown"),
        ({"form": "epoch"}, "form='epoch'"),
        ({"form": "ht"}, "needs the rates of the whole data"),
        ({"absent": "ignore"}, "absent='ignore' is unknown"),
    ],
)
def test_scarce_risk_rejects_unknown_settings(settings, message):
    with pytest.raises(MethodError, match=message):
        scarce_risk(torch.zeros(2, 2), torch.eye(2), torch.full((2,), 0.5), **settings)


def test_multiclass_scarce_risk_counts_each_row_once():
    logits = torch.tensor([[1.0, 0.0, -1.0], [0.0, 2.0, 1.0]], dtype=torch.float64)
    excluded = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    losses = -torch.log_softmax(logits, dim=1)
    by_hand = losses.mean(dim=0).sum() - (2 / 3) * (losses[0, 0] + losses[0, 1] + losses[1, 2])
    value = multiclass_scarce_risk(logits, excluded, torch.full((3,), 1 / 3).double(), correction="none")
    assert value.item() == pytest.approx(by_hand.item())
