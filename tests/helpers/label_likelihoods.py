"""A small population whose outcomes under a labeling process are enumerated by plain loops."""

from itertools import product

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st

from scarce.risk import marginal_nll

Q = 4
PX = [0.5, 0.2, 0.3]
TRUTH = [[0.4, 0.3, 0.2, 0.1], [0.05, 0.6, 0.15, 0.2], [0.25, 0.05, 0.3, 0.4]]  # p(y | x)
LABEL_SETS = list(product([0, 1], repeat=Q))
SINGLE_LABEL_SETS = [tuple(int(j == k) for j in range(Q)) for k in range(Q)]

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=20, deadline=None)


def double(values):
    return torch.tensor(values, dtype=torch.float64)


SETS, SINGLES = double(LABEL_SETS), double(SINGLE_LABEL_SETS)


def true_logits():
    """log p(y | x) plus a constant per row, which must not change any result."""
    return double(TRUTH).log() + double([[0.7], [-2.0], [0.0]])


def random_logits(rng, rows):
    return torch.from_numpy(rng.normal(0, 2, (rows, Q)))


def random_scar_rates(rng):
    """Exclusion probabilities of wrong classes, and error rates."""
    return torch.from_numpy(rng.uniform(0.05, 0.95, Q)), torch.from_numpy(rng.uniform(0, 0.3, Q))


def slow_probabilities(process, sets, p):
    """Σ_y p_y P(labels | y) under the process, for every set of labels."""
    return [sum(p[y].item() * process(labels, y) for y in range(Q)) for labels in sets]


def population(process, sets=LABEL_SETS):
    """Every outcome: x and labels as tensors, and their probabilities."""
    outcomes = list(product(range(len(PX)), sets))
    probability = [PX[x] * sum(TRUTH[x][y] * process(labels, y) for y in range(Q)) for x, labels in outcomes]
    assert abs(sum(probability) - 1) < 1e-12
    return (
        torch.tensor([x for x, _ in outcomes]),
        double([labels for _, labels in outcomes]),
        double(probability),
    )


# Minimisers ----------------------------------------------------------------------------------------------------


def max_gradient_at_truth(risk):
    """The largest gradient of the expected loss, at the true posterior."""
    logits = true_logits().requires_grad_(True)
    risk(logits).backward()
    return logits.grad.abs().max().item()


def assert_minimized_at_truth(risk):
    assert max_gradient_at_truth(risk) < 1e-10
    least = risk(true_logits()).item()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        moved = torch.from_numpy(rng.normal(0, rng.choice([0.1, 0.5, 2.0]), (len(PX), Q)))
        assert risk(true_logits() + moved).item() > least + 1e-7


def expected_risk(log_likelihood_of, process, sets=LABEL_SETS):
    """The expected loss of a table of logits, one row per x."""
    x, labels, probability = population(process, sets)
    return lambda logits: (probability * marginal_nll(logits[x], log_likelihood_of(labels))).sum()
