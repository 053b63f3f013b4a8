"""What methods keep while they train: confidences, shrinking candidates, a second network."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from helpers.methods import CONFIDENCE_METHODS, batch_of, double, ready
from torch import nn

from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.methods.partial_label import candidate_matrix
from scarce.testing import three_blobs
from scarce.training import Callback, Recipe, train

RECIPE = Recipe(epochs=11, batch_size=16, learning_rate=0.1)


def mixed_labels():
    """Three clouds with everything at once: no answer, one "no", two "no", "yes" alone, "yes" with a "no"."""
    X, y, _ = three_blobs(60)
    codes = np.unique(y, return_inverse=True)[1]
    answers = np.full((60, 3), np.nan)
    for i, true in enumerate(codes):
        wrong = [(true + 1 + i // 3 % 2) % 3, (true + 2 - i // 3 % 2) % 3]
        no, yes = {0: (0, 0), 1: (1, 0), 2: (2, 0), 3: (0, 1), 4: (1, 1)}[i % 5]
        answers[i, wrong[:no]] = 0
        if yes:
            answers[i, true] = 1
    return X, ComplementaryLabels.from_answer_matrix(answers)


def linear(seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Linear(2, 3)


class Watch(Callback):
    """Take a copy of model and method before the run and after every epoch."""

    def __init__(self):
        self.states = []

    def on_start(self, run):
        self._take(run)

    def on_epoch(self, run, record):
        self._take(run)

    def _take(self, run):
        copies = {name: value.clone() for name, value in run.method.state_dict().items()}
        copies |= {f"model.{name}": value.clone() for name, value in run.model.state_dict().items()}
        self.states.append(copies)


def watched_run(method, inputs, labels, recipe=RECIPE, model=None):
    watch = Watch()
    train(model or linear(), method, inputs, labels, recipe, callbacks=[watch], make_model=lambda: linear(1))
    return watch.states


# Confidences ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CONFIDENCE_METHODS if name != "lws"])
def test_confidences_are_distributions_over_the_candidates(name):
    inputs, labels = mixed_labels()
    params = {"pop": {"warm_up": 5, "theta": 0.3}, "idgp": {"warm_up": 2}}.get(name, {})
    states = watched_run(make_method(name, **params), inputs, labels)
    candidates = candidate_matrix(labels)
    excluded = torch.from_numpy(labels.indicator())
    sizes = candidates.sum(dim=1)
    known = torch.from_numpy(labels.confirmed >= 0)
    assert set(sizes[known].tolist()) == {1}
    assert set(sizes.tolist()) == {1, 2, 3}
    for state in states:
        C = state["confidence"]
        assert C.min() >= 0
        assert not (state["candidates"] & excluded).any()
        assert C[~candidates].max() == 0
        torch.testing.assert_close(C.sum(dim=1), torch.ones(60))
        torch.testing.assert_close(C[known], candidates[known].float())
    assert not torch.equal(states[-1]["confidence"], states[0]["confidence"])


def test_weights_of_lws_are_two_distributions_inside_and_outside_the_candidates():
    inputs, labels = mixed_labels()
    recipe = Recipe(epochs=6, batch_size=16, learning_rate=0.01)
    _, *states = watched_run(make_method("lws"), inputs, labels, recipe)
    candidates = candidate_matrix(labels)
    some_excluded = (~candidates).any(dim=1).float()
    for state in states:
        C = state["confidence"]
        assert C.min() >= 0
        torch.testing.assert_close((C * candidates).sum(dim=1), torch.ones(60), atol=1e-4, rtol=0)
        torch.testing.assert_close((C * ~candidates).sum(dim=1), some_excluded, atol=1e-4, rtol=0)


def test_a_confirmed_class_is_the_only_candidate_whatever_was_excluded():
    labels = ComplementaryLabels.from_answer_matrix(
        [[1, np.nan, np.nan], [0, 1, np.nan], [0, np.nan, 0], [np.nan, np.nan, np.nan]]
    )
    assert candidate_matrix(labels).int().tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 1, 1]]


@pytest.mark.parametrize("name", ["rc", "proden", "cavl", "pop", "cc"])
def test_a_confirmed_row_has_its_ordinary_cross_entropy(name):
    labels = ComplementaryLabels.from_answer_matrix([[1, np.nan, np.nan], [0, 1, np.nan]])
    logits = double([[0.3, 1.0, -0.5], [0.2, -0.1, 0.9]])
    logp = torch.log_softmax(logits, dim=1)
    loss = ready(name, labels).loss(logits, batch_of(labels))
    assert loss.item() == pytest.approx(-(logp[0, 0] + logp[1, 1]).item() / 2)


@pytest.mark.parametrize("name", ["proden", "rc", "pop"])
def test_a_candidate_whose_probability_underflows_can_come_back(name):
    """Reading the candidates off the confidences, as published, would lose it for good."""
    labels = ComplementaryLabels.from_single([2], classes=3)
    method = ready(name, labels).float()

    def step(logits):
        logits = torch.tensor([logits], requires_grad=True)
        batch = batch_of(labels, inputs=logits.detach())
        loss = method.loss(logits, batch)
        loss.backward()
        assert loss.isfinite()
        assert logits.grad.isfinite().all()
        method.after_step(nn.Identity(), batch)
        return method.confidence.tolist()

    assert step([300.0, -300.0, 0.0]) == [[1.0, 0.0, 0.0]]
    assert step([-300.0, 300.0, 0.0]) == [[0.0, 1.0, 0.0]]
    assert step([0.0, 0.0, 500.0]) == [[0.5, 0.5, 0.0]]


def test_cavl_follows_the_most_active_candidate_and_not_the_most_probable():
    """|f − 1| f is not monotone between 0 and 1, and negative logits do not lose to an excluded class."""
    labels = ComplementaryLabels.from_single([2, 2], classes=3)
    method = ready("cavl", labels)
    method.after_step(nn.Identity(), batch_of(labels, inputs=double([[0.5, 0.9, 5.0], [-3.0, -2.0, 1.0]])))
    assert method.confidence.tolist() == [[1, 0, 0], [0, 1, 0]]


# Batch norm ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONFIDENCE_METHODS)
def test_statistics_of_batch_norm_move_once_a_step(name):
    inputs, labels = mixed_labels()
    torch.manual_seed(0)
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 3))
    watched_run(make_method(name), inputs, labels, Recipe(epochs=3, batch_size=20), model)
    assert model[0].num_batches_tracked.item() == 9

    model[0].reset_running_stats()
    watched_run(make_method(name), inputs, labels, Recipe(epochs=1, batch_size=60), model)
    torch.testing.assert_close(model[0].running_mean, 0.1 * torch.from_numpy(inputs).mean(dim=0))


@pytest.mark.parametrize("name", ["rc", "cavl", "lws"])
def test_a_second_look_is_in_evaluation_mode_and_leaves_the_model_training(name):
    labels = ComplementaryLabels.from_single([0, 1, 2], classes=3)
    model = nn.Sequential(nn.Dropout(0.9), nn.Linear(3, 3)).double()
    batch = batch_of(labels, inputs=torch.eye(3, dtype=torch.float64))
    method = ready(name, labels)
    method.after_step(model, batch)
    assert model.training
    assert model[0].training
    plain = model[1](batch.inputs).detach()
    torch.testing.assert_close(method.confidence, method.refreshed(plain, method.candidates))
    assert not method.confidence.requires_grad


# POP -----------------------------------------------------------------------------------------------------------


def test_what_pop_removed_stays_removed():
    """Batch updates after a purification start from the purged candidates."""
    labels = ComplementaryLabels.from_single([3, 0], classes=4)
    method = ready("pop", labels, warm_up=5, theta=0.1)
    method.confidence = double([[0.9, 0.08, 0.02, 0.0], [0.0, 0.5, 0.3, 0.2]])
    for epoch in range(5):
        method.after_epoch(epoch)
    assert method.candidates.int().tolist() == [[1, 0, 0, 0], [0, 1, 1, 1]]
    believes_otherwise = double([[0.0, 9.0, 9.0, 9.0], [9.0, 0.0, 0.0, 0.0]])
    batch = batch_of(labels)
    method.loss(believes_otherwise, batch)
    method.after_step(nn.Identity(), batch)
    assert method.confidence.tolist() == [
        pytest.approx([1, 0, 0, 0]),
        pytest.approx([0, 1 / 3, 1 / 3, 1 / 3]),
    ]


def test_pop_only_ever_removes_and_never_the_last_candidate():
    inputs, labels = mixed_labels()
    states = watched_run(
        make_method("pop", warm_up=5, theta=1.0), inputs, labels, Recipe(epochs=16, batch_size=16)
    )
    sizes = [state["candidates"].sum().item() for state in states]
    for before, after in pairwise(states):
        assert not (after["candidates"] & ~before["candidates"]).any()
        assert after["candidates"].any(dim=1).all()
        assert after["confidence"][~after["candidates"]].max() == 0
    assert sizes[:5] == [candidate_matrix(labels).sum().item()] * 5
    assert sizes[5] < sizes[4]
    assert sizes[5] == 60  # θ = 1 leaves the likeliest alone
    assert states[-1]["theta_now"] == 1


def test_pop_purifies_every_fifth_epoch_from_the_warm_up_on():
    labels = ComplementaryLabels.from_single([2], classes=3)
    method = ready("pop", labels, warm_up=7, theta=0.5)
    purified = []
    for epoch in range(16):
        method.candidates = candidate_matrix(labels)
        method.confidence = double([[0.9, 0.1, 0.0]])
        method.after_epoch(epoch)
        if method.candidates.sum() == 1:
            purified.append(epoch + 1)
    assert purified == [10, 15]


def test_pop_remembers_five_epochs_and_no_more():
    labels = ComplementaryLabels.from_single([2], classes=3)
    method = ready("pop", labels, warm_up=10, theta=0.2)
    for epoch in range(10):
        old = epoch < 5
        method.confidence = double([[1.0, 0.0, 0.0]] if old else [[0.0, 1.0, 0.0]])
        method.after_epoch(epoch)
    assert method.candidates.int().tolist() == [[0, 1, 0]]


def test_the_threshold_of_pop_grows_while_little_is_removed_and_stops():
    labels = ComplementaryLabels.from_single([2] * 2, classes=3)
    method = ready("pop", labels, warm_up=5, theta=0.3, growth=0.2)
    thresholds = []
    for epoch in range(20):
        method.confidence = double([[0.5, 0.5, 0.0]] * 2)
        method.after_epoch(epoch)
        thresholds.append(round(method.theta_now.item(), 6))
    assert thresholds[4::5] == [0.36, 0.432, 0.432, 0.432]


# IDGP ----------------------------------------------------------------------------------------------------------


def parts_that_moved(states):
    """For every epoch, whether the classifier and the second network have other weights than before."""
    return [
        tuple(
            any(not torch.equal(before[name], after[name]) for name in after if name.startswith(part))
            for part in ("model.", "generator.")
        )
        for before, after in pairwise(states)
    ]


def test_idgp_warms_up_one_network_after_the_other():
    inputs, labels = mixed_labels()
    states = watched_run(make_method("idgp", warm_up=2), inputs, labels, Recipe(epochs=6, batch_size=16))
    assert parts_that_moved(states) == [(True, False)] * 2 + [(False, True)] * 2 + [(True, True)] * 2
    assert [state["epoch"].item() for state in states] == list(range(7))


def test_idgp_without_warm_up_trains_both_at_once():
    inputs, labels = mixed_labels()
    states = watched_run(make_method("idgp", warm_up=0), inputs, labels, Recipe(epochs=2, batch_size=16))
    assert parts_that_moved(states) == [(True, True)] * 2


def test_the_second_network_of_idgp_first_learns_the_candidates_themselves():
    """Its outputs before it was trained are no target for it."""
    inputs, labels = mixed_labels()
    states = watched_run(make_method("idgp", warm_up=2), inputs, labels, Recipe(epochs=3, batch_size=16))
    candidates = candidate_matrix(labels).float()
    assert torch.equal(states[0]["belief"], candidates)
    assert torch.equal(states[2]["belief"], candidates)
    assert states[3]["belief"][candidates == 1].max() < 1
    assert states[3]["belief"][candidates == 0].max() == 0


def test_the_weight_of_the_divergences_of_idgp_rises_for_a_hundred_epochs():
    labels = ComplementaryLabels.from_single([0, 1], classes=3)
    method = ready("idgp", labels, warm_up=5)
    logits, batch = double([[0.3, -1.0, 0.4], [1.0, 0.2, 0.1]]), batch_of(labels)
    losses = {}
    for epoch in (10, 11, 60, 110, 400):
        method.epoch.fill_(epoch)
        losses[epoch] = method.loss(logits, batch).item()
    whole = losses[110] - losses[10]
    assert abs(whole) > 0.1
    assert losses[11] - losses[10] == pytest.approx(whole / 100)
    assert losses[60] - losses[10] == pytest.approx(whole / 2)
    assert losses[400] == losses[110]


def test_the_two_objectives_of_idgp_reach_different_networks():
    labels = ComplementaryLabels.from_single([0, 1], classes=3)
    alone, both = (ready("idgp", labels, warm_up=0, theta=t, gamma=t) for t in (0.0, 1.0))
    both.generator.load_state_dict(alone.generator.state_dict())
    gradients = []
    for method in (alone, both):
        logits = double([[0.3, -1.0, 0.4], [1.0, 0.2, 0.1]]).requires_grad_(True)
        method.loss(logits, batch_of(labels, inputs=torch.ones(2, 3, dtype=torch.float64))).backward()
        gradients.append((logits.grad, method.generator.output.weight.grad))
    torch.testing.assert_close(gradients[0][0], gradients[1][0])
    assert gradients[0][1].abs().max() == 0
    assert gradients[1][1].abs().max() > 0


# A method used again -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*CONFIDENCE_METHODS, "cpe-t"])
def test_a_method_that_is_prepared_again_starts_anew(name):
    X, _, labels = three_blobs(60)
    params = {"pop": {"warm_up": 5, "theta": 0.2}, "idgp": {"warm_up": 1}}.get(name, {})

    def weights(method):
        model = linear()
        train(model, method, X, labels, RECIPE, make_model=lambda: linear(1), transition=(1 - np.eye(3)) / 2)
        return {**model.state_dict(), **{f"method.{k}": v.clone() for k, v in method.state_dict().items()}}

    method = make_method(name, **params)
    first, second = weights(method), weights(method)
    assert all(torch.equal(first[key], second[key]) for key in first)
