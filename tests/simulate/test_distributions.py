"""The labels that come out follow the distributions they are said to follow."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.simulate import (
    BIASED_A,
    PROCESSES,
    SCAR_A,
    ask,
    from_transition,
    human,
    human_counts,
    human_transition,
    noisy,
    scar,
    scar_a,
    scar_single,
    scar_single_transition,
    simulate,
    uniform,
    uniform_multiple,
    with_errors,
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


def conditional(labels, codes):
    """Return the share of examples of class y (row) that exclude class k (column)."""
    excluded = labels.indicator()
    return np.array([excluded[codes == y].mean(0) for y in range(labels.n_classes)])


def close(got, expected, n):
    """Whether shares out of n agree with their probabilities within five standard errors."""
    return (np.abs(got - expected) <= 5 * np.sqrt(expected * (1 - expected) / n) + 1e-12).all()


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


@pytest.mark.parametrize(
    ("make", "transition"),
    [
        (uniform, (1 - np.eye(10)) / 9),
        (scar_a, SCAR_A),
        (lambda y: from_transition(y, with_errors(BIASED_A, 0.1)), with_errors(BIASED_A, 0.1)),
        (lambda y: human(y, draws=1), human_transition()),
    ],
)
def test_labels_follow_the_matrix(make, transition):
    y = np.arange(200_000) % 10
    assert close(conditional(make(y), y), transition, 20_000)


def test_literal_repetition_agrees_with_the_closed_form():
    c, q, n = np.array([0.2, 0.6, 0.35, 0.1]), 4, 4000
    random = np.random.default_rng(5)
    shares = np.zeros((q, q))
    for y in range(q):
        for _ in range(n):
            drawn = []
            while len(drawn) != 1:
                drawn = [k for k in range(q) if k != y and random.random() < c[k]]
            shares[y, drawn[0]] += 1 / n
    assert close(shares, scar_single_transition(c), n)
    y = np.arange(q * n) % q
    assert close(conditional(scar_single(y, c=c), y), scar_single_transition(c), n)


def test_scar_single_turns_rates_into_c_by_the_shares_of_the_classes():
    y = np.repeat([0, 1, 2], [50_000, 30_000, 20_000])
    c = np.array([0.3, 0.5, 0.2])
    assert scar_single(y, c * [0.5, 0.7, 0.8], seed=8) == scar_single(y, c=c, seed=8)


def test_several_draws_are_a_union():
    y, transition = np.arange(100_000) % 5, with_errors((1 - np.eye(5)) / 4, 0.04)
    labels = from_transition(y, transition, draws=3)
    assert set(labels.per_example) == {1, 2, 3}
    assert close(conditional(labels, y), 1 - (1 - transition) ** 3, 20_000)


def test_distinct_draws_come_without_replacement():
    shares = np.array([0.5, 0.3, 0.2])
    pairs = {(1, 2): 0.0, (1, 3): 0.0, (2, 3): 0.0}
    for first, second in ((a, b) for a in range(3) for b in range(3) if a != b):
        pair = tuple(sorted((first + 1, second + 1)))
        pairs[pair] += shares[first] * shares[second] / (1 - shares[first])
    transition = [[0, *shares], [0.5, 0, 0.5, 0], [0.2, 0.2, 0, 0.6], [0.2, 0.2, 0.6, 0]]
    n = 20_000
    labels = from_transition(np.zeros(n, int), transition, draws=2, distinct=True, classes=4)
    assert set(labels.per_example) == {2}
    for pair, chance in pairs.items():
        got = (labels.indices.reshape(n, 2) == pair).all(1).mean()
        assert close(got, np.array(chance), n)


def test_rows_that_would_exclude_everything_are_drawn_again():
    labels = from_transition([0, 1] * 500, [[0.5, 0.5], [0.5, 0.5]], draws=3)
    assert set(labels.per_example) == {1}
    assert scar([0, 1] * 500, c=0.9, error_rate=0.9).per_example.max() == 1


def test_scar_holds_for_every_true_class():
    c, y = np.array([0.1, 0.5, 0.9, 0.3]), np.repeat([0, 1, 2, 3], [60_000, 20_000, 15_000, 5_000])
    expected = np.tile(c, (4, 1)) * (1 - np.eye(4))
    got = conditional(scar(y, c=c), y)
    for row, rate, n in zip(got, expected, (60_000, 20_000, 15_000, 5_000), strict=True):
        assert close(row, rate, n)


def test_scar_draws_classes_independently():
    y = np.zeros(50_000, int)
    excluded = scar(y, c=[0.5, 0.3, 0.6], classes=3).indicator()
    assert close((excluded[:, 1] & excluded[:, 2]).mean(), np.array(0.18), len(y))
    assert close((~excluded[:, 1] & ~excluded[:, 2]).mean(), np.array(0.28), len(y))


def test_scar_meets_target_rates():
    y = np.arange(100_000) % 10
    labels = scar(y, rates=0.5)  # c = .5556, the setting of the prior-estimation study
    assert close(labels.rates, np.full(10, 0.5), len(y))
    assert close(conditional(labels, y)[0, 1:], np.full(9, 5 / 9), 10_000)
    extreme = scar([0, 1, 1, 1], rates=[0.75, 0.25])
    assert extreme.indicator(dtype=int).tolist() == [[0, 1], [1, 0], [1, 0], [1, 0]]
    assert scar([0, 0], rates=[0, 1], classes=2).indices.tolist() == [1, 1]  # 1 − π_0 = 0 asks for nothing


def test_scar_errors_exclude_the_own_class_at_their_rate():
    y = np.arange(100_000) % 10
    got = conditional(scar(y, c=0.2, error_rate=0.04), y)
    assert close(got.diagonal(), np.full(10, 0.04), 10_000)
    assert close(got[~np.eye(10, dtype=bool)], np.full(90, 0.2), 10_000)


def test_noisy_labels_are_wrong_at_a_tenth_of_the_noise():
    y = np.arange(100_000) % 10
    wrong = (noisy(y, noise=0.3, base="weak").indices == y).mean()
    assert close(wrong, np.array(0.03), len(y))


@pytest.mark.parametrize(
    ("sizes", "chances"),
    [
        (None, [4 / 15, 6 / 15, 4 / 15, 1 / 15]),
        (2, [0, 1, 0, 0]),
        ([0.5, 0.1, 0.4, 0], [0.5, 0.1, 0.4, 0]),
    ],
)
def test_uniform_multiple_makes_sets_of_one_size_equally_likely(sizes, chances):
    q, y, n = 5, 2, 60_000
    excluded = uniform_multiple(np.full(n, y), sizes=sizes, classes=q).indicator()
    number = excluded @ (1 << np.arange(q))
    seen = 0
    for s in range(1, q):
        for subset in combinations([k for k in range(q) if k != y], s):
            share = (number == sum(1 << k for k in subset)).mean()
            assert close(share, np.array(chances[s - 1] / comb(4, s)), n)
            seen += share
    assert seen == pytest.approx(1)


def test_human_labels_follow_the_names_of_the_source_in_any_order():
    names = human_counts("clcifar20").classes
    backwards = names[::-1]
    y = np.repeat(names, 5000)
    labels = human(y, source="clcifar20", draws=1, classes=backwards)
    assert labels.classes.tolist() == backwards.tolist()
    got = conditional(labels, np.repeat(np.arange(20)[::-1], 5000))
    assert close(got, human_transition("clcifar20")[::-1, ::-1], 5000)


def test_human_labels_of_numbers_are_those_of_the_names():
    numbers = np.arange(1000) % 10
    names = human_counts("clcifar10").classes[numbers]
    by_number, by_name = human(numbers, seed=2), human(names, seed=2)
    assert by_number.indices.tolist() == by_name.indices.tolist()
    assert by_name.classes[3] == "cat"
    renamed = human(np.array(list("abcdefghij"))[numbers], seed=2, classes=list("abcdefghij"))
    assert renamed.indices.tolist() == by_number.indices.tolist()


def test_asking_does_not_depend_on_the_class_and_yes_comes_at_the_priors():
    y = np.repeat([0, 1, 2, 3], [50_000, 30_000, 15_000, 5_000])
    labels = ask(y, questions=2)
    table = labels.answers
    asked = np.zeros((len(y), 4), bool)
    asked[table.example, table.class_index] = True
    assert (asked.sum(1) == 2).all()
    for k, n in enumerate((50_000, 30_000, 15_000, 5_000)):
        assert close(asked[y == k].mean(0), np.full(4, 0.5), n)
    for pair in combinations(range(4), 2):
        assert close(asked[:, pair].all(1).mean(), np.array(1 / 6), len(y))
    yes, no = table.counts(4)
    assert close(yes / (yes + no), np.array([0.5, 0.3, 0.15, 0.05]), (yes + no).min())


def test_answers_are_right_and_become_labels():
    y = np.arange(3000) % 6
    labels = ask(y, rates=[0.1, 0.9, 0.5, 0.5, 0, 1])
    table = labels.answers
    assert (table.answer == (table.class_index == y[table.example])).all()
    said_no = np.zeros((3000, 6), bool)
    said_no[table.example[table.answer == 0], table.class_index[table.answer == 0]] = True
    assert np.array_equal(labels.indicator(), said_no)
    told = np.full(3000, -1)
    told[table.example[table.answer == 1]] = table.class_index[table.answer == 1]
    assert np.array_equal(labels.confirmed, told)
    assert close(
        np.bincount(table.class_index, minlength=6) / 3000, np.array([0.1, 0.9, 0.5, 0.5, 0, 1]), 3000
    )


def test_answers_err_at_their_rates_and_contradictions_are_dropped():
    y = np.arange(60_000) % 3
    labels = ask(y, questions=3, false_negative_rate=0.2, false_positive_rate=0.1)
    table = labels.answers
    assert len(table) == 180_000
    own = table.class_index == y[table.example]
    assert close((table.answer[own] == 0).mean(), np.array(0.2), own.sum())
    assert close((table.answer[~own] == 1).mean(), np.array(0.1), (~own).sum())
    answers = table.answer.reshape(-1, 3)
    assert (labels.per_example[answers.sum(1) == 0] == 0).all()
    assert (labels.confirmed[answers.sum(1) > 1] == -1).all()
    assert (labels.confirmed[answers.sum(1) == 1] >= 0).all()


def test_errors_leave_the_questions_as_they_were():
    y = np.arange(500) % 4
    honest, sloppy = (
        ask(y, seed=3).answers,
        ask(y, seed=3, false_negative_rate=0.3, false_positive_rate=0.3).answers,
    )
    assert np.array_equal(honest.class_index, sloppy.class_index)
    assert not np.array_equal(honest.answer, sloppy.answer)


def test_every_process_is_listed_and_called_by_name():
    assert PROCESSES["uniform-multiple"] is uniform_multiple
    assert simulate("scar", [0, 1, 2], c=0.5, seed=9) == scar([0, 1, 2], c=0.5, seed=9)
