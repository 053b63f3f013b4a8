"""Labeling processes on a small population, with every outcome enumerated by plain loops."""

from itertools import product
from math import prod

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st

from scarce.risk import evidence_losses

Q = 4
PX = [0.5, 0.2, 0.3]
TRUTH = [[0.4, 0.3, 0.2, 0.1], [0.05, 0.6, 0.15, 0.2], [0.25, 0.05, 0.3, 0.4]]  # p(y | x)
SCAR_C = [0.2, 0.5, 0.7, 0.35]
ERROR_RATES = [0.05, 0.1, 0.0, 0.2]
LABEL_SETS = list(product([0, 1], repeat=Q))
SINGLE_LABEL_SETS = [tuple(int(j == k) for j in range(Q)) for k in range(Q)]

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=20, deadline=None)


def double(values):
    return torch.tensor(values, dtype=torch.float64)


SETS, SINGLES = double(LABEL_SETS), double(SINGLE_LABEL_SETS)


def true_logits():
    """log p(y | x) plus a constant per row, which must not matter."""
    return double(TRUTH).log() + double([[0.7], [-2.0], [0.0]])


def random_logits(rng, rows):
    return torch.from_numpy(rng.normal(0, 2, (rows, Q)))


def random_scar_rates(rng):
    """Exclusion probabilities of wrong classes, and error rates."""
    return torch.from_numpy(rng.uniform(0.05, 0.95, Q)), torch.from_numpy(rng.uniform(0, 0.3, Q))


def random_transition(rng, q=Q):
    """A matrix whose rows are distributions without zeros."""
    rows = rng.uniform(0.05, 1, (q, q))
    return torch.from_numpy(rows / rows.sum(axis=1, keepdims=True))


# Labeling processes: the probability of a set of labels, given the true class y ---------------------------------


def scar_process(c, error_rate):
    """Exclude every wrong class k with probability c_k, and the true class by error, independently."""

    def probability(labels, y):
        rates = [error_rate[k] if k == y else c[k] for k in range(len(labels))]
        return prod(p if excluded else 1 - p for p, excluded in zip(rates, labels, strict=True))

    return probability


def class_conditional_process(C):
    """Exclude class k with probability C[y][k], independently."""
    return lambda labels, y: prod(C[y][k] if excluded else 1 - C[y][k] for k, excluded in enumerate(labels))


def single_label_process(T):
    """Exclude exactly one class, drawn from row y of T."""
    return lambda labels, y: T[y][labels.index(1)]


def single_scar_process(c, error_rate):
    """Exclude the true class by error; otherwise draw under SCAR until exactly one class is excluded."""
    without_errors = scar_process(c, [0.0] * Q)

    def probability(labels, y):
        if labels[y]:
            return error_rate[y]
        total = sum(without_errors(other, y) for other in SINGLE_LABEL_SETS)
        return (1 - error_rate[y]) * without_errors(labels, y) / total

    return probability


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


def dialogues(policy, false_negative_rate, false_positive_rate):
    """All dialogues under a policy that chooses (class, annotator) or None, given x and the answers so far.

    Yields x, a list of (class, annotator, answer), and the probability of both, summed over the true class.
    """

    def branches(x, answers, per_class):
        question = policy(x, answers)
        if question is None:
            yield x, answers, sum(per_class)
            return
        k, who = question
        for answer in (True, False):
            yes = [1 - false_negative_rate[who] if y == k else false_positive_rate[who] for y in range(Q)]
            joint = [p * (s if answer else 1 - s) for p, s in zip(per_class, yes, strict=True)]
            yield from branches(x, [*answers, (k, who, answer)], joint)

    for x, px in enumerate(PX):
        yield from branches(x, [], [px * p for p in TRUTH[x]])


# Minimisers ----------------------------------------------------------------------------------------------------


def max_gradient_at_truth(risk):
    """The largest gradient of the expected loss, at the true posterior."""
    logits = true_logits().requires_grad_(True)
    risk(logits).backward()
    return logits.grad.abs().max().item()


def assert_minimised_at_truth(risk):
    assert max_gradient_at_truth(risk) < 1e-10
    least = risk(true_logits()).item()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        moved = torch.from_numpy(rng.normal(0, rng.choice([0.1, 0.5, 2.0]), (len(PX), Q)))
        assert risk(true_logits() + moved).item() > least + 1e-7


def expected_risk(evidence_of, process, sets=LABEL_SETS):
    """The expected loss of a table of logits, one row per x."""
    x, labels, probability = population(process, sets)
    return lambda logits: (probability * evidence_losses(logits[x], evidence_of(labels))).sum()
