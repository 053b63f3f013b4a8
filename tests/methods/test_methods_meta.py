"""SCARCE-Meta: what the learners keep, hold out and mix, where they coincide, and how they decide."""

import numpy as np
import pytest
import torch
from golden import records, tensors
from hypothesis import given
from methods_world import batch_of, double, labels_of, quick, worlds
from torch import nn
from torch.nn.functional import logsigmoid

from scarce.errors import DivergedError, MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Problem, available_methods, make_method
from scarce.methods.meta.mixing import Mixture
from scarce.methods.meta.recording import held_out_or_all
from scarce.pu import (
    best_bin,
    cvir_kept,
    not_k_posterior,
    positive_share,
    pusb_thresholds,
    vpu_losses,
    vpu_mixup_losses,
)
from scarce.testing import check_method, three_blobs
from scarce.training import Callback, Recipe, predict_logits, train

META = [name for name in available_methods() if name.startswith("meta-")]
HOLDING_OUT = ["meta-tedn", "meta-pusb", "meta-elkan-noto"]
THIRDS = torch.full((3,), 1 / 3, dtype=torch.float64)


def prepared(name, labels, priors=None, **params):
    method = make_method(name, **params)
    q = labels.n_classes
    method.prepare(
        Problem(labels, torch.full((q,), 1 / q, dtype=torch.float64) if priors is None else priors)
    )
    return method.double()


def one_epoch(method, g, labels, epoch=0):
    """Show the method these scores of all rows, as an epoch of one step."""
    batch = batch_of(labels)
    loss = method.loss(-g, batch)
    method.after_step(nn.Identity(), batch)
    method.after_epoch(epoch)
    return loss


def random_labels(n, q=3, seed=0):
    rng = np.random.default_rng(seed)
    excluded = rng.random((n, q)) < 0.4
    excluded[excluded.all(axis=1)] = False
    return torch.from_numpy(rng.normal(size=(n, q))), ComplementaryLabels.from_indicator(excluded)


def linear():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Linear(2, 3)


# What they are -------------------------------------------------------------------------------------------------


def test_the_learners_and_which_of_them_need_priors():
    assert META == ["meta-upu", "meta-nnpu", "meta-vpu", "meta-dist-pu", "meta-cvir", "meta-tedn", "meta-pusb",
                    "meta-elkan-noto"]  # fmt: skip
    without = [name for name in META if not available_methods()[name].needs_priors]
    assert without == ["meta-vpu", "meta-tedn", "meta-elkan-noto"]
    X, _, labels = three_blobs(30)
    for name in without:
        train(linear(), make_method(name), X, labels, Recipe(epochs=4, batch_size=10))
    with pytest.raises(MethodError, match="meta-nnpu needs class priors"):
        train(linear(), make_method("meta-nnpu"), X, labels, Recipe(epochs=1))


RECORDED = {
    "meta_upu": ("meta-upu", ("loss",)),
    "meta_nnpu": ("meta-nnpu", ("loss", "beta", "gamma")),
    "meta_vpu": ("meta-vpu", ()),
    "meta_distpu": ("meta-dist-pu", ("mu",)),
    "meta_en": ("meta-elkan-noto", ()),
}


@pytest.mark.parametrize(
    "record", [each for each in records(*RECORDED) if each.values[0]["fixture"] != "TINY"]
)
def test_losses_are_those_of_the_records_with_the_network_turned_round(record):
    """The network gives f = −g; TINY has a class that no row excludes, which a method leaves out."""
    name, keys = RECORDED[record["method"]]
    params = {key: record["params"][key] for key in keys}
    if record["params"].get("unlabeled") == "U_k":
        params["unlabelled"] = "rest"
    if name == "meta-dist-pu":
        params["weight"] = None
    g, excluded, priors = tensors(record)
    labels = ComplementaryLabels.from_indicator(excluded.numpy())
    loss = prepared(name, labels, priors, **params).loss(-g, batch_of(labels))
    loss.backward()
    assert loss.item() == pytest.approx(record["loss"], abs=1e-9)
    torch.testing.assert_close(g.grad, double(record["grad"]), atol=1e-9, rtol=0)


@quick
@given(worlds("any"))
def test_upu_is_scarce_without_correction(world):
    logits, excluded, _ = world
    labels = labels_of(excluded, logits)
    gradients = []
    for name in ("meta-upu", "scarce-ure"):
        f = double(logits).requires_grad_(True)
        loss = prepared(name, labels).loss(f, batch_of(labels))
        loss.backward()
        gradients.append((loss.detach(), f.grad))
    torch.testing.assert_close(gradients[0], gradients[1])


@quick
@given(worlds("any"))
def test_nnpu_is_scarce_with_ascent(world):
    logits, excluded, _ = world
    labels = labels_of(excluded, logits)
    f, batch = double(logits), batch_of(labels)
    nnpu = prepared("meta-nnpu", labels, beta=0.1, gamma=0.5).loss(f, batch)
    scarce = prepared("scarce", labels, correction="nnpu", beta=0.1, gamma=0.5).loss(f, batch)
    torch.testing.assert_close(nnpu, scarce)


@pytest.mark.parametrize("name", META)
def test_a_class_that_no_row_excludes_is_not_trained(name):
    g, _ = random_labels(6)
    labels = ComplementaryLabels.from_lists([[0], [1], [0, 1], [1], [], [0]], classes=3)
    method = prepared(name, labels)
    f = (-g).requires_grad_(True)
    method.loss(f, batch_of(labels)).backward()
    assert f.grad[:, :2].abs().max() > 0
    assert f.grad[:, 2].abs().max() == 0
    one_epoch(method, g, labels)
    assert method.scores(f).isfinite().all()
    assert method.probabilities(f).isfinite().all()


@pytest.mark.parametrize("name", META)
def test_labels_that_only_confirm_are_refused(name):
    labels = ComplementaryLabels.from_answer_matrix([[1, np.nan, np.nan], [np.nan, 1, np.nan]])
    with pytest.raises(
        MethodError, match=f"no example excludes any class, and {name} learns from exclusions"
    ):
        make_method(name).prepare(Problem(labels, THIRDS))


@pytest.mark.parametrize("name", META)
def test_predictions_need_little(name):
    """No more than a number per class, whatever the size of the training data."""
    _, labels = random_labels(50)
    state = prepared(name, labels).prediction_state()
    assert [tuple(value.shape) for value in state.values()] in ([], [(3,)])


@pytest.mark.parametrize("name", META)
def test_a_method_that_is_prepared_again_starts_anew(name):
    X, _, labels = three_blobs(60)
    params = {"warm_up": 2} if "warm_up" in make_method(name).params else {}

    def weights(method):
        model = linear()
        train(model, method, X, labels, Recipe(epochs=5, batch_size=16, learning_rate=0.1), priors=THIRDS)
        return {**model.state_dict(), **{f"method.{k}": v.clone() for k, v in method.state_dict().items()}}

    method = make_method(name, **params)
    first, second = weights(method), weights(method)
    assert all(torch.equal(first[key], second[key]) for key in first)


@pytest.mark.parametrize("name", META)
def test_a_run_that_diverges_is_said_to(name):
    """What is done with scores after an epoch must not fall over those that are no numbers."""
    X, _, labels = three_blobs(40)
    params = {"warm_up": 1} if "warm_up" in make_method(name).params else {}
    model = linear()
    nn.init.constant_(model.weight, float("nan"))
    with pytest.raises(DivergedError, match="try a smaller learning rate"):
        train(model, make_method(name, **params), X, labels, Recipe(epochs=2, batch_size=10), priors=THIRDS)


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


# How they decide -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hold_out", [0.0, 0.3])
def test_pusb_moves_its_thresholds_to_quantiles_of_held_out_scores(hold_out):
    g, labels = random_labels(40)
    priors = double([0.5, 0.3, 0.2])
    method = prepared("meta-pusb", labels, priors, hold_out=hold_out)
    torch.testing.assert_close(method.scores(-g), -g)
    one_epoch(method, g, labels)
    rows = method.held_out if hold_out else torch.ones(40, dtype=torch.bool)
    thresholds = pusb_thresholds(g[rows], priors)
    torch.testing.assert_close(method.scores(-g), -(g - thresholds))


def test_elkan_noto_divides_by_the_frequency_of_labels():
    g, labels = random_labels(200)
    method = prepared("meta-elkan-noto", labels)
    one_epoch(method, g, labels)
    held = method.held_out.numpy()[:, None] & labels.indicator()
    c = double([torch.sigmoid(g[held[:, k], k]).mean().item() for k in range(3)])
    torch.testing.assert_close(method.scores(-g), -not_k_posterior(g, c).log())
    chances = (1 - not_k_posterior(g, c)).clamp(min=0)
    possible = chances.sum(dim=1) > 0
    expected = chances[possible] / chances[possible].sum(dim=1, keepdim=True)
    torch.testing.assert_close(method.probabilities(-g)[possible], expected)


def test_elkan_noto_takes_the_frequency_from_priors_if_asked_to():
    g, labels = random_labels(40)
    priors = double([0.5, 0.3, 0.2])
    method = prepared("meta-elkan-noto", labels, priors, frequency="priors")
    one_epoch(method, g, labels)
    c = torch.tensor(labels.rates) / (1 - priors)
    assert not method.held_out.any()
    torch.testing.assert_close(method.scores(-g), -not_k_posterior(g, c).log())
    with pytest.raises(MethodError, match="frequency='priors' needs class priors; pass priors="):
        make_method("meta-elkan-noto", frequency="priors").prepare(Problem(labels))


def test_vpu_compares_the_classes_after_division_by_their_highest():
    g, labels = random_labels(40)
    method = prepared("meta-vpu", labels)
    one_epoch(method, g, labels)
    phi = torch.sigmoid(g)
    not_k = phi / phi.amax(dim=0)
    torch.testing.assert_close(method.scores(-g), -not_k.log())
    expected = (1 - not_k) / (1 - not_k).sum(dim=1, keepdim=True)
    torch.testing.assert_close(method.probabilities(-g), expected)


# CVIR and TEDn -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unlabelled", ["all", "rest"])
def test_cvir_ranks_from_the_end_of_the_warm_up_on(unlabelled):
    g, labels = random_labels(40)
    excluded = torch.from_numpy(labels.indicator())
    method = prepared("meta-cvir", labels, unlabelled=unlabelled, warm_up=2)
    every = torch.ones_like(excluded) if unlabelled == "all" else ~excluded
    one_epoch(method, g, labels, epoch=0)
    assert torch.equal(method.kept, every)
    one_epoch(method, g, labels, epoch=1)
    share = positive_share(THIRDS, torch.tensor(labels.rates), unlabelled)
    torch.testing.assert_close(method.share, share)
    assert torch.equal(method.kept, cvir_kept(g, excluded.double(), share, unlabelled=unlabelled))
    assert not (method.kept & ~every).any()


@pytest.mark.parametrize("unlabelled", ["all", "rest"])
def test_tedn_estimates_the_shares_on_held_out_rows(unlabelled):
    g, labels = random_labels(400)
    excluded = torch.from_numpy(labels.indicator())
    method = prepared("meta-tedn", labels, unlabelled=unlabelled, warm_up=1, hold_out=0.5)
    one_epoch(method, g, labels)
    held = method.held_out
    for k in range(3):
        others = held if unlabelled == "all" else held & ~excluded[:, k]
        estimate = best_bin(g[held & excluded[:, k], k], g[others, k]).share
        assert method.share[k].item() == pytest.approx(estimate if estimate < 1 else 0)
        trained = method.kept[~held, k].sum().item()
        possible = (~held if unlabelled == "all" else ~held & ~excluded[:, k]).sum().item()
        assert trained == possible - int(method.share[k].item() * possible)


def test_tedn_finds_the_shares_of_clouds_that_it_tells_apart():
    X, _, labels = three_blobs(3000)
    for unlabelled, share in (("all", 2 / 3), ("rest", 1 / 2)):  # half of "not k" excludes k
        method = make_method("meta-tedn", unlabelled=unlabelled, hold_out=0.4)
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
    assert make_method("meta-vpu", mixup=False).shown(batch) is inputs
    method = prepared("meta-vpu", labels)
    shown = method.shown(batch)
    partner, weight = method._mixture
    assert sorted(partner.tolist()) == [0, 1, 2, 3]
    assert torch.equal(shown[:4], inputs)
    for i, j in enumerate(partner.tolist()):
        torch.testing.assert_close(shown[4 + i], weight * inputs[i] + (1 - weight) * inputs[j])


@pytest.mark.parametrize("unlabelled", ["all", "rest"])
def test_a_pair_counts_for_the_classes_that_its_second_row_excludes(unlabelled):
    g, labels = random_labels(12)
    excluded = torch.from_numpy(labels.indicator(dtype=float))
    mixed = torch.randn(12, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    method = prepared("meta-vpu", labels, unlabelled=unlabelled)
    partner = torch.arange(12).roll(1)
    method._mixture = Mixture(partner, 0.3)
    pairs = torch.zeros(12, 3, dtype=torch.float64)
    for i in range(12):
        for k in range(3):
            counts = excluded[partner[i], k] and (unlabelled == "all" or not excluded[i, k])
            pairs[i, k] = float(counts)
    expected = vpu_losses(g, excluded, unlabelled=unlabelled) + 0.03 * vpu_mixup_losses(g, mixed, pairs, 0.3)
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


# Parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        *((name, {"unlabelled": "some"}, "unlabelled='some' is unknown; expected 'all' or 'rest'")
          for name in META if name != "meta-elkan-noto"),
        *((name, {"loss": "cubic"}, "loss='cubic' is no binary loss") for name in ("meta-upu", "meta-nnpu", "meta-pusb")),
        *((name, {"beta": -1}, "beta=-1; expected a number of at least 0") for name in ("meta-nnpu", "meta-pusb")),
        *((name, {"gamma": "x"}, "gamma='x'; expected a number of at least 0") for name in ("meta-nnpu", "meta-pusb")),
        *((name, {"hold_out": 1}, "hold_out=1; expected a number from 0 to 0.9") for name in HOLDING_OUT),
        *((name, {"warm_up": 0}, "warm_up=0; expected a whole number of at least 1")
          for name in ("meta-dist-pu", "meta-cvir", "meta-tedn")),
        ("meta-vpu", {"mixup": 0.03}, "mixup=0.03; expected True or False"),
        ("meta-dist-pu", {"mu": None}, "mu=None; expected a number of at least 0"),
        ("meta-dist-pu", {"weight": -1}, "weight=-1; expected a number of at least 0"),
        ("meta-dist-pu", {"period": 0}, "period=0; expected a whole number of at least 1"),
        ("meta-elkan-noto", {"frequency": "guess"}, "frequency='guess' is unknown; expected 'held-out' or 'priors'"),
        ("meta-elkan-noto", {"unlabelled": "rest"}, "meta-elkan-noto has no parameter 'unlabelled'"),
        ("meta-nnpu", {"hold_out": 0.1}, "meta-nnpu has no parameter 'hold_out'"),
        ("meta-cvir", {"hold_out": 0.1}, "meta-cvir has no parameter 'hold_out'"),
    ],
)  # fmt: skip
def test_values_that_make_no_sense_are_refused(name, params, message):
    with pytest.raises(MethodError, match=message) as error:
        make_method(name, **params)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("meta-upu", {"loss": "square", "unlabelled": "rest"}),
        ("meta-nnpu", {"beta": 0.01, "gamma": 0.5, "unlabelled": "rest"}),
        ("meta-vpu", {"mixup": False, "unlabelled": "rest"}),
        ("meta-dist-pu", {"warm_up": 3, "period": 5, "weight": None, "unlabelled": "rest"}),
        ("meta-cvir", {"warm_up": 2, "unlabelled": "rest"}),
        ("meta-tedn", {"warm_up": 2, "hold_out": 0.15, "unlabelled": "rest"}),
        ("meta-pusb", {"hold_out": 0.0, "unlabelled": "rest"}),
        ("meta-elkan-noto", {"frequency": "priors"}),
    ],
)
def test_the_contract_holds_with_other_parameters(name, params):
    assert make_method(name, **params).params.items() >= params.items()
    check_method(lambda: make_method(name, **params))
