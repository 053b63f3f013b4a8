"""Class-conditional likelihoods, and the exclusion matrix estimated from counted rows."""

from math import prod

import numpy as np
import pytest
import torch
from helpers.label_likelihoods import (
    LABEL_SETS,
    SETS,
    SINGLE_LABEL_SETS,
    SINGLES,
    Q,
    assert_minimized_at_truth,
    double,
    expected_risk,
    quick,
    random_logits,
    random_scar_rates,
    seeds,
    slow_probabilities,
)
from hypothesis import given
from hypothesis import strategies as st

from scarce.methods.forward import forward_losses
from scarce.risk import (
    class_conditional_log_likelihood,
    estimate_exclusion_matrix,
    estimate_scar_strength,
    marginal_nll,
    scar_log_likelihood,
    scar_ratios,
    single_label_log_likelihood,
    single_label_transition,
)


def random_transition(rng, q=Q):
    """A matrix whose rows are distributions without zeros."""
    rows = rng.uniform(0.05, 1, (q, q))
    return torch.from_numpy(rows / rows.sum(axis=1, keepdims=True))


def class_conditional_process(C):
    """Exclude class k with probability C[y][k], independently."""
    return lambda labels, y: prod(C[y][k] if excluded else 1 - C[y][k] for k, excluded in enumerate(labels))


def single_label_process(T):
    """Exclude exactly one class, drawn from row y of T."""
    return lambda labels, y: T[y][labels.index(1)]


@quick
@given(seeds)
def test_single_label_likelihood_gives_forward_loss(seed):
    rng = np.random.default_rng(seed)
    f, T = random_logits(rng, Q), random_transition(rng)
    for transition in (T, T * (1 - torch.eye(Q))):
        got = marginal_nll(f, single_label_log_likelihood(SINGLES, transition))
        expected = forward_losses(f, torch.arange(Q), transition.log())
        assert got.tolist() == pytest.approx(expected.tolist(), abs=1e-6)


@quick
@given(seeds)
def test_conditional_likelihood_of_constant_columns_equals_scar(seed):
    c, error_rate = random_scar_rates(np.random.default_rng(seed))
    C = torch.where(torch.eye(Q) > 0, error_rate, c.expand(Q, Q))
    scar = scar_log_likelihood(SETS, scar_ratios(c, error_rate))
    base = SETS @ c.log() + (1 - SETS) @ (1 - c).log()
    torch.testing.assert_close(class_conditional_log_likelihood(SETS, C), scar + base[:, None])


@quick
@given(seeds)
def test_class_conditional_likelihood_equals_enumerated_probabilities(seed):
    rng = np.random.default_rng(seed)
    C, T, f = torch.from_numpy(rng.uniform(0, 1, (Q, Q))), random_transition(rng), random_logits(rng, 1)
    for log_likelihood, process, sets in (
        (class_conditional_log_likelihood(SETS, C), class_conditional_process(C.tolist()), LABEL_SETS),
        (single_label_log_likelihood(SINGLES, T), single_label_process(T.tolist()), SINGLE_LABEL_SETS),
    ):
        probability = torch.exp(-marginal_nll(f.expand(len(sets), Q), log_likelihood))
        assert probability.sum().item() == pytest.approx(1, abs=1e-10)
        assert probability.tolist() == pytest.approx(
            slow_probabilities(process, sets, f.softmax(1)[0]), abs=1e-10
        )


def test_class_conditional_loss_is_minimized_at_truth():
    rng = np.random.default_rng(0)
    C, T = torch.from_numpy(rng.uniform(0.05, 0.9, (Q, Q))), random_transition(rng)
    assert_minimized_at_truth(
        expected_risk(
            lambda excluded_sets: class_conditional_log_likelihood(excluded_sets, C),
            class_conditional_process(C.tolist()),
        )
    )
    by_one = expected_risk(
        lambda excluded_sets: single_label_log_likelihood(excluded_sets, T),
        single_label_process(T.tolist()),
        SINGLE_LABEL_SETS,
    )
    assert_minimized_at_truth(by_one)


# The exclusion matrix from counted rows ---------------------------------------------------------------------


def column(rows, number):
    return [row[number] for row in rows]


COUNTS = double([[1.0, 6.0, 2.0], [3.0, 0.0, 9.0], [4.0, 4.0, 0.0]])
NAMED = double([10.0, 12.0, 8.0])
SCAR = [7 / 20, 10 / 18, 11 / 22]  # of the rows predicted as another class


def estimated_from_correct_predictions(counts, n_predicted, scar_strength, error_rate=None):
    """The estimated exclusion matrix, if every prediction is correct."""
    return estimate_exclusion_matrix(counts, n_predicted, n_predicted.diag(), scar_strength, error_rate)


@pytest.mark.parametrize(
    ("error_rate", "diagonal"),
    [(0.0, [0, 0, 0]), (0.05, [0.05] * 3), (None, [(1 + 1 / 3) / 20, (1 / 3) / 22, (1 / 3) / 18])],
)
def test_exclusion_matrix_matches_hand_computed_values(error_rate, diagonal):
    """Ten rows shrink the rates towards SCAR, and the diagonal towards 1 wrong row of 30."""
    expected = [
        [diagonal[0], (6 + 10 * SCAR[1]) / 20, (2 + 10 * SCAR[2]) / 20],
        [(3 + 10 * SCAR[0]) / 22, diagonal[1], (9 + 10 * SCAR[2]) / 22],
        [(4 + 10 * SCAR[0]) / 18, (4 + 10 * SCAR[1]) / 18, diagonal[2]],
    ]
    got = estimated_from_correct_predictions(COUNTS, NAMED, 10.0, error_rate)
    assert got.tolist() == [pytest.approx(row) for row in expected]


def test_exclusion_matrix_lies_between_counts_and_scar():
    off = ~torch.eye(3, dtype=torch.bool)
    alone, drawn = (
        estimated_from_correct_predictions(COUNTS, NAMED, 0.0),
        estimated_from_correct_predictions(COUNTS, NAMED, 1e12),
    )
    assert alone[off].tolist() == pytest.approx([6 / 10, 2 / 10, 3 / 12, 9 / 12, 4 / 8, 4 / 8])
    assert alone.diagonal().tolist() == pytest.approx([1 / 10, 0, 0])
    assert drawn[off].tolist() == pytest.approx([SCAR[k] for k in (1, 2, 0, 2, 0, 1)])
    assert drawn.diagonal().tolist() == pytest.approx([1 / 30] * 3)


def test_exclusion_matrix_corrects_for_wrong_predictions():
    """Two of 10 rows predicted as 0 belong to class 1 and always exclude 2; the other eight exclude it 4 times."""
    posterior_sums = double([[8.0, 2.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 10.0]])
    counts = double([[0.0, 4.0, 6.0], [0.0, 0.0, 10.0], [5.0, 5.0, 0.0]])
    got = estimate_exclusion_matrix(counts, double([10.0, 10.0, 10.0]), posterior_sums, 0.0)
    assert got.tolist() == [pytest.approx(row) for row in ([0, 4 / 8, 4 / 8], [0, 0, 1], [0.5, 0.5, 0])]


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_exclusion_matrix_recovers_truth_from_correct_posteriors(q, seed):
    rng = np.random.default_rng(seed)
    exclusion_matrix, n_predicted = rng.uniform(0, 1, (q, q)), rng.uniform(1, 100, q)
    mixture = rng.uniform(0, 1, (q, q)) + q * np.eye(q)
    posterior_sums = n_predicted[:, None] * mixture / mixture.sum(axis=1, keepdims=True)
    counts = [
        [sum(b * exclusion_matrix[j, k] for j, b in enumerate(row)) for k in range(q)]
        for row in posterior_sums
    ]
    got = estimate_exclusion_matrix(
        double(counts), torch.from_numpy(n_predicted), torch.from_numpy(posterior_sums), 0.0
    )
    assert got.numpy() == pytest.approx(exclusion_matrix, abs=1e-9)
    kept = estimate_exclusion_matrix(
        double(counts), torch.from_numpy(n_predicted), torch.from_numpy(posterior_sums), 0.0, 0.25
    )
    assert kept.diagonal().tolist() == [0.25] * q
    off = ~np.eye(q, dtype=bool)
    assert kept.numpy()[off] == pytest.approx(exclusion_matrix[off], abs=1e-9)


def slow_exclusion_matrix(predicted, excluded_sets, q, scar_strength, error_rate):
    """Counts by a loop over rows."""
    table = [[0.0] * q for _ in range(q)]
    rows = list(zip(predicted, excluded_sets, strict=True))
    for k in range(q):
        others = [excluded for name, excluded in rows if name != k]
        scar = sum(k in excluded for excluded in others) / len(others) if others else 0
        wrong = sum(name in excluded for name, excluded in rows) / len(rows)
        for y in range(q):
            own = [excluded for name, excluded in rows if name == y]
            share = wrong if y == k else scar
            table[y][k] = (sum(k in excluded for excluded in own) + scar_strength * share) / (
                len(own) + scar_strength
            )
        if error_rate is not None:
            table[k][k] = error_rate
    return table


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sets(st.integers(0, 3))), min_size=1, max_size=30),
    st.sampled_from([1.0, 7.5, 50.0, 1e6]),
    st.sampled_from([0.0, 0.1, None]),
)
def test_exclusion_matrix_equals_slow_loop(rows, scar_strength, error_rate):
    predicted, excluded_sets = column(rows, 0), column(rows, 1)
    counts = torch.zeros(4, 4, dtype=torch.float64)
    for name, excluded in rows:
        counts[name, list(excluded)] += 1
    n_predicted = torch.tensor(predicted).bincount(minlength=4).double()
    got = estimated_from_correct_predictions(counts, n_predicted, scar_strength, error_rate)
    assert got.tolist() == [
        pytest.approx(row)
        for row in slow_exclusion_matrix(predicted, excluded_sets, 4, scar_strength, error_rate)
    ]
    assert ((got >= 0) & (got <= 1)).all()


def test_exclusion_matrix_keeps_counts_for_singular_posteriors():
    counts, mixed = double([[0.0, 4.0], [4.0, 0.0]]), double([[5.0, 5.0], [5.0, 5.0]])
    assert estimate_exclusion_matrix(counts, double([10.0, 10.0]), mixed, 0.0).tolist() == [
        [0, 0.4],
        [0.4, 0],
    ]


@pytest.mark.parametrize("scar_strength", [0.0, 0.5, 5.0])
def test_exclusion_matrix_of_class_never_predicted_follows_scar(scar_strength):
    counts = double([[0.0, 6.0, 2.0], [0.0, 0.0, 0.0], [4.0, 2.0, 0.0]])
    got = estimated_from_correct_predictions(counts, double([10.0, 0.0, 10.0]), scar_strength)
    assert got[1].tolist() == pytest.approx([4 / 10, 0, 2 / 10])


def test_scar_strength_matches_hand_computed_value():
    """Two classes of 10 and 30 rows: X² = 10 · 0.1² / 0.25 + 30 · 0.4² / 0.25 = 19.6, φ = (19.6 − 2) / 38."""
    exclusion_matrix, expected = double([[0.0, 0.6], [0.9, 0.0]]), double([[0.0, 0.5], [0.5, 0.0]])
    assert estimate_scar_strength(exclusion_matrix, expected, double([10.0, 30.0])).item() == pytest.approx(
        38 / 17.6 - 1
    )


@pytest.mark.parametrize(
    ("spread", "low", "high"), [(20.0, 17.0, 23.0), (1.0, 1.0, 1.3), (None, 4000.0, np.inf)]
)
def test_scar_strength_recovers_spread_of_beta_binomial_counts(spread, low, high):
    """Beta-binomial counts of 40 classes: 1560 cells, a standard error of 4 %, or of 1 / 14,000 without spread."""
    rng = np.random.default_rng(0)
    q, n = 40, 500
    expected = np.tile(rng.uniform(0.1, 0.5, q), (q, 1))
    exclusion_matrix = expected if spread is None else rng.beta(spread * expected, spread * (1 - expected))
    counted = torch.from_numpy(rng.binomial(n, exclusion_matrix) / n)
    weight = estimate_scar_strength(
        counted, torch.from_numpy(expected), torch.full((q,), n, dtype=torch.float64)
    )
    assert low <= weight.item() <= high


def test_exclusion_matrix_uses_estimated_strength_by_default():
    weight = estimate_scar_strength(
        estimated_from_correct_predictions(COUNTS, NAMED, 0.0),
        estimated_from_correct_predictions(COUNTS, NAMED, 1e12),
        NAMED,
    )
    torch.testing.assert_close(
        estimated_from_correct_predictions(COUNTS, NAMED, None),
        estimated_from_correct_predictions(COUNTS, NAMED, weight.item()),
    )
    as_scar = double([[0.0, 30.0, 20.0], [10.0, 0.0, 20.0], [10.0, 30.0, 0.0]])
    drawn = estimated_from_correct_predictions(as_scar, double([100.0, 100.0, 100.0]), None)
    assert drawn.tolist() == [pytest.approx(row) for row in ([0, 0.3, 0.2], [0.1, 0, 0.2], [0.1, 0.3, 0])]


@pytest.mark.parametrize(
    "n_predicted", [[10.0, 0.0, 10.0], [0.0, 0.0, 10.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
)
def test_exclusion_matrix_of_few_rows_holds_probabilities(n_predicted):
    exclusion_matrix = estimated_from_correct_predictions(
        double([[0.0, 0.4, 0.2], [0.1, 0.0, 0.1], [0.4, 0.2, 0.0]]) * double(n_predicted)[:, None],
        double(n_predicted),
        None,
    )
    assert ((exclusion_matrix >= 0) & (exclusion_matrix <= 1)).all()


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_single_label_transition_is_stochastic_and_keeps_errors(q, seed):
    rng = np.random.default_rng(seed)
    exclusion_matrix = torch.from_numpy(rng.uniform(0.01, 1, (q, q)))
    T = single_label_transition(exclusion_matrix)
    assert T.sum(dim=1).tolist() == pytest.approx([1] * q)
    assert T.diagonal().tolist() == pytest.approx(exclusion_matrix.diagonal().tolist())
    for y in range(q):
        wrong = [k for k in range(q) if k != y]
        ratios = (T[y] / exclusion_matrix[y])[wrong]
        assert ratios.tolist() == pytest.approx([ratios[0].item()] * (q - 1))
