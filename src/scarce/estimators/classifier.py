"""`ScarceClassifier`: complementary labels in, a scikit-learn classifier out."""

import copy
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from scarce._arrays import Array
from scarce._validation import check_option
from scarce.errors import CollapseWarning, MethodError
from scarce.estimators._inputs import check_inputs
from scarce.estimators._ordinary import read_ordinary
from scarce.estimators.auto import Choice, fit_stack
from scarce.estimators.auto.stacked_method import StackedMethod, is_stacked, progress_bar
from scarce.estimators.base import (
    ComplementaryClassifierMixin,
    check_consistent_length,
    judge,
    restore_on_error,
)
from scarce.estimators.collapse import Collapse, find_collapse
from scarce.estimators.early_stopping import make_early_stopping, split_rows
from scarce.estimators.few_labels import against_overfitting
from scarce.estimators.method_choice import choose_method
from scarce.estimators.training_rows import TrainingRows
from scarce.features.arrays import input_shape
from scarce.features.shards import take_rows
from scarce.labels import ComplementaryLabels
from scarce.labels.targets import as_labels
from scarce.methods import Method, make_method
from scarce.methods.answers_likelihood import AnswersLikelihood
from scarce.methods.refine import Refine
from scarce.methods.transition import resolve_transition
from scarce.metrics import ErrorRates
from scarce.priors import (
    PriorEstimate,
    PriorEstimator,
    are_learned,
    are_unused,
    learned_priors,
    feasible_priors,
    resolve_priors,
)
from scarce.priors.base import MakeModel
from scarce.training import (
    RECIPES,
    Callback,
    History,
    ProgressBar,
    Recipe,
    map_logits,
    train,
)
from scarce.training.build import MakeModule, build_model
from scarce.training.distributed import DistributedContext, distributed_context
from scarce.training.runtime import check_device

__all__ = ["ScarceClassifier"]

_OVERRIDES = (
    "epochs", "batch_size", "optimizer", "learning_rate", "weight_decay", "augmentation", "input_noise", "dropout",
    "micro_batch", "precision", "compile",
)  # fmt: skip
_ENOUGH_STEPS = 1000  # 40 epochs of a small table would be only a few dozen steps
_ENOUGH_ITERATIONS = 200  # of L-BFGS, which ends sooner when it has settled


class ScarceClassifier(ComplementaryClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier learned from complementary labels.

    By default it fits linear, kernel and neural learners under several models of how the labels arise, judges them by the
    likelihood of held-out labels, and stacks the best; `choice_` says what was chosen and why. With a method by name it trains
    one network by that method.

    Parameters
    ----------
    method : str or Method
        ``auto`` fits a stack to a table; see `scarce.estimators.auto.fit_stack`. For images, for data on disk, and if a setting of
        a training run is given (such as `epochs`), it chooses one method by what the labels are. A name trains one network by
        that method; see `scarce.methods.available_methods`.
    module : {"auto", "linear", "nystroem", "mlp", "lenet", "resnet", "densenet"}, nn.Module or callable
        The network: a name, a module (copied), or a function of (input_shape, n_classes) that makes one. With
        ``method="auto"``, ``linear``, ``nystroem`` or ``mlp`` limit the stack to learners of that kind; with a method by name
        ``auto`` is ``mlp``.
    priors : {"estimate", "uniform", "answers"}, array, mapping or PriorEstimator
        Class priors π: q numbers, or a number by class name; ``answers`` reads them from the share of "yes";
        ``estimate`` does so where there are such answers, and else estimates them with `scarce.priors.BestBin` (with
        ordinary labels: the frequencies of the classes). An estimator says how, such as ``BestBin(scorer="linear")``.
        Where that cannot be done, the shares of the candidates are used, with a warning. A method that uses no priors asks for
        none; `priors_`, for `score`, are then the shares of the candidates too.
    labels : {"complementary", "ordinary"}
        What `y` means. With ``ordinary`` it holds one true class per example, and the classifier is an ordinary
        one-versus-rest classifier.
    method_params : mapping, optional
        Parameters of the method, when it is given by name.
    transition : {"uniform", "confirmed"} or array of shape (q, q), optional
        p(k is excluded | true class), for methods that need it; ``confirmed`` counts it where the true class is
        known from "yes" answers or ordinary labels.
    recipe : {"annealed", "paper"} or Recipe
        Epochs, optimiser and so on; `batch_size`, `optimizer`, `learning_rate`, `weight_decay`, `augmentation` (a tuple of
        "crop" and "flip", for images), `input_noise`, `dropout` (for ``mlp``), `micro_batch`, `precision` and `compile` override
        single settings.
    epochs : int, optional
        By default as the recipe says; small data get more epochs of ``annealed``, for 1,000 steps in all (200 of L-BFGS).
    standardize : bool
        Bring every column of a table to mean 0 and deviation 1. Images are left as they are.
    early_stopping : bool, optional
        Hold out `validation_fraction` of the examples, and return to the epoch with the best accuracy on them, estimated
        from their complementary labels, or, of a method whose `loss_is_likelihood`, with the best likelihood of these labels;
        stop, or with ``refine`` end a stage, after `patience` epochs without a better one. By default only where
        ``method="auto"`` finds that there are not many labels.
    time_limit : float, optional
        Seconds after which ``method="auto"`` adds no further candidates to the stack; there is always a result.
    warm_start : bool
        Go on from the weights of the last `fit`.
    checkpoint : path, optional
        Written after every epoch; if it is there, `fit` goes on from it.
    device : str
        Where to compute, such as ``cpu`` or ``cuda``.
    distributed : bool
        Train together with the other processes that torchrun has started; each calls `fit` with the same data.
    random_state : int, RandomState or None
        Fixes initial weights, order of examples and held-out part.
    verbose : bool
        Show a progress bar.

    Attributes
    ----------
    classes_ : array
        The classes.
    priors_ : array of shape (q,)
        The priors used; `prior_estimate_` tells where they come from.
    history_ : History
        What happened, epoch by epoch.
    model_, method_ : nn.Module, Method
        The trained network and the method.
    label_summary_ : LabelSummary
        What was known.
    exclusion_matrix_, exclusion_counts_ : arrays of shape (q, q)
        Of ``refine``: the chances that an example of class y (row) excludes class k (column), and what was counted.
    held_out_report_ : ComplementaryReport
        With ``method="auto"`` on a table: how good it is, by the labels of rows that were held out in turn. For one network see
        `scarce.estimators.cross_fitted_report`.
    choice_ : Choice
        With ``method="auto"``: the candidates with weights, scores and times, the test of SCAR, and one sentence, `reason`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from scarce import ComplementaryLabels, ScarceClassifier
    >>> from scarce.simulate import uniform
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = uniform(y, seed=0)              # one class each flower is not
    >>> clf = ScarceClassifier().fit(X, labels)
    >>> bool(clf.score(X, y) > 0.9)              # never having seen a true label
    True
    """

    def __init__(
        self,
        method: str | Method = "auto",
        module: str | nn.Module | MakeModule = "auto",
        priors: Any = "estimate",
        labels: Literal["complementary", "ordinary"] = "complementary",
        *,
        method_params: dict[str, Any] | None = None,
        transition: Any = None,
        recipe: str | Recipe = "annealed",
        epochs: int | None = None,
        batch_size: int | None = None,
        optimizer: Literal["adam", "sgd", "lbfgs"] | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        augmentation: tuple[str, ...] | None = None,
        input_noise: float | None = None,
        dropout: float | None = None,
        micro_batch: int | None = None,
        precision: Literal["full", "bf16"] | None = None,
        compile: bool | None = None,
        standardize: bool = True,
        early_stopping: bool | None = None,
        validation_fraction: float = 0.1,
        patience: int = 10,
        time_limit: float | None = None,
        warm_start: bool = False,
        checkpoint: str | Path | None = None,
        device: str = "cpu",
        distributed: bool = False,
        random_state: int | np.random.RandomState | None = 0,
        verbose: bool = False,
    ) -> None:
        self.method = method
        self.module = module
        self.priors = priors
        self.labels = labels
        self.method_params = method_params
        self.transition = transition
        self.recipe = recipe
        self.epochs = epochs
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.augmentation = augmentation
        self.input_noise = input_noise
        self.dropout = dropout
        self.micro_batch = micro_batch
        self.precision = precision
        self.compile = compile
        self.standardize = standardize
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.device = device
        self.distributed = distributed
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Train on features and labels.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Shards
            A table (n × d) or images (n × h × w, n × c × h × w).
        y : ComplementaryLabels or n × q indicator; with ``labels="ordinary"``, n classes
            What is known of each example.

        Returns
        -------
        ScarceClassifier
            Itself.
        """
        with (
            restore_on_error(self),
            distributed_context(self.distributed, check_device(self.device)) as context,
        ):
            self._fit(X, y, context)
        return self

    def _fit(self, X: Any, y: Any, context: DistributedContext) -> None:
        X = check_inputs(self, X, reset=True)
        labels, classes = self._read_labels(y)
        check_consistent_length(X, labels)
        for name in ("choice_", "held_out_report_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        if is_stacked(self, X):
            self._fit_stack(X, labels)
        else:
            self._fit_network(X, labels, classes, context)
        self.classes_, self.input_shape_ = classes, input_shape(X)
        self.byte_inputs_ = bool(X.dtype == np.uint8)
        self.training_rows_: TrainingRows | None = TrainingRows.of(X)
        self.priors_ = self.prior_estimate_.values
        self.label_summary_ = labels.summary()

    def _fit_stack(self, X: Any, labels: ComplementaryLabels) -> None:
        seed, estimate = self._seed(), None
        if not (isinstance(self.priors, str) and self.priors == "estimate"):
            estimate = self._priors(X, labels, self._builder(X, labels), seed, StackedMethod())
        with progress_bar(self.verbose) as progress:
            result = fit_stack(
                X,
                labels,
                seed=seed,
                priors=None if estimate is None else estimate.values,
                learners=None if self.module == "auto" else [str(self.module)],
                time_limit=self.time_limit,
                progress=progress,
            )
        self.choice_, self.history_ = result.choice, History([])
        self.model_: nn.Module = result.model
        self.method_: Method = StackedMethod(result.choice.priors)
        self.prior_estimate_ = estimate or learned_priors(self.method_, labels.classes)
        predicted = labels.classes[result.held_out.argmax(axis=1)]
        self.held_out_report_ = judge(self, predicted, result.held_out.max(axis=1), labels[result.rows])

    def _fit_network(
        self, X: Any, labels: ComplementaryLabels, classes: Array, context: DistributedContext
    ) -> None:
        method = self._method(labels)
        method.check_labels(labels)  # before time is spent on priors
        recipe = context.call_on_rank_zero(lambda: self._recipe(labels, method, len(input_shape(X)) > 1))
        make = self._builder(X, labels)
        own_estimate = self._priors(X, labels, make, recipe.seed, method)
        estimate = context.call_on_rank_zero(lambda: own_estimate)
        before = self._model_to_continue(X, classes)
        self._train(X, labels, method, estimate, recipe, before or make(recipe.seed))
        if method.facts.learns_priors and before is None:
            self._mend_collapse(X, labels, estimate, recipe)
        if estimate is None and not method.can_learn_priors():
            estimate = feasible_priors(labels)
        self.prior_estimate_ = estimate or learned_priors(self.method_, labels.classes, labels)

    def _train(
        self,
        X: Any,
        labels: ComplementaryLabels,
        method: Method,
        estimate: PriorEstimate | None,
        recipe: Recipe,
        model: nn.Module,
    ) -> None:
        callbacks, rows = self._callbacks(X, labels, method, estimate, recipe.seed)
        self.history_ = train(
            model,
            method,
            X if rows is None else take_rows(X, rows),
            labels if rows is None else labels[rows],
            recipe,
            priors=None if estimate is None else estimate.values,
            transition=resolve_transition(self.transition, labels),
            make_model=lambda: self._builder(X, labels)(recipe.seed + 1),
            callbacks=callbacks,
            checkpoint=self.checkpoint,
            device=self.device,
            distributed=self.distributed,
        )
        self.model_, self.method_ = model, method

    def _mend_collapse(
        self, X: Any, labels: ComplementaryLabels, estimate: PriorEstimate | None, recipe: Recipe
    ) -> None:
        """Train once more, with more noise, if one class is predicted for nearly all; warn if it still is."""
        expected = None if estimate is None else estimate.values

        def collapse() -> Collapse | None:
            def best(logits: Tensor) -> Tensor:
                return self.method_.scores(logits).argmax(dim=1)

            predicted = map_logits(self.model_, X, best, device=check_device(self.device))
            return find_collapse(predicted.numpy(), labels, expected)

        found = collapse()
        stronger = self._against_overfitting(labels, self.method_, len(input_shape(X)) > 1, strong=True)
        if found and stronger and self.checkpoint is None and not self.distributed:
            again = replace(recipe, **stronger)
            self._train(
                X, labels, self._method(labels), estimate, again, self._builder(X, labels)(again.seed)
            )
            found = collapse()
        if found:
            warnings.warn(str(found), CollapseWarning, stacklevel=5)

    def _builder(self, X: Any, labels: ComplementaryLabels) -> MakeModel:
        module = "mlp" if isinstance(self.module, str) and self.module == "auto" else self.module

        def make(seed: int) -> nn.Module:
            return build_model(module, X, labels.n_classes, seed=seed, standardize=self.standardize)

        return make

    def logits(self, X: Any) -> Tensor:
        """Return what the network says of each example and class, of shape (n, q)."""
        return self._of_logits(X, lambda _, logits: logits)

    def predict(self, X: Any) -> Array:
        """Return the most likely class of each example."""
        best = self._of_logits(X, lambda method, logits: method.scores(logits).argmax(dim=1))
        return self.classes_[best.numpy()]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities of shape (n, q); for one-versus-rest methods σ(f_k) / Σ_j σ(f_j)."""
        return self._of_logits(X, lambda method, logits: method.probabilities(logits.double())).numpy()

    def _confidence(self, X: Any) -> NDArray[np.float64]:
        return self._of_logits(
            X, lambda method, logits: method.probabilities(logits.double()).amax(dim=1)
        ).numpy()

    def decision_function(self, X: Any) -> Array:
        """Return scores of shape (n, q), the highest for the predicted class; with two classes their difference (n,)."""
        scores = self._of_logits(X, lambda method, logits: method.scores(logits)).numpy()
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @property
    def exclusion_matrix_(self) -> Array:
        """Of ``refine``: how probable it is that an example of class y (row) excludes class k (column)."""
        return self._counted("exclusion_matrix")

    @property
    def exclusion_counts_(self) -> Array:
        """Of ``refine``: how many of the examples that were counted as class y (row) exclude class k (column)."""
        return self._counted("counts")

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the classifier into a folder, to be read by `scarce.load`: safetensors and JSON, nothing pickled."""
        from scarce.estimators.persistence import save_classifier

        save_classifier(self, Path(folder), force=force)

    def _counted(self, name: str) -> Array:
        check_is_fitted(self)
        if not isinstance(self.method_, Refine):
            raise AttributeError(f"{self.method_.facts.name} counts no exclusions; method='refine' does.")
        return getattr(self.method_, name).double().cpu().numpy()  # type: ignore[no-any-return]

    def _of_logits(self, X: Any, function: Callable[[Method, Tensor], Tensor]) -> Tensor:
        """Return what the function makes of the method and the logits of each batch, on the CPU: n × q only if asked for."""
        check_is_fitted(self)
        inputs = check_inputs(self, X, reset=False)
        device = check_device(self.device)
        # A loaded model, or one whose device was set after `fit`, is still elsewhere.
        model, method = self.model_.to(device), self.method_.cpu()
        return map_logits(model, inputs, lambda logits: function(method, logits.cpu()), device=device)

    def learned_error_rates(self) -> ErrorRates | None:
        """Return the error rates of annotators that were learned in training, if some were."""
        choice: Choice | None = getattr(self, "choice_", None)
        rates = choice.error_rates if choice is not None else None
        if rates is None and isinstance(self.method_, AnswersLikelihood) and self.method_.learned:
            rates = self.method_.mean_error_rates()
        return None if rates is None else ErrorRates(*rates)

    def _read_labels(self, y: Any) -> tuple[ComplementaryLabels, Array]:
        if check_option("labels", self.labels, ("complementary", "ordinary")) == "ordinary":
            return read_ordinary(y)
        labels = as_labels(y)
        return labels, labels.classes

    def _priors(
        self, X: Any, labels: ComplementaryLabels, make: MakeModel, seed: int, method: Method
    ) -> PriorEstimate | None:
        """Return the priors to train with; None if the method learns them, or nothing needs them."""
        if self.labels == "ordinary" and isinstance(self.priors, str) and self.priors == "estimate":
            frequencies = 1 - labels.rates
            return PriorEstimate(frequencies, "frequencies", frequencies, classes=labels.classes)

        if are_learned(method, self.priors, labels) or are_unused(method, self.priors, labels):
            return None

        def estimate(estimator: PriorEstimator) -> PriorEstimate:
            # For tables the estimator's own network does, and in fewer steps than a linear one would need.
            own = make if len(input_shape(X)) > 1 else None
            return estimator.estimate(X, labels, make_model=own, device=self.device, verbose=self.verbose)

        return resolve_priors(self.priors, labels, estimate, seed=seed)

    def _against_overfitting(
        self, labels: ComplementaryLabels, method: Method, is_image: bool, *, strong: bool = False
    ) -> dict[str, Any]:
        """Return noise and dropout for few labels, unless the user has a say in them or the network is not an MLP."""
        is_left = self.input_noise is None and self.dropout is None and self.optimizer != "lbfgs"
        is_mlp = isinstance(self.module, str) and self.module in ("auto", "mlp")
        if not (is_left and is_mlp and self.recipe == "annealed"):
            return {}
        return against_overfitting(method, labels, is_image=is_image, strong=strong)

    def _recipe(self, labels: ComplementaryLabels, method: Method, is_image: bool) -> Recipe:
        recipe = self.recipe
        if not isinstance(recipe, Recipe):
            recipe = RECIPES[check_option("recipe", recipe, RECIPES, also="a Recipe")]
        overrides = {name: getattr(self, name) for name in _OVERRIDES if getattr(self, name) is not None}
        overrides |= self._against_overfitting(labels, method, is_image)
        recipe = replace(recipe, seed=self._seed(), **overrides)
        if self.recipe == "annealed" and self.epochs is None:
            enough = math.ceil(_ENOUGH_STEPS / math.ceil(labels.n_examples / recipe.batch_size))
            if recipe.optimizer == "lbfgs":
                enough = _ENOUGH_ITERATIONS
            recipe = replace(recipe, epochs=max(recipe.epochs, enough))
        return recipe

    def _seed(self) -> int:
        state = self.random_state
        return (
            int(state) if isinstance(state, (int, np.integer)) else check_random_state(state).randint(2**31)
        )

    def _method(self, labels: ComplementaryLabels) -> Method:
        if isinstance(self.method, Method):
            if self.method_params:
                raise MethodError(
                    "method_params goes with a method given by name; set the parameters of the Method itself."
                )
            return copy.deepcopy(self.method)
        params = self.method_params or {}
        if not isinstance(params, Mapping) or not all(isinstance(name, str) for name in params):
            raise MethodError(f"method_params={params!r}; expected a mapping such as {{'loss': 'sigmoid'}}.")
        if self.method != "auto":
            return make_method(self.method, **params)
        if self.labels == "ordinary":
            return make_method("scarce", **params)
        choice = choose_method(labels)
        self.choice_ = Choice.of_one(choice.method, choice.reason)
        return make_method(choice.method, **params)

    def _model_to_continue(self, X: Any, classes: Array) -> nn.Module | None:
        if not self.warm_start or not hasattr(self, "model_"):
            return None
        if self.input_shape_ != input_shape(X) or not np.array_equal(self.classes_, classes):
            raise MethodError(
                "warm_start=True goes on with the same inputs and classes; these differ: make a new classifier."
            )
        return copy.deepcopy(self.model_)

    def _stops_early(self, labels: ComplementaryLabels) -> bool:
        if self.early_stopping is None:
            is_auto = self.method == "auto" and self.labels == "complementary"
            return is_auto and choose_method(labels).early_stopping
        return bool(self.early_stopping)

    def _callbacks(
        self, X: Any, labels: ComplementaryLabels, method: Method, estimate: PriorEstimate | None, seed: int
    ) -> tuple[list[Callback], Array | None]:
        """Return the callbacks, and the rows to train on if others are held out."""
        callbacks: list[Callback] = []
        rows = None
        if self._stops_early(labels):
            held_out, rows = split_rows(labels.n_examples, self.validation_fraction, seed)
            callbacks += make_early_stopping(
                X, labels, held_out, method, estimate, self.patience, self.device
            )
        if self.verbose:
            callbacks.append(ProgressBar())
        return callbacks, rows

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        if self.labels == "complementary":
            tags.target_tags.one_d_labels = False
            tags.target_tags.two_d_labels = True
        return tags
