"""A small discrete population whose outcomes can be enumerated: classes, predictions with known confusions, and labels."""

from itertools import product

import numpy as np

from scarce.labels import Answers, ComplementaryLabels
from scarce.simulate import ask, scar, uniform

Q = 3
PRIORS = np.array([0.5, 0.3, 0.2])
CONFUSION = np.array([[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.2, 0.3, 0.5]])  # p(predicted | y)
EXCLUSION_PROBABILITIES = np.array([0.2, 0.5, 0.9])  # p(k is excluded | y ≠ k)
ACCURACY = float(PRIORS @ CONFUSION.diagonal())
JOINT = (PRIORS[:, None] * CONFUSION).T  # p(predicted, y): a row for every predicted class
SINGLE_EXCLUSION_PROBABILITIES = np.array(
    [0.2, 0.4, 0.3]
)  # the same if an example excludes at most one class
QUESTIONS = {  # the classes an example is asked about, with their probabilities
    1: {(0,): 0.5, (1,): 0.3, (2,): 0.2},
    2: {(0, 1): 0.5, (0, 2): 0.25, (1, 2): 0.25},
}


def every_outcome():
    """All (y, predicted, excluded) with their probabilities; several classes may be excluded, or none."""
    for y, predicted in product(range(Q), repeat=2):
        for marks in product([0, 1], repeat=Q - 1):
            excluded = np.insert(np.array(marks), y, 0)
            of_class = np.where(excluded, EXCLUSION_PROBABILITIES, 1 - EXCLUSION_PROBABILITIES)
            chance = np.prod(np.delete(of_class, y))
            yield y, predicted, excluded, PRIORS[y] * CONFUSION[y, predicted] * chance


def repeat_by_probability(outcomes, size):
    """Repeat the fields of outcomes, the last of which is a probability, `size` times in proportion to it."""
    copies = np.array([outcome[-1] for outcome in outcomes]) * size
    times = np.rint(copies).astype(int)
    assert np.allclose(copies, times)
    assert times.sum() == size
    return [np.repeat(np.stack(column), times, axis=0) for column in zip(*outcomes, strict=True)][:-1]


def whole_population():
    """Predictions and labels in which every outcome occurs in proportion to its probability."""
    _, predicted, excluded = repeat_by_probability(list(every_outcome()), 1_000_000)
    return predicted, ComplementaryLabels.from_indicator(excluded)


def whole_population_with_errors(error):
    """The same with at most one exclusion per example, which is the true class with probability `error`."""
    outcomes = []
    for y, predicted in product(range(Q), repeat=2):
        of_class = np.where(np.arange(Q) == y, error, SINGLE_EXCLUSION_PROBABILITIES)
        for excluded, chance in zip(np.eye(Q, dtype=int), of_class, strict=True):
            outcomes.append((predicted, excluded, PRIORS[y] * CONFUSION[y, predicted] * chance))
        none = 1 - of_class.sum()
        outcomes.append((predicted, np.zeros(Q, int), PRIORS[y] * CONFUSION[y, predicted] * none))
    predicted, excluded = repeat_by_probability(outcomes, 20_000)
    return predicted, ComplementaryLabels.from_indicator(excluded)


def whole_population_of_answers(n_questions, false_negative, false_positive):
    """The same with answers to random questions, some of them wrong; 1 is yes and 0 is no."""
    outcomes = []
    for y, predicted in product(range(Q), repeat=2):
        for asked, of_asked in QUESTIONS[n_questions].items():
            for answers in product([0, 1], repeat=n_questions):
                chance = PRIORS[y] * CONFUSION[y, predicted] * of_asked
                for k, answer in zip(asked, answers, strict=True):
                    yes = 1 - false_negative if k == y else false_positive
                    chance *= yes if answer else 1 - yes
                outcomes.append((predicted, np.array(asked), np.array(answers), chance))
    predicted, asked, answers = repeat_by_probability(outcomes, 400_000)
    rows = np.repeat(np.arange(len(predicted)), n_questions)
    return predicted, labels_from_answers(rows, asked.ravel(), answers.ravel(), len(predicted), Q)


def labels_from_answers(rows, asked, answers, n, q):
    """Labels of n examples from answers: 1 yes, 0 no, −1 skipped; disputed answers are dropped."""
    return ComplementaryLabels._from_resolved(
        Answers.from_columns(rows, asked, answers), n, np.arange(q), conflict="drop"
    )


def draw_predictions(rng, n):
    """Draw n true classes and predictions."""
    y = rng.choice(Q, n, p=PRIORS)
    return y, (rng.random((n, 1)) > CONFUSION.cumsum(axis=1)[y][:, :-1]).sum(axis=1)


def draw_labels_with_errors(y, error, seed):
    """Draw labels as `whole_population_with_errors` lists them."""
    of_class = np.where(np.eye(Q, dtype=bool), error, SINGLE_EXCLUSION_PROBABILITIES)
    chosen = (np.random.default_rng(seed).random((len(y), 1)) > of_class.cumsum(axis=1)[y]).sum(axis=1)
    return ComplementaryLabels.from_indicator(np.eye(Q + 1, dtype=bool)[chosen][:, :Q])


def draw_labeled_predictions(rng, n, kind):
    """Draw n predictions with ``single`` (uniform) or ``multiple`` (SCAR) labels."""
    y, predicted = draw_predictions(rng, n)
    if kind == "single":
        excluded = np.eye(Q, dtype=bool)[(y + rng.integers(1, Q, n)) % Q]
    else:
        excluded = rng.random((n, Q)) < EXCLUSION_PROBABILITIES
        excluded[np.arange(n), y] = False
    return predicted, ComplementaryLabels.from_indicator(excluded)


ANSWER_ERRORS = {"false_negative_rate": 0.1, "false_positive_rate": 0.05}
LABEL_KINDS = {  # labels of true classes y
    "uniform": lambda y, seed: uniform(y, classes=Q, seed=seed),
    "scar": lambda y, seed: scar(y, c=EXCLUSION_PROBABILITIES, classes=Q, seed=seed),
    "question": lambda y, seed: ask(y, classes=Q, seed=seed),
    "questions": lambda y, seed: ask(y, questions=2, classes=Q, seed=seed),
    "wrong answers": lambda y, seed: ask(y, questions=2, classes=Q, seed=seed, **ANSWER_ERRORS),
    "wrong answer": lambda y, seed: ask(y, classes=Q, seed=seed, **ANSWER_ERRORS),
    "wrong exclusions": lambda y, seed: draw_labels_with_errors(y, 0.05, seed),
}


def random_predictions_and_labels(seed, n=12):
    """Logits, their softmax, exclusions and a transition matrix of n random examples."""
    rng = np.random.default_rng(seed)
    excluded = rng.random((n, Q)) < 0.4
    excluded[np.arange(n), rng.integers(0, Q, n)] = False
    excluded[0] = [True, False, False]
    logits = rng.normal(size=(n, Q)) * 2
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    transition = rng.random((Q, Q)) + np.eye(Q)
    return logits, p, excluded, transition / transition.sum(axis=1, keepdims=True)


def labels_from_answer_counts(yes, no, skip=None):
    """Labels with one example per answer, given the number of answers of each kind for the classes a, b, c ..."""
    names = [chr(ord("a") + k) for k in range(len(yes))]
    table = []
    for word, counts in (("yes", yes), ("no", no), ("skip", skip or [0] * len(yes))):
        table += [(name, word) for name, count in zip(names, counts, strict=True) for _ in range(count)]
    columns = {
        "example_id": range(len(table)),
        "class_name": [t[0] for t in table],
        "answer": [t[1] for t in table],
    }
    return ComplementaryLabels.from_answers(columns, classes=names)
