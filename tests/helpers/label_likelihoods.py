"""A world small enough to list everything that can be said about an example, told as a story with plain loops."""

from itertools import product
from math import prod

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st

from scarce.risk import (
    evidence_losses,
)

Q = 4
PX = [0.5, 0.2, 0.3]
TRUTH = [[0.4, 0.3, 0.2, 0.1], [0.05, 0.6, 0.15, 0.2], [0.25, 0.05, 0.3, 0.4]]  # p(y | x)
CHANCES = [0.2, 0.5, 0.7, 0.35]
ERRORS = [0.05, 0.1, 0.0, 0.2]
LABEL_SETS = list(product([0, 1], repeat=Q))
ONE_MARK = [tuple(int(j == k) for j in range(Q)) for k in range(Q)]

seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=20, deadline=None)


def double(values):
    return torch.tensor(values, dtype=torch.float64)


SETS, SINGLES = double(LABEL_SETS), double(ONE_MARK)


def best_logits():
    """log p(y | x) and a constant per row, which must not matter."""
    return double(TRUTH).log() + double([[0.7], [-2.0], [0.0]])


def random_logits(rng, rows):
    return torch.from_numpy(rng.normal(0, 2, (rows, Q)))


def random_scar(rng):
    """Chances and errors."""
    return torch.from_numpy(rng.uniform(0.05, 0.95, Q)), torch.from_numpy(rng.uniform(0, 0.3, Q))


def random_rows(rng, q=Q):
    """A matrix whose rows are distributions without zeros."""
    rows = rng.uniform(0.05, 1, (q, q))
    return torch.from_numpy(rows / rows.sum(axis=1, keepdims=True))


# Stories: the probability of what is said about an example of class y ------------------------------------------


def scar_story(chances, error_rate):
    """Every wrong class k is marked with its chance, the class itself by error, independently."""

    def chance(marks, y):
        of = [error_rate[k] if k == y else chances[k] for k in range(len(marks))]
        return prod(p if mark else 1 - p for p, mark in zip(of, marks, strict=True))

    return chance


def conditional_story(C):
    """Marked "not k" with a probability for every pair of classes, independently."""
    return lambda marks, y: prod(C[y][k] if mark else 1 - C[y][k] for k, mark in enumerate(marks))


def one_mark_story(T):
    """Exactly one mark."""
    return lambda marks, y: T[y][marks.index(1)]


def conditioned_story(chances, error_rate):
    """Wrong with the probability of an error; otherwise the marks of SCAR, drawn until there is exactly one."""
    right = scar_story(chances, [0.0] * Q)

    def chance(marks, y):
        if marks[y]:
            return error_rate[y]
        return (1 - error_rate[y]) * right(marks, y) / sum(right(other, y) for other in ONE_MARK)

    return chance


def population(story, sets=LABEL_SETS):
    """All that can happen: x and marks as tensors, and their probabilities."""
    seen = list(product(range(len(PX)), sets))
    chance = [PX[x] * sum(TRUTH[x][y] * story(marks, y) for y in range(Q)) for x, marks in seen]
    assert abs(sum(chance) - 1) < 1e-12
    return torch.tensor([x for x, _ in seen]), double([marks for _, marks in seen]), double(chance)


def dialogues(policy, false_negative_rate, false_positive_rate):
    """All dialogues of a policy that chooses (class, annotator) or None by x and what was said before.

    Yields x, a list of (class, annotator, answer), and their probability; the class stays unseen.
    """

    def told(x, said, per_class):
        chosen = policy(x, said)
        if chosen is None:
            yield x, said, sum(per_class)
            return
        k, who = chosen
        for answer in (True, False):
            yes = [1 - false_negative_rate[who] if y == k else false_positive_rate[who] for y in range(Q)]
            seen = [p * (s if answer else 1 - s) for p, s in zip(per_class, yes, strict=True)]
            yield from told(x, [*said, (k, who, answer)], seen)

    for x, px in enumerate(PX):
        yield from told(x, [], [px * p for p in TRUTH[x]])


# Minimisers ----------------------------------------------------------------------------------------------------


def gradient_at_truth(risk):
    """The gradient of the expected loss by the table of logits, where the model is right."""
    logits = best_logits().requires_grad_(True)
    risk(logits).backward()
    return logits.grad.abs().max().item()


def assert_truth_is_best(risk):
    assert gradient_at_truth(risk) < 1e-10
    least = risk(best_logits()).item()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        moved = torch.from_numpy(rng.normal(0, rng.choice([0.1, 0.5, 2.0]), (len(PX), Q)))
        assert risk(best_logits() + moved).item() > least + 1e-7


def told(story, sets, p):
    """Σ_y p_y P(marks | y) by the story."""
    return [sum(p[y].item() * story(marks, y) for y in range(Q)) for marks in sets]


def risk_of(evidence_of, story, sets=LABEL_SETS):
    x, marks, chance = population(story, sets)
    return lambda logits: (chance * evidence_losses(logits[x], evidence_of(marks))).sum()
