"""Labels drawn from a transition matrix follow its probabilities."""

import numpy as np
import pytest
from helpers.label_shares import exclusion_shares, within_five_errors

from scarce.simulate import (
    BIASED_A,
    SCAR_A,
    from_transition,
    human,
    human_transition,
    noisy,
    scar,
    scar_a,
    uniform,
    with_errors,
)


@pytest.mark.parametrize(
    ("make", "transition"),
    [
        (uniform, (1 - np.eye(10)) / 9),
        (scar_a, SCAR_A),
        (lambda y: from_transition(y, with_errors(BIASED_A, 0.1)), with_errors(BIASED_A, 0.1)),
        (lambda y: human(y, draws=1), human_transition()),
    ],
)
def test_label_shares_follow_transition_matrix(make, transition):
    y = np.arange(200_000) % 10
    assert within_five_errors(exclusion_shares(make(y), y), transition, 20_000)


def test_from_transition_unites_several_draws():
    y, transition = np.arange(100_000) % 5, with_errors((1 - np.eye(5)) / 4, 0.04)
    labels = from_transition(y, transition, draws=3)
    assert set(labels.per_example) == {1, 2, 3}
    assert within_five_errors(exclusion_shares(labels, y), 1 - (1 - transition) ** 3, 20_000)


def test_from_transition_draws_distinct_labels_without_replacement():
    shares = np.array([0.5, 0.3, 0.2])
    pairs = {(1, 2): 0.0, (1, 3): 0.0, (2, 3): 0.0}
    for first, second in ((a, b) for a in range(3) for b in range(3) if a != b):
        pair = tuple(sorted((first + 1, second + 1)))
        pairs[pair] += shares[first] * shares[second] / (1 - shares[first])
    transition = [[0, *shares], [0.5, 0, 0.5, 0], [0.2, 0.2, 0, 0.6], [0.2, 0.2, 0.6, 0]]
    n = 20_000
    labels = from_transition(np.zeros(n, int), transition, draws=2, distinct=True, classes=4)
    assert set(labels.per_example) == {2}
    for pair, probability in pairs.items():
        got = (labels.indices.reshape(n, 2) == pair).all(1).mean()
        assert within_five_errors(got, np.array(probability), n)


def test_rows_excluding_every_class_are_redrawn():
    labels = from_transition([0, 1] * 500, [[0.5, 0.5], [0.5, 0.5]], draws=3)
    assert set(labels.per_example) == {1}
    assert scar([0, 1] * 500, c=0.9, error_rate=0.9).per_example.max() == 1


def test_noisy_labels_exclude_true_class_at_tenth_of_noise():
    y = np.arange(100_000) % 10
    wrong = (noisy(y, noise=0.3, base="weak").indices == y).mean()
    assert within_five_errors(wrong, np.array(0.03), len(y))
