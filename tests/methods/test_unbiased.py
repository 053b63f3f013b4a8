"""Unbiasedness by exact enumeration: every outcome occurs in the data in proportion to its probability."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
import torch
from helpers.methods import batch_of, double, prepared_method
from torch.nn.functional import log_softmax

from scarce.labels import ComplementaryLabels
from scarce.methods.multiple_labels import multiple_label_losses
from scarce.risk import multiclass_loss

Q = 4
HUNDREDTHS = np.array([[4, 6, 15, 9], [20, 2, 8, 3], [10, 13, 7, 3]])  # 100 p(x, y): three x, four y
SCORES = double([[0.3, -1.2, 2.0, 0.5], [1.1, 0.4, -0.6, -2.0], [-0.5, 0.8, 0.1, 1.5]])
SIZES = {  # tenths of p(s)
    "one": {1: 10},
    "two": {2: 10},
    "three": {3: 10},
    "any": {1: 5, 2: 3, 3: 2},
    "mostly many": {1: 1, 2: 2, 3: 7},
}


def every_outcome(sizes):
    """Rows x, and label sets that are uniform over the wrong classes given their size."""
    xs, sets = [], []
    for (x, y), (s, tenths) in product(np.ndindex(HUNDREDTHS.shape), sizes.items()):
        wrong = [k for k in range(Q) if k != y]
        times = HUNDREDTHS[x, y] * tenths * 3 // comb(Q - 1, s)  # C(3, s) divides 3
        for chosen in combinations(wrong, s):
            xs += [x] * times
            sets += [list(chosen)] * times
    return SCORES[xs], ComplementaryLabels.from_lists(sets, classes=Q)


def ordinary_risk(losses):
    """E L(f(x), y), from L of shape (three x, q)."""
    return sum(HUNDREDTHS[x, y] / 100 * losses[x, y].item() for x, y in np.ndindex(HUNDREDTHS.shape))


def test_enumerated_data_match_distribution():
    logits, labels = every_outcome(SIZES["any"])
    assert len(labels) == 3000
    assert np.bincount(labels.per_example)[1:].tolist() == [1500, 900, 600]
    first = (logits == SCORES[0]).all(dim=1).numpy()
    assert first.sum() == 1020  # p(x) = 0.34
    priors = HUNDREDTHS.sum(axis=0) / 100
    expected_rates = (1 - priors) * (5 * 1 + 3 * 2 + 2 * 3) / 10 / 3
    assert labels.rates == pytest.approx(expected_rates)


@pytest.mark.parametrize("sizes", SIZES)
def test_pc_risk_is_unbiased(sizes):
    """The expected risk is Σ_{j ≠ y} σ(f_j − f_y), also with several labels if each is uniform."""
    logits, labels = every_outcome(SIZES[sizes])
    differences = torch.sigmoid(SCORES[:, None, :] - SCORES[:, :, None])  # x, y, j: σ(f_j − f_y)
    pairwise = differences.sum(dim=2) - 0.5
    risk = prepared_method("pc", labels, pairs=True).loss(logits, batch_of(labels)).item()
    assert risk == pytest.approx(ordinary_risk(pairwise), abs=1e-12)


@pytest.mark.parametrize("y", range(Q))
def test_pc_risk_is_unbiased_at_every_point_and_class(y):
    f = SCORES[0]
    labels = ComplementaryLabels.from_single([k for k in range(Q) if k != y], classes=Q)
    risk = prepared_method("pc", labels).loss(f.repeat(Q - 1, 1), batch_of(labels)).item()
    assert risk == pytest.approx(
        sum(torch.sigmoid(f[j] - f[y]).item() for j in range(Q) if j != y), abs=1e-12
    )


@pytest.mark.parametrize("sizes", ["one", "any"])
def test_class_risks_equal_ordinary_class_risks(sizes):
    """V_j = π_j E[ℓ_j | y = j] ≥ 0, so free, NN and GA agree on the whole distribution."""
    logits, labels = every_outcome(SIZES[sizes])
    batch = batch_of(labels)
    losses = -log_softmax(SCORES, dim=1)
    expected = [sum(HUNDREDTHS[x, j] / 100 * losses[x, j].item() for x in range(3)) for j in range(Q)]
    assert prepared_method("free", labels, pairs=True).class_risks(logits, batch).tolist() == pytest.approx(
        expected
    )
    for name in ("free", "nn", "ga"):
        loss = prepared_method(name, labels, pairs=True).loss(logits, batch).item()
        assert loss == pytest.approx(ordinary_risk(losses), abs=1e-12)


def test_risk_grouped_by_excluded_class_can_be_negative():
    """Why the grouping matters: clipping these parts would bias the risk of infinitely many rows."""
    logits, labels = every_outcome(SIZES["one"])
    shift_from_first = double([-6.0, 0.0, 0.0, 0.0])  # a classifier that never predicts class 0
    logits, batch = logits + shift_from_first, batch_of(labels)
    losses, said = -log_softmax(logits, dim=1), batch.excluded
    grouped = [
        ((said[:, g, None] * losses).sum() - (Q - 1) * (said[:, g] * losses[:, g]).sum()).item() / len(labels)
        for g in range(Q)
    ]
    ordinary = ordinary_risk(-log_softmax(SCORES + shift_from_first, dim=1))
    assert sum(grouped) == pytest.approx(ordinary)
    assert grouped[0] < -0.5
    assert prepared_method("nn", labels).class_risks(logits, batch).min() > 0
    assert prepared_method("nn", labels).loss(logits, batch).item() == pytest.approx(ordinary)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(
    ("name", "loss"), [("mae", "mae"), ("mse", "mse"), ("gce", "gce"), ("phuber-ce", "phuber"), (None, "cce")]
)
def test_multiple_label_risks_are_unbiased(name, loss, sizes):
    """For any distribution of sizes, if sets are uniform given their size."""
    logits, labels = every_outcome(SIZES[sizes])
    batch = batch_of(labels)
    risk = (
        prepared_method(name, labels).loss(logits, batch)
        if name
        else multiple_label_losses(multiclass_loss(loss)(logits), batch.excluded).mean()
    )
    assert risk.item() == pytest.approx(ordinary_risk(multiclass_loss(loss)(SCORES)), abs=1e-12)


@pytest.mark.parametrize("name", ["pc", "free", "mae"])
def test_risks_are_biased_for_labels_that_are_not_uniform(name):
    """The assumption is needed: if one wrong class is never excluded, the risks differ."""
    logits, labels = every_outcome(SIZES["one"])
    asked = labels.indices != 3
    biased = labels[np.nonzero(asked)[0]]
    uniform, skewed = (
        prepared_method(name, some).loss(f, batch_of(some)).item()
        for f, some in ((logits, labels), (logits[torch.from_numpy(asked)], biased))
    )
    assert abs(uniform - skewed) > 0.02


@pytest.mark.parametrize("name", ["forward", "cpe-f", "scl-nl", "cc"])
def test_likelihoods_are_minimized_at_true_probabilities(name):
    """Given one x, the classifier p(y | x) has no gradient and a lower loss than its neighbours."""
    logits, labels = every_outcome(SIZES["one"])
    mine = (logits == SCORES[1]).all(dim=1)
    labels = labels[mine.nonzero().flatten().numpy()]
    truth = torch.from_numpy(np.log(HUNDREDTHS[1] / HUNDREDTHS[1].sum())).requires_grad_(True)
    method = prepared_method(name, labels)

    def loss(f):
        return method.loss(f.expand(len(labels), -1), batch_of(labels))

    (gradient,) = torch.autograd.grad(loss(truth), truth)
    assert gradient.abs().max() < 1e-10
    for k in range(Q):
        moved = truth.detach().clone()
        moved[k] += 0.1
        assert loss(moved) > loss(truth.detach())
