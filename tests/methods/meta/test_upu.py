"""PU risks by exact enumeration of every outcome and its probability."""

import pytest
import torch
from helpers.scar_population import PRIORS, RATES, Q, whole_population

from scarce.methods.meta.base import unlabeled_rows
from scarce.methods.meta.upu import pu_risks
from scarce.risk import BINARY_LOSSES, binary_loss
from scarce.risk._mixture_proportion import mixture_proportion
from scarce.risk.binary_losses import class_means


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
    proportion = mixture_proportion(PRIORS, RATES, unlabeled)
    ell = binary_loss(loss)
    risks = pu_risks(g, excluded, proportion, loss=loss, unlabeled=unlabeled)
    for k in range(Q):
        rows = unlabeled_rows(excluded, unlabeled)[:, k] > 0
        is_k = ys[rows] == k
        positive = (ell(g[rows, k]) * ~is_k).mean()
        negative = (ell(-g[rows, k]) * is_k).mean()
        assert risks.positive[k].item() == pytest.approx(positive.item(), abs=1e-12)
        assert risks.negative[k].item() == pytest.approx(negative.item(), abs=1e-12)


def test_total_risk_depends_on_matching_proportion():
    g, _, excluded = whole_population()
    right = pu_risks(g, excluded, mixture_proportion(PRIORS, RATES, "rest"), unlabeled="rest").total
    wrong = pu_risks(g, excluded, mixture_proportion(PRIORS, RATES, "all"), unlabeled="rest").total
    assert (right - wrong).abs().max() > 0.1
