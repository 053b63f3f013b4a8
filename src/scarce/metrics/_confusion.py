"""The confusion matrix of a classifier from complementary labels.

Let s_j = P(predicted j), c_k = P("not k" | y ≠ k) and ρ_k = P("not k" | y = k). If labels depend on an example only through
its class,

    P(predicted j, y = k) = ( c_k s_j − P(predicted j, "not k") ) / ( c_k − ρ_k ).

The probabilities on the right are estimated by frequencies: among all examples for exclusions, and among the questions about k
for answers to random questions. The sum of the diagonal is the accuracy. For exclusions without errors, c_k = r_k / (1 − π_k) and
ρ_k = 0, with r_k = P("not k"), so the accuracy is

    1 − Σ_k (1 − π_k) P(predicted k | k is excluded).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from scarce._arrays import FloatArray, IntArray
from scarce.labels import ComplementaryLabels
from scarce.labels.answers import NO, SKIP
from scarce.metrics.label_model import LabelModel, has_random_answers

_EPS = 1e-9
_MIN_NET_FRACTION = 0.05  # c − ρ, as a fraction of c or r


@dataclass(frozen=True, eq=False)
class Tallies:
    """Counts of labels by predicted class.

    Attributes
    ----------
    n_examples : int
        n.
    predicted : array of shape (q,)
        The number of examples predicted as each class.
    asked : array of shape (q,)
        How often a label "not k" was possible: the number of questions about k, or n for exclusions.
    denied : array of shape (q,)
        The number of labels "not k".
    contradicted : array of shape (q, q)
        The number of labels "not k" of examples predicted j, in row j and column k.
    asked_predicted : array of shape (q, q)
        The same count as `asked`, among examples predicted j.
    rows, classes, is_denied : array of shape (m,)
        The example and class of each of m answers or exclusions, and whether it says "not k".
    codes : array of shape (n,)
        The predicted classes, as indices.
    from_answers : bool
        Whether the labels are answers to questions.
    """

    n_examples: int
    predicted: FloatArray
    asked: FloatArray
    denied: FloatArray
    contradicted: FloatArray
    asked_predicted: FloatArray
    rows: IntArray
    classes: IntArray
    is_denied: NDArray[np.bool_]
    codes: IntArray
    from_answers: bool

    def for_rows(self, rows: NDArray[np.bool_] | None) -> tuple[FloatArray, FloatArray]:
        """Return `predicted` and `contradicted` of the examples chosen by a mask of shape (n,), or of all."""
        if rows is None:
            return self.predicted, self.contradicted
        q = len(self.predicted)
        is_chosen = self.is_denied & rows[self.rows]
        pairs = (self.codes[self.rows] * q + self.classes)[is_chosen]
        contradicted = np.bincount(pairs, minlength=q * q).reshape(q, q).astype(float)
        return np.bincount(self.codes[rows], minlength=q).astype(float), contradicted

    @property
    def predicted_fractions(self) -> FloatArray:
        """s of shape (q,), the fraction of predictions of each class."""
        return self.predicted / self.n_examples

    @property
    def rates(self) -> FloatArray:
        """r of shape (q,), the number of labels "not k" as a fraction of `asked`."""
        return self.denied / np.maximum(self.asked, 1)


def tally_labels(codes: IntArray, labels: ComplementaryLabels) -> Tallies:
    """Count labels by the class predicted for their example.

    Parameters
    ----------
    codes : array of shape (n,)
        Predicted classes, as indices.
    labels : ComplementaryLabels
        If some answers are "yes", all are counted as answers to random questions; otherwise the exclusions are counted.

    Returns
    -------
    Tallies
        The counts.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_single([0, 1, 1, 0], classes=2)
    >>> tally_labels(np.array([1, 0, 1, 1]), labels).contradicted.tolist()
    [[0.0, 1.0], [2.0, 1.0]]
    """
    n, q = labels.shape
    predicted = np.bincount(codes, minlength=q).astype(float)
    from_answers = has_random_answers(labels)
    if from_answers:
        assert labels.answers is not None
        is_answered = labels.answers.answer != SKIP
        rows, classes = (
            labels.answers.example[is_answered],
            labels.answers.class_index[is_answered].astype(np.int64),
        )
        is_denied = labels.answers.answer[is_answered] == NO
        asked_predicted = np.bincount(codes[rows] * q + classes, minlength=q * q).reshape(q, q).astype(float)
    else:
        rows, classes = np.repeat(np.arange(n), labels.per_example), labels.indices.astype(np.int64)
        is_denied = np.ones(len(rows), bool)
        asked_predicted = np.broadcast_to(predicted[:, None], (q, q))
    pairs = (codes[rows] * q + classes)[is_denied]
    return Tallies(
        n_examples=n,
        predicted=predicted,
        asked=asked_predicted.sum(axis=0),
        denied=np.bincount(classes[is_denied], minlength=q).astype(float),
        contradicted=np.bincount(pairs, minlength=q * q).reshape(q, q).astype(float),
        asked_predicted=asked_predicted,
        rows=rows,
        classes=classes,
        is_denied=is_denied,
        codes=codes,
        from_answers=from_answers,
    )


@dataclass(frozen=True, eq=False)
class Confusion:
    """The confusion matrix A_jk = P(predicted j, y = k) = α_k s_j − β_k x_jk, estimated from labels.

    Attributes
    ----------
    tallies : Tallies
        The counts.
    trials : array of shape (q,)
        The denominator of x_jk: the number of labels "not k" or, for answers without given priors, of questions about k.
    contradicted_fractions : array of shape (q, q)
        x_jk, the number of labels "not k" of examples predicted j, divided by `trials`.
    alpha, beta : array of shape (q,)
        α_k = c_k / (c_k − ρ_k) and β_k = r_k / (c_k − ρ_k), or 1 / (c_k − ρ_k) for answers without given priors.
    alpha_draws, beta_draws, prior_draws : array of shape (m, q)
        α, β and π for each of the m draws of the label model.
    priors : array of shape (q,)
        π.
    """

    tallies: Tallies
    trials: FloatArray
    contradicted_fractions: FloatArray
    alpha: FloatArray
    beta: FloatArray
    alpha_draws: FloatArray
    beta_draws: FloatArray
    priors: FloatArray
    prior_draws: FloatArray

    @classmethod
    def from_tallies(cls, tallies: Tallies, model: LabelModel) -> "Confusion":
        """Estimate the confusion matrix from counts under a label model."""
        by_answers = tallies.from_answers and model.source != "given"
        trials = tallies.asked if by_answers else tallies.denied
        rates = None if by_answers else tallies.rates
        errors = np.array([model.errors.false_negative]), np.array([model.errors.false_positive])
        alpha, beta = _coefficients(rates, model.priors, *errors)
        draws = _coefficients(rates, model.prior_draws, model.error_draws[:, :1], model.error_draws[:, 1:])
        return cls(
            tallies,
            trials,
            tallies.contradicted / np.maximum(trials, 1),
            alpha,
            beta,
            *draws,
            model.priors,
            model.prior_draws,
        )

    @property
    def matrix(self) -> FloatArray:
        """A of shape (q, q), one row per predicted class and one column per true class; it sums to about one."""
        return (
            self.alpha * self.tallies.predicted_fractions[:, None] - self.beta * self.contradicted_fractions
        )

    @property
    def standard_errors(self) -> FloatArray:
        """The standard error of every cell of A, of shape (q, q), due to the counts and to the uncertainty of the label model."""
        s, x = self.tallies.predicted_fractions[:, None], self.contradicted_fractions
        a, b = (
            self.alpha_draws - self.alpha_draws.mean(axis=0),
            self.beta_draws - self.beta_draws.mean(axis=0),
        )
        draw_variance = (
            s**2 * (a**2).mean(axis=0) + x**2 * (b**2).mean(axis=0) - 2 * s * x * (a * b).mean(axis=0)
        )
        found: FloatArray = np.sqrt(self._count_errors**2 + np.maximum(draw_variance, 0))
        return found

    @property
    def clear_confusions(self) -> NDArray[np.bool_]:
        """Which off-diagonal cells are significantly above zero, bool of shape (q, q), at a family-wise level of 5 %.

        The standard error of a cell is the larger of two: the one at the estimate, which is too small for a count of zero, and the
        one under the null hypothesis that the cell is zero, x_jk = α_k s_j / β_k. Errors in the label model shift whole columns,
        so their contribution is not corrected for the number of cells.
        """
        q = len(self.trials)
        at_zero = np.clip(
            self.alpha * self.tallies.predicted_fractions[:, None] / np.maximum(self.beta, _EPS), 0, 1
        )
        errors_at_zero = self.beta * np.sqrt(at_zero * (1 - at_zero) / np.maximum(self.trials, 1))
        low, high = np.quantile(self.beta_draws, [0.16, 0.84], axis=0)
        limit = np.hypot(
            norm.isf(0.05 / (q * (q - 1))) * np.maximum(self._count_errors, errors_at_zero),
            (high - low) / 2 * self.contradicted_fractions,
        )
        found: NDArray[np.bool_] = (self.matrix > limit) & (self.trials > 0)
        np.fill_diagonal(found, False)
        return found

    @property
    def _count_errors(self) -> FloatArray:
        """The standard error of every cell of A for known priors and error rates, of shape (q, q)."""
        s, n = self.tallies.predicted_fractions[:, None], self.tallies.n_examples
        x, asked = (
            self.contradicted_fractions,
            self.tallies.asked_predicted / np.maximum(self.tallies.asked, 1),
        )
        fractions = x if self._counts_denials else asked
        variance = (
            self.alpha**2 * s * (1 - s) / n
            + self.beta**2 * x * (1 - x) / np.maximum(self.trials, 1)
            - 2 * self.alpha * self.beta * x * (1 - fractions) / n
        )
        found: FloatArray = np.sqrt(np.maximum(variance, 0))
        return found

    @property
    def diagonal_draws(self) -> FloatArray:
        """P(predicted k, y = k) of shape (m, q), for every draw of the label model."""
        diagonal = self.contradicted_fractions.diagonal()
        return self.alpha_draws * self.tallies.predicted_fractions - self.beta_draws * diagonal

    @property
    def influences(self) -> FloatArray:
        """The influence of every example on the sum of the diagonal, of shape (n,)."""
        t, diagonal = self.tallies, self.contradicted_fractions.diagonal()
        weight = self.beta / np.maximum(self.trials, 1)
        wrong = t.is_denied & (t.codes[t.rows] == t.classes)
        label_influence = weight[t.classes] * (wrong - diagonal[t.classes])
        if self._counts_denials:
            label_influence = np.where(t.is_denied, label_influence, 0.0)
        prediction_influence = (self.alpha[t.codes] - self.alpha @ t.predicted_fractions) / t.n_examples
        return prediction_influence - np.bincount(t.rows, label_influence, t.n_examples)

    @property
    def _counts_denials(self) -> bool:
        return self.trials is self.tallies.denied


def _coefficients(
    rates: FloatArray | None, priors: FloatArray, false_negative: FloatArray, false_positive: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """α = c / (c − ρ) and β = r / (c − ρ), with c = (r − ρπ) / (1 − π); without rates c = 1 − fp and β = 1 / (c − ρ)."""
    if rates is None:
        ones, net = np.ones_like(priors), np.maximum(1 - false_negative - false_positive, _EPS)
        return ones * (1 - false_positive) / net, ones / net
    c = np.maximum(rates - false_negative * priors, 0) / np.maximum(1 - priors, _EPS)
    # If c is near ρ, the labels carry almost no information; limit how much dividing by c − ρ amplifies their noise.
    net = np.maximum(c - false_negative, _MIN_NET_FRACTION * np.maximum(c, rates) + _EPS)
    # Without errors α = 1 and β = 1 − π exactly. A class that is never excluded gets the same: its predictions count as correct.
    has_no_errors = (false_negative == 0) | (rates == 0)
    return np.where(has_no_errors, 1.0, c / net), np.where(has_no_errors, 1 - priors, rates / net)
