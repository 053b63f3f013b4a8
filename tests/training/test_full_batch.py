"""L-BFGS on the whole data: its minimum, stopping, resuming, and unsuitable methods and models."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.training import PRIORS, Interrupt, make_data, make_net, same_state, without_seconds
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp

from scarce import ComplementaryLabels, ScarceClassifier
from scarce.errors import MethodError
from scarce.methods import make_method
from scarce.models import Linear
from scarce.simulate import scar
from scarce.training import Recipe, train
from scarce.training._build import build_model

LAMBDA = 0.02
RECIPE = Recipe(epochs=300, optimizer="lbfgs", weight_decay=LAMBDA)


def points(n=300, q=4, d=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(q, size=n)
    return np.eye(q, d)[y] * 1.5 + rng.normal(size=(n, d)), y


def all_but_one(y, q):
    """Ordinary labels: every other class is excluded, and the likelihood of the candidates is the cross-entropy."""
    return ComplementaryLabels.from_candidates(np.eye(q, dtype=bool)[y])


def linear(d, q, dtype=torch.float64):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Linear((d,), q).to(dtype)


def slow_objective(flat, X, candidates):
    """Mean −log Σ_S p over the rows + λ/2 ‖W‖², row by row."""
    q, d = candidates.shape[1], X.shape[1]
    W, b = flat[: q * d].reshape(q, d), flat[q * d :]
    losses = [
        logsumexp(W @ x + b) - logsumexp((W @ x + b)[allowed])
        for x, allowed in zip(X, candidates, strict=True)
    ]
    return np.mean(losses) + LAMBDA / 2 * (W**2).sum()


def weights_of(model):
    return np.concatenate([weight.detach().numpy().ravel() for weight in model.parameters()])


@pytest.mark.slow
def test_lbfgs_finds_minimum_of_scipy():
    X, y = points(n=120, q=3, d=4)
    model = linear(4, 3)
    train(model, make_method("cc"), X, all_but_one(y, 3), RECIPE)
    one_hot = np.eye(3, dtype=bool)[y]
    expected = minimize(
        slow_objective, np.zeros(15), args=(X, one_hot), method="L-BFGS-B", options={"ftol": 1e-14}
    )
    assert slow_objective(weights_of(model), X, one_hot) == pytest.approx(expected.fun, rel=1e-6)
    W, b = model.output.weight.detach().numpy(), model.output.bias.detach().numpy()
    np.testing.assert_allclose(W.ravel(), expected.x[:12], atol=2e-3)
    np.testing.assert_allclose(b - b.mean(), expected.x[12:] - expected.x[12:].mean(), atol=2e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_lbfgs_ends_with_zero_gradient(dtype):
    X, y = points()
    labels = scar(y, c=0.5, seed=0)
    model = linear(6, 4, dtype)
    history = train(model, make_method("cc"), X, labels, RECIPE)
    assert len(history) < RECIPE.epochs
    assert (np.diff(history["loss"]) <= 1e-7).all()
    candidates = ~labels.indicator()
    flat = weights_of(model).astype(float)
    assert history["loss"][-1] == pytest.approx(slow_objective(flat, X, candidates), rel=1e-5)
    for place in range(0, len(flat), 5):
        step = np.zeros_like(flat)
        step[place] = 1e-4
        rise = slow_objective(flat + step, X, candidates) - slow_objective(flat - step, X, candidates)
        assert abs(rise / 2e-4) < 2e-3


def test_lbfgs_first_loss_is_initial_loss_of_all_rows():
    X, y = points(n=2500)
    labels = scar(y, c=0.5, seed=0)
    model = linear(6, 4)
    expected = slow_objective(weights_of(model), X, ~labels.indicator())
    history = train(model, make_method("cc"), X, labels, replace(RECIPE, epochs=1))
    assert history["loss"] == [pytest.approx(expected, rel=1e-6)]


def test_lbfgs_agrees_for_sparse_and_dense_rows():
    X, y = points()
    X = np.where(X > 0.5, X, 0)
    labels = scar(y, c=0.5, seed=0)
    dense, thin = linear(6, 4), linear(6, 4)
    train(dense, make_method("cc"), X, labels, RECIPE)
    train(thin, make_method("cc"), sparse.csr_matrix(X), labels, RECIPE)
    assert same_state(dense.state_dict(), thin.state_dict())


def test_lbfgs_weights_shrink_with_weight_decay():
    X, y = points()
    labels = scar(y, c=0.5, seed=0)
    sizes = []
    for decay in (0.0, 1e-3, 1e-1, 10.0):
        model = linear(6, 4)
        train(model, make_method("cc"), X, labels, replace(RECIPE, weight_decay=decay))
        sizes.append(model.output.weight.square().sum().item())
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 0.01


@pytest.mark.parametrize("method", ["cc", "scar-likelihood", "least-excluded", "refine"])
@pytest.mark.parametrize("stop", [1, 2, 7])
def test_lbfgs_resumes_after_interrupt(tmp_path, method, stop):
    X, y = points()
    labels = scar(y, c=[0.2, 0.4, 0.6, 0.3], seed=0)

    def fit(**options):
        model, made = build_model("linear", X, 4, seed=0), make_method(method)
        history = train(model, made, X, labels, replace(RECIPE, epochs=15), **options)
        return model.state_dict(), made.state_dict(), without_seconds(history)

    undisturbed = fit()
    with pytest.raises(KeyboardInterrupt):
        fit(callbacks=[Interrupt(stop)], checkpoint=tmp_path / "c")
    resumed = fit(checkpoint=tmp_path / "c")
    assert same_state(resumed[0], undisturbed[0])
    assert same_state(resumed[1], undisturbed[1])
    assert resumed[2] == undisturbed[2]


def test_lbfgs_learns_priors():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 1500, p=[0.6, 0.3, 0.1])
    X = 3 * np.eye(3)[y] + rng.normal(size=(1500, 3))
    classifier = ScarceClassifier("scar-likelihood", "linear", optimizer="lbfgs", weight_decay=1e-3)
    classifier.fit(X, scar(y, c=[0.2, 0.5, 0.4], seed=0))
    assert classifier.priors_ == pytest.approx([0.6, 0.3, 0.1], abs=0.03)
    assert classifier.score(X, y) > 0.9


def test_lbfgs_stops_when_converged_and_is_reproducible():
    X, y = points()
    labels = scar(y, c=0.5, seed=0)
    fits = [
        ScarceClassifier("cc", "linear", optimizer="lbfgs", weight_decay=0.01).fit(X, labels)
        for _ in range(2)
    ]
    assert len(fits[0].history_) < 200
    np.testing.assert_array_equal(*(fit.predict_proba(X) for fit in fits))


@pytest.mark.parametrize(
    ("method", "model", "message"),
    [
        (
            "scarce",
            linear(5, 3),
            "for methods whose loss is a likelihood, and the loss of scarce is not; choose 'adam', or",
        ),
        ("proden", linear(5, 3), "a likelihood, and the loss of proden is not"),
        (
            "cc",
            make_net(),
            "is for module='linear', and this model is not linear; choose 'adam', or module='linear'",
        ),
    ],
)
def test_lbfgs_rejects_unsuitable_method_and_model(method, model, message):
    inputs, labels = make_data()
    with pytest.raises(MethodError, match=message) as error:
        train(model, make_method(method), inputs, labels, RECIPE, priors=PRIORS)
    assert "\n" not in str(error.value)
