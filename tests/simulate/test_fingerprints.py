"""The labels that every process draws from a seed, as a digest and as readable counts."""

import hashlib
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.fingerprints import uncovered

from scarce.labels import ComplementaryLabels
from scarce.simulate import PROCESSES, simulate, strong_transition, with_errors
from scarce.simulate.registry import REVISION

WHERE = "`REVISION` to {revision} in scarce.simulate.registry"

TEN = np.arange(200) * 7 // 3 % 10
FOUR = np.arange(200) * 5 // 3 % 4
MANY = np.arange(300_000) % 4  # more than one block of examples
MATRIX = [[0.0, 0.5, 0.3, 0.2], [0.4, 0.1, 0.2, 0.3], [0.2, 0.3, 0.0, 0.5], [0.1, 0.3, 0.6, 0.0]]
RATES = [0.1, 0.4, 0.2, 0.3]


class Case(NamedTuple):
    """A process, the true classes, and its parameters."""

    name: str
    truth: Any
    params: dict[str, Any]


def case(name: str, truth: Any = FOUR, **params: Any) -> Case:
    return Case(name, truth, params)


CASES: dict[str, Case] = {
    "uniform": case("uniform"),
    "uniform, another seed": case("uniform", seed=7),
    "uniform, ten classes": case("uniform", TEN),
    "biased": case("biased"),
    "biased-a": case("biased-a", TEN),
    "biased-b": case("biased-b", TEN),
    "transition": case("transition", transition=MATRIX),
    "transition, three draws": case("transition", transition=MATRIX, draws=3),
    "transition, two distinct draws": case("transition", transition=MATRIX, draws=2, distinct=True),
    "transition, shuffled matrix with errors": case(
        "transition", TEN, transition=with_errors(strong_transition(10, seed=3), 0.1)
    ),
    "noisy": case("noisy", TEN, noise=0.3),
    "noisy, weak": case("noisy", TEN, noise=0.3, base="weak"),
    "noisy, matrix": case("noisy", noise=0.3, base=MATRIX),
    "scar": case("scar", c=0.4),
    "scar, of every class": case("scar", c=RATES),
    "scar, given rates": case("scar", rates=RATES),
    "scar, errors": case("scar", c=0.8, error_rate=0.3),
    "scar, several blocks": case("scar", MANY, c=0.8, error_rate=0.3),
    "scar-unequal": case("scar-unequal"),
    "scar-single": case("scar-single", c=RATES),
    "scar-single, given rates": case("scar-single", rates=RATES),
    "scar-a": case("scar-a", TEN),
    "scar-b": case("scar-b", TEN),
    "uniform-multiple": case("uniform-multiple"),
    "uniform-multiple, two each": case("uniform-multiple", sizes=2),
    "uniform-multiple, given sizes": case("uniform-multiple", sizes=[0.5, 0.3, 0.2]),
    "human": case("human", TEN),
    "human, one person": case("human", TEN, draws=1),
    "human, twenty classes": case("human", np.arange(200) * 7 // 3 % 20, source="clcifar20"),
    "ask": case("ask"),
    "ask, three questions": case("ask", questions=3),
    "ask, given rates": case("ask", rates=RATES),
    "ask, errors": case("ask", questions=2, false_negative_rate=0.2, false_positive_rate=0.1),
    "ask, errors, several blocks": case(
        "ask", MANY, questions=2, false_negative_rate=0.2, false_positive_rate=0.1
    ),
}


def _digest(labels: ComplementaryLabels) -> str:
    """Digest of exclusions, confirmed classes, and answers."""
    digest = hashlib.sha256(labels.indicator().astype(np.uint8).tobytes())
    digest.update(labels.confirmed.astype("<i4").tobytes())
    if labels.answers is not None:
        for column in (labels.answers.example, labels.answers.class_index, labels.answers.answer):
            digest.update(column.astype("<i8").tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.parametrize("label", CASES)
def test_simulated_labels_match_fingerprint(label, fingerprints):
    case = CASES[label]
    labels = simulate(case.name, case.truth, **case.params)
    numbers = {
        "counts": labels.counts,
        "without_label": int((labels.per_example == 0).sum()),
        "confirmed": int((labels.confirmed >= 0).sum()),
        "digest": _digest(labels),
    }
    fingerprints.check(label, case.name, REVISION, numbers)


def test_every_process_has_fingerprint():
    assert not uncovered(PROCESSES, CASES, lambda case: case.name)
