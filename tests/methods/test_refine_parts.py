"""What refine is made of: the surest rows of every name, what they imply about the labels, and the least excluded class."""

from math import ceil, log

import numpy as np
import pytest
import torch
from helpers.methods import batch_of, double, loss_of, mean, sigmoid, softmax
from hypothesis import given
from hypothesis import strategies as st

from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, make_method
from scarce.methods.refine import most_confident
from scarce.risk import implied_chances, one_mark_transition, scar_weight

# Eighths are exact in binary, so that a share of a number of rows is what it is on paper.
shares = st.integers(1, 8).map(lambda eighths: eighths / 8)
named_rows = st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2)), min_size=1, max_size=40)


def part_of(rows, number):
    return [row[number] for row in rows]


# The surest rows of every name ---------------------------------------------------------------------------------


def surest(names, margins, share):
    """Of each name take the row of the largest margin, of equals the first, until there are enough."""
    chosen = set()
    for name in set(names):
        left = [row for row, other in enumerate(names) if other == name]
        for _ in range(ceil(share * len(left))):
            best = max(left, key=lambda row: (margins[row], -row))
            left.remove(best)
            chosen.add(best)
    return [row in chosen for row in range(len(names))]


@given(named_rows, shares)
def test_the_surest_rows_are_those_that_a_loop_finds(rows, share):
    """Margins of five values, so that most have equals; names that may be missing."""
    names, margins = part_of(rows, 0), part_of(rows, 1)
    found = most_confident(torch.tensor(names), double(margins), share).tolist()
    assert found == surest(names, margins, share)


@given(named_rows)
def test_no_name_is_left_out_and_the_whole_share_is_everything(rows):
    names, margins = torch.tensor(part_of(rows, 0)), double(part_of(rows, 1))
    few = most_confident(names, margins, 0.0)
    assert names[few].bincount(minlength=5).tolist() == names.bincount(minlength=5).clamp(max=1).tolist()
    assert most_confident(names, margins, 1.0).all()


def test_rows_of_known_class_are_surer_than_any_other():
    margins = double([float("inf"), 3.0, float("inf"), 1e300])
    assert most_confident(torch.zeros(4, dtype=torch.long), margins, 0.5).tolist() == [
        True,
        False,
        True,
        False,
    ]


# What they imply -----------------------------------------------------------------------------------------------

COUNTS = double([[1.0, 6.0, 2.0], [3.0, 0.0, 9.0], [4.0, 4.0, 0.0]])
NAMED = double([10.0, 12.0, 8.0])
SCAR = [7 / 20, 10 / 18, 11 / 22]  # of the rows named otherwise


def certain(counts, named, scar_strength, error_rate=None):
    """What follows if every row is of the class that it was named."""
    return implied_chances(counts, named, named.diag(), scar_strength, error_rate)


@pytest.mark.parametrize(
    ("error_rate", "diagonal"),
    [(0.0, [0, 0, 0]), (0.05, [0.05] * 3), (None, [(1 + 1 / 3) / 20, (1 / 3) / 22, (1 / 3) / 18])],
)
def test_chances_by_hand(error_rate, diagonal):
    """Drawn towards SCAR by ten rows; what is counted on the diagonal towards 1 wrong row of 30."""
    wanted = [
        [diagonal[0], (6 + 10 * SCAR[1]) / 20, (2 + 10 * SCAR[2]) / 20],
        [(3 + 10 * SCAR[0]) / 22, diagonal[1], (9 + 10 * SCAR[2]) / 22],
        [(4 + 10 * SCAR[0]) / 18, (4 + 10 * SCAR[1]) / 18, diagonal[2]],
    ]
    got = certain(COUNTS, NAMED, 10.0, error_rate)
    assert got.tolist() == [pytest.approx(row) for row in wanted]


def test_chances_between_what_was_counted_and_scar():
    off = ~torch.eye(3, dtype=torch.bool)
    alone, drawn = certain(COUNTS, NAMED, 0.0), certain(COUNTS, NAMED, 1e12)
    assert alone[off].tolist() == pytest.approx([6 / 10, 2 / 10, 3 / 12, 9 / 12, 4 / 8, 4 / 8])
    assert alone.diagonal().tolist() == pytest.approx([1 / 10, 0, 0])
    assert drawn[off].tolist() == pytest.approx([SCAR[k] for k in (1, 2, 0, 2, 0, 1)])
    assert drawn.diagonal().tolist() == pytest.approx([1 / 30] * 3)


def test_rows_of_other_classes_among_those_of_a_name_by_hand():
    """Of 10 rows named 0 two are of class 1, which exclude 2 always: the other eight exclude it in 4 of 6 cases."""
    beliefs = double([[8.0, 2.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 10.0]])
    counts = double([[0.0, 4.0, 6.0], [0.0, 0.0, 10.0], [5.0, 5.0, 0.0]])
    got = implied_chances(counts, double([10.0, 10.0, 10.0]), beliefs, 0.0)
    assert got.tolist() == [pytest.approx(row) for row in ([0, 4 / 8, 4 / 8], [0, 0, 1], [0.5, 0.5, 0])]


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_with_the_beliefs_that_are_right_the_chances_are_found(q, seed):
    rng = np.random.default_rng(seed)
    chances, named = rng.uniform(0, 1, (q, q)), rng.uniform(1, 100, q)
    mixture = rng.uniform(0, 1, (q, q)) + q * np.eye(q)
    beliefs = named[:, None] * mixture / mixture.sum(axis=1, keepdims=True)
    counts = [[sum(b * chances[j, k] for j, b in enumerate(row)) for k in range(q)] for row in beliefs]
    got = implied_chances(double(counts), torch.from_numpy(named), torch.from_numpy(beliefs), 0.0)
    assert got.numpy() == pytest.approx(chances, abs=1e-9)
    kept = implied_chances(double(counts), torch.from_numpy(named), torch.from_numpy(beliefs), 0.0, 0.25)
    assert kept.diagonal().tolist() == [0.25] * q
    off = ~np.eye(q, dtype=bool)
    assert kept.numpy()[off] == pytest.approx(chances[off], abs=1e-9)


def slow_chances(names, marks, q, scar_strength, error_rate):
    """Row after row, as one would count on paper."""
    table = [[0.0] * q for _ in range(q)]
    rows = list(zip(names, marks, strict=True))
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
def test_chances_are_those_that_a_loop_counts(rows, scar_strength, error_rate):
    names, marks = part_of(rows, 0), part_of(rows, 1)
    counts = torch.zeros(4, 4, dtype=torch.float64)
    for name, excluded in rows:
        counts[name, list(excluded)] += 1
    named = torch.tensor(names).bincount(minlength=4).double()
    got = certain(counts, named, scar_strength, error_rate)
    assert got.tolist() == [
        pytest.approx(row) for row in slow_chances(names, marks, 4, scar_strength, error_rate)
    ]
    assert ((got >= 0) & (got <= 1)).all()


def test_a_share_is_not_rounded_up_by_the_errors_of_single_precision():
    names = torch.zeros(50, dtype=torch.long)
    assert int(most_confident(names, torch.arange(50.0), 0.3).sum()) == 15


def test_names_that_cannot_be_told_apart_keep_what_was_counted():
    counts, mixed = double([[0.0, 4.0], [4.0, 0.0]]), double([[5.0, 5.0], [5.0, 5.0]])
    assert implied_chances(counts, double([10.0, 10.0]), mixed, 0.0).tolist() == [[0, 0.4], [0.4, 0]]


@pytest.mark.parametrize("scar_strength", [0.0, 0.5, 5.0])
def test_a_class_that_no_row_was_named_is_taken_as_scar_would_have_it(scar_strength):
    counts = double([[0.0, 6.0, 2.0], [0.0, 0.0, 0.0], [4.0, 2.0, 0.0]])
    got = certain(counts, double([10.0, 0.0, 10.0]), scar_strength)
    assert got[1].tolist() == pytest.approx([4 / 10, 0, 2 / 10])


def test_the_weight_of_scar_by_hand():
    """Two classes of 10 and 30 rows: X² = 10 · 0.1² / 0.25 + 30 · 0.4² / 0.25 = 19.6, φ = (19.6 − 2) / 38."""
    chances, expected = double([[0.0, 0.6], [0.9, 0.0]]), double([[0.0, 0.5], [0.5, 0.0]])
    assert scar_weight(chances, expected, double([10.0, 30.0])).item() == pytest.approx(38 / 17.6 - 1)


@pytest.mark.parametrize(
    ("spread", "low", "high"), [(20.0, 17.0, 23.0), (1.0, 1.0, 1.3), (None, 4000.0, np.inf)]
)
def test_the_weight_with_which_chances_were_drawn_is_found(spread, low, high):
    """Beta-binomial counts of 40 classes: 1560 cells, a standard error of 4 %, or without a spread of 1 / 14,000."""
    rng = np.random.default_rng(0)
    q, n = 40, 500
    expected = np.tile(rng.uniform(0.1, 0.5, q), (q, 1))
    chances = expected if spread is None else rng.beta(spread * expected, spread * (1 - expected))
    counted = torch.from_numpy(rng.binomial(n, chances) / n)
    weight = scar_weight(counted, torch.from_numpy(expected), torch.full((q,), n, dtype=torch.float64))
    assert low <= weight.item() <= high


def test_without_a_weight_given_the_counts_decide():
    weight = scar_weight(certain(COUNTS, NAMED, 0.0), certain(COUNTS, NAMED, 1e12), NAMED)
    torch.testing.assert_close(certain(COUNTS, NAMED, None), certain(COUNTS, NAMED, weight.item()))
    as_scar = double([[0.0, 30.0, 20.0], [10.0, 0.0, 20.0], [10.0, 30.0, 0.0]])
    drawn = certain(as_scar, double([100.0, 100.0, 100.0]), None)
    assert drawn.tolist() == [pytest.approx(row) for row in ([0, 0.3, 0.2], [0.1, 0, 0.2], [0.1, 0.3, 0])]


@pytest.mark.parametrize("named", [[10.0, 0.0, 10.0], [0.0, 0.0, 10.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
def test_however_few_were_named_there_are_chances(named):
    chances = certain(
        double([[0.0, 0.4, 0.2], [0.1, 0.0, 0.1], [0.4, 0.2, 0.0]]) * double(named)[:, None],
        double(named),
        None,
    )
    assert ((chances >= 0) & (chances <= 1)).all()


@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_the_matrix_of_one_mark_is_made_of_distributions_that_keep_the_errors(q, seed):
    rng = np.random.default_rng(seed)
    chances = torch.from_numpy(rng.uniform(0.01, 1, (q, q)))
    T = one_mark_transition(chances)
    assert T.sum(dim=1).tolist() == pytest.approx([1] * q)
    assert T.diagonal().tolist() == pytest.approx(chances.diagonal().tolist())
    for y in range(q):
        wrong = [k for k in range(q) if k != y]
        ratios = (T[y] / chances[y])[wrong]
        assert ratios.tolist() == pytest.approx([ratios[0].item()] * (q - 1))


# The least excluded class --------------------------------------------------------------------------------------

LOGITS = [[0.3, 1.0, -0.5], [0.2, -0.1, 0.9], [1.5, 0.0, 0.4], [-0.3, 0.8, 0.1]]


def least_excluded(labels):
    method = make_method("least-excluded")
    method.prepare(Problem(labels))
    return method.double()


def test_with_one_label_each_the_loss_is_the_cross_entropy_of_the_excluded_class():
    marks = [0, 1, 2, 1]
    labels = ComplementaryLabels.from_single(marks, classes=3)
    wanted = mean([-log(softmax(f)[k]) for f, k in zip(LOGITS, marks, strict=True)])
    assert loss_of(least_excluded(labels), LOGITS, labels) == pytest.approx(wanted)


@pytest.mark.parametrize("marks", [[[0, 1], [2], [1], [1]], [[0], [2], [], [1]]])
def test_otherwise_every_class_is_a_question_of_its_own(marks):
    labels = ComplementaryLabels.from_lists(marks, classes=3)
    losses = [
        -sum(log(sigmoid(v) if k in excluded else 1 - sigmoid(v)) for k, v in enumerate(f))
        for f, excluded in zip(LOGITS, marks, strict=True)
    ]
    assert loss_of(least_excluded(labels), LOGITS, labels) == pytest.approx(mean(losses))


@pytest.mark.parametrize("several", [False, True])
def test_a_class_that_is_rarely_excluded_anyhow_is_not_named_for_that(several):
    """Excluded by 60, 30 and 10 % of all rows: 0.3, 0.25 and 0.45 here say class 0, though class 1 has the lowest."""
    marks = [[0]] * 6 + [[1]] * 3 + [[2]]
    if several:
        marks = [[0, 1]] * 3 + [[0]] * 3 + [[2]] + [[]] * 3
    labels = ComplementaryLabels.from_lists(marks, classes=3)
    assert labels.rates == pytest.approx([0.6, 0.3, 0.1])
    g = [0.3, 0.25, 0.45]
    f = double([[log(p / (1 - p)) if several else log(p) + 7 for p in g]])
    method = least_excluded(labels)
    scores = method.scores(f)
    assert scores[0].exp().tolist() == pytest.approx([0.6 / 0.3, 0.3 / 0.25, 0.1 / 0.45])
    assert scores.argmax().item() == method.probabilities(f).argmax().item() == 0


@pytest.mark.parametrize("marks", [[[0, 1], [0], [2], []], [[0], [0], [2], [1]]])
def test_of_rows_that_look_alike_nothing_is_known_but_the_rates(marks):
    """The loss is least where g is how often each class is excluded, and then no class stands out."""
    labels = ComplementaryLabels.from_lists(marks, classes=3)
    method, rates = least_excluded(labels), double([[0.5, 0.25, 0.25]])
    f = (rates.log() if method.one_mark else rates.logit()).requires_grad_(True)
    method.loss(f.expand(4, 3), batch_of(labels)).backward()
    assert f.grad.abs().max() < 1e-12
    assert method.scores(f.detach())[0].tolist() == pytest.approx([0, 0, 0], abs=1e-12)


@pytest.mark.parametrize("error_rate", [np.array([0.1, 0.0, 0.2]), [0.1, 0.0], "learn", -0.1])
def test_errors_that_are_no_rate_are_refused(error_rate):
    with pytest.raises(MethodError, match=r"error_rate=.*; expected a number from 0 to 1\."):
        make_method("refine", error_rate=error_rate)
