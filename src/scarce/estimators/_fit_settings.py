"""Turn the parameters of a `ScarceClassifier` and its data into a method, a recipe, a network and priors."""

import copy
import inspect
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from torch import nn

from scarce._arrays import Array
from scarce._validation import check_flag, check_option, shorten
from scarce.errors import MethodError
from scarce.estimators._fitting import random_generator, random_seed
from scarce.estimators._method_choice import choose_method
from scarce.estimators.auto import Choice
from scarce.estimators.auto._image_learners import MODULES as IMAGE_MODULES
from scarce.estimators.auto._learners import FAMILIES
from scarce.features import Shards
from scarce.features._arrays import input_shape
from scarce.labels import ComplementaryLabels, LabelSummary
from scarce.labels.answers import SKIP
from scarce.methods import Method, make_method
from scarce.priors import PriorEstimate, resolve_priors
from scarce.priors.base import MakeModel
from scarce.priors.resolve import are_learned, are_unused, is_estimated
from scarce.training import RECIPES, Recipe
from scarce.training._build import build_model

if TYPE_CHECKING:
    from scarce.estimators.classifier import ScarceClassifier

_OVERRIDES = (
    "epochs", "batch_size", "optimizer", "learning_rate", "weight_decay", "augmentation", "input_noise", "dropout",
    "micro_batch", "precision", "compile",
)  # fmt: skip
# Parameters of a single training run: if one of them is set, one network is trained instead of a stack.
_SINGLE_RUN_PARAMS = (
    "recipe", *_OVERRIDES,
    "method_params", "transition", "standardize", "early_stopping", "warm_start", "distributed",
)  # fmt: skip
_MAX_MAPPED_VALUES = 10**8  # a larger memory-mapped table counts as on disk
# By recipe: 40 epochs of a small table are only a few dozen steps.
_MIN_STEPS = {"annealed": 1000, "fast": 1500}
_MIN_LBFGS_ITERATIONS = 200  # it stops earlier if it converges
_MAX_LABELS_PER_CLASS = 5_000  # exclusions or answers; a network cannot memorize more
_NOISE, _STRONG_NOISE, _DROPOUT = 0.5, 1.0, 0.5
_MIN_SHIFTED_SIDE = 12
_AUGMENTED_MODULES = ("auto", "mlp", "lenet", "resnet", "densenet")


class FitDescription(NamedTuple):
    """What is known before training: the summary of the labels, and the priors."""

    labels: LabelSummary
    priors: PriorEstimate | None
    """None if they are estimated from features or learned in training."""


def check_parameters(classifier: "ScarceClassifier") -> None:
    """Raise a `MethodError` if a parameter has the wrong type; the values are checked where they are used."""
    if not isinstance(classifier.method, (str, Method)):
        raise MethodError(
            f"method={shorten(classifier.method)}; expected a name such as 'scarce', or a Method."
        )
    for name in ("standardize", "warm_start", "distributed", "verbose"):
        check_flag(name, getattr(classifier, name))
    if classifier.early_stopping is not None:
        check_flag("early_stopping", classifier.early_stopping)
    for name in ("labels", "optimizer", "precision"):
        value = getattr(classifier, name)
        if not (value is None or isinstance(value, str)):
            raise MethodError(
                f"{name}={shorten(value)}; expected a name: see the parameters of ScarceClassifier."
            )
    if not isinstance(classifier.checkpoint, (str, Path, type(None))):
        raise MethodError(f"checkpoint={shorten(classifier.checkpoint)}; expected the path of a file.")
    random_generator(classifier.random_state)


def fits_stack(classifier: "ScarceClassifier", X: Any) -> bool:
    """Return whether to fit a stack: `X` is in memory, and no parameter of a single training run is set."""
    method, module = classifier.method, classifier.module
    if not isinstance(method, str) or method != "auto" or classifier.labels != "complementary":
        return False
    learners = IMAGE_MODULES if len(input_shape(X)) > 1 else FAMILIES
    is_learner = isinstance(module, str) and module in ("auto", *learners)
    is_on_disk = isinstance(X, Shards) or (isinstance(X, np.memmap) and X.size > _MAX_MAPPED_VALUES)
    if not is_learner or is_on_disk:
        return False
    defaults = inspect.signature(type(classifier).__init__).parameters
    pairs = ((getattr(classifier, name), defaults[name].default) for name in _SINGLE_RUN_PARAMS)
    return all(type(value) is type(default) and bool(value == default) for value, default in pairs)


def training_method(
    classifier: "ScarceClassifier", labels: ComplementaryLabels
) -> tuple[Method, Choice | None]:
    """Return a new method to train with, and a `Choice` if it was chosen from the labels."""
    method = classifier.method
    if isinstance(method, Method):
        if classifier.method_params:
            raise MethodError(
                "method_params is set, but method is a Method; set the parameters when you make the Method, or pass its name."
            )
        return copy.deepcopy(method), None
    params = {} if classifier.method_params is None else classifier.method_params
    if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
        raise MethodError(
            f"method_params={shorten(params)}; expected a mapping from names to values: pass a dict such as {{'loss': 'sigmoid'}}."
        )
    if method != "auto":
        return make_method(method, **params), None
    if classifier.labels == "ordinary":
        return make_method("scarce", **params), None
    choice = choose_method(labels)
    return make_method(choice.method, **params), Choice.from_method(choice.method, choice.reason)


def training_recipe(
    classifier: "ScarceClassifier", labels: ComplementaryLabels, method: Method, *, can_shift: bool
) -> Recipe:
    """Return the recipe with the overrides of the classifier; small data get more epochs of ``"annealed"`` and ``"fast"``."""
    recipe = classifier.recipe
    if not isinstance(recipe, Recipe):
        recipe = RECIPES[check_option("recipe", recipe, RECIPES, also="a Recipe")]
    overrides = {
        name: getattr(classifier, name) for name in _OVERRIDES if getattr(classifier, name) is not None
    }
    overrides |= regularization(classifier, labels, method, can_shift=can_shift)
    recipe = replace(recipe, seed=random_seed(classifier.random_state), **overrides)
    if isinstance(classifier.recipe, str) and classifier.recipe in _MIN_STEPS and classifier.epochs is None:
        steps_per_epoch = math.ceil(labels.n_examples / recipe.batch_size)
        min_epochs = math.ceil(_MIN_STEPS[classifier.recipe] / steps_per_epoch)
        if recipe.optimizer == "lbfgs":
            min_epochs = _MIN_LBFGS_ITERATIONS
        recipe = replace(recipe, epochs=max(recipe.epochs, min_epochs))
    return recipe


def regularization(
    classifier: "ScarceClassifier",
    labels: ComplementaryLabels,
    method: Method,
    *,
    can_shift: bool,
    strong: bool = False,
) -> dict[str, Any]:
    """Return the augmentation of images, or else the input noise and dropout of an MLP, for few labels.

    Empty if the user set one of these or a recipe of their own, with the recipe of the paper, and for networks of their own.
    """
    given = classifier.augmentation, classifier.input_noise, classifier.dropout
    is_free = all(value is None for value in given) and classifier.optimizer != "lbfgs"
    modules = _AUGMENTED_MODULES if can_shift else ("auto", "mlp")
    is_known = isinstance(classifier.module, str) and classifier.module in modules
    if not (is_free and is_known and classifier.recipe in ("annealed", "fast")):
        return {}
    return choose_regularization(method, labels, can_shift=can_shift, strong=strong)


def can_shift(shape: tuple[int, ...]) -> bool:
    """Return whether inputs of this shape are images with sides of twelve pixels or more, of which a shift loses little.

    Examples
    --------
    >>> can_shift((28, 28)), can_shift((3, 8, 8)), can_shift((100,))
    (True, False, False)
    """
    return len(shape) > 1 and min(shape[-2:]) >= _MIN_SHIFTED_SIDE


def labels_per_class(labels: ComplementaryLabels) -> float:
    """Return the number of exclusions per class, or of answers per class if answers are recorded.

    Examples
    --------
    >>> labels_per_class(ComplementaryLabels.from_single([0, 1, 2, 0], classes=4))
    1.0
    """
    n_labels = len(labels.indices)
    if labels.answers is not None:
        n_labels = int((labels.answers.answer != SKIP).sum())
    return n_labels / labels.n_classes


def choose_regularization(
    method: Method, labels: ComplementaryLabels, *, can_shift: bool = False, strong: bool = False
) -> dict[str, Any]:
    """Return how a network is regularized that is trained by a likelihood on few labels.

    Such a network begins to memorize its examples, and the likelihood then rewards predicting the candidate class with the
    highest rate. Random shifts of images prevent this, and otherwise input noise and dropout. Methods that do not learn priors
    are not regularized, and neither is a fit with 5,000 labels or more per class.

    Parameters
    ----------
    method : Method
        The method to train with.
    labels : ComplementaryLabels
        The training labels.
    can_shift : bool
        Whether inputs are images, and large enough to be shifted; see `can_shift`.
    strong : bool
        Use more noise, or affine maps, because a fit has collapsed.

    Returns
    -------
    dict
        ``input_noise`` and ``dropout``, or ``augmentation`` for images; empty without regularization.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> labels = ComplementaryLabels.from_single([0, 1, 2, 0], classes=4)
    >>> choose_regularization(make_method("refine"), labels)
    {'input_noise': 0.5, 'dropout': 0.5}
    >>> choose_regularization(make_method("refine"), labels, can_shift=True)
    {'augmentation': ('shift',)}
    >>> choose_regularization(make_method("cc"), labels)
    {}
    """
    if not method.facts.learns_priors or labels_per_class(labels) >= _MAX_LABELS_PER_CLASS:
        return {}
    if can_shift:
        return {"augmentation": ("affine",) if strong else ("shift",)}
    return {"input_noise": _STRONG_NOISE if strong else _NOISE, "dropout": _DROPOUT}


def model_builder(classifier: "ScarceClassifier", X: Any, n_classes: int) -> MakeModel:
    """Return a function from a seed to a new model for the inputs."""
    module = classifier.module
    module = "mlp" if isinstance(module, str) and module == "auto" else module

    def make_model(seed: int) -> nn.Module:
        return build_model(module, X, n_classes, seed=seed, standardize=classifier.standardize)

    return make_model


def initial_model(classifier: "ScarceClassifier", X: Any, classes: Array) -> nn.Module | None:
    """Return a copy of the fitted model to continue from, or None without `warm_start` or an earlier fit."""
    if not classifier.warm_start or not hasattr(classifier, "model_"):
        return None
    if classifier.input_shape_ != input_shape(X) or not np.array_equal(classifier.classes_, classes):
        raise MethodError(
            "warm_start=True needs the same input shape and classes as the previous fit, but these differ; set warm_start=False."
        )
    return copy.deepcopy(classifier.model_)


def training_priors(
    classifier: "ScarceClassifier", X: Any, labels: ComplementaryLabels, seed: int, method: Method
) -> PriorEstimate | None:
    """Return the priors to train with; None if the method learns them or uses none."""
    priors = classifier.priors
    if classifier.labels == "ordinary" and isinstance(priors, str) and priors == "estimate":
        frequencies = 1 - labels.rates
        return PriorEstimate(frequencies, "frequencies", frequencies, classes=labels.classes)
    if are_learned(method, priors, labels) or are_unused(method, priors, labels):
        return None
    is_image = len(input_shape(X)) > 1
    return resolve_priors(
        priors,
        labels,
        X,
        # For tables, the estimator's own MLP is good enough, and needs fewer steps than a linear model.
        make_model=model_builder(classifier, X, labels.n_classes) if is_image else None,
        device=classifier.device,
        seed=seed,
        verbose=classifier.verbose,
        check_input=False,
    )


def known_priors(classifier: "ScarceClassifier", labels: ComplementaryLabels) -> PriorEstimate | None:
    """Return the priors that are known before training; None if they are estimated from features or learned."""
    method, _ = training_method(classifier, labels)
    method.check_transition(classifier.transition)
    priors = classifier.priors
    is_stacked = classifier.method == "auto" and isinstance(priors, str) and priors == "estimate"
    if is_stacked or is_estimated(priors, labels) or are_learned(method, priors, labels):
        return None
    return resolve_priors(priors, labels)


def stops_early(classifier: "ScarceClassifier", labels: ComplementaryLabels) -> bool:
    """Return whether to hold out examples for early stopping; by default this depends on the labels."""
    if classifier.early_stopping is None:
        is_auto = classifier.method == "auto" and classifier.labels == "complementary"
        return is_auto and choose_method(labels).early_stopping
    return bool(classifier.early_stopping)
