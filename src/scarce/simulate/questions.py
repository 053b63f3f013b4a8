"""Simulated yes/no answers to the question "is it this class?"."""

from typing import Any

import numpy as np

from scarce._arrays import BoolArray, IntArray
from scarce._truth import Classes, Truth, encode_truth
from scarce._validation import check_integer, check_per_class, check_probability, renamed_parameters
from scarce.errors import MethodError
from scarce.labels import Answers, ComplementaryLabels
from scarce.labels.answers import Conflict
from scarce.simulate._drawing import Draw, make_generator, row_blocks, sample_subset


@renamed_parameters(p_miss="false_negative_rate", p_false="false_positive_rate")
def ask(
    y: Any,
    *,
    questions: int | None = None,
    rates: Any = None,
    false_negative_rate: float = 0.0,
    false_positive_rate: float = 0.0,
    classes: Classes = None,
    seed: int = 0,
) -> ComplementaryLabels:
    """Simulate yes/no questions about random classes of every example, and make labels from the answers.

    The questions do not depend on the true class, so without errors a question about class k is answered "yes" with probability
    π_k. "No" excludes the class, "yes" confirms it; the labels keep the table of answers.

    Parameters
    ----------
    y : sequence of length n
        The true class of each example, by name or number.
    questions : int, optional
        Number of questions per example, about different classes drawn uniformly; 1 by default.
    rates : float or sequence of length q, optional
        Ask about each class k independently with probability ``rates[k]``, instead of a fixed number of questions.
    false_negative_rate : float
        Probability of answering "no" about the true class.
    false_positive_rate : float
        Probability of answering "yes" about a wrong class. If errors make answers contradict each other (two "yes", or "no" to
        every class), the labels leave out the disputed answers, and ``labels.answers`` keeps them.
    classes : int or sequence, optional
        All q classes, in order; by default the sorted values of `y`.
    seed : int
        Seed of the random generator; the same seed gives the same labels on every machine. Error rates do not change the questions.

    Returns
    -------
    ComplementaryLabels
        The labels of the n examples, with their `answers`.

    See Also
    --------
    scarce.labels.ComplementaryLabels.from_answers : Labels from real answers.
    scar : Exclusions without confirmed classes.

    Examples
    --------
    >>> labels = ask(["cat", "dog", "cow"], questions=3)
    >>> labels.confirmed.tolist(), labels.per_example.tolist(), len(labels.answers)
    ([0, 2, 1], [2, 2, 2], 9)
    """
    truth = encode_truth(y, classes)
    false_negative_rate = check_probability("false_negative_rate", false_negative_rate)
    false_positive_rate = check_probability("false_positive_rate", false_positive_rate)
    draw_questions, random = _question_sampler(truth, questions, rates), make_generator(seed)
    examples, asked_classes, answers = [], [], []
    for block in row_blocks(truth):
        codes = truth.codes[block]
        rows, columns = np.nonzero(draw_questions(random, codes))
        error_uniforms = random.random(len(rows))
        is_true_class = columns == codes[rows]
        examples.append(rows + block.start)
        asked_classes.append(columns.astype(np.int32))
        answers.append(
            np.where(
                is_true_class, error_uniforms >= false_negative_rate, error_uniforms < false_positive_rate
            ).astype(np.int8)
        )
    table = Answers.from_columns(*map(np.concatenate, (examples, asked_classes, answers)))
    conflict: Conflict = "drop" if false_negative_rate or false_positive_rate else "raise"
    return ComplementaryLabels._from_resolved(table, len(truth.codes), truth.classes, conflict=conflict)


def _question_sampler(truth: Truth, questions: Any, rates: Any) -> Draw:
    """Return a function that draws the classes a block of examples is asked about."""
    q = truth.n_classes
    if questions is not None and rates is not None:
        raise MethodError(
            f"got both questions={questions!r} and rates; expected one of them: pass the number of questions per example, or the "
            "probability of asking about each class."
        )
    if rates is not None:
        probabilities = check_per_class("rates", rates, truth.classes)
        return lambda random, codes: random.random((len(codes), q)) < probabilities
    n_questions = check_integer("questions", 1 if questions is None else questions, 1, q)

    def draw(random: np.random.Generator, codes: IntArray) -> BoolArray:
        all_classes = np.ones((len(codes), q), bool)
        return sample_subset(random.random((len(codes), q)), all_classes, np.full(len(codes), n_questions))

    return draw
