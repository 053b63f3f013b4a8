"""Scores that are recorded during an epoch, and rows that are held out from training."""

import numpy as np
import pytest
import torch
from helpers.methods import (
    HOLD_OUT_METHODS,
    UNIFORM_PRIORS,
    batch_of,
    linear_model,
    prepared_with_priors,
    random_labels,
)
from torch import nn

from scarce.methods import make_method
from scarce.methods.meta._recording import held_out_or_all
from scarce.testing import three_blobs
from scarce.training import Callback, Recipe, predict_logits, train


class ScoreRecorder(Callback):
    def __init__(self, X):
        self.X, self.pairs = torch.from_numpy(X), []

    def on_epoch_end(self, run, record):
        self.pairs.append((run.method.scores_seen.clone(), -predict_logits(run.model, self.X)))
        run.model.train()


def test_scores_of_step_are_recorded_by_row():
    """With a learning rate near zero, the recorded scores equal those of a second pass."""
    X, _, labels = three_blobs(50)
    recorder = ScoreRecorder(X)
    recipe = Recipe(epochs=2, batch_size=16, learning_rate=1e-9)
    train(
        linear_model(),
        make_method("meta-cvir"),
        X,
        labels,
        recipe,
        priors=UNIFORM_PRIORS,
        callbacks=[recorder],
    )
    for seen, expected in recorder.pairs:
        torch.testing.assert_close(seen, expected)


@pytest.mark.parametrize("name", HOLD_OUT_METHODS)
def test_held_out_rows_are_recorded_but_not_trained_on(name):
    g, labels = random_labels(40)
    method = prepared_with_priors(name, labels, hold_out=0.25)
    assert method.validation_mask.sum() == 10
    f = (-g).requires_grad_(True)
    loss = method.loss(f, batch_of(labels))
    loss.backward()
    assert f.grad[method.validation_mask].abs().max() == 0
    assert f.grad[~method.validation_mask].abs().max() > 0
    method.after_step(nn.Identity(), batch_of(labels))
    assert torch.equal(method.scores_seen, g)

    kept = np.nonzero(~method.validation_mask.numpy())[0]
    alone = prepared_with_priors(name, labels[kept], hold_out=0.0)
    torch.testing.assert_close(loss, alone.loss(-g[kept], batch_of(labels[kept])))


@pytest.mark.parametrize("name", HOLD_OUT_METHODS)
def test_batch_of_held_out_rows_has_zero_loss_and_gradient(name):
    g, labels = random_labels(40)
    method = prepared_with_priors(name, labels, hold_out=0.25)
    f = (-g).requires_grad_(True)
    rows = method.validation_mask.nonzero().flatten().tolist()
    loss = method.loss(f[rows], batch_of(labels, rows))
    loss.backward()
    assert loss.item() == 0
    assert f.grad.abs().max() == 0


def test_held_out_rows_depend_on_seed():
    X, _, labels = three_blobs(60)

    def held_out(seed):
        method = make_method("meta-pusb")
        train(linear_model(), method, X, labels, Recipe(epochs=1, seed=seed), priors=UNIFORM_PRIORS)
        return method.validation_mask

    assert held_out(0).sum() == 6
    assert torch.equal(held_out(0), held_out(0))
    assert not torch.equal(held_out(0), held_out(1))


def test_held_out_or_all_uses_all_rows_of_class_without_held_out_label():
    excluded = torch.tensor([[True, False], [True, False], [False, True]])
    rows = held_out_or_all(excluded, torch.tensor([True, False, False]))
    assert rows.tolist() == [[True, True], [False, True], [False, True]]
