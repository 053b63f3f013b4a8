"""Risks of single classes."""

import torch

from scarce.risk import class_risks, class_sums


def test_ht_form_keeps_class_absent_from_batch_only():
    losses, excluded = torch.ones(3, 2), torch.zeros(3, 2)
    rates = torch.tensor([0.25, 0.0])
    parts = class_risks(
        class_sums(losses, losses, excluded), torch.tensor([0.5, 0.5]), form="ht", rates=rates
    )
    assert parts.positive.tolist() == [1.0, 0.0]
