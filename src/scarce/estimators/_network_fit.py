"""The fit of one network by one method: what `ScarceClassifier.fit` does unless it fits a stack."""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from scarce._arrays import Array
from scarce.errors import CollapseWarning
from scarce.estimators._fit_settings import (
    initial_model,
    model_builder,
    regularization,
    stops_early,
    training_method,
    training_priors,
    training_recipe,
)
from scarce.estimators.auto import Choice
from scarce.estimators.collapse import Collapse, find_collapse
from scarce.estimators.early_stopping import make_early_stopping, split_rows
from scarce.features.arrays import input_shape
from scarce.features.shards import take_rows
from scarce.labels import ComplementaryLabels
from scarce.methods import Method
from scarce.methods.transition import resolve_transition
from scarce.priors import PriorEstimate, feasible_priors, learned_priors
from scarce.training import Callback, History, ProgressBar, Recipe, map_logits, train
from scarce.training.distributed import DistributedContext
from scarce.training.runtime import check_device

if TYPE_CHECKING:
    from scarce.estimators.classifier import ScarceClassifier

__all__ = ["NetworkResult", "fit_network"]


@dataclass(frozen=True, eq=False)
class NetworkResult:
    """A trained model and method, how training went, the priors, and the choice of the method if the labels decided."""

    model: nn.Module
    method: Method
    history: History
    prior_estimate: PriorEstimate
    choice: Choice | None


def fit_network(
    classifier: "ScarceClassifier",
    X: Any,
    labels: ComplementaryLabels,
    classes: Array,
    context: DistributedContext,
) -> NetworkResult:
    """Train a network on checked inputs and labels, with the parameters of the classifier, which is not changed."""
    is_image = len(input_shape(X)) > 1
    method, choice = training_method(classifier, labels)
    method.check_labels(labels)  # before time is spent on priors
    recipe = context.call_on_rank_zero(lambda: training_recipe(classifier, labels, method, is_image=is_image))
    local_estimate = training_priors(classifier, X, labels, recipe.seed, method)
    estimate = context.call_on_rank_zero(lambda: local_estimate)
    fitted_model = initial_model(classifier, X, classes)
    model = fitted_model or model_builder(classifier, X, labels.n_classes)(recipe.seed)
    history = _train(classifier, X, labels, method, estimate, recipe, model)
    if method.facts.learns_priors and fitted_model is None:
        model, method, history = _retry_if_collapsed(
            classifier, X, labels, estimate, recipe, (model, method, history)
        )
    if estimate is None and not method.can_learn_priors():
        estimate = feasible_priors(labels)
    estimate = estimate or learned_priors(method, labels.classes, labels)
    return NetworkResult(model, method, history, estimate, choice)


def _train(
    classifier: "ScarceClassifier",
    X: Any,
    labels: ComplementaryLabels,
    method: Method,
    estimate: PriorEstimate | None,
    recipe: Recipe,
    model: nn.Module,
) -> History:
    callbacks, rows = _make_callbacks(classifier, X, labels, method, estimate, recipe.seed)
    return train(
        model,
        method,
        X if rows is None else take_rows(X, rows),
        labels if rows is None else labels[rows],
        recipe,
        priors=None if estimate is None else estimate.values,
        transition=resolve_transition(classifier.transition, labels),
        make_model=lambda: model_builder(classifier, X, labels.n_classes)(recipe.seed + 1),
        callbacks=callbacks,
        checkpoint=classifier.checkpoint,
        device=classifier.device,
        distributed=classifier.distributed,
    )


def _retry_if_collapsed(
    classifier: "ScarceClassifier",
    X: Any,
    labels: ComplementaryLabels,
    estimate: PriorEstimate | None,
    recipe: Recipe,
    fitted: tuple[nn.Module, Method, History],
) -> tuple[nn.Module, Method, History]:
    """Train once more, with more noise, if one class is predicted for nearly all examples; warn if it still is."""
    expected = None if estimate is None else estimate.values

    def collapse_of(model: nn.Module, method: Method) -> Collapse | None:
        def best(logits: Tensor) -> Tensor:
            return method.scores(logits).argmax(dim=1)

        predicted = map_logits(model, X, best, device=check_device(classifier.device))
        return find_collapse(predicted.numpy(), labels, expected)

    model, method, history = fitted
    collapse = collapse_of(model, method)
    is_image = len(input_shape(X)) > 1
    stronger = regularization(classifier, labels, method, is_image=is_image, strong=True)
    if collapse and stronger and classifier.checkpoint is None and not classifier.distributed:
        method, _ = training_method(classifier, labels)
        model = model_builder(classifier, X, labels.n_classes)(recipe.seed)
        history = _train(classifier, X, labels, method, estimate, replace(recipe, **stronger), model)
        collapse = collapse_of(model, method)
    if collapse:
        warnings.warn(str(collapse), CollapseWarning, stacklevel=6)  # where the user calls `fit`
    return model, method, history


def _make_callbacks(
    classifier: "ScarceClassifier",
    X: Any,
    labels: ComplementaryLabels,
    method: Method,
    estimate: PriorEstimate | None,
    seed: int,
) -> tuple[list[Callback], Array | None]:
    """Return the callbacks, and the rows to train on if others are held out."""
    callbacks: list[Callback] = []
    rows = None
    if stops_early(classifier, labels):
        held_out, rows = split_rows(labels.n_examples, classifier.validation_fraction, seed)
        callbacks += make_early_stopping(
            X, labels, held_out, method, estimate, classifier.patience, classifier.device
        )
    if classifier.verbose:
        callbacks.append(ProgressBar())
    return callbacks, rows
