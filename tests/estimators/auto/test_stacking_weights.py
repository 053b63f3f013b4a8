"""Weights of the stack, found by EM on the likelihood of held-out labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scarce.estimators.auto.candidate_evaluation import label_likelihoods, stacking_weights


@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_stacking_weights_equal_slow_loop(seed, models, rows):
    L = np.random.default_rng(seed).uniform(0.01, 1, (rows, models))
    slow = [1 / models] * models
    for _ in range(7):
        new = [0.0] * models
        for row in L:
            total = sum(w * likelihood for w, likelihood in zip(slow, row, strict=True))
            for j in range(models):
                new[j] += slow[j] * row[j] / total / rows
        slow = new
    assert np.allclose(stacking_weights(L, steps=7, min_weight=0.0), slow)


def test_stacking_weights_never_lower_likelihood():
    L = np.random.default_rng(0).uniform(0.01, 1, (50, 4))
    fits = [np.log(L @ stacking_weights(L, steps=steps, min_weight=0.0)).sum() for steps in range(6)]
    assert (np.diff(fits) >= 0).all()


def test_label_likelihoods_are_bounded_below():
    assert label_likelihoods([[1.0, 0.0]], [[-30.0, 0.0]])[0] == pytest.approx(1e-4)
