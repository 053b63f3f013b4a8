"""The linear learner of the automatic default: its objective, gradient and fit."""

import numpy as np
import pytest
import torch
from helpers.mechanisms import random_log_likelihoods
from scipy import sparse
from scipy.optimize import approx_fprime

from scarce.errors import MethodError
from scarce.estimators.auto._linear_likelihood import fit_linear, linear_objective


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_linear_objective_gradient_equals_finite_differences(soft, is_sparse):
    random = np.random.default_rng(1)
    X = random.normal(size=(12, 4)) * (random.random((12, 4)) < 0.6)
    objective = linear_objective(
        sparse.csr_matrix(X) if is_sparse else X, random_log_likelihoods(12, 3), 0.7, soft=soft
    )
    flat = random.normal(size=15)
    loss, gradient = objective(flat)
    assert np.allclose(gradient, approx_fprime(flat, lambda at: objective(at)[0], 1e-6), atol=1e-4)

    W, b = flat[:12].reshape(4, 3), flat[12:]
    slow = (W**2).sum() / 1.4
    for x, e in zip(X, random_log_likelihoods(12, 3).numpy(), strict=True):
        f = x @ W + b
        p = np.exp(f) / np.exp(f).sum()
        slow -= (np.exp(e) / np.exp(e).sum() @ np.log(p)) if soft else np.log(p @ np.exp(e))
    assert loss == pytest.approx(slow)


def test_fit_linear_agrees_for_dense_and_sparse_features():
    X = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    log_likelihood = random_log_likelihoods(40, 3)
    dense, thin = (fit_linear(form, log_likelihood, 1.0) for form in (X, sparse.csr_matrix(X)))
    assert torch.allclose(dense.output.weight, thin.output.weight, atol=1e-2)


def test_fit_linear_rejects_unknown_starting_point():
    with pytest.raises(MethodError, match="start='warm' is unknown; expected 'soft', 'soft3' or 'zero'"):
        fit_linear(np.zeros((2, 1)), torch.zeros(2, 2), 1.0, "warm")  # type: ignore[arg-type]
