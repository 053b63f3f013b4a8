"""Dist-PU per class: its loss after the warm-up."""

import torch
from helpers.methods import prepared_with_priors, random_labels, run_epoch
from torch.nn.functional import logsigmoid

from scarce.methods import Batch


def test_dist_pu_uses_mixup_after_warm_up():
    g, labels = random_labels(12)
    excluded = torch.from_numpy(labels.indicator(dtype=float))
    batch = Batch(g, excluded, torch.arange(12))
    method = prepared_with_priors("meta-dist-pu", labels, warm_up=2, period=4, weight=None)
    for epoch in range(2):
        assert method.model_inputs(batch) is g
        run_epoch(method, g, labels, epoch)
    warm = prepared_with_priors("meta-dist-pu", labels, mu=0.0, weight=None).loss(-g, batch)
    shown = method.model_inputs(batch)
    assert len(shown) == 24
    partner, weight = method._mixup
    mixed = shown[12:]  # as if the model gave back its inputs
    loss = method.loss(-shown, batch)

    target = torch.where(excluded > 0, torch.ones_like(g), torch.sigmoid(g))
    target = weight * target + (1 - weight) * target[partner]
    cross = -(target * logsigmoid(mixed) + (1 - target) * logsigmoid(-mixed)).mean(dim=0).sum()
    p = torch.sigmoid(mixed)
    entropy = -(p * p.log() + (1 - p) * (1 - p).log()).mean(dim=0).sum()
    torch.testing.assert_close(loss, warm + 5 * cross + 0.04 * entropy)
