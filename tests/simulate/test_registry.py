"""Properties that several processes share, and calling a process by name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.simulate import BIASED_A, PROCESSES, scar, simulate, uniform_multiple

NOISE_FREE_PROCESSES = {  # processes that never exclude the true class, with their parameters
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
    st.sampled_from(sorted(NOISE_FREE_PROCESSES)),
    st.lists(st.integers(0, 9), min_size=1, max_size=30),
    st.integers(0, 99),
)
def test_noise_free_processes_never_exclude_true_class(name, y, seed):
    labels = simulate(name, y, classes=10, seed=seed, **NOISE_FREE_PROCESSES[name])
    assert not labels.indicator()[np.arange(len(y)), y].any()


@pytest.mark.parametrize(
    "name", ["uniform", "biased-a", "biased-b", "noisy", "scar-single", "scar-a", "scar-b"]
)
def test_single_label_processes_give_one_label(name):
    labels = simulate(name, np.arange(1000) % 10, **NOISE_FREE_PROCESSES[name])
    assert set(labels.per_example) == {1}


def test_simulate_calls_process_by_name():
    assert PROCESSES["uniform-multiple"] is uniform_multiple
    assert simulate("scar", [0, 1, 2], c=0.5, seed=9) == scar([0, 1, 2], c=0.5, seed=9)
