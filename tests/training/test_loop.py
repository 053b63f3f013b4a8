"""The training loop: batches, steps, seeds, diverging runs and errors."""

import math

import numpy as np
import pytest
import torch
from helpers.training import (
    PRIORS,
    D,
    Q,
    Tempered,
    make_data,
    make_linear,
    make_net,
    same_state,
    without_seconds,
)
from torch import nn

from scarce.errors import DivergedError, FeatureError, MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Method, MethodFacts, make_method
from scarce.risk import scarce_risk
from scarce.training import Callback, Recipe, predict_logits, train
from scarce.training._checkpoint import load_state

INPUTS, LABELS = make_data()


class Recording(Method):
    """Stores every batch and epoch; its loss pulls all logits to zero."""

    facts = MethodFacts("recording", "for tests", "none", "nothing")

    def __init__(self):
        super().__init__()
        self.batches, self.epochs = [], []

    def loss(self, logits, batch):
        self.batches.append(batch)
        return logits.square().mean()

    def after_epoch(self, epoch):
        self.epochs.append(epoch)


def recorded(n=50, batch_size=16, epochs=2, labels=None, inputs=None, model=None, seed=0):
    data, simulated = make_data(n)
    method = Recording()
    train(
        model or make_linear(),
        method,
        data if inputs is None else inputs,
        simulated if labels is None else labels,
        Recipe(epochs=epochs, batch_size=batch_size, seed=seed),
    )
    return method


@pytest.mark.parametrize(
    ("n", "batch_size", "sizes"),
    [
        (50, 16, [16, 16, 16, 2]),
        (49, 16, [16, 16, 17]),
        (48, 16, [16, 16, 16]),
        (5, 1, [1, 1, 1, 2]),
        (3, 100, [3]),
        (17, 16, [17]),
    ],
)
def test_epoch_visits_every_row_once_without_single_row_batch(n, batch_size, sizes):
    method = recorded(n, batch_size, epochs=3)
    orders = [batch.index.tolist() for batch in method.batches]
    assert [len(order) for order in orders] == sizes * 3
    epochs = np.concatenate(orders).reshape(3, n).tolist()
    assert [sorted(epoch) for epoch in epochs] == [list(range(n))] * 3
    assert n == 3 or epochs[0] != epochs[1]
    assert method.epochs == [0, 1, 2]


def test_batch_holds_rows_of_its_index():
    labels = ComplementaryLabels.from_lists([[], [0, 1], [2], [0], [1, 2]] * 10, classes=3)
    confirmed = np.array([-1, 2, -1, -1, 0] * 10)
    partly_confirmed = ComplementaryLabels(labels.indptr, labels.indices, labels.classes, confirmed=confirmed)
    for batch in recorded(labels=partly_confirmed).batches:
        rows = batch.index.numpy()
        assert np.array_equal(batch.inputs.numpy(), INPUTS[rows])
        assert batch.excluded.dtype == torch.float32
        assert np.array_equal(batch.excluded.numpy(), labels.indicator()[rows])
        assert np.array_equal(batch.confirmed.numpy(), confirmed[rows])
    assert recorded(labels=labels).batches[0].confirmed is None


def test_train_first_sgd_step_matches_values_by_hand():
    model = make_linear()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    train(
        model,
        make_method("scarce"),
        INPUTS,
        LABELS,
        Recipe(epochs=1, batch_size=50, optimizer="sgd", learning_rate=0.1, weight_decay=0.01),
        priors=PRIORS,
    )
    twin = make_linear()
    logits = twin(torch.from_numpy(INPUTS))
    scarce_risk(logits, torch.tensor(LABELS.indicator(dtype=np.float32)), torch.tensor(PRIORS)).backward()
    for name, weight in twin.named_parameters():
        expected = before[name] - 0.1 * (weight.grad + 0.01 * before[name])
        torch.testing.assert_close(model.state_dict()[name], expected)


class LearningRateLog(Callback):
    """Records the learning rate of every optimiser step."""

    def on_train_begin(self, run):
        step, self.rates = run.optimizer.step, []

        def stepped(*args, **kwargs):
            self.rates.append(run.optimizer.param_groups[0]["lr"])
            return step(*args, **kwargs)

        run.optimizer.step = stepped


@pytest.mark.parametrize("schedule", ["cosine", "constant"])
def test_learning_rate_follows_schedule(schedule):
    rates = LearningRateLog()
    recipe = Recipe(epochs=3, batch_size=25, learning_rate=0.2, schedule=schedule)
    history = train(
        make_linear(), make_method("scarce"), INPUTS, LABELS, recipe, priors=PRIORS, callbacks=[rates]
    )
    # six steps: half a cosine from 0.2 towards 0, cos of 0°, 30°, 60°, 90°, 120°, 150°
    cosine = [0.2, 0.1 * (1 + math.sqrt(3) / 2), 0.15, 0.1, 0.05, 0.1 * (1 - math.sqrt(3) / 2)]
    expected = cosine if schedule == "cosine" else [0.2] * 6
    assert rates.rates == pytest.approx(expected)
    assert history["learning_rate"] == pytest.approx(expected[1::2])


def fitted(seed=0, make=make_net, method=Tempered):
    model, used = make(), method()
    history = train(model, used, INPUTS, LABELS, Recipe(epochs=2, batch_size=16, seed=seed), priors=PRIORS)
    return model.state_dict(), used.state_dict(), without_seconds(history)


def test_train_accepts_method_by_name():
    def weights(method):
        model = make_linear()
        train(model, method, INPUTS, LABELS, Recipe(epochs=2, batch_size=16), priors=PRIORS)
        return model.state_dict()["weight"]

    assert torch.equal(weights("scarce"), weights(make_method("scarce")))
    with pytest.raises(MethodError, match="'scarcy' is unknown"):
        weights("scarcy")


def test_train_is_reproducible_whatever_the_global_random_state():
    torch.manual_seed(1)
    first = fitted()
    torch.manual_seed(2)
    torch.rand(7)
    second = fitted()
    assert same_state(first[0], second[0])
    assert same_state(first[1], second[1])
    assert first[2] == second[2]


def test_train_with_other_seed_gives_other_weights():
    one, other = fitted(seed=0), fitted(seed=1)
    assert not same_state(one[0], other[0])
    assert one[2] != other[2]


def test_train_leaves_global_random_state_unchanged():
    torch.manual_seed(3)
    np.random.seed(3)
    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(INPUTS))
    for inputs in (INPUTS, dataset):
        model = make_net()
        train(model, Tempered(), inputs, LABELS, Recipe(epochs=2), priors=PRIORS)
        predict_logits(model, inputs)
    assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], numpy_before)


def test_history_loss_is_mean_over_steps():
    class Counting(Recording):
        def loss(self, logits, batch):
            self.batches.append(batch)
            return 0 * logits.sum() + len(self.batches)

    history = train(make_linear(), Counting(), INPUTS, LABELS, Recipe(epochs=2, batch_size=16))
    assert history["loss"] == [2.5, 6.5]
    assert history["epoch"] == [1, 2]
    assert all(seconds >= 0 for seconds in history["seconds"])


def test_train_learns_and_leaves_model_in_evaluation_mode():
    model = make_net()
    history = train(
        model, make_method("scarce"), INPUTS, LABELS, Recipe(epochs=60, learning_rate=0.01), priors=PRIORS
    )
    assert history["loss"][-1] < 0.7 * history["loss"][0]
    assert not model.training
    truth = INPUTS[:, :Q].argmax(axis=1)
    assert (predict_logits(model, INPUTS).argmax(dim=1).numpy() == truth).mean() > 0.6


@pytest.mark.parametrize("kind", ["array", "images", "dataset"])
def test_train_accepts_float64_model(kind):
    inputs = {
        "array": INPUTS,
        "images": (INPUTS.reshape(50, 1, D) * 20 + 100).astype(np.uint8),
        "dataset": torch.utils.data.TensorDataset(torch.from_numpy(INPUTS)),
    }[kind]
    model = nn.Sequential(nn.Flatten(), make_net(dtype=torch.float64))
    train(model, Tempered(), inputs, LABELS, Recipe(epochs=2, batch_size=16), priors=PRIORS)
    logits = predict_logits(model, inputs)
    assert logits.dtype == torch.float64
    assert logits.isfinite().all()


def test_train_rejects_different_numbers_of_rows_and_labels():
    with pytest.raises(
        FeatureError, match="there are 49 rows of inputs and 50 of labels; pass both of the same examples"
    ):
        train(make_linear(), make_method("scarce"), INPUTS[1:], LABELS, priors=PRIORS)


@pytest.mark.parametrize(
    ("model", "got"),
    [
        (nn.Linear(D, 1), r"\(16, 1\)"),
        (nn.Linear(D, 4), r"\(16, 4\)"),
        (nn.Sequential(nn.Linear(D, 1), nn.Flatten(0)), r"\(16,\)"),
        (nn.LSTM(D, 3), "tuple"),
    ],
)
def test_train_rejects_model_with_wrong_outputs(model, got):
    with pytest.raises(
        MethodError, match=rf"the model returns {got} for 16 rows; expected a tensor of shape \(16, 3\)"
    ):
        train(model, make_method("scarce"), INPUTS, LABELS, Recipe(batch_size=16), priors=PRIORS)


@pytest.mark.parametrize("model", [nn.Identity(), nn.Linear(D, Q).requires_grad_(False)])
def test_train_rejects_model_without_trainable_weights(model):
    with pytest.raises(MethodError, match="no weights to train"):
        train(model, make_method("scarce"), INPUTS, LABELS, priors=PRIORS)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "scarce needs class priors"),
        ({"priors": "uniform"}, "priors is 'uniform'; expected an array of numbers"),
        ({"priors": [1.0]}, r"priors has shape \(1,\); expected \(3,\) for 3 classes"),
        ({"priors": PRIORS, "transition": np.eye(2)}, r"transition has shape \(2, 2\); expected 3 × 3"),
    ],
)
def test_train_rejects_invalid_priors_and_transition(settings, message):
    with pytest.raises(MethodError, match=message):
        train(make_linear(), make_method("scarce"), INPUTS, LABELS, **settings)


class Exploding(Recording):
    """NaN at the ninth step: with four steps an epoch, the first of epoch 3."""

    def loss(self, logits, batch):
        self.batches.append(batch)
        return logits.square().mean() * (math.nan if len(self.batches) == 9 else 1)


def test_train_stops_at_nan_loss_and_keeps_last_good_checkpoint(tmp_path):
    recipe = Recipe(epochs=5, batch_size=16)
    with pytest.raises(
        DivergedError, match=r"the loss became nan at step 1 of epoch 3; try a smaller learning rate"
    ) as e:
        train(make_linear(), Exploding(), INPUTS, LABELS, recipe, checkpoint=tmp_path / "c")
    assert "\n" not in str(e.value)
    state = load_state(tmp_path / "c")
    assert state["epoch"] == 2
    assert all(weight.isfinite().all() for weight in state["weights"]["model"].values())
    model, calm = make_linear(), Exploding()
    calm.batches = [None] * 9  # past the bad step
    history = train(model, calm, INPUTS, LABELS, recipe, checkpoint=tmp_path / "c")
    assert history["epoch"] == [1, 2, 3, 4, 5]


class Overflowing(Recording):
    """A finite loss with an infinite gradient, at the last step of epoch 2: only the weights show it."""

    def loss(self, logits, batch):
        self.batches.append(batch)
        return logits.sum().mul(0).sqrt() if len(self.batches) == 8 else logits.square().mean()


def test_train_does_not_save_infinite_weights(tmp_path):
    recipe = Recipe(epochs=2, batch_size=16)
    with pytest.raises(DivergedError, match="weights became infinite or NaN in the last step of epoch 2"):
        train(make_linear(), Overflowing(), INPUTS, LABELS, recipe, checkpoint=tmp_path / "c")
    assert load_state(tmp_path / "c")["epoch"] == 1


def test_train_keeps_frozen_weights():
    model = make_net()
    model[0].requires_grad_(False)
    before = model[0].weight.clone()
    after = model[4].weight.clone()
    train(model, make_method("scarce"), INPUTS, LABELS, Recipe(epochs=1), priors=PRIORS)
    assert torch.equal(model[0].weight, before)
    assert not torch.equal(model[4].weight, after)
