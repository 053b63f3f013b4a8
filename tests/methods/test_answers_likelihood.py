"""The likelihood of answers as a method: its loss, and the error rates and priors it estimates."""

from math import log

import numpy as np
import pytest
import torch
from helpers.methods import batch_of, double, linear_model, softmax
from torch import nn
from torch.nn.functional import cross_entropy

from scarce import ScarceClassifier
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, make_method
from scarce.simulate import ask
from scarce.testing import check_method, three_blobs
from scarce.training import Recipe, train

NAN = float("nan")
LOGITS = double([[0.3, 1.0, -0.5], [0.2, -0.1, 0.9], [1.5, 0.0, 0.4], [-0.3, 0.8, 0.1]])
RECIPE = Recipe(epochs=30, batch_size=100, learning_rate=0.05)


def prepared_answers(labels, **params):
    method = make_method("answers", **params)
    method.prepare(Problem(labels))
    return method.double()


def losses_per_row(method, labels):
    """The loss of each row; the batch of all rows has their mean."""
    each = [method.loss(LOGITS[[i]], batch_of(labels, rows=[i])).item() for i in range(len(labels))]
    batch = method.loss(LOGITS[: len(labels)].flip(0), batch_of(labels, rows=range(len(labels))[::-1]))
    assert batch.item() == pytest.approx(sum(each) / len(each))
    return each


def accuracy(model, X, labels, y):
    return (labels.classes[model(torch.from_numpy(X)).argmax(dim=1).numpy()] == y).mean()


# The loss ----------------------------------------------------------------------------------------------------


def test_loss_of_errorless_answers_matches_hand_computed_values():
    labels = ComplementaryLabels.from_answer_matrix([[NAN, 1, NAN], [0, 1, NAN], [0, NAN, 0], [NAN, 0, NAN]])
    p = LOGITS.softmax(dim=1)
    got = losses_per_row(prepared_answers(labels, false_negative_rate=0.0, false_positive_rate=0.0), labels)
    wanted = [-log(p[0, 1]), -log(p[1, 1]), -log(p[2, 1]), -log(1 - p[3, 1])]
    assert got == pytest.approx(wanted, abs=1e-9)


def test_loss_of_uncertain_answers_matches_hand_computed_values():
    """Two annotators agree on one row, disagree on another, and a third row is skipped."""
    table = {
        "example_id": [0, 0, 1, 1, 1, 2],
        "class_name": [2, 2, 0, 0, 1, 1],
        "answer": ["no", "no", "yes", "no", "no", "skip"],
        "annotator": ["a", "b", "a", "b", "b", "a"],
    }
    labels = ComplementaryLabels.from_answers(table, classes=3, ids=[0, 1, 2, 3], conflict="drop")
    method = prepared_answers(labels, false_negative_rate=0.2, false_positive_rate=0.1)
    first = sum(p * (0.2 * 0.2 if y == 2 else 0.9 * 0.9) for y, p in enumerate(softmax(LOGITS[0].tolist())))
    of_zero = [0.8 * 0.2, 0.1 * 0.9, 0.1 * 0.9]  # "yes" and "no" to class 0
    of_one = [0.9, 0.2, 0.9]  # "no" to class 1
    second = sum(p * s * t for p, s, t in zip(softmax(LOGITS[1].tolist()), of_zero, of_one, strict=True))
    assert losses_per_row(method, labels) == pytest.approx([-log(first), -log(second), 0, 0], abs=1e-9)


def test_row_without_answer_has_no_gradient():
    table = {"example_id": [0, 1], "class_name": [0, 1], "answer": ["no", "skip"]}
    labels = ComplementaryLabels.from_answers(table, classes=3, ids=[0, 1, 2])
    logits = LOGITS[:3].clone().requires_grad_(True)
    prepared_answers(labels, false_negative_rate=0.1, false_positive_rate=0.1).loss(
        logits, batch_of(labels)
    ).backward()
    assert logits.grad[0].abs().max() > 0.01
    assert logits.grad[1:].abs().max() == 0


def test_ordinary_labels_among_answers_are_certain():
    asked = ComplementaryLabels.from_answer_matrix([[0, NAN, NAN], [NAN, NAN, NAN], [NAN, 1, NAN]])
    labels = ComplementaryLabels(
        asked.indptr, asked.indices, asked.classes, confirmed=np.array([-1, 2, 1]), answers=asked.answers
    )
    p = LOGITS.softmax(dim=1)
    # The "yes" to the third row is an answer, which may be wrong; the class of the second row is certain.
    yes = 0.1 + 0.8 * p[2, 1]
    got = losses_per_row(prepared_answers(labels, false_negative_rate=0.1, false_positive_rate=0.1), labels)
    assert got == pytest.approx([-log(0.9 - 0.8 * p[0, 0]), -log(p[1, 2]), -log(yes)], abs=1e-9)


def test_loss_of_ordinary_labels_equals_cross_entropy_after_reuse():
    ordinary = ComplementaryLabels([0] * 5, [], [0, 1, 2], confirmed=np.array([2, 0, 1, 1]))
    method = prepared_answers(ComplementaryLabels.from_answer_matrix([[0, NAN, NAN]] * 4))
    method.prepare(Problem(ordinary))
    loss = method.double().loss(LOGITS, batch_of(ordinary))
    assert loss.item() == pytest.approx(cross_entropy(LOGITS, torch.tensor([2, 0, 1, 1])).item())


# Error rates of annotators -----------------------------------------------------------------------------------

FALSE_NEGATIVE_RATES, FALSE_POSITIVE_RATES = (
    {"ann": 0.05, "bob": 0.15, "cy": 0.4},
    {"ann": 0.02, "bob": 0.1, "cy": 0.25},
)


def simulated_crowd(y, per_question, seed=9):
    """Two questions per example, each answered by `per_question` of three annotators; and their observed error rates."""
    rng = np.random.default_rng(seed)
    rows = []
    for i, true in enumerate(y):
        for k in rng.permutation(["ant", "bee", "cat"])[:2]:
            for who in rng.permutation(sorted(FALSE_NEGATIVE_RATES))[:per_question]:
                yes = rng.random() < (
                    1 - FALSE_NEGATIVE_RATES[who] if k == true else FALSE_POSITIVE_RATES[who]
                )
                rows.append((i, k, "yes" if yes else "no", who))
    names, ids = ("example_id", "class_name", "answer", "annotator"), range(len(y))
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    wrong = {
        name: [
            np.mean([said == error for i, k, said, by in rows if by == who and (y[i] == k) == about_it])
            for who in sorted(FALSE_NEGATIVE_RATES)
        ]
        for name, error, about_it in (
            ("false_negative_rate", "no", True),
            ("false_positive_rate", "yes", False),
        )
    }
    return ComplementaryLabels.from_answers(table, ["ant", "bee", "cat"], ids=ids, conflict="drop"), wrong


def test_training_estimates_error_rates_of_annotators():
    """The blobs reveal who is right. Rates are shrunk toward the pooled rate by 20 of over 130 answers: up to 0.04 here."""
    X, y, _ = three_blobs(600)
    labels, wrong = simulated_crowd(y, per_question=2)
    method, model = make_method("answers"), linear_model()
    history = train(model, method, X, labels, RECIPE)
    assert method.annotators.tolist() == ["ann", "bob", "cy"]
    for name in ("false_negative_rate", "false_positive_rate"):
        assert history[name][-1] == pytest.approx(wrong[name], abs=0.04)
        assert history[name][-1] == sorted(history[name][-1])
    assert accuracy(model, X, labels, y) > 0.98


def test_training_estimates_error_rates_without_repeated_questions():
    """The blobs reveal who is right; each annotator gets about 130 questions about the true class and twice as many others."""
    X, y, _ = three_blobs(600)
    labels, wrong = simulated_crowd(y, per_question=1)
    method, model = make_method("answers"), linear_model()
    history = train(model, method, X, labels, RECIPE)
    for name in ("false_negative_rate", "false_positive_rate"):
        assert history[name][-1] == pytest.approx(getattr(method, name).tolist())
        assert history[name][-1] == pytest.approx(wrong[name], abs=0.06)
        assert history[name][-1] == sorted(history[name][-1])
    assert accuracy(model, X, labels, y) > 0.98


def test_training_estimates_zero_error_rate_of_perfect_annotator():
    X, y, _ = three_blobs(600)
    method = make_method("answers")
    train(linear_model(), method, X, ask(y, questions=2, seed=3), RECIPE)
    assert method.false_negative_rate.max() < 0.02
    assert method.false_positive_rate.max() < 0.02


def test_given_error_rates_are_kept_and_not_reported():
    X, y, _ = three_blobs(90)
    labels, _ = simulated_crowd(y, per_question=1)
    method = make_method("answers", false_negative_rate=0.0, false_positive_rate=0.3)
    history = train(linear_model(), method, X, labels, Recipe(epochs=2, batch_size=30))
    assert method.false_negative_rate.tolist() == [0, 0, 0]
    assert method.false_positive_rate.tolist() == pytest.approx([0.3] * 3)
    assert not {"false_negative_rate", "false_positive_rate"} & history.records[-1].keys()


def test_training_accepts_ordinary_labels_alone():
    X, y, labels = three_blobs(90)
    codes = np.searchsorted(labels.classes, y).astype(np.int32)
    ordinary = ComplementaryLabels([0] * 91, [], labels.classes, confirmed=codes)
    method = make_method("answers")
    train(linear_model(), method, X, ordinary, Recipe(epochs=2, batch_size=30))
    assert method.learned_priors().tolist() == pytest.approx([1 / 3] * 3, abs=0.05)


def test_training_estimates_only_the_rate_not_given():
    X, y, _ = three_blobs(300)
    labels, wrong = simulated_crowd(y, per_question=2)
    method = make_method("answers", false_negative_rate=0.2)
    history = train(linear_model(), method, X, labels, RECIPE)
    assert method.false_negative_rate.tolist() == pytest.approx([0.2] * 3)
    assert "false_negative_rate" not in history.records[-1]
    assert history["false_positive_rate"][-1] == pytest.approx(wrong["false_positive_rate"], abs=0.04)


def test_step_counts_errors_by_posterior_of_all_answers():
    """Initial rates are 0.05; class 2 has probability p, and two of three answers are "no"."""
    table = {
        "example_id": [0, 0, 0, 1],
        "class_name": [2, 2, 2, 0],
        "answer": ["no", "yes", "no", "skip"],
        "annotator": ["a", "b", "c", "a"],
    }
    labels = ComplementaryLabels.from_answers(table, classes=3, conflict="majority")
    method, batch = prepared_answers(labels), batch_of(labels)
    method.loss(LOGITS[:2], batch)
    method.after_step(nn.Identity(), batch)
    p = softmax(LOGITS[0].tolist())[2]
    joint, joint_other = p * 0.05 * 0.95 * 0.05, (1 - p) * 0.95 * 0.05 * 0.95
    is_class = joint / (joint + joint_other)
    false_negatives, n_of_class, false_positives, n_of_others = method.sums.tolist()
    assert false_negatives == pytest.approx([is_class, 0, is_class])
    assert n_of_class == pytest.approx([is_class] * 3)
    assert false_positives == pytest.approx([0, 1 - is_class, 0])
    assert n_of_others == pytest.approx([1 - is_class] * 3)


def test_error_rates_of_rare_annotators_shrink_to_the_mean():
    table = {"example_id": [0, 0], "class_name": [0, 0], "answer": ["no", "no"], "annotator": ["a", "b"]}
    method = prepared_answers(ComplementaryLabels.from_answers(table, classes=3))
    # For each annotator: false negatives, questions about the class; false positives, questions about other classes.
    method.sums = double([[0, 30], [0, 100], [0, 0], [80, 0]])
    method.after_epoch(0)
    pooled_negative, pooled_positive = (30 + 1) / (100 + 20), 1 / (80 + 20)
    assert method.false_negative_rate.tolist() == pytest.approx(
        [pooled_negative, (30 + 20 * pooled_negative) / 120]
    )
    assert method.false_positive_rate.tolist() == pytest.approx([20 * pooled_positive / 100, pooled_positive])
    assert method.sums.abs().max() == 0


# Training and errors -----------------------------------------------------------------------------------------


def test_training_succeeds_with_one_question_per_example():
    X, y, _ = three_blobs(300)
    labels, model = ask(y, seed=5), linear_model()
    assert (labels.confirmed < 0).mean() > 0.5
    train(model, make_method("answers"), X, labels, RECIPE)
    assert accuracy(model, X, labels, y) > 0.98


def labels_from_columns(example, asked, said, who=None, **options):
    columns = {"example_id": example, "class_name": asked, "answer": said} | (
        {} if who is None else {"annotator": who}
    )
    return ComplementaryLabels.from_answers(columns, **options)


def ask_until_yes(y):
    """Ask in a fixed order, cat last, until the first "yes", so that shares of "yes" are not the class priors."""
    order, rows = ["ant", "bee", "cat"], []
    for row, name in enumerate(y):
        rows += [(row, asked, "yes" if asked == name else "no") for asked in order[: order.index(name) + 1]]
    example, asked, said = zip(*rows, strict=True)
    return labels_from_columns(example, asked, said, classes=order)


def test_training_estimates_priors_for_any_question_policy():
    X, y, _ = three_blobs(600)
    labels = ask_until_yes(y)
    classifier = ScarceClassifier("answers", module="linear", epochs=20, learning_rate=0.02).fit(X, labels)
    assert classifier.prior_estimate_.source == "learned by answers"
    assert classifier.priors_ == pytest.approx([1 / 3] * 3, abs=0.02)
    assert classifier.history_["priors"][-1] == pytest.approx(classifier.priors_.tolist())


def test_training_accepts_class_never_asked_about():
    X, y, _ = three_blobs(300)
    rows = [
        (row, asked, "yes" if asked == name else "no")
        for row, name in enumerate(y)
        for asked in ("ant", "bee")
    ]
    example, asked, said = zip(*rows, strict=True)
    labels = labels_from_columns(example, asked, said, classes=["ant", "bee", "cat"])
    classifier = ScarceClassifier("auto", module="linear", epochs=20, learning_rate=0.05).fit(X, labels)
    assert classifier.score(X, y) > 0.95


def test_early_stopping_uses_likelihood_of_held_out_answers():
    X, y, _ = three_blobs(300)
    labels = ask(y, questions=2, seed=1)
    settings = {"module": "linear", "epochs": 12, "learning_rate": 0.05, "patience": 30}
    settings["method_params"] = {"false_negative_rate": 0.0, "false_positive_rate": 0.0}
    classifier = ScarceClassifier("answers", early_stopping=True, validation_fraction=0.3, **settings)
    classifier.fit(X, labels)
    values = classifier.history_["validation_likelihood"]
    held_out = np.sort(np.random.default_rng(0).permutation(len(X))[:90])
    p, asked = classifier.predict_proba(X[held_out]), labels[held_out].answers
    total = np.zeros(90)
    for row in range(90):
        possible = np.ones(3, bool)
        for k, said in zip(
            asked.class_index[asked.example == row], asked.answer[asked.example == row], strict=True
        ):
            possible &= (np.arange(3) == k) == bool(said)
        total[row] = np.log(p[row, possible].sum())
    assert total.mean() == pytest.approx(max(values), abs=1e-4)


def test_held_out_answers_of_unknown_annotators_are_ignored():
    train_on = labels_from_columns([0, 0], [1, 1], ["yes", "no"], ["ann", "bob"], classes=3, conflict="drop")
    other = labels_from_columns([0, 1, 1], [2, 0, 1], ["no"] * 3, ["bob", "zoe", "ann"], classes=3)
    method = prepared_answers(train_on)
    losses = [
        method.for_labels(other).loss(LOGITS[[row]], batch_of(other, rows=[row])).item() for row in range(2)
    ]
    p, rate = LOGITS.softmax(dim=1), 0.05
    said_no = [-log(rate * p[row, k] + (1 - rate) * (1 - p[row, k])) for row, k in ((0, 2), (1, 1))]
    assert losses == pytest.approx(said_no)
    assert method.for_labels(other).false_negative_rate is method.false_negative_rate


def test_training_rejects_skips_alone():
    X, _, _ = three_blobs(3)
    labels = labels_from_columns([0, 1, 2], [0, 1, 2], ["skip"] * 3, classes=3)
    with pytest.raises(MethodError, match="answers has nothing to learn from"):
        train(linear_model(), make_method("answers"), X, labels)


def test_training_rejects_exclusions_without_answers():
    X, _, labels = three_blobs(9)
    with pytest.raises(MethodError) as error:
        train(linear_model(), make_method("answers"), X, labels)
    assert str(error.value) == (
        "answers needs a table of answers, but these labels hold only exclusions; make them with from_answers "
        "or from_answer_matrix, or choose method='scar-likelihood'."
    )


@pytest.mark.parametrize(
    "params", [{"false_negative_rate": 1.2}, {"false_positive_rate": -0.1}, {"false_negative_rate": "low"}]
)
def test_answers_rejects_invalid_error_rates(params):
    (name, value), *_ = params.items()
    with pytest.raises(MethodError) as error:
        make_method("answers", **params)
    assert str(error.value) == f"{name}={value!r}; expected a number from 0 to 1."


def test_answers_with_given_rates_passes_method_checks():
    check_method(lambda: make_method("answers", false_negative_rate=0.1, false_positive_rate=0.05))
