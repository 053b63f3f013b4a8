"""`ScarceClassifier`: complementary labels in, a scikit-learn classifier out."""

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from scarce._arrays import Array
from scarce._validation import check_option
from scarce.errors import FeatureError
from scarce.estimators._fit_settings import known_priors, training_priors
from scarce.estimators._fitting import check_consistent_length, check_inputs, random_seed, restore_on_error
from scarce.estimators._network_fit import fit_network
from scarce.estimators._ordinary import read_ordinary
from scarce.estimators.auto import Choice, fit_stack
from scarce.estimators.auto.learners import FAMILIES
from scarce.estimators.auto.stacked_method import StackedMethod, progress_bar
from scarce.estimators.base import ComplementaryClassifierMixin, report_on_predictions
from scarce.estimators.training_rows import TrainingRows
from scarce.features import Shards
from scarce.features.arrays import input_shape
from scarce.labels import ComplementaryLabels, LabelSummary
from scarce.labels.targets import as_labels
from scarce.methods import Method
from scarce.metrics import ComplementaryReport, ErrorRates
from scarce.priors import PriorEstimate, learned_priors
from scarce.training import History, Recipe, map_logits
from scarce.training.build import MakeModule
from scarce.training.runtime import check_device

__all__ = ["FitDescription", "ScarceClassifier"]

# Parameters of one training run: a user who sets one of them wants one network.
_TRAINING_PARAMS = (
    "recipe", "epochs", "batch_size", "optimizer", "learning_rate", "weight_decay", "augmentation", "input_noise", "dropout",
    "micro_batch", "precision", "compile",
    "method_params", "transition", "standardize", "early_stopping", "warm_start", "distributed",
)  # fmt: skip
_MAX_MAPPED_VALUES = 10**8  # of a table on disk that is read into memory


class FitDescription(NamedTuple):
    """What is known of a fit before training."""

    labels: LabelSummary
    priors: PriorEstimate | None
    """None if features are needed to estimate them, or they are learned in training."""


class ScarceClassifier(ComplementaryClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier learned from complementary labels.

    By default it fits linear, kernel and neural learners under several models of how the labels arise, evaluates them by the
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
        Class priors π: q numbers, or a number by class name; ``answers`` reads them from the proportion of "yes";
        ``estimate`` does so where there are such answers, and else estimates them with `scarce.priors.BestBin` (with
        ordinary labels: the frequencies of the classes). Or pass an estimator, such as ``BestBin(scorer="linear")``.
        Where that cannot be done, the shares of the candidates are used, with a warning. A method that uses no priors needs
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
        Start from the weights of the last `fit`.
    checkpoint : path, optional
        Written after every epoch; if the file exists, `fit` resumes from it.
    device : str
        Where to compute, such as ``cpu`` or ``cuda``.
    distributed : bool
        Train jointly with the other processes that torchrun has started; each calls `fit` with the same data.
    random_state : int, RandomState or None
        Fixes initial weights, order of examples and held-out examples.
    verbose : bool
        Show a progress bar.

    Attributes
    ----------
    classes_ : array
        The classes.
    priors_ : array of shape (q,)
        The priors used; `prior_estimate_` says where they come from.
    history_ : History
        The loss and other values of every epoch.
    model_, method_ : nn.Module, Method
        The trained network and the method.
    label_summary_ : LabelSummary
        A summary of the labels.
    exclusion_matrix_, exclusion_counts_ : arrays of shape (q, q)
        Of ``refine``: the probabilities that an example of class y (row) excludes class k (column), and the counts behind them.
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

    def fit(self, X: Any, y: Any, *, feature_names: Sequence[str] | None = None) -> Self:
        """Train on features and labels.

        Parameters
        ----------
        X : array, DataFrame, sparse matrix or Shards
            A table (n × d) or images (n × h × w, n × c × h × w).
        y : ComplementaryLabels or n × q indicator; with ``labels="ordinary"``, n classes
            What is known of each example.
        feature_names : sequence of str, optional
            The names of the columns of an `X` that has none itself, for `feature_names_in_`.

        Returns
        -------
        ScarceClassifier
            Itself.
        """
        with restore_on_error(self):
            self._fit(X, y, feature_names, check_device(self.device))
        return self

    def describe(self, y: Any) -> FitDescription:
        """Return what is known before a fit to these labels; raise the error of a wrong method, its parameters or priors."""
        labels, _ = self._read_labels(y)
        return FitDescription(labels.summary(), known_priors(self, labels))

    def _fit(self, X: Any, y: Any, feature_names: Sequence[str] | None, device: torch.device) -> None:
        X = check_inputs(self, X, reset=True)
        if feature_names is not None:
            if len(feature_names) != X.shape[1]:
                raise FeatureError(
                    f"feature_names has {len(feature_names)} names, and X has {X.shape[1]} columns; expected one name each."
                )
            self.feature_names_in_ = np.array(feature_names, dtype=object)
        labels, classes = self._read_labels(y)
        check_consistent_length(X, labels)
        earlier = self.method_.fitted_attributes() if hasattr(self, "method_") else {}
        for name in ("choice_", "held_out_report_", "_held_out", *earlier):
            self.__dict__.pop(name, None)
        if self._fits_stack(X):
            self._fit_stack(X, labels)
        else:
            self._fit_network(X, labels, classes, device)
        self.__dict__.update(self.method_.fitted_attributes())
        self.classes_, self.input_shape_ = classes, input_shape(X)
        self.byte_inputs_ = bool(X.dtype == np.uint8)
        self.training_rows_: TrainingRows | None = TrainingRows.from_features(X)
        self.priors_ = self.prior_estimate_.values
        self.label_summary_ = labels.summary()

    def _fits_stack(self, X: Any) -> bool:
        """Return whether to fit a stack: nothing but the kind of learner was chosen, and `X` is a table in memory."""
        if not isinstance(self.method, str) or self.method != "auto" or self.labels != "complementary":
            return False
        is_learner = isinstance(self.module, str) and self.module in ("auto", *FAMILIES)
        is_on_disk = isinstance(X, Shards) or (isinstance(X, np.memmap) and X.size > _MAX_MAPPED_VALUES)
        if not is_learner or is_on_disk or len(input_shape(X)) != 1:
            return False
        defaults = inspect.signature(type(self).__init__).parameters
        pairs = ((getattr(self, name), defaults[name].default) for name in _TRAINING_PARAMS)
        return all(type(value) is type(default) and bool(value == default) for value, default in pairs)

    def _fit_stack(self, X: Any, labels: ComplementaryLabels) -> None:
        seed, estimate = random_seed(self.random_state), None
        if not (isinstance(self.priors, str) and self.priors == "estimate"):
            estimate = training_priors(self, X, labels, seed, StackedMethod())
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
        self._held_out = predicted, result.held_out.max(axis=1), labels[result.rows]

    @cached_property
    def held_out_report_(self) -> ComplementaryReport:
        """How good the stack is, by the labels of rows that were held out in turn; computed when it is first asked for."""
        if not hasattr(self, "_held_out"):
            raise AttributeError(
                "there is no held-out report, which comes with a fit of method='auto' to a table; for one network call "
                "scarce.estimators.cross_fitted_report."
            )
        return report_on_predictions(self, *self._held_out)

    def _fit_network(self, X: Any, labels: ComplementaryLabels, classes: Array, device: torch.device) -> None:
        result = fit_network(self, X, labels, classes, device)
        self.model_, self.method_, self.history_ = result.model, result.method, result.history
        self.prior_estimate_ = result.prior_estimate
        if result.choice is not None:
            self.choice_ = result.choice

    def _read_labels(self, y: Any) -> tuple[ComplementaryLabels, Array]:
        if check_option("labels", self.labels, ("complementary", "ordinary")) == "ordinary":
            return read_ordinary(y)
        labels = as_labels(y)
        return labels, labels.classes

    def logits(self, X: Any) -> Tensor:
        """Return the output of the network, of shape (n, q)."""
        return self._map_logits(X, lambda _, logits: logits)

    def predict(self, X: Any) -> Array:
        """Return the most likely class of each example."""
        best = self._map_logits(X, lambda method, logits: method.scores(logits).argmax(dim=1))
        return self.classes_[best.numpy()]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities of shape (n, q); for one-versus-rest methods σ(f_k) / Σ_j σ(f_j)."""
        return self._map_logits(X, lambda method, logits: method.probabilities(logits.double())).numpy()

    def _confidence(self, X: Any) -> NDArray[np.float64]:
        return self._map_logits(
            X, lambda method, logits: method.probabilities(logits.double()).amax(dim=1)
        ).numpy()

    def decision_function(self, X: Any) -> Array:
        """Return scores of shape (n, q), the highest for the predicted class; with two classes their difference (n,)."""
        scores = self._map_logits(X, lambda method, logits: method.scores(logits)).numpy()
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the classifier into a folder, to be read by `scarce.load`: safetensors and JSON, nothing pickled."""
        from scarce.estimators.persistence import save_classifier

        save_classifier(self, Path(folder), force=force)

    def _map_logits(self, X: Any, function: Callable[[Method, Tensor], Tensor]) -> Tensor:
        """Return the function of the method and the logits, batch by batch on the CPU, so that n × q logits are not stored."""
        check_is_fitted(self)
        inputs = check_inputs(self, X, reset=False)
        device = check_device(self.device)
        # A loaded model, or one whose device was set after `fit`, is still on another device.
        model, method = self.model_.to(device), self.method_.cpu()
        return map_logits(model, inputs, lambda logits: function(method, logits.cpu()), device=device)

    def learned_error_rates(self) -> ErrorRates | None:
        """Return the error rates of annotators that were learned in training, if some were."""
        choice: Choice | None = getattr(self, "choice_", None)
        rates = None if choice is None else choice.error_rates
        rates = rates or self.method_.learned_error_rates()
        return None if rates is None else ErrorRates(*rates)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        if self.labels == "complementary":
            tags.target_tags.one_d_labels = False
            tags.target_tags.two_d_labels = True
        return tags
