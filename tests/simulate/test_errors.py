"""Invalid parameters of processes raise a one-line error that names the fix."""

import numpy as np
import pytest

from scarce.errors import LabelError, MethodError
from scarce.simulate import (
    ask,
    biased_a,
    from_transition,
    human,
    human_counts,
    noisy,
    scar,
    scar_a,
    scar_single,
    simulate,
    uniform,
    uniform_multiple,
)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True])
def test_processes_reject_invalid_seed(seed):
    with pytest.raises(MethodError, match="seed="):
        uniform([0, 1], seed=seed)
    with pytest.raises(MethodError, match="seed="):
        ask([0, 1], seed=seed)


@pytest.mark.parametrize(
    ("transition", "message"),
    [
        (np.eye(3)[:2], r"shape \(2, 3\); expected 3 × 3"),
        (np.eye(2), r"shape \(2, 2\); expected 3 × 3"),
        ([[0, 1, 0], [0.5, 0, 0.499], [1, 0, 0]], "row of true class dog, sums to 0.999"),
        ([[0, 1, 0], [1.5, 0, -0.5], [1, 0, 0]], "row of true class dog, contains a negative"),
        ([[0, 1, 0], [1, 0, np.nan], [1, 0, 0]], "row of true class dog, contains a negative or missing"),
        ([[0, 1, 0], [1, 0], [1, 0, 0]], "is not understood; expected numbers"),
        ("biased", "is not understood; expected numbers"),
    ],
)
def test_from_transition_rejects_matrix_that_is_not_stochastic(transition, message):
    with pytest.raises(MethodError, match=message):
        from_transition(["cat", "dog", "owl"], transition)


def test_from_transition_rejects_impossible_draws():
    away = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    for draws in (0, 1.5, "2"):
        with pytest.raises(MethodError, match="draws="):
            from_transition([0, 1, 2], away, draws=draws)
    with pytest.raises(MethodError, match="true class 0 has fewer classes with positive probability"):
        from_transition([0, 1, 2], away, draws=2, distinct=True)
    with pytest.raises(MethodError, match="from 1 to 2"):
        from_transition([0, 1, 2], away, draws=3, distinct=True)
    with pytest.raises(MethodError, match="row 0 still excludes every class"):
        scar([0, 1], c=1, error_rate=1)


def test_published_settings_require_ten_classes():
    with pytest.raises(LabelError, match="biased-a is defined for ten classes, got 3; pass classes"):
        biased_a([0, 1, 2])
    with pytest.raises(LabelError, match="SCAR-a is defined for ten classes"):
        scar_a([0, 1, 2])
    with pytest.raises(LabelError, match="three equal groups"):
        noisy([0, 1, 2], noise=0.1)


def test_scar_requires_either_c_or_rates():
    y = ["cat"] * 9 + ["dog"]
    for process in (scar, scar_single):
        with pytest.raises(MethodError, match="neither of c and rates"):
            process(y)
        with pytest.raises(MethodError, match="both of c and rates"):
            process(y, c=0.1, rates=0.1)
        with pytest.raises(MethodError, match=r"class cat: the rate 0\.5 needs c = 5, above 1.*at most 0\.1"):
            process(y, rates=0.5)
        with pytest.raises(
            MethodError, match=r"c has shape \(3,\); expected one number, or one for each of the 2"
        ):
            process(y, c=[0.1, 0.2, 0.3])
        with pytest.raises(MethodError, match=r"c of class dog is 1\.2"):
            process(y, c=[0.1, 1.2])
    with pytest.raises(MethodError, match=r"class cat: the rate 0\.1 needs an infinite c"):
        scar(["cat"], rates=0.1, classes=["cat", "dog"])
    with pytest.raises(MethodError, match=r"error_rate=-0\.1"):
        scar(y, c=0.1, error_rate=-0.1)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (0, "sizes=0; expected a whole number from 1 to 2"),
        (3, "sizes=3"),
        (1.5, "sizes=1.5"),
        ([1], r"shape \(1,\); expected 2 numbers, the probabilities of 1 to 2 labels"),
        ([0.5, 0.4], "sums to 0.9"),
        ([1.5, -0.5], "negative"),
        ("two", "sizes='two'"),
    ],
)
def test_uniform_multiple_rejects_invalid_sizes(sizes, message):
    with pytest.raises(MethodError, match=message):
        uniform_multiple([0, 1, 2], sizes=sizes)


def test_human_rejects_classes_not_in_source():
    with pytest.raises(LabelError, match="classes names 3; clcifar10 has 10"):
        human([0, 1, 2], classes=3)
    with pytest.raises(
        LabelError, match="class lorry is not a class of clcifar10, but other names in classes are"
    ):
        human(["cat"], classes=[*human_counts().classes[:9], "lorry"])
    with pytest.raises(LabelError, match="row 0: the true class lorry"):
        human(["lorry"])
    with pytest.raises(MethodError, match="source='mnist' is unknown"):
        human([0], source="mnist")


def test_ask_rejects_invalid_questions_and_rates():
    with pytest.raises(MethodError, match="both questions=1 and rates"):
        ask([0, 1, 2], questions=1, rates=0.5)
    for questions in (0, 4, 1.5):
        with pytest.raises(MethodError, match="from 1 to 3"):
            ask([0, 1, 2], questions=questions)
    for wrong in (
        {"false_negative_rate": 2},
        {"false_positive_rate": "often"},
        {"rates": [0.1, 0.2]},
        {"rates": float("nan")},
    ):
        with pytest.raises(MethodError, match=next(iter(wrong))):
            ask([0, 1, 2], **wrong)


def test_simulate_rejects_unknown_process_and_parameter():
    with pytest.raises(MethodError, match="process='unifrom' is unknown; expected 'uniform', 'biased-a'"):
        simulate("unifrom", [0, 1])
    with pytest.raises(MethodError, match="'uniform' has no parameter 'noise'; it takes classes, seed"):
        simulate("uniform", [0, 1], noise=0.1)
    with pytest.raises(MethodError, match="'noisy' needs 'noise'"):
        simulate("noisy", [0, 1])
