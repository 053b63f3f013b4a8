"""SCARCE-Meta: what the learners see, hold out, rank and mix while they train."""

import numpy as np
import pytest
import torch
from helpers.meta_methods import HOLDING_OUT, THIRDS, linear, one_epoch, prepared, random_labels
from helpers.methods import batch_of
from torch import nn
from torch.nn.functional import logsigmoid

from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, make_method
from scarce.methods.meta._mixup import Mixture
from scarce.methods.meta._recording import held_out_or_all
from scarce.pu import (
    best_bin,
    cvir_kept,
    positive_share,
    vpu_losses,
    vpu_mixup_losses,
)
from scarce.testing import three_blobs
from scarce.training import Callback, Recipe, predict_logits, train

# What was seen, and what is held out ---------------------------------------------------------------------------


class Seen(Callback):
    def __init__(self, X):
        self.X, self.pairs = torch.from_numpy(X), []

    def on_epoch(self, run, record):
        self.pairs.append((run.method.seen.clone(), -predict_logits(run.model, self.X)))
        run.model.train()


def test_the_scores_of_a_step_are_kept_for_the_rows_of_the_step():
    """With a learning rate near zero the scores that were seen are those of a second pass."""
    X, _, labels = three_blobs(50)
    watch = Seen(X)
    recipe = Recipe(epochs=2, batch_size=16, learning_rate=1e-9)
    train(linear(), make_method("meta-cvir"), X, labels, recipe, priors=THIRDS, callbacks=[watch])
    for seen, expected in watch.pairs:
        torch.testing.assert_close(seen, expected)


@pytest.mark.parametrize("name", HOLDING_OUT)
def test_held_out_rows_are_seen_but_not_trained_on(name):
    g, labels = random_labels(40)
    method = prepared(name, labels, hold_out=0.25)
    assert method.held_out.sum() == 10
    f = (-g).requires_grad_(True)
    loss = method.loss(f, batch_of(labels))
    loss.backward()
    assert f.grad[method.held_out].abs().max() == 0
    assert f.grad[~method.held_out].abs().max() > 0
    method.after_step(nn.Identity(), batch_of(labels))
    assert torch.equal(method.seen, g)

    kept = np.nonzero(~method.held_out.numpy())[0]
    alone = prepared(name, labels[kept], hold_out=0.0)
    torch.testing.assert_close(loss, alone.loss(-g[kept], batch_of(labels[kept])))


@pytest.mark.parametrize("name", HOLDING_OUT)
def test_a_batch_of_held_out_rows_alone_teaches_nothing(name):
    g, labels = random_labels(40)
    method = prepared(name, labels, hold_out=0.25)
    f = (-g).requires_grad_(True)
    rows = method.held_out.nonzero().flatten().tolist()
    loss = method.loss(f[rows], batch_of(labels, rows))
    loss.backward()
    assert loss.item() == 0
    assert f.grad.abs().max() == 0


def test_the_rows_held_out_follow_from_the_seed_of_the_run():
    X, _, labels = three_blobs(60)

    def held_out(seed):
        method = make_method("meta-pusb")
        train(linear(), method, X, labels, Recipe(epochs=1, seed=seed), priors=THIRDS)
        return method.held_out

    assert held_out(0).sum() == 6
    assert torch.equal(held_out(0), held_out(0))
    assert not torch.equal(held_out(0), held_out(1))


def test_a_class_without_held_out_exclusions_is_measured_on_all_rows():
    excluded = torch.tensor([[True, False], [True, False], [False, True]])
    rows = held_out_or_all(excluded, torch.tensor([True, False, False]))
    assert rows.tolist() == [[True, True], [False, True], [False, True]]


# CVIR and TEDn -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unlabeled", ["all", "rest"])
def test_cvir_ranks_from_the_end_of_the_warm_up_on(unlabeled):
    g, labels = random_labels(40)
    excluded = torch.from_numpy(labels.indicator())
    method = prepared("meta-cvir", labels, unlabeled=unlabeled, warm_up=2)
    every = torch.ones_like(excluded) if unlabeled == "all" else ~excluded
    one_epoch(method, g, labels, epoch=0)
    assert torch.equal(method.kept, every)
    one_epoch(method, g, labels, epoch=1)
    share = positive_share(THIRDS, torch.tensor(labels.rates), unlabeled)
    torch.testing.assert_close(method.share, share)
    assert torch.equal(method.kept, cvir_kept(g, excluded.double(), share, unlabeled=unlabeled))
    assert not (method.kept & ~every).any()


@pytest.mark.parametrize("unlabeled", ["all", "rest"])
def test_tedn_estimates_the_shares_on_held_out_rows(unlabeled):
    g, labels = random_labels(400)
    excluded = torch.from_numpy(labels.indicator())
    method = prepared("meta-tedn", labels, unlabeled=unlabeled, warm_up=1, hold_out=0.5)
    one_epoch(method, g, labels)
    held = method.held_out
    for k in range(3):
        others = held if unlabeled == "all" else held & ~excluded[:, k]
        estimate = best_bin(g[held & excluded[:, k], k], g[others, k]).share
        assert method.share[k].item() == pytest.approx(estimate if estimate < 1 else 0)
        trained = method.kept[~held, k].sum().item()
        possible = (~held if unlabeled == "all" else ~held & ~excluded[:, k]).sum().item()
        assert trained == possible - int(method.share[k].item() * possible)


def test_tedn_finds_the_shares_of_clouds_that_it_tells_apart():
    X, _, labels = three_blobs(3000)
    for unlabeled, share in (("all", 2 / 3), ("rest", 1 / 2)):  # half of "not k" excludes k
        method = make_method("meta-tedn", unlabeled=unlabeled, hold_out=0.4)
        train(linear(), method, X, labels, Recipe(epochs=15, batch_size=100, learning_rate=0.02))
        assert method.share.tolist() == pytest.approx([share] * 3, abs=0.07)


def test_an_estimate_that_would_leave_no_row_is_passed_over():
    labels = ComplementaryLabels.from_single([0, 0, 1, 1], classes=3)
    method = prepared("meta-tedn", labels, warm_up=1)
    one_epoch(method, torch.zeros(4, 3, dtype=torch.float64), labels)
    assert method.share.tolist() == [0, 0, 0]
    assert method.kept.all()


# Mixtures ------------------------------------------------------------------------------------------------------


def test_vpu_shows_the_model_every_row_mixed_with_another():
    labels = ComplementaryLabels.from_single([0, 1, 2, 0], classes=3)
    inputs = torch.randn(4, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    batch = batch_of(labels, inputs=inputs)
    assert make_method("meta-vpu").shown(batch) is inputs
    method = prepared("meta-vpu", labels, mixup=True)
    shown = method.shown(batch)
    partner, weight = method._mixture
    assert sorted(partner.tolist()) == [0, 1, 2, 3]
    assert torch.equal(shown[:4], inputs)
    for i, j in enumerate(partner.tolist()):
        torch.testing.assert_close(shown[4 + i], weight * inputs[i] + (1 - weight) * inputs[j])


@pytest.mark.parametrize("unlabeled", ["all", "rest"])
def test_a_pair_counts_for_the_classes_that_its_second_row_excludes(unlabeled):
    g, labels = random_labels(12)
    excluded = torch.from_numpy(labels.indicator(dtype=float))
    mixed = torch.randn(12, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    method = prepared("meta-vpu", labels, unlabeled=unlabeled, mixup=True)
    partner = torch.arange(12).roll(1)
    method._mixture = Mixture(partner, 0.3)
    pairs = torch.zeros(12, 3, dtype=torch.float64)
    for i in range(12):
        for k in range(3):
            counts = excluded[partner[i], k] and (unlabeled == "all" or not excluded[i, k])
            pairs[i, k] = float(counts)
    expected = vpu_losses(g, excluded, unlabeled=unlabeled) + 0.03 * vpu_mixup_losses(g, mixed, pairs, 0.3)
    loss = method.loss(-torch.cat([g, mixed]), batch_of(labels))
    torch.testing.assert_close(loss, expected.sum())
    assert torch.equal(method._scores, g)


def test_dist_pu_mixes_after_the_warm_up():
    g, labels = random_labels(12)
    excluded = torch.from_numpy(labels.indicator(dtype=float))
    batch = Batch(g, excluded, torch.arange(12))
    method = prepared("meta-dist-pu", labels, warm_up=2, period=4, weight=None)
    for epoch in range(2):
        assert method.shown(batch) is g
        one_epoch(method, g, labels, epoch)
    warm = prepared("meta-dist-pu", labels, mu=0.0, weight=None).loss(-g, batch)
    shown = method.shown(batch)
    assert len(shown) == 24
    partner, weight = method._mixture
    mixed = shown[12:]  # as if the model gave back its inputs
    loss = method.loss(-shown, batch)

    target = torch.where(excluded > 0, torch.ones_like(g), torch.sigmoid(g))
    target = weight * target + (1 - weight) * target[partner]
    cross = -(target * logsigmoid(mixed) + (1 - target) * logsigmoid(-mixed)).mean(dim=0).sum()
    p = torch.sigmoid(mixed)
    entropy = -(p * p.log() + (1 - p) * (1 - p).log()).mean(dim=0).sum()
    torch.testing.assert_close(loss, warm + 5 * cross + 0.04 * entropy)


@pytest.mark.parametrize(("name", "params"), [("meta-vpu", {}), ("meta-dist-pu", {"warm_up": 2})])
def test_mixtures_pass_through_convolutions_and_resume_exactly(name, params, tmp_path):
    images = np.random.default_rng(0).random((24, 1, 6, 6)).astype(np.float32)
    _, labels = random_labels(24)

    class Stop(Callback):
        def on_epoch(self, run, record):
            if run.epoch == 3:
                raise KeyboardInterrupt

    def run(checkpoint, callbacks=()):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(32, 3))
        train(model, make_method(name, **params), images, labels, Recipe(epochs=5, batch_size=8), priors=THIRDS,
              checkpoint=checkpoint, callbacks=callbacks)  # fmt: skip
        return model.state_dict()

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", [Stop()])
    resumed, whole = run(tmp_path / "run"), run(None)
    assert all(torch.equal(resumed[key], whole[key]) for key in whole)
