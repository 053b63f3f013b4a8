"""A small discrete world: classes, a classifier known by its confusions, and labels under SCAR; all of it can be listed."""

from itertools import product

import numpy as np

from scarce.labels import ComplementaryLabels

Q = 3
PRIORS = np.array([0.5, 0.3, 0.2])
CONFUSION = np.array([[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.2, 0.3, 0.5]])  # p(predicted | y)
CHANCES = np.array([0.2, 0.5, 0.9])  # p(k is excluded | y ≠ k)
ACCURACY = float(PRIORS @ CONFUSION.diagonal())


def every_outcome():
    """All (y, predicted, excluded) with their probabilities; several classes may be excluded, or none."""
    for y, predicted in product(range(Q), repeat=2):
        for marks in product([0, 1], repeat=Q - 1):
            excluded = np.insert(np.array(marks), y, 0)
            chance = np.prod([CHANCES[k] if excluded[k] else 1 - CHANCES[k] for k in range(Q) if k != y])
            yield y, predicted, excluded, PRIORS[y] * CONFUSION[y, predicted] * chance


def whole_population():
    """Predictions and labels in which every outcome stands as often as its probability says."""
    outcomes = list(every_outcome())
    copies = np.array([chance for *_, chance in outcomes]) * 1e6
    times = np.rint(copies).astype(int)
    assert np.allclose(copies, times)
    predicted = np.repeat([outcome[1] for outcome in outcomes], times)
    excluded = np.repeat(np.stack([outcome[2] for outcome in outcomes]), times, axis=0)
    return predicted, ComplementaryLabels.from_indicator(excluded)


def draw(rng, n, kind):
    """Draw n predictions with ``single`` (uniform) or ``multiple`` (SCAR) labels."""
    y = rng.choice(Q, n, p=PRIORS)
    predicted = (rng.random((n, 1)) > CONFUSION.cumsum(axis=1)[y]).sum(axis=1)
    if kind == "single":
        excluded = np.eye(Q, dtype=bool)[(y + rng.integers(1, Q, n)) % Q]
    else:
        excluded = rng.random((n, Q)) < CHANCES
        excluded[np.arange(n), y] = False
    return predicted, ComplementaryLabels.from_indicator(excluded)
