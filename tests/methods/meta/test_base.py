"""All meta methods: priors, golden losses, errors, state and parameters."""

import numpy as np
import pytest
import torch
from helpers.golden import records, tensors
from helpers.methods import (
    HOLD_OUT_METHODS,
    META_METHODS,
    UNIFORM_PRIORS,
    batch_of,
    double,
    linear_model,
    prepared_with_priors,
    random_labels,
    run_epoch,
)
from torch import nn

from scarce.errors import DivergedError, MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, available_methods, make_method
from scarce.methods.meta.base import unlabeled_rows
from scarce.testing import check_method, three_blobs
from scarce.training import Recipe, train


def test_meta_methods_require_priors_as_stated():
    assert META_METHODS == ["meta-upu", "meta-nnpu", "meta-vpu", "meta-dist-pu", "meta-cvir", "meta-tedn", "meta-pusb",
                    "meta-elkan-noto"]  # fmt: skip
    without_priors = [name for name in META_METHODS if not available_methods()[name].needs_priors]
    assert without_priors == ["meta-vpu", "meta-tedn", "meta-elkan-noto"]
    X, _, labels = three_blobs(30)
    for name in without_priors:
        train(linear_model(), make_method(name), X, labels, Recipe(epochs=4, batch_size=10))
    with pytest.raises(MethodError, match="meta-nnpu needs class priors"):
        train(linear_model(), make_method("meta-nnpu"), X, labels, Recipe(epochs=1))


GOLDEN_METHODS = {
    "meta_upu": ("meta-upu", ("loss",)),
    "meta_nnpu": ("meta-nnpu", ("loss", "beta", "gamma")),
    "meta_vpu": ("meta-vpu", ()),
    "meta_distpu": ("meta-dist-pu", ("mu",)),
    "meta_en": ("meta-elkan-noto", ()),
}


@pytest.mark.parametrize(
    "record", [each for each in records(*GOLDEN_METHODS) if each.values[0]["fixture"] != "TINY"]
)
def test_meta_losses_match_golden_records_at_negated_scores(record):
    """The network gives f = −g; TINY has a class that no row excludes, which a method leaves out."""
    name, keys = GOLDEN_METHODS[record["method"]]
    params = {key: record["params"][key] for key in keys}
    if record["params"].get("unlabeled") == "U_k":
        params["unlabeled"] = "rest"
    if name == "meta-dist-pu":
        params["weight"] = None
    g, excluded, priors = tensors(record)
    labels = ComplementaryLabels.from_indicator(excluded.numpy())
    loss = prepared_with_priors(name, labels, priors, **params).loss(-g, batch_of(labels))
    loss.backward()
    assert loss.item() == pytest.approx(record["loss"], abs=1e-9)
    torch.testing.assert_close(g.grad, double(record["grad"]), atol=1e-9, rtol=0)


@pytest.mark.parametrize("name", ["meta-vpu", "meta-dist-pu", "meta-elkan-noto"])
def test_prepare_rejects_class_never_excluded(name):
    labels = ComplementaryLabels.from_lists([[0], [1], [0, 1]], classes=3)
    with pytest.raises(MethodError, match=f"no example excludes the class 2, so {name} cannot learn it"):
        prepared_with_priors(name, labels)


@pytest.mark.parametrize(
    "name", [name for name in META_METHODS if not type(make_method(name)).needs_every_class]
)
def test_class_never_excluded_is_not_trained(name):
    g, _ = random_labels(6)
    labels = ComplementaryLabels.from_lists([[0], [1], [0, 1], [1], [], [0]], classes=3)
    method = prepared_with_priors(name, labels)
    f = (-g).requires_grad_(True)
    method.loss(f, batch_of(labels)).backward()
    assert f.grad[:, :2].abs().max() > 0
    assert f.grad[:, 2].abs().max() == 0
    run_epoch(method, g, labels)
    assert method.scores(f).isfinite().all()
    assert method.probabilities(f).isfinite().all()


@pytest.mark.parametrize("name", META_METHODS)
def test_prepare_rejects_labels_without_exclusions(name):
    labels = ComplementaryLabels.from_answer_matrix([[1, np.nan, np.nan], [np.nan, 1, np.nan]])
    with pytest.raises(
        MethodError, match=f"no example excludes any class, and {name} learns only from exclusions"
    ):
        make_method(name).prepare(Problem(labels, UNIFORM_PRIORS))


@pytest.mark.parametrize("name", META_METHODS)
def test_prediction_state_holds_one_number_per_class(name):
    """At most one number per class, whatever the size of the training data."""
    _, labels = random_labels(50)
    state = prepared_with_priors(name, labels).prediction_state()
    assert [tuple(value.shape) for value in state.values()] in ([], [(3,)])


@pytest.mark.parametrize("name", META_METHODS)
def test_prepare_resets_state_of_used_method(name):
    X, _, labels = three_blobs(60)
    params = {"warm_up": 2} if "warm_up" in make_method(name).params else {}

    def weights(method):
        model = linear_model()
        train(
            model,
            method,
            X,
            labels,
            Recipe(epochs=5, batch_size=16, learning_rate=0.1),
            priors=UNIFORM_PRIORS,
        )
        return {**model.state_dict(), **{f"method.{k}": v.clone() for k, v in method.state_dict().items()}}

    method = make_method(name, **params)
    first, second = weights(method), weights(method)
    assert all(torch.equal(first[key], second[key]) for key in first)


@pytest.mark.parametrize("name", META_METHODS)
def test_diverging_training_raises_error(name):
    """Scores that are NaN must not raise another error after the epoch."""
    X, _, labels = three_blobs(40)
    params = {"warm_up": 1} if "warm_up" in make_method(name).params else {}
    model = linear_model()
    nn.init.constant_(model.weight, float("nan"))
    with pytest.raises(DivergedError, match="try a smaller learning rate"):
        train(
            model,
            make_method(name, **params),
            X,
            labels,
            Recipe(epochs=2, batch_size=10),
            priors=UNIFORM_PRIORS,
        )


# Parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        *((name, {"unlabeled": "some"}, "unlabeled='some' is unknown; expected 'all' or 'rest'")
          for name in META_METHODS if name != "meta-elkan-noto"),
        *((name, {"loss": "cubic"}, "loss='cubic' is unknown; expected 'logistic'")
          for name in ("meta-upu", "meta-nnpu", "meta-pusb")),
        *((name, {"beta": -1}, "beta=-1; expected a number of at least 0") for name in ("meta-nnpu", "meta-pusb")),
        *((name, {"gamma": "x"}, "gamma='x'; expected a number of at least 0") for name in ("meta-nnpu", "meta-pusb")),
        *((name, {"hold_out": 1}, "hold_out=1; expected a number from 0 to 0.9") for name in HOLD_OUT_METHODS),
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
def test_make_method_rejects_invalid_parameters(name, params, message):
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
def test_meta_methods_with_other_parameters_pass_method_checks(name, params):
    assert make_method(name, **params).params.items() >= params.items()
    check_method(lambda: make_method(name, **params))


def test_unlabeled_rows_rejects_unknown_value():
    with pytest.raises(MethodError, match="unlabeled='most' is unknown; expected 'all' or 'rest'"):
        unlabeled_rows(torch.zeros(2, 2), "most")
