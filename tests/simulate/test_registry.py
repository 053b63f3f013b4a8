"""Processes called by name: what all of them have in common."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.simulate import (
    BIASED_A,
    PROCESSES,
    scar,
    simulate,
    uniform_multiple,
)

FAITHFUL = {  # processes that never exclude the true class, with what they need beside y
    "uniform": {},
    "biased-a": {},
    "biased-b": {},
    "biased": {},
    "transition": {"transition": BIASED_A, "draws": 4},
    "noisy": {"noise": 0},
    "scar": {"c": 0.5},
    "scar-unequal": {},
    "scar-single": {"c": 0.3},
    "scar-a": {},
    "scar-b": {},
    "uniform-multiple": {},
    "ask": {"questions": 4},
}


@given(
    st.sampled_from(sorted(FAITHFUL)),
    st.lists(st.integers(0, 9), min_size=1, max_size=30),
    st.integers(0, 99),
)
def test_without_noise_no_example_excludes_its_own_class(name, y, seed):
    labels = simulate(name, y, classes=10, seed=seed, **FAITHFUL[name])
    assert not labels.indicator()[np.arange(len(y)), y].any()


@pytest.mark.parametrize(
    "name", ["uniform", "biased-a", "biased-b", "noisy", "scar-single", "scar-a", "scar-b"]
)
def test_single_processes_give_one_label(name):
    labels = simulate(name, np.arange(1000) % 10, **FAITHFUL[name])
    assert set(labels.per_example) == {1}


def test_every_process_is_listed_and_called_by_name():
    assert PROCESSES["uniform-multiple"] is uniform_multiple
    assert simulate("scar", [0, 1, 2], c=0.5, seed=9) == scar([0, 1, 2], c=0.5, seed=9)
