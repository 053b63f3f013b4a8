"""TEDn per class: estimated mixture proportions."""

import pytest
import torch
from helpers.methods import linear_model, prepared_with_priors, random_labels, run_epoch

from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.risk._mixture_proportion import best_bin
from scarce.testing import three_blobs
from scarce.training import Recipe, train


@pytest.mark.parametrize("unlabeled", ["all", "rest"])
def test_tedn_estimates_mixture_proportions_on_held_out_rows(unlabeled):
    g, labels = random_labels(400)
    excluded = torch.from_numpy(labels.indicator())
    method = prepared_with_priors("meta-tedn", labels, unlabeled=unlabeled, warm_up=1, hold_out=0.5)
    run_epoch(method, g, labels)
    held = method.validation_mask
    for k in range(3):
        others = held if unlabeled == "all" else held & ~excluded[:, k]
        estimate = best_bin(g[held & excluded[:, k], k], g[others, k]).mixture_proportion
        assert method.mixture_proportion[k].item() == pytest.approx(estimate if estimate < 1 else 0)
        trained = method.kept[~held, k].sum().item()
        possible = (~held if unlabeled == "all" else ~held & ~excluded[:, k]).sum().item()
        assert trained == possible - int(method.mixture_proportion[k].item() * possible)


def test_tedn_recovers_mixture_proportions_of_separable_blobs():
    X, _, labels = three_blobs(3000)
    for unlabeled, proportion in (("all", 2 / 3), ("rest", 1 / 2)):  # half of "not k" excludes k
        method = make_method("meta-tedn", unlabeled=unlabeled, hold_out=0.4)
        train(linear_model(), method, X, labels, Recipe(epochs=15, batch_size=100, learning_rate=0.02))
        assert method.mixture_proportion.tolist() == pytest.approx([proportion] * 3, abs=0.07)


def test_tedn_ignores_estimate_that_leaves_no_row():
    labels = ComplementaryLabels.from_single([0, 0, 1, 1], classes=3)
    method = prepared_with_priors("meta-tedn", labels, warm_up=1)
    run_epoch(method, torch.zeros(4, 3, dtype=torch.float64), labels)
    assert method.mixture_proportion.tolist() == [0, 0, 0]
    assert method.kept.all()
