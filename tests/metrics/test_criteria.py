"""Criteria of model selection: reference records, slow loops, and identities that hold in a whole population."""

import numpy as np
import pytest
import torch
from helpers.golden import records
from helpers.populations import (
    ACCURACY,
    CONFUSION,
    PRIORS,
    Q,
    draw_labeled_predictions,
    random_predictions_and_labels,
)
from hypothesis import given
from hypothesis import strategies as st

from scarce.errors import FeatureError, LabelError, MethodError, PriorError
from scarce.labels import ComplementaryLabels
from scarce.metrics import (
    approximated_accuracy,
    complementary_accuracy,
    complementary_risk,
    covering_rate,
    scel,
    transition_risk,
)
from scarce.simulate import uniform_transition


def read(record):
    """Logits, probabilities, predictions and labels of a record."""
    logits = torch.tensor(record["logits"], dtype=torch.float64)
    labels = ComplementaryLabels.from_indicator(record["complementary_label_matrix"])
    return logits, torch.softmax(logits, dim=1).numpy(), logits.argmax(dim=1).numpy(), labels


UNIFORM = uniform_transition(4)


@pytest.mark.parametrize("record", records("select_ure"))
def test_transition_risk_matches_reference_records(record):
    _, p, _, labels = read(record)
    value = transition_risk(p, labels, UNIFORM, loss=record["params"]["loss"])
    assert value == pytest.approx(record["value"], abs=1e-9)


@pytest.mark.parametrize("record", records("select_scel"))
def test_scel_matches_reference_records(record):
    _, p, _, labels = read(record)
    assert scel(p, labels, UNIFORM) == pytest.approx(record["value"], abs=1e-9)


@pytest.mark.parametrize("record", records("select_scar_accuracy"))
def test_complementary_accuracy_matches_reference_records(record):
    _, _, predicted, labels = read(record)
    value = complementary_accuracy(predicted, labels, record["params"]["pi"]).value
    assert value == pytest.approx(record["value"], abs=1e-9)


@pytest.mark.parametrize("record", records("select_covering_rate"))
def test_covering_rate_matches_reference_records(record):
    _, _, predicted, labels = read(record)
    assert covering_rate(predicted, labels) == pytest.approx(record["value"], abs=1e-9)


@pytest.mark.parametrize("record", records("select_approx_accuracy"))
def test_approximated_accuracy_matches_reference_records(record):
    _, p, _, labels = read(record)
    assert approximated_accuracy(p, labels) == pytest.approx(record["value"], abs=1e-9)


def test_reference_records_cover_every_criterion():
    for name in ("ure", "scel", "scar_accuracy", "covering_rate", "approx_accuracy"):
        assert len(records(f"select_{name}")) >= 2


@given(st.integers(0, 10**6))
def test_scel_and_transition_risk_equal_slow_loops(seed):
    _, p, excluded, transition = random_predictions_and_labels(seed)
    labels = ComplementaryLabels.from_indicator(excluded)
    likelihood, risks, inverse = [], {"cce": [], "01": []}, np.linalg.inv(transition)
    for i, k in zip(*np.nonzero(excluded), strict=True):
        likelihood.append(-np.log(sum(p[i, y] * transition[y, k] for y in range(Q))))
        risks["cce"].append(sum(inverse[k, j] * -np.log(p[i, j]) for j in range(Q)))
        risks["01"].append(sum(inverse[k, j] * (j != p[i].argmax()) for j in range(Q)))
    assert scel(p, labels, transition) == pytest.approx(np.mean(likelihood))
    for loss, values in risks.items():
        assert transition_risk(p, labels, transition, loss=loss) == pytest.approx(np.mean(values))


@given(st.integers(0, 10**6))
def test_approximated_accuracy_and_covering_rate_equal_slow_loops(seed):
    _, p, excluded, _ = random_predictions_and_labels(seed)
    labels = ComplementaryLabels.from_indicator(excluded)
    best = p.argmax(axis=1)
    terms = [
        0.0 if excluded[i, best[i]] else p[i, best[i]] / sum(p[i, k] for k in range(Q) if not excluded[i, k])
        for i in range(len(p))
    ]
    assert approximated_accuracy(p, labels) == pytest.approx(np.mean(terms))
    assert covering_rate(best, labels) == pytest.approx(np.mean([share > 0 for share in terms]))


def single_population(transition):
    """Every (y, predicted, excluded) with one label drawn from the transition matrix, in proportion to its probability."""
    chance = PRIORS[:, None, None] * CONFUSION[:, :, None] * transition[:, None, :]
    times = np.rint(chance * 1e6).astype(int)
    assert np.allclose(times, chance * 1e6)
    _, predicted, excluded = (
        np.repeat(part, times.ravel()) for part in np.indices(times.shape).reshape(3, -1)
    )
    return predicted, ComplementaryLabels.from_single(excluded, classes=Q)


def test_covering_rate_of_uniform_labels_determines_accuracy():
    predicted, labels = single_population((1 - np.eye(Q)) / (Q - 1))
    assert 1 - (Q - 1) * (1 - covering_rate(predicted, labels)) == pytest.approx(ACCURACY, abs=1e-12)


def test_transition_risk_of_population_is_error_rate():
    transition = np.array([[0.0, 0.7, 0.3], [0.2, 0.0, 0.8], [0.6, 0.4, 0.0]])
    predicted, labels = single_population(transition)
    value = transition_risk(np.eye(Q)[predicted], labels, transition, loss="01")
    assert value == pytest.approx(1 - ACCURACY, abs=1e-9)


def test_criteria_are_finite_for_probabilities_0_and_1():
    labels = ComplementaryLabels.from_single([0, 1], classes=2)
    p = [[1.0, 0.0], [1.0, 0.0]]
    flip = uniform_transition(2)
    assert np.isfinite(scel(p, labels, flip))
    assert np.isfinite(transition_risk(p, labels, flip))
    assert approximated_accuracy(p, labels) == 0.5


LABELS = ComplementaryLabels.from_single([0, 1], classes=3)
EMPTY = ComplementaryLabels.from_lists([[], []], classes=3)
P = np.full((2, 3), 1 / 3)
T = uniform_transition(3)
SINGULAR = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.2, 0.25, 0.55]]  # the last row is the mean of the others


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: covering_rate([0], LABELS),
            FeatureError,
            r"the predictions have shape \(1,\); expected \(2,\)",
        ),
        (lambda: covering_rate([0, 3], LABELS), LabelError, "the prediction 3 is not one of the classes"),
        (
            lambda: approximated_accuracy(P[:, :2], LABELS),
            LabelError,
            r"have shape \(2, 2\); expected \(2, 3\)",
        ),
        (
            lambda: scel(P[:1], LABELS, T),
            LabelError,
            r"the probabilities have shape \(1, 3\); expected \(2, 3\)",
        ),
        (
            lambda: scel([["a"] * 3] * 2, LABELS, T),
            LabelError,
            "the probabilities are not a matrix of numbers",
        ),
        (lambda: scel(P, LABELS, T[:2]), MethodError, r"transition has shape \(2, 3\); expected 3 × 3"),
        (lambda: scel(P, LABELS, 2 * T), MethodError, "row of true class 0, sums to 2; expected 1"),
        (lambda: scel(P, LABELS, 2 * np.eye(3) - T), MethodError, "row of true class 0, contains a negative"),
        (lambda: scel(P, LABELS, "uniform"), MethodError, "transition='uniform' is not understood"),
        (lambda: scel(P, LABELS, None), MethodError, r"transition has shape \(\)"),
        (
            lambda: scel(P, EMPTY, T),
            LabelError,
            "no example excludes any class, so there is nothing to evaluate on",
        ),
        (lambda: transition_risk(P, EMPTY, T), LabelError, "nothing to evaluate on"),
        (lambda: transition_risk(P, LABELS, np.full((3, 3), 1 / 3)), LabelError, "has no inverse.*use scel"),
        (lambda: transition_risk(P, LABELS, SINGULAR), LabelError, "has no inverse.*use scel"),
        (
            lambda: transition_risk(P, LABELS, T, loss="mae"),
            MethodError,
            "loss='mae' is unknown; expected 'cce' or '01'",
        ),
        (lambda: complementary_risk(P[:1], LABELS, PRIORS), LabelError, r"the logits have shape \(1, 3\)"),
        (lambda: complementary_risk(P[:, :1], LABELS, PRIORS), LabelError, r"the logits have shape \(2, 1\)"),
        (lambda: complementary_risk(P, LABELS, [0.5, 0.5]), PriorError, r"priors has shape \(2,\)"),
        (
            lambda: complementary_risk(P, LABELS, PRIORS, loss="cubic"),
            MethodError,
            "loss='cubic' is unknown; expected 'logistic', 'sigmoid'",
        ),
    ],
)
def test_criteria_reject_invalid_input(call, error, message):
    with pytest.raises(error, match=message) as e:
        call()
    assert "\n" not in str(e.value)


def test_criteria_prefer_better_classifier():
    rng = np.random.default_rng(0)
    predicted, labels = draw_labeled_predictions(rng, 4000, "single")
    worse = np.where(rng.random(4000) < 0.5, predicted, rng.integers(0, Q, 4000))
    transition = uniform_transition(Q)
    scores = []
    for codes in (predicted, worse):
        p = np.eye(Q)[codes] * 0.7 + 0.1
        scores.append(
            [
                complementary_accuracy(codes, labels, PRIORS).value,
                -complementary_risk(np.log(p), labels, PRIORS),
                covering_rate(codes, labels),
                approximated_accuracy(p, labels),
                -scel(p, labels, transition),
                -transition_risk(p, labels, transition, loss="01"),
            ]
        )
    assert (np.array(scores[0]) > np.array(scores[1])).all()
