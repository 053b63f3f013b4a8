"""`MetaComplementaryClassifier`: complementary labels for any learner, one positive-unlabelled problem per class."""

from typing import Any, Literal, Self

import numpy as np
import torch
from rich.progress import MofNCompleteColumn
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from scarce._arrays import Array
from scarce._console import make_progress
from scarce._validation import abbreviate, check_renamed, renamed_parameters
from scarce.errors import LabelError, MethodError
from scarce.estimators._fitting import check_inputs
from scarce.estimators.base import TableClassifierMixin
from scarce.estimators.elkan_noto import ElkanNotoClassifier
from scarce.estimators.pu_learners import as_pu_learner, fit_pu_learner, probability_of_not, set_nested_param
from scarce.labels import ComplementaryLabels
from scarce.priors import resolve_priors
from scarce.risk.mixture_proportion import check_unlabeled, mixture_proportion

__all__ = ["MetaComplementaryClassifier"]

_MIN_PROPORTION = 1e-3  # by chance a class may seem to have no unlabelled row of another class


@renamed_parameters(unlabelled="unlabeled")
class MetaComplementaryClassifier(TableClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier learned from complementary labels with one positive-unlabelled (PU) learner per class.

    For class k the rows that exclude it are known to be *not k*: they are the positives of a PU learner, and the
    other rows are unlabelled. With its probability p(not k | x),

        p(k | x) ∝ 1 − p(not k | x).

    Parameters
    ----------
    estimator : classifier, optional
        A PU classifier, such as those of pulearn, or any classifier with `predict_proba`, which is put into
        `ElkanNotoClassifier`; by default gradient boosting.
    wrap : {"auto", True, False}
        Whether to put the estimator into `ElkanNotoClassifier`. With ``auto``, all are but PU classifiers: classes of
        pulearn, and those with the attribute ``is_pu_classifier = True``. With False it is handed ``fit(X, s)``, where s
        is 1 for rows known to be "not k" and 0 for unlabelled rows.
    unlabeled : {"rest", "all"}
        Which rows a PU learner gets as unlabelled: those that are not its positives, as Elkan-Noto wants it, or all,
        the positives once more among them, for learners that take them for a sample of everything, such as nnPU.
    prior_parameter : str, optional
        Where the learner has a parameter of this name, it is set for every class to the share of "not k" among
        the unlabelled rows: 1 − π_k with ``all``, 1 − π_k / (1 − rate_k) with ``rest``. None leaves it alone.
    priors : {"estimate", "uniform", "answers"}, array, mapping or PriorEstimator
        Class priors π, as for `ScarceClassifier`; Elkan-Noto needs them only for `score`.
    n_jobs : int, optional
        How many classes to train at the same time; the result does not depend on it.
    random_state : int, RandomState or None
        Every ``random_state`` of the estimator is set from it, for every class differently.
    verbose : bool
        Show a progress bar.

    Attributes
    ----------
    classes_ : array
        The classes.
    estimators_ : list
        The trained learner of each class.
    priors_ : array of shape (q,)
        The priors; `prior_estimate_` tells where they come from.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from scarce import MetaComplementaryClassifier
    >>> from scarce.simulate import scar
    >>> X, y = load_wine(return_X_y=True)
    >>> labels = scar(y, c=0.5, seed=0)          # half of what each wine is not
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
        """Set parameters by name, as in scikit-learn."""
        check_renamed(type(self).__name__, type(self), params)
        super().set_params(**params)
        return self

    def _fit(self, X: Any, labels: ComplementaryLabels) -> None:
        _check_every_class_excluded(labels)
        learner = self._learner()
        estimate = resolve_priors(self.priors, labels, X, verbose=self.verbose, check_input=False)
        proportions = self._mixture_proportions(estimate.values, labels.rates)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=labels.n_classes)
        by_class = labels.to_csr().tocsc()
        known = np.split(by_class.indices, by_class.indptr[1:-1])
        tasks = [
            delayed(fit_pu_learner)(
                self._prepare(learner, proportion, int(seed)), X, rows, self.unlabeled, name
            )
            for proportion, seed, rows, name in zip(proportions, seeds, known, labels.classes, strict=True)
        ]
        fitted = Parallel(n_jobs=self.n_jobs, return_as="generator")(tasks)
        with make_progress(MofNCompleteColumn(), show=bool(self.verbose)) as bars:
            self.estimators_ = list(bars.track(fitted, labels.n_classes, description="classes"))
        self.prior_estimate_, self.priors_ = estimate, estimate.values

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities of shape (n, q): 1 − p(not k | x), made to sum to one.

        Where every class is ruled out, they are proportional to 1 / p(not k | x), which Elkan-Noto may put above one.
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
        """Return the log odds of each class, of shape (n, q); with two classes their difference (n,)."""
        eps = 1e-12  # keeps the odds finite
        scores: Array = logit(np.clip(self.predict_proba(X), eps, 1 - eps))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _learner(self) -> Any:
        learner = as_pu_learner(self.estimator, self.wrap)
        check_unlabeled(self.unlabeled)
        if self.unlabeled == "all" and isinstance(learner, ElkanNotoClassifier):
            raise MethodError(
                "unlabeled='all' does not suit Elkan-Noto, which takes every row once; use 'rest'."
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
                    f"own ({abbreviate(learner.get_params())}), or to None."
                )
        return prepared


def _check_every_class_excluded(labels: ComplementaryLabels) -> None:
    never = labels.classes[labels.counts == 0]
    if len(never):
        raise LabelError(
            f"no example excludes the class {abbreviate(never)}, so there is nothing to learn it from; collect exclusions of it, "
            "leave it out of the classes, or use ScarceClassifier."
        )
    always = labels.classes[labels.counts == labels.n_examples]
    if len(always):
        raise LabelError(
            f"every example excludes the class {abbreviate(always)}, so none can be of it; leave it out of the classes."
        )
