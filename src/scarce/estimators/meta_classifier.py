"""`MetaComplementaryClassifier`: train any classifier on complementary labels, one positive-unlabeled problem per class."""

from typing import Any, Literal, Self

import numpy as np
import torch
from rich.progress import MofNCompleteColumn
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._console import make_progress
from scarce._validation import abbreviate, check_flag, check_integer, check_renamed, renamed_parameters
from scarce.errors import LabelError, MethodError
from scarce.estimators._base import TableClassifierMixin
from scarce.estimators._fitting import check_inputs, random_generator
from scarce.estimators._pu_learners import as_pu_learner, fit_pu_learner, probability_of_not, set_nested_param
from scarce.estimators.elkan_noto import ElkanNotoClassifier
from scarce.labels import ComplementaryLabels
from scarce.priors import resolve_priors
from scarce.risk._mixture_proportion import check_unlabeled, mixture_proportion

_MIN_PROPORTION = 1e-3  # an estimate may by chance be 0 or 1, which PU classifiers reject


@renamed_parameters(unlabelled="unlabeled")
class MetaComplementaryClassifier(TableClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """p(k | x) ∝ 1 − p(not k | x), with one positive-unlabeled (PU) classifier per class.

    Train any classifier on complementary labels, as in SCARCE-Meta [1]_. The rows that exclude class k are known to be *not k*.
    They are the positives of the PU classifier of class k, the other rows are unlabeled, and the classifier predicts
    p(not k | x).

    Parameters
    ----------
    estimator : classifier, optional
        A PU classifier, such as those of the package pulearn, or any classifier with `predict_proba`, which is wrapped in an
        `ElkanNotoClassifier`; by default, gradient boosting.
    wrap : {"auto", True, False}
        Whether to wrap the estimator in an `ElkanNotoClassifier`. ``"auto"`` wraps everything except PU classifiers, which are
        those from pulearn and those with the attribute ``is_pu_classifier = True``. An estimator that is not wrapped is trained
        by ``fit(X, s)``, where s is 1 for rows known to be "not k" and 0 for unlabeled rows.
    unlabeled : {"rest", "all"}
        Which rows are unlabeled. ``"rest"``: the rows that are not positives, as Elkan-Noto expects. ``"all"``: all rows,
        including a second copy of the positives, for PU classifiers such as nnPU that expect a sample of the whole population.
    prior_parameter : str, optional
        Name of the parameter of the estimator that takes the fraction of "not k" among the unlabeled rows of class k:
        1 − π_k for ``unlabeled="all"``, 1 − π_k / (1 − π̄_k) for ``"rest"``. The default ``"prior"`` is ignored if the
        estimator has no such parameter; None sets nothing.
    priors : str, array of shape (q,), mapping, PriorEstimate or PriorEstimator
        Class priors π; see `scarce.priors.resolve_priors`. With Elkan-Noto, only `score` needs them.
    n_jobs : int, optional
        Number of classes to train in parallel; the result does not depend on it.
    random_state : int, RandomState or None
        Seed of every ``random_state`` of the estimator; each class gets a different one.
    verbose : bool
        Show a progress bar.

    Attributes
    ----------
    classes_ : array of shape (q,)
        The class names.
    estimators_ : list of q classifiers
        The fitted PU classifier of each class.
    priors_, prior_estimate_ : array of shape (q,), PriorEstimate
        The class priors, and the same with their source.

    See Also
    --------
    ElkanNotoClassifier : The PU classifier around ordinary classifiers.
    EMComplementaryClassifier : Train any classifier that accepts sample weights, by EM.
    ScarceClassifier : Train a stack or a network; its ``meta-...`` methods solve the PU problems of all classes with one network.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu, M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML, 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from scarce import MetaComplementaryClassifier
    >>> from scarce.simulate import scar
    >>> X, y = load_wine(return_X_y=True)
    >>> labels = scar(y, c=0.5, seed=0)          # for each wine, about half of the classes that it is not
    >>> forest = RandomForestClassifier(30, min_samples_leaf=5)
    >>> clf = MetaComplementaryClassifier(forest).fit(X[::2], labels[::2])
    >>> bool(clf.score(X[1::2], y[1::2]) > 0.8)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        wrap: Literal["auto"] | bool = "auto",
        unlabeled: Literal["rest", "all"] = "rest",
        prior_parameter: str | None = "prior",
        priors: Any = "estimate",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.wrap = wrap
        self.unlabeled = unlabeled
        self.prior_parameter = prior_parameter
        self.priors = priors
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, as in scikit-learn; the old name of a renamed parameter raises an error with the new one."""
        check_renamed(type(self).__name__, type(self), params)
        super().set_params(**params)
        return self

    def _fit(self, X: Any, labels: ComplementaryLabels) -> None:
        _check_every_class_excluded(labels)
        if self.n_jobs is not None and check_integer("n_jobs", self.n_jobs, -(2**31), 2**31 - 1) == 0:
            raise MethodError("n_jobs=0; expected a number of processes, or -1 for one per core.")
        learner = self._learner()
        estimate = resolve_priors(self.priors, labels, X, verbose=self.verbose, check_input=False)
        proportions = self._mixture_proportions(estimate.values, labels.rates)
        seeds = random_generator(self.random_state).randint(2**31 - 1, size=labels.n_classes)
        by_class = labels.to_csr().tocsc()
        known = np.split(by_class.indices, by_class.indptr[1:-1])
        tasks = [
            delayed(fit_pu_learner)(
                self._prepare(learner, proportion, int(seed)), X, rows, self.unlabeled, name
            )
            for proportion, seed, rows, name in zip(proportions, seeds, known, labels.classes, strict=True)
        ]
        fitted = Parallel(n_jobs=self.n_jobs, return_as="generator")(tasks)
        with make_progress(MofNCompleteColumn(), show=check_flag("verbose", self.verbose)) as bars:
            self.estimators_ = list(bars.track(fitted, labels.n_classes, description="classes"))
        self.prior_estimate_, self.priors_ = estimate, estimate.values

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities of shape (n, q): 1 − p(not k | x), normalized to sum to one.

        If p(not k | x) is at least one for every class, which can happen with Elkan-Noto, they are proportional to its inverse.
        """
        check_is_fitted(self)
        X = check_inputs(self, X, reset=False)
        ruled_out = np.empty((X.shape[0], len(self.classes_)))
        for k, (learner, name) in enumerate(zip(self.estimators_, self.classes_, strict=True)):
            ruled_out[:, k] = probability_of_not(learner, X, name)
        possible = 1 - np.clip(ruled_out, 0, 1)
        all_ruled_out = ~possible.any(axis=1)
        possible[all_ruled_out] = 1 / ruled_out[all_ruled_out]
        return possible / possible.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds of each class, of shape (n, q); with two classes, their difference, of shape (n,)."""
        eps = 1e-12  # keeps the odds finite
        scores: Array = logit(np.clip(self.predict_proba(X), eps, 1 - eps))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _learner(self) -> Any:
        learner = as_pu_learner(self.estimator, self.wrap)
        check_unlabeled(self.unlabeled)
        if self.unlabeled == "all" and isinstance(learner, ElkanNotoClassifier):
            raise MethodError(
                "unlabeled='all' does not work with Elkan-Noto, which expects every row once; pass unlabeled='rest'."
            )
        return learner

    def _mixture_proportions(self, priors: Array, rates: Array) -> Array:
        proportions = mixture_proportion(torch.from_numpy(priors), torch.tensor(rates), self.unlabeled)
        return proportions.clamp(_MIN_PROPORTION, 1 - _MIN_PROPORTION).numpy()

    def _prepare(self, learner: Any, proportion: float, seed: int) -> Any:
        prepared = clone(learner)
        set_nested_param(prepared, "random_state", seed)
        if self.prior_parameter is not None and not isinstance(prepared, ElkanNotoClassifier):
            is_set = set_nested_param(prepared, self.prior_parameter, float(proportion))
            if not is_set and self.prior_parameter != "prior":
                raise MethodError(
                    f"{type(learner).__name__} has no parameter {self.prior_parameter!r}; set prior_parameter to one of its "
                    f"parameters ({abbreviate(learner.get_params())}), or to None."
                )
        return prepared


def _check_every_class_excluded(labels: ComplementaryLabels) -> None:
    never = labels.classes[labels.counts == 0]
    if len(never):
        raise LabelError(
            f"no example excludes class {abbreviate(never)}, so its PU classifier has no positives; collect exclusions of it, "
            "remove it from the classes, or use ScarceClassifier."
        )
    always = labels.classes[labels.counts == labels.n_examples]
    if len(always):
        raise LabelError(
            f"every example excludes class {abbreviate(always)}, so no example can belong to it; remove it from the classes."
        )
