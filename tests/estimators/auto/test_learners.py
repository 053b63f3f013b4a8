"""Parts of the automatic default: gradients, mixtures, networks trained together, folds."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import approx_fprime

from scarce.errors import MethodError
from scarce.estimators.auto.batched_mlp import MLPSettings, Task, fit_mlps, mlp_gradient
from scarce.estimators.auto.feature_maps import make_features, predict_probabilities
from scarce.estimators.auto.learners import LinearLearner, MLPLearner, default_learners, fit_learners
from scarce.estimators.auto.linear_likelihood import fit_linear, linear_objective
from scarce.estimators.auto.out_of_fold import cross_fit, make_folds
from scarce.estimators.auto.stacking_weights import label_likelihoods, stacking_weights


def random_evidence(n, q, seed=0):
    return torch.log(torch.rand(n, q, generator=torch.Generator().manual_seed(seed), dtype=torch.float64))


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_linear_gradient_is_that_of_finite_differences(soft, is_sparse):
    random = np.random.default_rng(1)
    X = random.normal(size=(12, 4)) * (random.random((12, 4)) < 0.6)
    objective = linear_objective(
        sparse.csr_matrix(X) if is_sparse else X, random_evidence(12, 3), 0.7, soft=soft
    )
    flat = random.normal(size=15)
    loss, gradient = objective(flat)
    assert np.allclose(gradient, approx_fprime(flat, lambda at: objective(at)[0], 1e-6), atol=1e-4)

    W, b = flat[:12].reshape(4, 3), flat[12:]
    slow = (W**2).sum() / 1.4
    for x, e in zip(X, random_evidence(12, 3).numpy(), strict=True):
        f = x @ W + b
        p = np.exp(f) / np.exp(f).sum()
        slow -= (np.exp(e) / np.exp(e).sum() @ np.log(p)) if soft else np.log(p @ np.exp(e))
    assert loss == pytest.approx(slow)


def test_dense_and_sparse_features_give_the_same_model():
    X = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    evidence = random_evidence(40, 3)
    dense, thin = (fit_linear(form, evidence, 1.0) for form in (X, sparse.csr_matrix(X)))
    assert torch.allclose(dense.output.weight, thin.output.weight, atol=1e-2)


def test_a_starting_point_that_does_not_exist():
    with pytest.raises(MethodError, match="expected one of soft, soft3, zero"):
        fit_linear(np.zeros((2, 1)), torch.zeros(2, 2), 1.0, "warm")  # type: ignore[arg-type]


@pytest.mark.parametrize("is_soft", [False, True])
def test_network_gradient_is_that_of_autograd(is_soft):
    torch.manual_seed(0)
    sizes = (2, 4, 5), (2, 1, 5), (2, 5, 3), (2, 1, 3)
    weights = [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes]
    inputs, kept = torch.randn(2, 6, 4, dtype=torch.float64), (torch.rand(6, 5) < 0.5).double() * 2
    evidence = torch.randn(2, 6, 3, dtype=torch.float64)
    target = torch.softmax(evidence, dim=2)
    log_p = torch.log_softmax(
        ((inputs @ weights[0] + weights[1]).relu() * kept) @ weights[2] + weights[3], dim=2
    )
    losses = -(target * log_p).sum(dim=2) if is_soft else -(log_p + evidence).logsumexp(dim=2)
    losses.mean(dim=1).sum().backward()
    found = [torch.zeros(size, dtype=torch.float64) for size in sizes]
    plain = [weight.detach() for weight in weights]
    mlp_gradient(plain, inputs, evidence, target, torch.full((2, 1, 1), is_soft), kept, found)
    assert all(torch.allclose(one, weight.grad) for one, weight in zip(found, weights, strict=True))


def test_networks_trained_together_are_those_trained_apart():
    X, evidence = torch.randn(30, 4, generator=torch.Generator().manual_seed(0)), random_evidence(30, 3)
    other = random_evidence(30, 3, seed=5)
    tasks = [Task(np.arange(20), evidence), Task(np.arange(5, 30), other), Task(np.arange(30), evidence)]
    kinds = [MLPSettings(8, steps=30), MLPSettings(8, 0.5, 0.5, 30), MLPSettings(8, 0.3, 0.0, 30)]
    together = fit_mlps(X, tasks, kinds, seed=3, dtype=torch.float64)
    for model, task, kind in zip(together, tasks, kinds, strict=True):
        (apart,) = fit_mlps(X, [task], [kind], seed=3, dtype=torch.float64)
        assert all(
            torch.allclose(one, two, atol=1e-9)
            for one, two in zip(model.parameters(), apart.parameters(), strict=True)
        )


def test_networks_train_as_with_the_adamw_of_torch():
    X, evidence = torch.randn(200, 4, dtype=torch.float64), random_evidence(200, 3)
    kind = MLPSettings(8, steps=25, dropout=0.0)
    (found,) = fit_mlps(X, [Task(np.arange(200), evidence)], [kind], dtype=torch.float64)

    random = torch.Generator().manual_seed(0)
    still = MLPSettings(8, steps=25, dropout=0.0, learning_rate=0.0)
    (untrained,) = fit_mlps(X, [Task(np.arange(200), evidence)], [still], dtype=torch.float64)
    untrained.requires_grad_(True)
    for size in (32, 8, 24, 3):
        torch.rand(size, generator=random, dtype=torch.float64)  # the initial weights
    optimizer = torch.optim.AdamW(untrained.parameters(), lr=1e-2, weight_decay=1e-2)
    for step in range(25):
        optimizer.param_groups[0]["lr"] = 1e-2 * (1 + np.cos(np.pi * step / 25)) / 2
        rows = (torch.rand(128, generator=random, dtype=torch.float64) * 200).long()
        torch.randn(128, 4, generator=random, dtype=torch.float64)
        torch.rand(128, 8, generator=random, dtype=torch.float64)
        loss = -(torch.log_softmax(untrained(X[rows]), dim=1) + evidence[rows]).logsumexp(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for one, two in zip(found.parameters(), untrained.parameters(), strict=True):
        assert torch.allclose(one, two, atol=1e-6)


@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_stacking_weights_against_a_slow_loop(seed, models, rows):
    L = np.random.default_rng(seed).uniform(0.01, 1, (rows, models))
    slow = [1 / models] * models
    for _ in range(7):
        new = [0.0] * models
        for row in L:
            total = sum(w * likelihood for w, likelihood in zip(slow, row, strict=True))
            for j in range(models):
                new[j] += slow[j] * row[j] / total / rows
        slow = new
    assert np.allclose(stacking_weights(L, steps=7, least=0.0), slow)


def test_em_never_lowers_the_likelihood():
    L = np.random.default_rng(0).uniform(0.01, 1, (50, 4))
    fits = [np.log(L @ stacking_weights(L, steps=steps, least=0.0)).sum() for steps in range(6)]
    assert (np.diff(fits) >= 0).all()


def test_likelihoods_of_sure_mistakes_are_bounded():
    assert label_likelihoods([[1.0, 0.0]], [[-30.0, 0.0]])[0] == pytest.approx(1e-4)


def test_out_of_fold_predictions_do_not_depend_on_own_labels():
    random = np.random.default_rng(0)
    features, folds = make_features(random.normal(size=(40, 3))), make_folds(40, seed=2)
    assert np.array_equal(np.sort(np.concatenate(folds)), np.arange(40))
    evidence = random_evidence(40, 3)
    changed = evidence.clone()
    changed[folds[1]] = random_evidence(len(folds[1]), 3, seed=9)
    for learner in (
        LinearLearner(1.0),
        LinearLearner(10.0, "soft3", "kernel"),
        MLPLearner("m", MLPSettings(8, steps=9)),
    ):
        (one, _), (two, other) = (
            cross_fit(features, [(learner, e)], folds, [1, 2])[0] for e in (evidence, changed)
        )
        assert np.array_equal(one, two)
        assert not np.allclose(other, cross_fit(features, [(learner, evidence)], folds, [2])[0][0])


def test_models_take_raw_inputs():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1, 100, 1e-3] + [0, 1.7e9, 5]
    for raw in (X, sparse.csr_matrix(np.abs(X) * [1, 1e-9, 1])):
        features = make_features(raw)
        dense = raw.toarray() if sparse.issparse(raw) else raw
        for learner in default_learners(features, 3)[::4]:
            (head,) = fit_learners(features, [(learner, Task(np.arange(30), random_evidence(30, 3)))])
            whole = features.model(learner.kind, head)(torch.from_numpy(dense))
            expected = predict_probabilities(head, features.of(learner.kind))
            assert np.allclose(torch.softmax(whole.double(), 1), expected, atol=1e-4)
