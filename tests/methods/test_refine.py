"""Refine: accuracy on class-dependent labels, counted rows, training stages and parameters."""

from functools import cache
from math import ceil

import numpy as np
import pytest
import torch
from helpers.methods import batch_of, double
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, make_method
from scarce.methods.refine import most_confident
from scarce.simulate import from_transition
from scarce.training import Recipe, train

Q = 5
EQUAL, UNEQUAL = [0.2] * Q, [0.3, 0.25, 0.2, 0.15, 0.1]
RECIPE = Recipe(epochs=20, batch_size=100, learning_rate=0.02)


def circulant(*values):
    """The circulant matrix with this first row."""
    return np.array([np.roll(values, y) for y in range(Q)])


SINGLE_LABEL_RATES = circulant(0, 0.5, 0.3, 0.1, 0.1)
CONDITIONAL_RATES = circulant(0, 0.7, 0.1, 0.5, 0.2)


@cache
def blobs_on_circle(class_shares=tuple(EQUAL), radius=2.0, n=3000):
    """Points of five classes around a circle, and the accuracy of the Bayes classifier."""
    rng = np.random.default_rng(0)
    y = rng.choice(Q, n, p=class_shares)
    angle = 2 * np.pi * np.arange(Q) / Q
    centres = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X = (centres[y] + rng.normal(size=(n, 2))).astype(np.float32)
    best = (np.log(class_shares) - ((X[:, None] - centres) ** 2).sum(axis=2) / 2).argmax(axis=1)
    return X, y, (best == y).mean()


def single_labels(y, transition=SINGLE_LABEL_RATES):
    return from_transition(y, transition, classes=Q, seed=1)


def independent_labels(y):
    """Independent labels whose rates depend on the class; a tenth of all rows is unlabeled."""
    return ComplementaryLabels.from_indicator(
        np.random.default_rng(1).random((len(y), Q)) < CONDITIONAL_RATES[y], Q
    )


def make_mlp():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, Q))


def fit_and_predict(name, X, labels, recipe=RECIPE, priors=None, **params):
    model, method = make_mlp(), make_method(name, **params)
    history = train(model, method, X, labels, recipe, priors=priors)
    with torch.no_grad():
        predicted = method.scores(model(torch.from_numpy(X))).argmax(dim=1).numpy()
    return method, history, predicted


# Accuracy and estimates --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("simulate", "class_shares", "margin"),
    [(single_labels, EQUAL, 0.05), (independent_labels, UNEQUAL, 0.015)],
)
def test_refine_beats_other_methods_on_class_dependent_labels(simulate, class_shares, margin):
    """With these labels the other methods trail by 0.10, or 0.05 with several labels; the test requires half of that."""
    X, y, best = blobs_on_circle(tuple(class_shares))
    labels = simulate(y)
    assert (labels.per_example == 0).mean() == pytest.approx(
        0 if simulate is single_labels else 0.11, abs=0.02
    )
    method, _, predicted = fit_and_predict("refine", X, labels)
    accuracy = (predicted == y).mean()
    assert accuracy > best - 0.02
    for other in ("scar-likelihood", "cc"):
        assert (fit_and_predict(other, X, labels)[2] == y).mean() < accuracy - margin
    assert method.learned_priors().tolist() == pytest.approx(class_shares, abs=0.04)


@pytest.mark.parametrize(
    ("simulate", "expected"), [(single_labels, SINGLE_LABEL_RATES), (independent_labels, CONDITIONAL_RATES)]
)
def test_refine_recovers_rates_and_priors_of_separate_blobs(simulate, expected):
    """The smallest class has about 300 rows: a standard error of at most 0.029; the tolerance is three and a half of them.

    Only the 2 % of rows that lie closer to another blob differ from a count by true classes.
    """
    X, y, best = blobs_on_circle(tuple(UNEQUAL), radius=4.0)
    assert best > 0.97
    labels = simulate(y)
    method, _, _ = fit_and_predict("refine", X, labels, confident_fraction=1.0, scar_strength=0.0)
    assert method.exclusion_matrix.numpy() == pytest.approx(expected, abs=0.1)
    counted_rates = np.array([labels.indicator()[y == k].mean(axis=0) for k in range(Q)])
    assert method.exclusion_matrix.numpy() == pytest.approx(counted_rates, abs=0.04)
    assert method.n_predicted.sum() == len(y)
    assert method.counts.sum() == labels.counts.sum()
    assert method.learned_priors().tolist() == pytest.approx((np.bincount(y) / len(y)).tolist(), abs=0.01)


def test_refine_counts_half_of_rows_and_shrinks_toward_scar():
    """About 300 rows and a weight of 50: the standard error is 0.029, the tolerance three and a half of them."""
    X, y, _ = blobs_on_circle(radius=4.0)
    method, _, _ = fit_and_predict("refine", X, single_labels(y), scar_strength=50.0)
    n = len(y) / Q / 2
    assert method.n_predicted.tolist() == pytest.approx([n] * Q, rel=0.1)
    scar = (1 - np.eye(Q)) / (Q - 1)
    assert method.exclusion_matrix.numpy() == pytest.approx(
        (n * SINGLE_LABEL_RATES + 50 * scar) / (n + 50), abs=0.1
    )


@pytest.mark.parametrize("error_rate", [0.0, "count"])
def test_refine_estimates_error_rate_if_requested(error_rate):
    """The share of wrong labels, up to the 2 % of 3000 rows that lie closer to another blob."""
    X, y, _ = blobs_on_circle(radius=4.0)
    labels = single_labels(y, circulant(0.05, 0.5, 0.2, 0.15, 0.1))
    method, _, _ = fit_and_predict("refine", X, labels, error_rate=error_rate, confident_fraction=1.0)
    own = method.exclusion_matrix.diagonal()
    if error_rate == "count":
        wrong = labels.indicator()[np.arange(len(y)), y].mean()
        assert own.mean().item() == pytest.approx(wrong, abs=0.015)
        assert own.min() > 0.02
    else:
        assert own.tolist() == [0] * Q


# Counting ------------------------------------------------------------------------------------------------------

PREDICTED = [0, 0, 1, 1, 2, 2]
MARGINS = [50.0, 1.0, 50.0, 1.0, 50.0, 1.0]
EXCLUDED = [[1], [2], [0, 2], [], [1], [0]]


def counted_method(confirmed=None, **params):
    """Refine after it counted six rows, of which half of every predicted class are confident."""
    plain = ComplementaryLabels.from_lists(EXCLUDED, classes=3)
    labels = ComplementaryLabels(plain.indptr, plain.indices, plain.classes, confirmed=confirmed)
    method = make_method("refine", scar_strength=0.0, **params)
    method.prepare(Problem(labels, double([0.5, 0.25, 0.25])))
    method.stage.fill_(1)  # where the scores are the logits
    logits = torch.zeros(6, 3, dtype=torch.float64)
    logits[range(6), PREDICTED] = double(MARGINS)
    parts = [(logits[rows], batch_of(labels, rows=rows)) for rows in ([0, 1, 2, 3], [4, 5])]
    assert method.double().next_stage(2, 10, lambda: iter(parts)) == 5
    return method


def test_refine_counts_only_confident_rows():
    method = counted_method()
    assert method.n_predicted.tolist() == [1, 1, 1]
    assert method.counts.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert method.exclusion_matrix.numpy() == pytest.approx(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))


def test_refine_counts_confirmed_rows_first():
    """Row 5 is of class 2 for certain and replaces row 4. Row 3 is an ordinary example of class 0 without exclusions."""
    method = counted_method(np.array([-1, -1, -1, 0, -1, 2]), confident_fraction=0.3)
    assert method.n_predicted.tolist() == [1, 1, 1]
    assert method.counts.tolist() == [[0, 1, 0], [1, 0, 1], [1, 0, 0]]
    all_rows = counted_method(np.array([-1, -1, -1, 0, -1, 2]), confident_fraction=1.0)
    assert all_rows.n_predicted.tolist() == [2, 1, 2]
    assert all_rows.counts.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_refine_learns_from_confirmed_rows_alone():
    """No row excludes a class; three quarters of the classes are confirmed."""
    X, y, _ = blobs_on_circle(radius=4.0)
    known = np.where(np.arange(len(y)) % 4, y, -1)
    empty = ComplementaryLabels.from_lists([[]] * len(y), classes=Q)
    labels = ComplementaryLabels(empty.indptr, empty.indices, empty.classes, confirmed=known)
    method, _, predicted = fit_and_predict("refine", X, labels)
    assert (predicted == y)[known < 0].mean() > 0.95
    assert method.counts.sum() == 0


# Stages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "lengths"),
    [
        ({"rounds": 1}, [2, 4]),
        ({"tol": 0.0}, [2, 2, 2, 4]),
        ({"tol": 0.0, "rounds": 4}, [2, 2, 2, 2, 4]),
        (
            {"tol": 1.0, "scar_strength": 50.0},
            [2, 2, 4],
        ),  # the first count moves by 1, the second by less
        ({"tol": 0.0, "rounds": 2, "short_fraction": 1.0}, [4, 4, 4]),
        ({"rounds": 1, "short_fraction": 0.0}, [1, 4]),
    ],
)
def test_refine_stages_have_expected_lengths(params, lengths):
    X, y, _ = blobs_on_circle()
    method, history, _ = fit_and_predict(
        "refine", X[:200], single_labels(y)[:200], Recipe(epochs=4), **params
    )
    assert history["stage"] == [float(stage) for stage, length in enumerate(lengths) for _ in range(length)]
    assert history["epoch"] == list(range(1, sum(lengths) + 1))
    assert history["moved"][lengths[0]] == 1
    assert bool(method.is_last)


def test_refine_accepts_other_base_method():
    X, y, _ = blobs_on_circle(radius=4.0)
    labels = single_labels(y)
    with pytest.raises(MethodError) as error:
        fit_and_predict("refine", X, labels, base_method="scarce")
    assert str(error.value) == "scarce needs class priors; pass priors=[...] with 5 numbers."
    _, history, predicted = fit_and_predict("refine", X, labels, priors=EQUAL, base_method="scarce", rounds=1)
    assert (predicted == y).mean() > 0.95
    alone = fit_and_predict(
        "scarce", X, labels, Recipe(epochs=10, batch_size=100, learning_rate=0.02), priors=EQUAL
    )
    assert history["loss"][:10] == alone[1]["loss"]


def test_refine_checks_requirements_of_base_method():
    method = make_method("refine", base_method="forward")
    with pytest.raises(MethodError, match=r"^forward needs a transition matrix"):
        method.check_transition(None)
    with pytest.raises(MethodError, match=r"^forward takes one excluded class per example"):
        method.check_labels(ComplementaryLabels.from_lists([[0, 1]], classes=3))
    assert make_method("refine", base_method="scarce").facts.needs_priors
    assert method.facts.needs_transition
    assert method.facts.accepts == make_method("forward").facts.accepts


def test_refine_resets_state_when_reused():
    X, y, _ = blobs_on_circle(n=200)
    method, labels = make_method("refine"), single_labels(y)
    histories = [train(make_mlp(), method, X, labels, Recipe(epochs=2, seed=1)) for _ in range(2)]
    assert histories[0]["moved"] == histories[1]["moved"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"base_method": "refine"},
            "base_method='refine' itself trains in stages; choose another, such as 'scarce'.",
        ),
        ({"rounds": 0}, "rounds=0; expected a whole number of at least 1."),
        ({"rounds": 1.5}, "rounds=1.5; expected a whole number of at least 1."),
        ({"short_fraction": 1.1}, "short_fraction=1.1; expected a number from 0 to 1."),
        ({"confident_fraction": -0.1}, "confident_fraction=-0.1; expected a number from 0 to 1."),
        ({"tol": "never"}, "tol='never'; expected a number from 0 to 1."),
        ({"scar_strength": -1}, "scar_strength=-1; expected a number of at least 0."),
        ({"scar_strength": float("nan")}, "scar_strength=nan; expected a number of at least 0."),
        ({"error_rate": 2}, "error_rate=2; expected a number from 0 to 1."),
        ({"error_rate": "learn"}, "error_rate='learn'; expected a number from 0 to 1."),
    ],
)
def test_refine_rejects_invalid_parameters(params, message):
    with pytest.raises(MethodError) as error:
        make_method("refine", **params)
    assert str(error.value) == message


def test_refine_rejects_unknown_base_method():
    with pytest.raises(MethodError, match="method='magic' is unknown; expected 'scarce'"):
        make_method("refine", base_method="magic")


# The most confident rows of every predicted class ------------------------------------------------------------


# Eighths are exact in binary, so a fraction of a number of rows has no rounding error.
fractions = st.integers(1, 8).map(lambda eighths: eighths / 8)
predicted_rows = st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2)), min_size=1, max_size=40)


def column(rows, number):
    return [row[number] for row in rows]


def slow_most_confident(predicted, margins, fraction):
    """Take the rows with the largest margins of each predicted class, the first one of tied rows."""
    chosen = set()
    for k in set(predicted):
        left = [row for row, other in enumerate(predicted) if other == k]
        for _ in range(ceil(fraction * len(left))):
            best = max(left, key=lambda row: (margins[row], -row))
            left.remove(best)
            chosen.add(best)
    return [row in chosen for row in range(len(predicted))]


@given(predicted_rows, fractions)
def test_most_confident_equals_slow_loop(rows, fraction):
    """Margins take five values, so most are tied; some classes are never predicted."""
    predicted, margins = column(rows, 0), column(rows, 1)
    found = most_confident(torch.tensor(predicted), double(margins), fraction).tolist()
    assert found == slow_most_confident(predicted, margins, fraction)


@given(predicted_rows)
def test_most_confident_covers_every_predicted_class(rows):
    predicted, margins = torch.tensor(column(rows, 0)), double(column(rows, 1))
    few = most_confident(predicted, margins, 0.0)
    counts = predicted.bincount(minlength=5)
    assert predicted[few].bincount(minlength=5).tolist() == counts.clamp(max=1).tolist()
    assert most_confident(predicted, margins, 1.0).all()


def test_most_confident_prefers_infinite_margins():
    margins = double([float("inf"), 3.0, float("inf"), 1e300])
    assert most_confident(torch.zeros(4, dtype=torch.long), margins, 0.5).tolist() == [
        True,
        False,
        True,
        False,
    ]


def test_most_confident_fraction_is_exact_in_single_precision():
    predicted = torch.zeros(50, dtype=torch.long)
    assert int(most_confident(predicted, torch.arange(50.0), 0.3).sum()) == 15


@pytest.mark.parametrize("error_rate", [np.array([0.1, 0.0, 0.2]), [0.1, 0.0], "learn", -0.1])
def test_refine_rejects_invalid_error_rate(error_rate):
    with pytest.raises(MethodError, match=r"error_rate=.*; expected a number from 0 to 1\."):
        make_method("refine", error_rate=error_rate)
