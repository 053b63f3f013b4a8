"""Simulate complementary labels from true classes.

A *process* draws the labels: uniform, biased, SCAR, noisy, from any transition matrix, several per example, with the errors of
human annotators, or as answers to yes/no questions. `simulate` calls a process by its name. This package does not import torch.
"""

from scarce.simulate.human import HUMAN_SOURCES, human, human_counts, human_transition
from scarce.simulate.multiple_labels import uniform_multiple
from scarce.simulate.questions import ask
from scarce.simulate.registry import PROCESSES, simulate
from scarce.simulate.scar import scar, scar_a, scar_b, scar_single, scar_unequal
from scarce.simulate.single_label import biased, biased_a, biased_b, from_transition, noisy, uniform
from scarce.simulate.transitions import (
    BIASED_A,
    BIASED_B,
    SCAR_A,
    SCAR_A_RATES,
    SCAR_B,
    SCAR_B_RATES,
    biased_transition,
    noisy_transition,
    scar_single_transition,
    strong_transition,
    uniform_transition,
    weak_transition,
    with_errors,
)

__all__ = [
    "PROCESSES",
    "simulate",
    "uniform",
    "biased",
    "biased_a",
    "biased_b",
    "from_transition",
    "noisy",
    "scar",
    "scar_unequal",
    "scar_single",
    "scar_a",
    "scar_b",
    "uniform_multiple",
    "human",
    "ask",
    "BIASED_A",
    "BIASED_B",
    "SCAR_A",
    "SCAR_A_RATES",
    "SCAR_B",
    "SCAR_B_RATES",
    "HUMAN_SOURCES",
    "uniform_transition",
    "biased_transition",
    "scar_single_transition",
    "weak_transition",
    "strong_transition",
    "noisy_transition",
    "with_errors",
    "human_counts",
    "human_transition",
]
