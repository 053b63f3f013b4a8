"""Input noise and dropout: scale, training only, and resuming."""

import numpy as np
import pytest
import torch
from helpers.training import PRIORS, D, Interrupt, Q, make_data, make_net, same_state, without_seconds
from torch import nn

from scarce import ScarceClassifier
from scarce.errors import MethodError
from scarce.methods import make_method
from scarce.models import MLP, Standardize, make_model
from scarce.simulate import uniform
from scarce.training import Recipe, predict_logits, train
from scarce.training._build import build_model
from scarce.training._noise import add_noise

INPUTS, LABELS = make_data()


class RecordingNetwork(nn.Module):
    """A linear network that stores its inputs."""

    def __init__(self, d=D):
        super().__init__()
        self.output, self.training_rows, self.other_rows = nn.Linear(d, Q), [], []

    def forward(self, inputs):
        (self.training_rows if self.training else self.other_rows).append(inputs.detach().clone())
        return self.output(inputs)


def test_add_noise_scales_with_column():
    noise = add_noise(torch.zeros(20_000, 2), 0.5, torch.tensor([1.0, 10.0]), 20_000, slice(None), (1, 2))
    assert noise.mean(dim=0).numpy() == pytest.approx([0, 0], abs=0.15)
    assert noise.std(dim=0).numpy() == pytest.approx([0.5, 5.0], rel=0.03)
    assert np.corrcoef(noise.T.numpy())[0, 1] == pytest.approx(0, abs=0.03)
    kurtosis = (noise[:, 0] ** 4).mean() / noise[:, 0].var() ** 2
    assert kurtosis.item() == pytest.approx(3, abs=0.2)


def test_input_noise_is_in_standard_deviations_of_standardised_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3)) * [1, 100, 5] + [0, 1000, 1.7e9]
    labels = uniform(rng.integers(Q, size=2000), seed=0)
    seen = RecordingNetwork(3)
    model = build_model(lambda shape, q: seen, X, Q, seed=0)
    train(model, make_method("cc"), X, labels, Recipe(epochs=3, batch_size=2000, input_noise=2.0))
    first, second, third = seen.training_rows
    assert first.std(dim=0).numpy() == pytest.approx([5**0.5] * 3, rel=0.05)
    assert not torch.equal(first.sort(dim=0).values, second.sort(dim=0).values)
    assert third.mean(dim=0).numpy() == pytest.approx([0] * 3, abs=0.2)


def test_input_noise_is_added_only_in_training():
    model = RecordingNetwork()
    train(
        model, make_method("cc"), np.zeros((50, D)), LABELS, Recipe(epochs=40, batch_size=50, input_noise=0.3)
    )
    assert torch.cat(model.training_rows).std().item() == pytest.approx(0.3, rel=0.05)
    predict_logits(model, np.zeros((5, D)))
    assert all((rows == 0).all() for rows in model.other_rows)


def test_zero_noise_and_dropout_change_nothing():
    one, other = RecordingNetwork(), RecordingNetwork()
    other.load_state_dict(one.state_dict())
    for model, recipe in ((one, Recipe(epochs=2)), (other, Recipe(epochs=2, input_noise=0.0, dropout=0.0))):
        train(model, make_method("cc"), INPUTS, LABELS, recipe)
    assert same_state(one.state_dict(), other.state_dict())


@pytest.mark.parametrize("stop", [1, 2, 4])
@pytest.mark.parametrize("method", ["scarce", "proden", "idgp"])
def test_train_with_noise_resumes_after_interrupt(tmp_path, method, stop):
    recipe = Recipe(epochs=4, batch_size=16, learning_rate=0.01, input_noise=0.5, dropout=0.5)

    def fit(**options):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model, second = MLP((D,), Q, 20), MLP((D,), Q, 20)
        made = make_method(method)
        history = train(
            model, made, INPUTS, LABELS, recipe, priors=PRIORS, make_model=lambda: second, **options
        )
        return model.state_dict(), made.state_dict(), without_seconds(history)

    undisturbed = fit()
    with pytest.raises(KeyboardInterrupt):
        fit(callbacks=[Interrupt(stop)], checkpoint=tmp_path / "c")
    resumed = fit(checkpoint=tmp_path / "c")
    assert same_state(resumed[0], undisturbed[0])
    assert same_state(resumed[1], undisturbed[1])
    assert resumed[2] == undisturbed[2]


def test_dropout_drops_hidden_units_only_in_training():
    model = make_model("mlp", (D,), Q)
    rows = torch.from_numpy(INPUTS)
    train(model, make_method("cc"), INPUTS, LABELS, Recipe(epochs=1, dropout=0.4))
    assert model.dropout == 0.4
    torch.testing.assert_close(model.eval()(rows), model(rows), rtol=0, atol=0)
    shown = []
    model.output.register_forward_pre_hook(lambda layer, inputs: shown.append(inputs[0]))
    model.train()(rows)
    model.eval()(rows)
    dropped, whole = shown
    active = whole > 0
    kept = dropped[active] > 0
    assert kept.double().mean().item() == pytest.approx(0.6, abs=0.02)
    torch.testing.assert_close(dropped[active][kept], whole[active][kept] / 0.6)
    train(model, make_method("cc"), INPUTS, LABELS, Recipe(epochs=1))
    assert model.dropout == 0


@pytest.mark.parametrize("model", [make_net(), make_model("linear", (D,), Q)])
def test_dropout_is_rejected_for_models_without_it(model):
    with pytest.raises(
        MethodError, match=r"dropout=0\.5 is for module='mlp'; leave it out, or put nn\.Dropout into"
    ):
        train(model, make_method("cc"), INPUTS, LABELS, Recipe(epochs=1, dropout=0.5))


def test_classifier_passes_noise_and_dropout_to_training(tmp_path):
    def fit(**params):
        return ScarceClassifier("cc", epochs=3, **params).fit(INPUTS, LABELS)

    plain, noisy, thinned = fit(), fit(input_noise=0.5), fit(dropout=0.5)
    assert isinstance(thinned.model_[0], Standardize)
    assert thinned.model_[1].dropout == 0.5
    answers = [classifier.predict_proba(INPUTS) for classifier in (plain, noisy, thinned)]
    assert not np.array_equal(answers[0], answers[1])
    assert not np.array_equal(answers[0], answers[2])
    np.testing.assert_array_equal(fit(input_noise=0.5).predict_proba(INPUTS), answers[1])
    np.testing.assert_array_equal(fit(input_noise=0.0, dropout=0.0).predict_proba(INPUTS), answers[0])
