"""`EMComplementaryClassifier`: train any classifier with sample weights on complementary labels, by cross-fitted EM."""

from typing import Any, Literal

import numpy as np
import torch
from scipy.special import softmax
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, check_cv
from sklearn.utils.validation import check_is_fitted, has_fit_parameter
from torch import Tensor, nn

from scarce._arrays import Array
from scarce._validation import check_integer, check_option, shorten
from scarce.errors import MethodError
from scarce.estimators._base import TableClassifierMixin
from scarce.estimators._fitting import check_inputs, random_generator
from scarce.estimators._pu_learners import set_nested_param
from scarce.estimators.auto._mechanism_parameters import OutOfFold, estimate_scar
from scarce.estimators.auto._mechanisms import CandidateSets, confirmed_tensor, excluded_tensor
from scarce.labels import ComplementaryLabels
from scarce.labels._single_label import is_single_label
from scarce.methods import Batch, Method, Problem, make_method
from scarce.metrics import co_exclusion_test
from scarce.priors import PriorEstimate

Mechanism = Literal["auto", "candidates", "scar", "answers"]
_METHODS = {"candidates": "cc", "scar": "scar-likelihood", "answers": "answers"}
_MIN_PROBABILITY = 1e-3  # of a class by the learner: a class without a vote in a forest is not impossible
_MIN_RELATIVE_WEIGHT = (
    0.02  # of a copy of a row, relative to that of its most likely class; others are not fitted
)
_TOL = 0.005  # of the mean total variation between the weights of two iterations
_STEP_GROWTH, _MAX_STEP = 1.5, 4.0  # of the extrapolation of an iteration
_PATIENCE = 2  # iterations in a row that do not make the labels more likely


class EMComplementaryClassifier(TableClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """q_y ∝ p_y(x) exp(e_y), with e_y = log P(labels of x | y).

    Train any classifier with `predict_proba` and sample weights on complementary labels, by EM. Every example is fitted once for
    each class y that it may belong to, with the weight q_y: the probability p_y that the classifier predicts times the likelihood
    of the labels. Fitting and weighting alternate until the weights converge or the labels no longer become more likely. The
    probabilities of an example come from a copy of the classifier that was fitted without it; otherwise a classifier that
    memorizes would only confirm its first guess.

    Parameters
    ----------
    estimator : classifier
        A classifier with `predict_proba` and a `fit` that accepts `sample_weight`, or a pipeline that ends with one.
    mechanism : {"auto", "candidates", "scar", "answers"}
        How the labels arise, which determines e_y:

        - ``"candidates"``: the labels are equally likely under every class that is not excluded;
        - ``"scar"``: wrong classes are excluded at random, some more often than others; the rates come from the labels and the
          priors from the fit;
        - ``"answers"``: the labels record which questions were asked, and annotators may err;
        - ``"auto"``: ``"answers"`` if answers are recorded, ``"candidates"`` if classes are excluded together in a way that
          contradicts SCAR (`scarce.metrics.co_exclusion_test`), and ``"scar"`` otherwise.
    n_iterations : int
        Maximum number of weight updates. With 0, the classifier is fitted once, with weights from the labels alone.
    cv : int or cross-validation splitter
        Number of folds, or a splitter, for the out-of-fold probabilities.
    random_state : int, RandomState or None
        Seed of the folds and of every ``random_state`` of the estimator.

    Attributes
    ----------
    classes_ : array of shape (q,)
        The class names.
    estimator_ : classifier
        The classifier, fitted to all examples; its own ``classes_`` are indices into those of this classifier.
    mechanism_ : str
        The mechanism that was assumed.
    posterior_ : array of shape (n, q)
        q, the class probabilities of each training example given its labels.
    n_iter_ : int
        Number of weight updates.
    priors_, prior_estimate_ : array of shape (q,), PriorEstimate
        The mean of the posterior, and the same with its source.

    See Also
    --------
    MetaComplementaryClassifier : Train classifiers that do not accept sample weights.
    ScarceClassifier : Train a stack of learners, or a network.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from scarce import EMComplementaryClassifier
    >>> from scarce.simulate import uniform
    >>> X, y = load_wine(return_X_y=True)
    >>> labels = uniform(y, seed=0)              # for each wine, one class that it is not
    >>> clf = EMComplementaryClassifier(RandomForestClassifier(30, min_samples_leaf=3)).fit(X[::2], labels[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.8)
    True
    """

    def __init__(
        self,
        estimator: Any,
        mechanism: Mechanism = "auto",
        *,
        n_iterations: int = 10,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.estimator = estimator
        self.mechanism = mechanism
        self.n_iterations = n_iterations
        self.cv = cv
        self.random_state = random_state

    def _fit(self, X: Any, labels: ComplementaryLabels) -> None:
        check_integer("n_iterations", self.n_iterations)
        check_option("mechanism", self.mechanism, ("auto", *_METHODS))
        learner = self._learner()
        seed = int(random_generator(self.random_state).randint(2**31 - 1))
        set_nested_param(learner, "random_state", seed)
        folds = list(self._splitter(seed, labels.n_examples).split(np.arange(labels.n_examples)))
        mechanism: str = self.mechanism
        if mechanism == "auto":

            def out_of_fold(log_likelihood: Tensor) -> Array:
                return _held_out_predictions(learner, X, log_likelihood.softmax(dim=1).numpy(), folds)

            mechanism = likely_mechanism(labels, out_of_fold)
        method = make_method(_METHODS[mechanism])
        method.prepare(Problem(labels))
        method.double()
        posterior = self._posterior(learner, X, labels, method, folds)
        self.estimator_ = _fit_weighted(learner, X, posterior)
        self.mechanism_, self.posterior_ = mechanism, posterior
        self.priors_ = posterior.mean(axis=0)
        self.prior_estimate_ = PriorEstimate(
            self.priors_, "learned by EM", self.priors_, classes=labels.classes
        )

    def _posterior(
        self, learner: Any, X: Any, labels: ComplementaryLabels, method: Method, folds: Any
    ) -> Array:
        """Return the posterior (n, q) under the out-of-fold predictions that make the labels most likely."""
        best = np.full(labels.shape, 1 / labels.n_classes)
        weights = class_posterior(method, best, labels)
        step, failures, self.n_iter_ = 1.0, 0, 0
        while self.n_iter_ < self.n_iterations and failures < _PATIENCE:
            self.n_iter_ += 1
            predicted = _held_out_predictions(learner, X, weights, folds)
            if _loss(method, predicted, labels) < _loss(method, best, labels):
                step, failures = min(_STEP_GROWTH * step, _MAX_STEP), 0
                guess, best = extrapolated(best, predicted, step), predicted
            else:
                step, failures, guess = 1.0, failures + 1, best
            before, weights = weights, class_posterior(method, guess, labels)
            _update_mechanism(method, class_posterior(method, best, labels), labels)
            if np.abs(weights - before).sum(axis=1).mean() / 2 < _TOL:
                break
        return class_posterior(method, best, labels)

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities of shape (n, q); a class that every training example excludes has probability 0."""
        check_is_fitted(self)
        X = check_inputs(self, X, reset=False)
        return _probabilities(self.estimator_, X, len(self.classes_))

    def _learner(self) -> Any:
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "predict_proba"):
            raise MethodError(
                f"estimator={shorten(self.estimator)} has no predict_proba; expected a classifier that does: pass one such as "
                "RandomForestClassifier()."
            )
        last = _weighted_step(self.estimator)[1]
        if not has_fit_parameter(last, "sample_weight"):
            raise MethodError(
                f"{type(last).__name__} does not accept sample_weight; expected a classifier that does: pass one such as "
                "RandomForestClassifier(), or use MetaComplementaryClassifier."
            )
        return clone(self.estimator)

    def _splitter(self, seed: int, n_examples: int) -> Any:
        if not isinstance(self.cv, (int, np.integer)):
            if not ((hasattr(self.cv, "split") and not isinstance(self.cv, str)) or self.cv is None):
                raise MethodError(
                    f"cv={shorten(self.cv)}; expected a whole number or a splitter such as KFold(5)."
                )
            return check_cv(self.cv)
        check_integer("cv", self.cv, low=2)
        return KFold(min(int(self.cv), n_examples), shuffle=True, random_state=seed)


def likely_mechanism(labels: ComplementaryLabels, out_of_fold: OutOfFold) -> str:
    """Return the most plausible mechanism of the labels: ``"answers"``, ``"scar"`` or ``"candidates"``.

    Under SCAR, classes are excluded independently given the true class; in candidate sets they are not.
    `scarce.metrics.co_exclusion_test` tests this, with priors from the learner. If no example excludes two classes, there is
    nothing to test, and the result is ``"scar"``.

    Parameters
    ----------
    labels : ComplementaryLabels
        The labels of n examples.
    out_of_fold : callable
        A function from the log-likelihoods of the labels, of shape (n, q), to out-of-fold class probabilities of shape (n, q).

    Examples
    --------
    >>> def knows_nothing(log_likelihood):
    ...     return np.full(log_likelihood.shape, 1 / log_likelihood.shape[1])
    >>> likely_mechanism(ComplementaryLabels.from_single([0, 1, 2] * 9, classes=3), knows_nothing)
    'scar'
    >>> sets = ComplementaryLabels.from_candidates([[1, 1, 0, 0], [0, 0, 1, 1]] * 50)
    >>> likely_mechanism(sets, knows_nothing)
    'candidates'
    """
    if labels.answers is not None:
        return "answers"
    if is_single_label(labels) or labels.per_example.max() < 2:
        return "scar"
    first = out_of_fold(CandidateSets().log_likelihood(labels))
    _, priors = estimate_scar(labels, out_of_fold, first)
    with np.errstate(
        invalid="ignore"
    ):  # a rate of one may be rounded to above one; such classes do not count
        test = co_exclusion_test(labels, priors.numpy())
    return "candidates" if test.rejects_scar else "scar"


def extrapolated(old: Array, new: Array, step: float) -> Array:
    """p ∝ old (new / old)^step: extrapolate an EM iteration, because EM converges slowly if labels carry little information.

    Parameters
    ----------
    old, new : arrays of shape (n, q)
        Class probabilities before and after an iteration.
    step : float
        Step size; 1 returns `new`.

    Examples
    --------
    >>> extrapolated(np.array([[0.5, 0.5]]), np.array([[0.6, 0.4]]), 2.0).round(3).tolist()
    [[0.692, 0.308]]
    """
    logs = [np.log(np.maximum(p, _MIN_PROBABILITY)) for p in (old, new)]
    return softmax(logs[0] + step * (logs[1] - logs[0]), axis=1)  # type: ignore[no-any-return]


def class_posterior(method: Method, probabilities: Array, labels: ComplementaryLabels) -> Array:
    """q_y ∝ p_y exp(e_y) of every row, for a method whose loss is mean −log Σ_y p_y exp(e_y).

    The posterior q is computed from the gradient of this loss with respect to f = log p, which is (p − q) / n.

    Parameters
    ----------
    method : Method
        The method, prepared for these labels.
    probabilities : array of shape (n, q)
        p; probabilities below 0.001 count as 0.001.
    labels : ComplementaryLabels
        The labels of the n rows.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([[0], [0, 1]], classes=3)
    >>> method = make_method("cc")
    >>> method.prepare(Problem(labels))
    >>> class_posterior(method, np.array([[0.5, 0.2, 0.3], [0.5, 0.2, 0.3]]), labels).round(2).tolist()
    [[0.0, 0.4, 0.6], [0.0, 0.0, 1.0]]
    """
    logits = _logits(probabilities).requires_grad_()
    (gradient,) = torch.autograd.grad(method.loss(logits, _all_rows(labels)), logits)
    posterior = (logits.detach().softmax(dim=1) - labels.n_examples * gradient).clamp(min=0)
    return (posterior / posterior.sum(dim=1, keepdim=True)).numpy()


def _logits(probabilities: Array) -> Tensor:
    return torch.from_numpy(np.maximum(probabilities, _MIN_PROBABILITY)).log()


def _loss(method: Method, probabilities: Array, labels: ComplementaryLabels) -> float:
    with torch.no_grad():
        return method.loss(_logits(probabilities), _all_rows(labels)).item()


def _update_mechanism(method: Method, posterior: Array, labels: ComplementaryLabels) -> None:
    """Update the rates of a mechanism from the posterior of the examples."""
    if method.facts.name == "scar-likelihood":
        method.prepare(Problem(labels, torch.from_numpy(posterior.mean(axis=0))))
    else:
        method.after_step(nn.Identity(), _all_rows(labels))
        method.after_epoch(0)


def _all_rows(labels: ComplementaryLabels) -> Batch:
    n = labels.n_examples
    confirmed = confirmed_tensor(labels) if labels.confirmed.max() >= 0 else None
    return Batch(torch.empty(n, 0), excluded_tensor(labels), torch.arange(n), confirmed)


def _weighted_step(estimator: Any) -> tuple[str, Any]:
    """Return the name under which `fit` of the estimator or pipeline takes `sample_weight`, and the step that receives it."""
    if not hasattr(estimator, "steps"):
        return "sample_weight", estimator
    name, last = estimator.steps[-1]
    inner, weighted = _weighted_step(last)
    return f"{name}__{inner}", weighted


def _fit_weighted(learner: Any, X: Any, posterior: Array) -> Any:
    """Return a copy of the learner, fitted to every row once for each class whose posterior is not negligible."""
    rows, codes = np.nonzero(posterior > _MIN_RELATIVE_WEIGHT * posterior.max(axis=1, keepdims=True))
    if (codes == codes[0]).all():  # many learners reject a single class
        return DummyClassifier(strategy="most_frequent").fit(X[rows], codes)
    name, _ = _weighted_step(learner)
    return clone(learner).fit(X[rows], codes, **{name: posterior[rows, codes]})


def _held_out_predictions(learner: Any, X: Any, weights: Array, folds: Any) -> Array:
    """Return class probabilities of shape (n, q); those of each fold come from a copy of the learner fitted without it."""
    probabilities = np.empty_like(weights)
    for training, held_out in folds:
        fitted = _fit_weighted(learner, X[training], weights[training])
        probabilities[held_out] = _probabilities(fitted, X[held_out], weights.shape[1])
    return probabilities


def _probabilities(fitted: Any, X: Any, n_classes: int) -> Array:
    probabilities = np.zeros((X.shape[0], n_classes))
    probabilities[:, fitted.classes_] = fitted.predict_proba(X)
    return probabilities / probabilities.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
