"""Train one network by one method, for `ScarceClassifier.fit` when it does not fit a stack."""

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from scarce._arrays import Array, FloatArray
from scarce.errors import CollapseWarning
from scarce.estimators._collapse import Collapse, find_collapse
from scarce.estimators._early_stopping import make_early_stopping, split_rows
from scarce.estimators._fit_settings import (
    can_shift,
    initial_model,
    model_builder,
    regularization,
    stops_early,
    training_method,
    training_priors,
    training_recipe,
)
from scarce.estimators.auto import Choice
from scarce.features._arrays import input_shape, take_rows
from scarce.labels import ComplementaryLabels
from scarce.methods import Method, Problem
from scarce.methods._transition import resolve_transition
from scarce.priors import PriorEstimate, feasible_priors
from scarce.priors.resolve import learned_priors
from scarce.training import Callback, History, ProgressBar, Recipe, map_logits
from scarce.training._batches import as_source
from scarce.training._runtime import DistributedContext, distributed_context
from scarce.training.loop import train_checked

if TYPE_CHECKING:
    from scarce.estimators.classifier import ScarceClassifier


@dataclass(frozen=True, eq=False)
class NetworkResult:
    """A trained model, its method, history and priors, and the `Choice` if the method was chosen from the labels."""

    model: nn.Module
    method: Method
    history: History
    prior_estimate: PriorEstimate
    choice: Choice | None


def fit_network(
    classifier: "ScarceClassifier", X: Any, labels: ComplementaryLabels, classes: Array, device: torch.device
) -> NetworkResult:
    """Train a network with the parameters of the classifier on checked inputs and labels; the classifier does not change."""
    shifts = can_shift(input_shape(X))
    method, choice = training_method(classifier, labels)
    method.check_labels(labels)  # before time is spent on priors
    given = classifier.transition
    transition = None if given is None else resolve_transition(given, labels)
    with distributed_context(classifier.distributed, device) as context:
        recipe = context.call_on_rank_zero(
            lambda: training_recipe(classifier, labels, method, can_shift=shifts)
        )
        local_estimate = training_priors(classifier, X, labels, recipe.seed, method)
        estimate = context.call_on_rank_zero(lambda: local_estimate)
        fit = _Fit(classifier, X, labels, estimate, transition, device, context)
        fitted_model = initial_model(classifier, X, classes)
        model = fitted_model or fit.make_model(recipe.seed)
        history = fit.train(model, method, recipe)
        if method.facts.learns_priors and fitted_model is None:
            model, method, history = _retry_if_collapsed(fit, model, method, history, recipe)
    if estimate is None and not method.facts.learns_priors:
        estimate = feasible_priors(labels)
    estimate = estimate or learned_priors(method, labels.classes, labels)
    return NetworkResult(model, method, history, estimate, choice)


@dataclass(frozen=True, eq=False)
class _Fit:
    """What the training runs of one fit share; if the first collapses, there is a second."""

    classifier: "ScarceClassifier"
    X: Any
    labels: ComplementaryLabels
    estimate: PriorEstimate | None
    transition: FloatArray | None
    device: torch.device
    context: DistributedContext

    def make_model(self, seed: int) -> nn.Module:
        """Return a new model for the inputs."""
        return model_builder(self.classifier, self.X, self.labels.n_classes)(seed)

    def train(self, model: nn.Module, method: Method, recipe: Recipe) -> History:
        """Train the model in place."""
        callbacks, rows = self._callbacks(method, recipe.seed)
        X, labels = (self.X, self.labels) if rows is None else (take_rows(self.X, rows), self.labels[rows])
        problem = Problem(
            labels,
            None if self.estimate is None else torch.as_tensor(self.estimate.values),
            None if self.transition is None else torch.from_numpy(self.transition),
            lambda: self.make_model(recipe.seed + 1),
        )
        return train_checked(
            model,
            method,
            as_source(X),
            problem,
            recipe,
            callbacks=callbacks,
            checkpoint=self.classifier.checkpoint,
            device=self.device,
            context=self.context,
        )

    def _callbacks(self, method: Method, seed: int) -> tuple[list[Callback], Array | None]:
        """Return the callbacks, and the indices of the training rows; None if no rows are held out."""
        callbacks: list[Callback] = []
        rows = None
        if stops_early(self.classifier, self.labels):
            held_out, rows = split_rows(self.labels.n_examples, self.classifier.validation_fraction, seed)
            callbacks += make_early_stopping(
                self.X,
                self.labels,
                held_out,
                method,
                self.estimate,
                self.classifier.patience,
                self.classifier.device,
            )
        if self.classifier.verbose:
            callbacks.append(ProgressBar())
        return callbacks, rows

    def find_collapse(self, model: nn.Module, method: Method) -> Collapse | None:
        """Return how the model has collapsed, or None if it has not."""

        def best(logits: Tensor) -> Tensor:
            return method.scores(logits).argmax(dim=1)

        predicted = map_logits(model, self.X, best, device=self.device)
        return find_collapse(
            predicted.numpy(), self.labels, None if self.estimate is None else self.estimate.values
        )


def _retry_if_collapsed(
    fit: _Fit, model: nn.Module, method: Method, history: History, recipe: Recipe
) -> tuple[nn.Module, Method, History]:
    """Train again with stronger regularization if the fit has collapsed, and warn if the last one is collapsed still."""
    classifier, labels = fit.classifier, fit.labels
    collapse = fit.find_collapse(model, method)
    shifts = can_shift(input_shape(fit.X))
    stronger = regularization(classifier, labels, method, can_shift=shifts, strong=True)
    if collapse and stronger and classifier.checkpoint is None and not classifier.distributed:
        method, _ = training_method(classifier, labels)
        model = fit.make_model(recipe.seed)
        history = fit.train(model, method, replace(recipe, **stronger))
        collapse = fit.find_collapse(model, method)
    if collapse:
        warnings.warn(str(collapse), CollapseWarning, stacklevel=6)  # where the user calls `fit`
    return model, method, history
