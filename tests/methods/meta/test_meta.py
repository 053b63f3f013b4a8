"""SCARCE-Meta: what the learners are, where they coincide, how they decide, and their parameters."""

import numpy as np
import pytest
import torch
from helpers.golden import records, tensors
from helpers.meta_methods import HOLDING_OUT, META, THIRDS, linear, one_epoch, prepared, random_labels
from helpers.methods import batch_of, double, labels_of, quick, worlds
from hypothesis import given
from torch import nn

from scarce.errors import DivergedError, MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Problem, available_methods, make_method
from scarce.pu import (
    not_k_posterior,
    pusb_thresholds,
)
from scarce.testing import check_method, three_blobs
from scarce.training import Recipe, train

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
        params["unlabeled"] = "rest"
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


@pytest.mark.parametrize("name", ["meta-vpu", "meta-dist-pu", "meta-elkan-noto"])
def test_a_class_that_nobody_excludes_is_refused_where_its_score_would_mean_nothing(name):
    labels = ComplementaryLabels.from_lists([[0], [1], [0, 1]], classes=3)
    with pytest.raises(
        MethodError, match=f"no example excludes the class 2, so {name} has nothing to learn it from"
    ):
        prepared(name, labels)


def test_elkan_noto_learns_from_batches_that_exclude_nothing():
    """Its loss is a plain cross-entropy, of which a row without the label is as good a part as one with it."""
    labels = ComplementaryLabels.from_lists([[0], [1], [2]], classes=3)
    method = prepared("meta-elkan-noto", labels, frequency="priors")
    f = torch.zeros(1, 3, dtype=torch.float64, requires_grad=True)
    batch = Batch(torch.zeros(1, 2), torch.tensor([[1.0, 0.0, 0.0]]).double(), torch.tensor([0]))
    method.loss(f, batch).backward()
    assert f.grad.tolist() == [[0.5, -0.5, -0.5]]


def test_cvir_compares_classes_by_their_priors():
    """g_k = log p(x | not k) / p(x | k), so that −g_k + log π_k / (1 − π_k) is the log odds of class k."""
    labels = ComplementaryLabels.from_lists([[0], [1], [2]], classes=3)
    method = make_method("meta-cvir")
    method.prepare(Problem(labels, torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)))
    odds = torch.tensor([1.0, 3 / 7, 0.25], dtype=torch.float64)
    torch.testing.assert_close(method.scores(torch.zeros(1, 3, dtype=torch.float64)), odds.log()[None])


@pytest.mark.parametrize("name", [name for name in META if not type(make_method(name)).needs_every_class])
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


# Parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        *((name, {"unlabeled": "some"}, "unlabeled='some' is unknown; expected 'all' or 'rest'")
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
        ("meta-elkan-noto", {"unlabeled": "rest"}, "meta-elkan-noto has no parameter 'unlabeled'"),
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
        ("meta-upu", {"loss": "square", "unlabeled": "rest"}),
        ("meta-nnpu", {"beta": 0.01, "gamma": 0.5, "unlabeled": "rest"}),
        ("meta-vpu", {"mixup": True, "unlabeled": "rest"}),
        ("meta-dist-pu", {"warm_up": 3, "period": 5, "weight": None, "unlabeled": "rest"}),
        ("meta-cvir", {"warm_up": 2, "unlabeled": "rest"}),
        ("meta-tedn", {"warm_up": 2, "hold_out": 0.15, "unlabeled": "rest"}),
        ("meta-pusb", {"hold_out": 0.0, "unlabeled": "rest"}),
        ("meta-elkan-noto", {"frequency": "priors"}),
    ],
)
def test_the_contract_holds_with_other_parameters(name, params):
    assert make_method(name, **params).params.items() >= params.items()
    check_method(lambda: make_method(name, **params))
