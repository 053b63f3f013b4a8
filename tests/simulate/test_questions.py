"""Simulated questions and answers: what is asked, what is answered, and which labels follow."""

from itertools import combinations

import numpy as np
from helpers.label_shares import within_five_errors

from scarce.simulate import ask


def test_ask_chooses_classes_independently_of_truth():
    y = np.repeat([0, 1, 2, 3], [50_000, 30_000, 15_000, 5_000])
    labels = ask(y, questions=2)
    table = labels.answers
    asked = np.zeros((len(y), 4), bool)
    asked[table.example, table.class_index] = True
    assert (asked.sum(1) == 2).all()
    for k, n in enumerate((50_000, 30_000, 15_000, 5_000)):
        assert within_five_errors(asked[y == k].mean(0), np.full(4, 0.5), n)
    for pair in combinations(range(4), 2):
        assert within_five_errors(asked[:, pair].all(1).mean(), np.array(1 / 6), len(y))
    yes, no = table.counts(4)
    assert within_five_errors(yes / (yes + no), np.array([0.5, 0.3, 0.15, 0.05]), (yes + no).min())


def test_ask_without_errors_gives_correct_answers_and_labels():
    y = np.arange(3000) % 6
    labels = ask(y, rates=[0.1, 0.9, 0.5, 0.5, 0, 1])
    table = labels.answers
    assert (table.answer == (table.class_index == y[table.example])).all()
    said_no = np.zeros((3000, 6), bool)
    said_no[table.example[table.answer == 0], table.class_index[table.answer == 0]] = True
    assert np.array_equal(labels.indicator(), said_no)
    confirmed = np.full(3000, -1)
    confirmed[table.example[table.answer == 1]] = table.class_index[table.answer == 1]
    assert np.array_equal(labels.confirmed, confirmed)
    assert within_five_errors(
        np.bincount(table.class_index, minlength=6) / 3000, np.array([0.1, 0.9, 0.5, 0.5, 0, 1]), 3000
    )


def test_ask_errs_at_given_rates_and_drops_contradictions():
    y = np.arange(60_000) % 3
    labels = ask(y, questions=3, false_negative_rate=0.2, false_positive_rate=0.1)
    table = labels.answers
    assert len(table) == 180_000
    is_true_class = table.class_index == y[table.example]
    assert within_five_errors((table.answer[is_true_class] == 0).mean(), np.array(0.2), is_true_class.sum())
    assert within_five_errors(
        (table.answer[~is_true_class] == 1).mean(), np.array(0.1), (~is_true_class).sum()
    )
    answers = table.answer.reshape(-1, 3)
    assert (labels.per_example[answers.sum(1) == 0] == 0).all()
    assert (labels.confirmed[answers.sum(1) > 1] == -1).all()
    assert (labels.confirmed[answers.sum(1) == 1] >= 0).all()


def test_ask_error_rates_do_not_change_questions():
    y = np.arange(500) % 4
    without_errors, with_errors = (
        ask(y, seed=3).answers,
        ask(y, seed=3, false_negative_rate=0.3, false_positive_rate=0.3).answers,
    )
    assert np.array_equal(without_errors.class_index, with_errors.class_index)
    assert not np.array_equal(without_errors.answer, with_errors.answer)
