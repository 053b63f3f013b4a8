"""A small population under SCAR that can be enumerated: every outcome and its probability."""

from itertools import product

import numpy as np
import pytest
import torch

__all__ = ["PRIORS", "Q", "RATES", "SCORES", "every_outcome", "whole_population"]

Q = 3
JOINT = np.array([[10, 5, 15], [20, 2, 8], [10, 23, 7]]) / 100  # p(x, y): three x, three y
C = np.array([0.2, 0.5, 0.9])  # p(k is excluded | y ≠ k), for every x: SCAR
PRIORS = torch.tensor(JOINT.sum(axis=0))
RATES = (1 - PRIORS) * torch.tensor(C)
SCORES = torch.tensor([[-0.3, 1.2, -2.0], [-1.1, -0.4, 0.6], [0.5, -0.8, -0.1]], dtype=torch.float64)


def every_outcome():
    """All (x, y, exclusions) with their probabilities."""
    for x, y in product(range(3), range(Q)):
        for excluded_flags in product([0, 1], repeat=Q - 1):
            excluded = np.insert(np.array(excluded_flags), y, 0)
            probability = np.prod([C[k] if excluded[k] else 1 - C[k] for k in range(Q) if k != y])
            yield x, y, excluded, JOINT[x, y] * probability


def whole_population():
    """Every outcome as often as in 20,000 rows; all counts are integers."""
    xs, ys, sets = [], [], []
    for x, y, excluded, probability in every_outcome():
        times = probability * 20_000
        assert times == pytest.approx(round(times))
        xs += [x] * round(times)
        ys += [y] * round(times)
        sets += [excluded] * round(times)
    return SCORES[xs], torch.tensor(ys), torch.tensor(np.array(sets)).double()
