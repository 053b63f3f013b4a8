"""The state of a training run: its history, and the layout of its tensors in memory, on which checkpoints do not depend."""

import numpy as np
import pytest
import torch
from helpers.resuming import resume_after_every_epoch
from helpers.training import PRIORS, Q, Tempered, make_data, make_net
from torch import nn

from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, make_method
from scarce.training import History, Recipe, train
from scarce.training._runtime import seeded

N_CLASSES = 12
RECIPE = Recipe(epochs=6, batch_size=16, learning_rate=0.05)


def several_exclusions_per_row(n=80):
    """Points around the centers of twelve classes; every row excludes two to five of the other classes."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % N_CLASSES
    inputs = (rng.normal(size=(n, 6)) + rng.normal(size=(N_CLASSES, 6))[truth]).astype(np.float32)
    wrong = [rng.permutation(np.delete(np.arange(N_CLASSES), y))[: 2 + y % 4] for y in truth]
    return inputs, ComplementaryLabels.from_lists([sorted(row.tolist()) for row in wrong], classes=N_CLASSES)


def make_wide_net():
    with seeded(0):
        return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, N_CLASSES))


@pytest.mark.parametrize("params", [{}, {"rounds": 4, "short_fraction": 0.4, "tol": 0.0}])
def test_refine_resumes_after_every_epoch_with_several_exclusions_per_row(tmp_path, params):
    inputs, labels = several_exclusions_per_row()
    different, n_stops = resume_after_every_epoch(
        make_wide_net, lambda: make_method("refine", **params), inputs, labels, RECIPE, tmp_path
    )
    assert n_stops > RECIPE.epochs
    assert different == []


class Mixing(Tempered):
    """Mixes the classes by matrices that it replaces after every epoch: a transposed one, a view and an expanded one."""

    def prepare(self, problem):
        super().prepare(problem)
        self.register_buffer("transposed", torch.eye(Q))
        self.register_buffer("view", torch.eye(Q))
        self.register_buffer("expanded", torch.ones(Q, Q))

    def loss(self, logits, batch: Batch):
        return super().loss(logits @ self.transposed @ self.view + self.expanded[0], batch)

    def after_epoch(self, epoch):
        matrix = torch.softmax(torch.outer(self.memory[:Q], self.memory[Q : 2 * Q]), dim=0)
        self.transposed = (torch.eye(Q) + matrix).T
        self.view = torch.cat([matrix.flatten()[:1], (torch.eye(Q) - matrix / 3).flatten()])[1:].view(Q, Q)
        self.expanded = matrix[:1].expand(Q, Q)


def test_buffers_of_any_layout_resume_after_every_epoch(tmp_path):
    inputs, labels = make_data()
    different, n_stops = resume_after_every_epoch(
        make_net, Mixing, inputs, labels, RECIPE, tmp_path, priors=PRIORS
    )
    assert (different, n_stops) == ([], RECIPE.epochs)
    method = Mixing()
    train(make_net(), method, inputs, labels, RECIPE, priors=PRIORS)
    layouts = {(buffer.stride(), buffer.storage_offset()) for buffer in method.buffers() if buffer.dim() == 2}
    assert layouts == {((Q, 1), 0)}


def make_channels_last_net():
    with seeded(0):
        net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, Q))
    return net.to(memory_format=torch.channels_last)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_weights_and_moments_keep_their_layout_when_a_run_resumes(tmp_path, optimizer):
    _, labels = make_data()
    images = np.random.default_rng(0).normal(size=(len(labels), 3, 8, 8)).astype(np.float32)
    recipe = Recipe(epochs=3, batch_size=16, learning_rate=0.01, optimizer=optimizer)
    different, _ = resume_after_every_epoch(
        make_channels_last_net,
        lambda: make_method("scarce"),
        images,
        labels,
        recipe,
        tmp_path,
        priors=PRIORS,
    )
    assert different == []
    net = make_channels_last_net()
    train(
        net,
        make_method("scarce"),
        images,
        labels,
        recipe,
        priors=PRIORS,
        checkpoint=tmp_path / "2.safetensors",
    )
    assert net[0].weight.is_contiguous(memory_format=torch.channels_last)


def test_history_is_read_by_name_and_epoch():
    history = History([{"epoch": 1, "loss": 2.0}, {"epoch": 2, "loss": 1.5}])
    assert history["loss"] == [2.0, 1.5]
    assert len(history) == 2
    assert list(history) == history.records
    assert len(History()) == 0
    with pytest.raises(KeyError):
        history["accuracy"]
