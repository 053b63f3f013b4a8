"""Elkan-Noto per class: its loss, and the label frequency it divides by."""

import pytest
import torch
from helpers.methods import double, prepared_with_priors, random_labels, run_epoch

from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Problem, make_method


def test_elkan_noto_trains_on_batch_lacking_labels_of_classes():
    """The loss is a plain cross-entropy, which uses rows without the label as well."""
    labels = ComplementaryLabels.from_lists([[0], [1], [2]], classes=3)
    method = prepared_with_priors("meta-elkan-noto", labels, frequency="priors")
    f = torch.zeros(1, 3, dtype=torch.float64, requires_grad=True)
    batch = Batch(torch.zeros(1, 2), torch.tensor([[1.0, 0.0, 0.0]]).double(), torch.tensor([0]))
    method.loss(f, batch).backward()
    assert f.grad.tolist() == [[0.5, -0.5, -0.5]]


def test_elkan_noto_divides_by_label_frequency():
    g, labels = random_labels(200)
    method = prepared_with_priors("meta-elkan-noto", labels)
    run_epoch(method, g, labels)
    held = method.validation_mask.numpy()[:, None] & labels.indicator()
    c = double([torch.sigmoid(g[held[:, k], k]).mean().item() for k in range(3)])
    torch.testing.assert_close(method.scores(-g), -(torch.sigmoid(g) / c).log())
    complement = (1 - torch.sigmoid(g) / c).clamp(min=0)
    possible = complement.sum(dim=1) > 0
    expected = complement[possible] / complement[possible].sum(dim=1, keepdim=True)
    torch.testing.assert_close(method.probabilities(-g)[possible], expected)


def test_elkan_noto_takes_frequency_from_priors_if_requested():
    g, labels = random_labels(40)
    priors = double([0.5, 0.3, 0.2])
    method = prepared_with_priors("meta-elkan-noto", labels, priors, frequency="priors")
    run_epoch(method, g, labels)
    c = torch.tensor(labels.rates) / (1 - priors)
    assert not method.validation_mask.any()
    torch.testing.assert_close(method.scores(-g), -(torch.sigmoid(g) / c).log())
    with pytest.raises(MethodError, match="frequency='priors' needs class priors; pass priors="):
        make_method("meta-elkan-noto", frequency="priors").prepare(Problem(labels))
