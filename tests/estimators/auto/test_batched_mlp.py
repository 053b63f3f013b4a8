"""Networks trained together as one batched network."""

import numpy as np
import pytest
import torch
from helpers.mechanisms import random_log_likelihoods

from scarce.estimators.auto.batched_mlp import MLPSettings, Task, fit_mlps, mlp_gradient


@pytest.mark.parametrize("is_soft", [False, True])
def test_mlp_gradient_equals_autograd(is_soft):
    torch.manual_seed(0)
    sizes = (2, 4, 5), (2, 1, 5), (2, 5, 3), (2, 1, 3)
    weights = [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes]
    inputs, kept = torch.randn(2, 6, 4, dtype=torch.float64), (torch.rand(6, 5) < 0.5).double() * 2
    log_likelihood = torch.randn(2, 6, 3, dtype=torch.float64)
    target = torch.softmax(log_likelihood, dim=2)
    log_p = torch.log_softmax(
        ((inputs @ weights[0] + weights[1]).relu() * kept) @ weights[2] + weights[3], dim=2
    )
    losses = -(target * log_p).sum(dim=2) if is_soft else -(log_p + log_likelihood).logsumexp(dim=2)
    losses.mean(dim=1).sum().backward()
    found = [torch.zeros(size, dtype=torch.float64) for size in sizes]
    plain = [weight.detach() for weight in weights]
    mlp_gradient(plain, inputs, log_likelihood, target, torch.full((2, 1, 1), is_soft), kept, found)
    assert all(torch.allclose(one, weight.grad) for one, weight in zip(found, weights, strict=True))


def test_fit_mlps_equals_training_each_network_alone():
    X, log_likelihood = (
        torch.randn(30, 4, generator=torch.Generator().manual_seed(0)),
        random_log_likelihoods(30, 3),
    )
    other = random_log_likelihoods(30, 3, seed=5)
    tasks = [
        Task(np.arange(20), log_likelihood),
        Task(np.arange(5, 30), other),
        Task(np.arange(30), log_likelihood),
    ]
    kinds = [MLPSettings(8, steps=30), MLPSettings(8, 0.5, 0.5, 30), MLPSettings(8, 0.3, 0.0, 30)]
    together = fit_mlps(X, tasks, kinds, seed=3, dtype=torch.float64)
    for model, task, kind in zip(together, tasks, kinds, strict=True):
        (apart,) = fit_mlps(X, [task], [kind], seed=3, dtype=torch.float64)
        assert all(
            torch.allclose(one, two, atol=1e-9)
            for one, two in zip(model.parameters(), apart.parameters(), strict=True)
        )


def test_fit_mlps_equals_torch_adamw():
    X, log_likelihood = torch.randn(200, 4, dtype=torch.float64), random_log_likelihoods(200, 3)
    kind = MLPSettings(8, steps=25, dropout=0.0)
    (found,) = fit_mlps(X, [Task(np.arange(200), log_likelihood)], [kind], dtype=torch.float64)

    random = torch.Generator().manual_seed(0)
    still = MLPSettings(8, steps=25, dropout=0.0, learning_rate=0.0)
    (untrained,) = fit_mlps(X, [Task(np.arange(200), log_likelihood)], [still], dtype=torch.float64)
    untrained.requires_grad_(True)
    for size in (32, 8, 24, 3):
        torch.rand(size, generator=random, dtype=torch.float64)  # the initial weights
    optimizer = torch.optim.AdamW(untrained.parameters(), lr=1e-2, weight_decay=1e-2)
    for step in range(25):
        optimizer.param_groups[0]["lr"] = 1e-2 * (1 + np.cos(np.pi * step / 25)) / 2
        rows = (torch.rand(128, generator=random, dtype=torch.float64) * 200).long()
        torch.randn(128, 4, generator=random, dtype=torch.float64)
        torch.rand(128, 8, generator=random, dtype=torch.float64)
        loss = -(torch.log_softmax(untrained(X[rows]), dim=1) + log_likelihood[rows]).logsumexp(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for one, two in zip(found.parameters(), untrained.parameters(), strict=True):
        assert torch.allclose(one, two, atol=1e-6)
