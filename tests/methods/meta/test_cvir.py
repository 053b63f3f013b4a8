"""CVIR per class: when rows are ranked, and how classes are compared."""

import pytest
import torch
from helpers.methods import UNIFORM_PRIORS, prepared_with_priors, random_labels, run_epoch

from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, make_method
from scarce.methods.meta.cvir import cvir_kept
from scarce.risk._mixture_proportion import mixture_proportion


def test_cvir_scores_allow_for_priors():
    """g_k = log p(x | not k) / p(x | k), so −g_k + log π_k / (1 − π_k) is the log odds of class k."""
    labels = ComplementaryLabels.from_lists([[0], [1], [2]], classes=3)
    method = make_method("meta-cvir")
    method.prepare(Problem(labels, torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)))
    odds = torch.tensor([1.0, 3 / 7, 0.25], dtype=torch.float64)
    torch.testing.assert_close(method.scores(torch.zeros(1, 3, dtype=torch.float64)), odds.log()[None])


@pytest.mark.parametrize("unlabeled", ["all", "rest"])
def test_cvir_ranks_rows_after_warm_up(unlabeled):
    g, labels = random_labels(40)
    excluded = torch.from_numpy(labels.indicator())
    method = prepared_with_priors("meta-cvir", labels, unlabeled=unlabeled, warm_up=2)
    every = torch.ones_like(excluded) if unlabeled == "all" else ~excluded
    run_epoch(method, g, labels, epoch=0)
    assert torch.equal(method.kept, every)
    run_epoch(method, g, labels, epoch=1)
    proportion = mixture_proportion(UNIFORM_PRIORS, torch.tensor(labels.rates), unlabeled)
    torch.testing.assert_close(method.mixture_proportion, proportion)
    assert torch.equal(method.kept, cvir_kept(g, excluded.double(), proportion, unlabeled=unlabeled))
    assert not (method.kept & ~every).any()
