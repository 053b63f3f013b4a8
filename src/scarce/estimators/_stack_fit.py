"""Fit a stack to a table or to images, for `ScarceClassifier.fit` when it does not train a single network."""

from typing import TYPE_CHECKING, Any, NamedTuple

from scarce.estimators._fit_settings import training_priors
from scarce.estimators._fitting import random_seed
from scarce.estimators.auto import StackResult, fit_image_stack, fit_stack
from scarce.estimators.auto._stacked_method import StackedMethod, progress_bar
from scarce.features._arrays import input_shape
from scarce.labels import ComplementaryLabels
from scarce.priors import PriorEstimate
from scarce.priors.resolve import learned_priors

if TYPE_CHECKING:
    from scarce.estimators.classifier import ScarceClassifier


class StackFit(NamedTuple):
    """The result, the method that holds it, and the priors."""

    result: StackResult
    method: StackedMethod
    prior_estimate: PriorEstimate


def fit_classifier_stack(classifier: "ScarceClassifier", X: Any, labels: ComplementaryLabels) -> StackFit:
    """Fit a stack with the parameters of the classifier on checked inputs and labels; the classifier does not change."""
    seed, estimate = random_seed(classifier.random_state), None
    if not (isinstance(classifier.priors, str) and classifier.priors == "estimate"):
        estimate = training_priors(classifier, X, labels, seed, StackedMethod())
    kinds = None if classifier.module == "auto" else [str(classifier.module)]
    with progress_bar(classifier.verbose) as progress:
        common: dict[str, Any] = {
            "seed": seed,
            "priors": None if estimate is None else estimate.values,
            "time_limit": classifier.time_limit,
            "progress": progress,
        }
        if len(input_shape(X)) > 1:
            where: dict[str, Any] = {"device": classifier.device, "checkpoint": classifier.checkpoint}
            result = fit_image_stack(X, labels, modules=kinds, **where, **common)
        else:
            result = fit_stack(X, labels, learners=kinds, **common)
    method = StackedMethod(result.choice.priors)
    return StackFit(result, method, estimate or learned_priors(method, labels.classes))
