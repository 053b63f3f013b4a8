"""Shares of positives and PU risks by exact enumeration of every outcome and its probability."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scarce.errors import MethodError
from scarce.methods.meta.base import class_means, unlabeled_rows
from scarce.methods.meta.upu import pu_risks, upu_losses
from scarce.risk import BINARY_LOSSES, binary_loss
from scarce.risk.mixture_proportion import mixture_proportion, priors_from_mixture

Q = 3
JOINT = np.array([[10, 5, 15], [20, 2, 8], [10, 23, 7]]) / 100  # p(x, y): three x, three y
C = np.array([0.2, 0.5, 0.9])  # p(k is excluded | y ≠ k), for every x: SCAR
PRIORS = torch.tensor(JOINT.sum(axis=0))
RATES = (1 - PRIORS) * torch.tensor(C)
SCORES = torch.tensor([[-0.3, 1.2, -2.0], [-1.1, -0.4, 0.6], [0.5, -0.8, -0.1]], dtype=torch.float64)


def every_outcome():
    """All (x, y, exclusions) with their probabilities."""
    for x, y in product(range(3), range(Q)):
        for excluded_flags in product([0, 1], repeat=Q - 1):
            excluded = np.insert(np.array(excluded_flags), y, 0)
            probability = np.prod([C[k] if excluded[k] else 1 - C[k] for k in range(Q) if k != y])
            yield x, y, excluded, JOINT[x, y] * probability


def whole_population():
    """Every outcome as often as in 20,000 rows; all counts are integers."""
    xs, ys, sets = [], [], []
    for x, y, excluded, probability in every_outcome():
        times = probability * 20_000
        assert times == pytest.approx(round(times))
        xs += [x] * round(times)
        ys += [y] * round(times)
        sets += [excluded] * round(times)
    return SCORES[xs], torch.tensor(ys), torch.tensor(np.array(sets)).double()


@pytest.mark.parametrize("k", range(Q))
def test_positive_share_matches_enumerated_population(k):
    rate = sum(p for _, _, excluded, p in every_outcome() if excluded[k])
    assert rate == pytest.approx(RATES[k].item())
    not_k = sum(p for _, y, _, p in every_outcome() if y != k)
    not_k_of_rest = sum(p for _, y, excluded, p in every_outcome() if y != k and not excluded[k])
    assert mixture_proportion(PRIORS, RATES, "all")[k].item() == pytest.approx(not_k)
    assert mixture_proportion(PRIORS, RATES, "rest")[k].item() == pytest.approx(not_k_of_rest / (1 - rate))


@given(st.lists(st.tuples(st.floats(0.01, 0.98), st.floats(0, 1)), min_size=1, max_size=5))
def test_priors_from_share_inverts_positive_share(pairs):
    priors, part = torch.tensor(pairs, dtype=torch.float64).unbind(dim=1)
    rates = part * (1 - priors)  # what SCAR allows
    for unlabeled in ("all", "rest"):
        share = mixture_proportion(priors, rates, unlabeled)
        assert ((share >= 0) & (share <= 1)).all()
        torch.testing.assert_close(priors_from_mixture(share, rates, unlabeled), priors)


def test_positive_share_is_zero_where_rates_exceed_priors():
    priors, rates = torch.tensor([0.5, 0.5]), torch.tensor([0.6, 1.0])
    assert mixture_proportion(priors, rates, "rest").tolist() == [0, 0]


def test_excluded_rows_are_distributed_as_true_negatives_of_class():
    g, ys, excluded = whole_population()
    for k in range(Q):
        assert not (ys[excluded[:, k] == 1] == k).any()
    truth = torch.stack([g[ys != k, k].mean() for k in range(Q)])
    torch.testing.assert_close(class_means(g, excluded), truth)


@pytest.mark.parametrize("loss", BINARY_LOSSES)
@pytest.mark.parametrize("unlabeled", ["all", "rest"])
def test_pu_risks_equal_risk_of_true_labels(unlabeled, loss):
    """Over all rows, or over the rest: E[ℓ(±g_k)] with + where y ≠ k, from exclusions alone."""
    g, ys, excluded = whole_population()
    share = mixture_proportion(PRIORS, RATES, unlabeled)
    ell = binary_loss(loss)
    risks = pu_risks(g, excluded, share, loss=loss, unlabeled=unlabeled)
    for k in range(Q):
        rows = unlabeled_rows(excluded, unlabeled)[:, k] > 0
        is_k = ys[rows] == k
        positive = (ell(g[rows, k]) * ~is_k).mean()
        negative = (ell(-g[rows, k]) * is_k).mean()
        assert risks.positive[k].item() == pytest.approx(positive.item(), abs=1e-12)
        assert risks.negative[k].item() == pytest.approx(negative.item(), abs=1e-12)


def test_upu_losses_depend_on_matching_share():
    g, _, excluded = whole_population()
    right = upu_losses(g, excluded, mixture_proportion(PRIORS, RATES, "rest"), unlabeled="rest")
    wrong = upu_losses(g, excluded, mixture_proportion(PRIORS, RATES, "all"), unlabeled="rest")
    assert (right - wrong).abs().max() > 0.1


@pytest.mark.parametrize("call", [lambda: mixture_proportion(PRIORS, RATES, "most"),
                                  lambda: priors_from_mixture(PRIORS, RATES, "most"),
                                  lambda: unlabeled_rows(SCORES, "most")])  # fmt: skip
def test_unlabeled_option_rejects_unknown_value(call):
    with pytest.raises(MethodError, match="unlabeled='most' is unknown; expected 'all' or 'rest'"):
        call()
