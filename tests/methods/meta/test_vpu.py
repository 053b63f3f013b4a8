"""VPU per class: its scores, and its mixtures of rows."""

import pytest
import torch
from helpers.methods import batch_of, prepared_with_priors, random_labels, run_epoch

from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.methods.meta._mixup import Mixup
from scarce.methods.meta.vpu import vpu_losses, vpu_mixup_losses


def test_vpu_scores_are_normalized_by_class_maximum():
    g, labels = random_labels(40)
    method = prepared_with_priors("meta-vpu", labels)
    run_epoch(method, g, labels)
    phi = torch.sigmoid(g)
    not_k = phi / phi.amax(dim=0)
    torch.testing.assert_close(method.scores(-g), -not_k.log())
    expected = (1 - not_k) / (1 - not_k).sum(dim=1, keepdim=True)
    torch.testing.assert_close(method.probabilities(-g), expected)


def test_vpu_mixup_appends_mixtures_to_inputs():
    labels = ComplementaryLabels.from_single([0, 1, 2, 0], classes=3)
    inputs = torch.randn(4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    batch = batch_of(labels, inputs=inputs)
    assert make_method("meta-vpu").model_inputs(batch) is inputs
    method = prepared_with_priors("meta-vpu", labels, mixup=True)
    shown = method.model_inputs(batch)
    partner, weight = method._mixup
    assert sorted(partner.tolist()) == [0, 1, 2, 3]
    assert torch.equal(shown[:4], inputs)
    for i, j in enumerate(partner.tolist()):
        torch.testing.assert_close(shown[4 + i], weight * inputs[i] + (1 - weight) * inputs[j])


@pytest.mark.parametrize("unlabeled", ["all", "rest"])
def test_vpu_mixup_pairs_count_for_classes_of_second_row(unlabeled):
    g, labels = random_labels(12)
    excluded = torch.from_numpy(labels.indicator(dtype=float))
    mixed = torch.randn(12, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    method = prepared_with_priors("meta-vpu", labels, unlabeled=unlabeled, mixup=True)
    partner = torch.arange(12).roll(1)
    method._mixup = Mixup(partner, 0.3)
    pairs = torch.zeros(12, 3, dtype=torch.float64)
    for i in range(12):
        for k in range(3):
            counts = excluded[partner[i], k] and (unlabeled == "all" or not excluded[i, k])
            pairs[i, k] = float(counts)
    expected = vpu_losses(g, excluded, unlabeled=unlabeled) + 0.03 * vpu_mixup_losses(g, mixed, pairs, 0.3)
    loss = method.loss(-torch.cat([g, mixed]), batch_of(labels))
    torch.testing.assert_close(loss, expected.sum())
    assert torch.equal(method._scores, g)
