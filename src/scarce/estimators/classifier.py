"""`ScarceClassifier`: a scikit-learn classifier trained on complementary labels."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from scarce._arrays import Array
from scarce._validation import check_option
from scarce.estimators._base import ComplementaryClassifierMixin, report_on_predictions
from scarce.estimators._fit_settings import (
    FitDescription,
    check_parameters,
    fits_stack,
    known_priors,
)
from scarce.estimators._fitting import (
    check_consistent_length,
    check_inputs,
    restore_on_error,
    set_feature_names,
)
from scarce.estimators._network_fit import fit_network
from scarce.estimators._ordinary import read_ordinary
from scarce.estimators._sanity import checked_logits
from scarce.estimators._training_rows import TrainingRows
from scarce.estimators.auto import Choice
from scarce.estimators.auto._stacked_method import fit_classifier_stack
from scarce.features._arrays import check_not_constant, input_shape
from scarce.labels import ComplementaryLabels
from scarce.labels._targets import as_labels
from scarce.methods import Method
from scarce.metrics import ComplementaryReport, ErrorRates
from scarce.training import History, Recipe, map_logits
from scarce.training._build import MakeModule
from scarce.training._runtime import check_device


class ScarceClassifier(ComplementaryClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier trained on complementary labels: classes that an example does *not* belong to.

    By default, `fit` estimates how the labels arise, compares learners by the likelihood of held-out labels, and stacks the best:
    linear, kernel and neural learners of a table, networks with several augmentations of images. ``print(clf.choice_)`` shows
    what was tried and chosen, and why. With ``method="scarce"`` or another name, it trains one network by that method.

    Parameters
    ----------
    method : str or Method
        ``"auto"``, a name from `scarce.methods.available_methods`, or a `Method`. ``"auto"`` fits a stack if `X` is a table or
        images in memory. It chooses one method from the labels and trains one network instead if `X` is on disk, if `module` is
        your own network, or if you set a parameter of a single training run: `method_params`, `transition`, any from `recipe` to
        `early_stopping`, `warm_start` or `distributed`.
    module : {"auto", "linear", "nystroem", "mlp", "lenet", "resnet", "densenet"}, nn.Module or callable
        The network: a name, a module, which is copied, or a function of (input_shape, n_classes) that returns one. ``"auto"`` is
        ``"mlp"``. For a stack of a table, ``"auto"`` tries all learners, and ``"linear"``, ``"nystroem"`` or ``"mlp"`` only
        those of that kind; ``"nystroem"`` works only for a stack. For a stack of images, ``"auto"`` tries ``"lenet"`` and
        ``"mlp"`` on gray images, ``"lenet"`` and ``"resnet"`` on color images, and a name only that network.
    priors : str, array of shape (q,), mapping, PriorEstimate or PriorEstimator
        Class priors π: numbers in the order of the classes or by class name, ``"uniform"``, ``"answers"``, or an estimator or
        its name; see `scarce.priors.resolve_priors`. With ``"estimate"``, the default, a stack estimates them itself. For a
        network they are the class frequencies of ordinary labels, else the fraction of "yes" answers, else learned in training
        if the method can, else estimated by `scarce.priors.BestBin`; if that fails, `fit` warns and uses the candidate shares.
        The method ``"answers"`` always learns them.
    labels : {"complementary", "ordinary"}
        What `y` holds. ``"ordinary"`` means one true class per example; ``method="auto"`` then trains a one-versus-rest network.
    method_params : dict, optional
        Parameters of a method given by name, such as ``{"loss": "sigmoid"}``.
    transition : {"uniform", "confirmed"} or array of shape (q, q), optional
        T[y, k] = p(k is excluded | true class y), for methods that need it. ``"uniform"`` gives all wrong classes the same
        probability. ``"confirmed"`` counts the exclusions of examples whose true class is known, from a "yes" answer or an
        ordinary label.
    recipe : {"annealed", "fast", "paper"} or Recipe
        Hyperparameters of training; see `scarce.training.Recipe`. ``"fast"`` takes a quarter of the epochs of ``"annealed"``.
        Each of the parameters from `epochs` to `compile` overrides one of them.
    epochs : int, optional
        Passes over the data. By default, ``"annealed"`` trains for 40 epochs and ``"fast"`` for 10, or more on small data, to
        reach 1,000 and 1,500 steps; with L-BFGS both train for at most 200.
    batch_size : int, optional
        Rows per step.
    optimizer : {"adam", "sgd", "lbfgs"}, optional
        ``"lbfgs"`` requires ``module="linear"`` and a method whose loss is a likelihood.
    learning_rate, weight_decay : float, optional
        Settings of the optimizer.
    augmentation : tuple of {"crop", "flip", "shift", "affine"}, optional
        Random augmentations of training images, in the order of the names: ``"crop"`` shifts by up to four pixels and fills with
        black, ``"flip"`` mirrors, ``"shift"`` shifts by up to 7.5 % of each side, and ``"affine"`` rotates, scales, shears and
        shifts; see `scarce.training.Recipe`.
    input_noise, dropout : float, optional
        Standard deviation of Gaussian noise on training inputs, in standard deviations of each column if `standardize`; and
        dropout probability of the hidden units of ``"mlp"``. If the method learns the priors and there are fewer than 5,000
        labels per class, ``"mlp"`` gets both for tables by default, and networks for images with sides of twelve pixels
        or more get ``augmentation=("shift",)``.
    micro_batch : int, optional
        Rows per forward pass: the same step with less memory, at the cost of a second forward pass.
    precision : {"full", "bf16"}, optional
        ``"bf16"`` runs the network under bfloat16 autocast.
    compile : bool, optional
        Compile the network with ``torch.compile``.
    standardize : bool
        Scale every column of a table to mean 0 and standard deviation 1. Images are left unchanged.
    early_stopping : bool, optional
        Stop after `patience` epochs without improvement on held-out examples, and restore the weights of the best epoch;
        ``"refine"`` ends the current stage instead. Epochs are compared by the likelihood of the held-out labels if the loss of
        the method is a likelihood, else by the accuracy estimated from these labels. By default, only if ``method="auto"`` chooses
        ``"refine"`` and there are fewer than 5,000 exclusions per class.
    validation_fraction : float
        Fraction of the examples to hold out for early stopping.
    patience : int
        Number of epochs without improvement after which training stops.
    time_limit : float, optional
        For a stack: seconds after which no more candidates are added; at least one is always fitted. Networks for images are also
        trained for fewer steps.
    warm_start : bool
        Start from the weights of the previous `fit`.
    checkpoint : path, optional
        For a network: a file to write after every epoch. If it exists, `fit` resumes from it. A stack of networks for images
        keeps those that are finished in the folder ``checkpoint.networks``; a stack of a table has no checkpoint.
    device : str
        Device for training and prediction, such as ``"cpu"`` or ``"cuda"``. The stack of a table is always trained on the CPU.
    distributed : bool
        Train together with all processes that torchrun has started; each must call `fit` with the same data.
    random_state : int, RandomState or None
        Seed of all randomness: initial weights, the order of the examples, held-out examples and folds.
    verbose : bool
        Show a progress bar.

    Attributes
    ----------
    classes_ : array of shape (q,)
        The class names.
    n_features_in_, feature_names_in_ : int, array of str
        The number of columns of `X`, or channels or rows of images; and column names, if `X` or `feature_names` gave them.
    priors_, prior_estimate_ : array of shape (q,), PriorEstimate
        The class priors, and the same with their source and intervals.
    model_, method_ : nn.Module, Method
        The trained network or stack, and its method.
    history_ : History
        The loss and other metrics of every epoch; empty for a stack.
    label_summary_ : LabelSummary
        Counts of the labels.
    exclusion_matrix_, exclusion_counts_ : array of shape (q, q)
        Only with ``"refine"``: the estimated probability that an example of class y (row) excludes class k
        (column), and the counts behind it.
    choice_ : Choice
        Only with ``method="auto"`` and complementary labels: all candidates, and the choice with its reason; print it to read it.
    embedding_ : EmbeddingInfo
        Only if set after `fit`, as ``scarce train`` does: the pretrained model that computed `X`, to save with the classifier.
    held_out_report_ : ComplementaryReport
        Only with a stack: its accuracy, estimated from the labels of training rows, each predicted by copies that were trained
        without it.

    See Also
    --------
    EMComplementaryClassifier, MetaComplementaryClassifier : Train any scikit-learn classifier on complementary labels.
    cross_fitted_report : Estimate the accuracy of a single network from its training data, without true labels.
    load : Load a classifier written by `save`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from scarce import ComplementaryLabels, ScarceClassifier
    >>> from scarce.simulate import uniform
    >>> X, y = load_iris(return_X_y=True)
    >>> labels = uniform(y, seed=0)              # for each flower, one class that it is not
    >>> clf = ScarceClassifier().fit(X, labels)
    >>> bool(clf.score(X, y) > 0.9)              # trained without any true label
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
            A table (n × d) or images (n × h × w or n × c × h × w).
        y : ComplementaryLabels, array of shape (n, q) or array of shape (n,)
            The excluded classes of each example, as `ComplementaryLabels` or as an indicator of shape (n, q). With
            ``labels="ordinary"``: the true class of each example, of shape (n,).
        feature_names : sequence of str, optional
            Column names to store as `feature_names_in_`, if `X` has none.

        Returns
        -------
        ScarceClassifier
            The fitted classifier itself. If `fit` fails, an earlier fit is kept.

        Raises
        ------
        FeatureError, LabelError, MethodError, PriorError
            If `X`, `y`, a parameter or the given priors are invalid or do not suit each other.

        Warns
        -----
        PriorWarning
            If priors cannot be estimated, and the candidate shares are used instead.
        CollapseWarning
            If the network predicts one class for nearly every example that does not exclude it.
        """
        check_parameters(self)
        with restore_on_error(self):
            self._fit(X, y, feature_names, check_device(self.device))
        return self

    def describe(self, y: Any) -> FitDescription:
        """Return a summary of the labels `y` and, if they are known, the priors, without training.

        Raises the same error as `fit` if the method, its parameters or the priors are wrong or do not suit the labels.
        """
        labels, _ = self._read_labels(y)
        return FitDescription(labels.summary(), known_priors(self, labels))

    def _fit(self, X: Any, y: Any, feature_names: Sequence[str] | None, device: torch.device) -> None:
        X = check_inputs(self, X, reset=True)
        check_not_constant(X)
        if feature_names is not None:
            set_feature_names(self, X, feature_names)
        labels, classes = self._read_labels(y)
        check_consistent_length(X, labels)
        earlier = self.method_.fitted_attributes() if hasattr(self, "method_") else {}
        for name in ("choice_", "embedding_", "held_out_report_", "_held_out", *earlier):
            self.__dict__.pop(name, None)
        if fits_stack(self, X):
            self._fit_stack(X, labels)
        else:
            self._fit_network(X, labels, classes, device)
        self.__dict__.update(self.method_.fitted_attributes())
        self.classes_, self.input_shape_ = classes, input_shape(X)
        self.byte_inputs_ = bool(X.dtype == np.uint8)
        self.training_rows_: TrainingRows | None = TrainingRows.from_features(X)
        self.priors_ = self.prior_estimate_.values
        self.label_summary_ = labels.summary()

    def _fit_stack(self, X: Any, labels: ComplementaryLabels) -> None:
        result, method, self.prior_estimate_ = fit_classifier_stack(self, X, labels)
        self.choice_, self.history_ = result.choice, History([])
        self.model_: nn.Module = result.model
        self.method_: Method = method
        predicted = labels.classes[result.held_out.argmax(axis=1)]
        self._held_out = predicted, result.held_out.max(axis=1), labels[result.rows]

    @cached_property
    def held_out_report_(self) -> ComplementaryReport:
        """The report on a stack, from the labels of training rows that were held out in turn; computed at the first access."""
        if not hasattr(self, "_held_out"):
            raise AttributeError(
                "held_out_report_ exists only after method='auto' has fitted a stack; for a single network, call "
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
        """Return the logits of the network, or the log-probabilities of a stack, of shape (n, q)."""
        return self._map_logits(X, lambda _, logits: logits)

    def predict(self, X: Any) -> Array:
        """Return the predicted class of each example, of shape (n,)."""
        best = self._map_logits(X, lambda method, logits: method.scores(logits).argmax(dim=1))
        return self.classes_[best.numpy()]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities of shape (n, q); those of one-versus-rest methods are σ(f_k) / Σ_j σ(f_j)."""
        return self._map_logits(X, lambda method, logits: method.probabilities(logits.double())).numpy()

    def _confidence(self, X: Any) -> NDArray[np.float64]:
        return self._map_logits(
            X, lambda method, logits: method.probabilities(logits.double()).amax(dim=1)
        ).numpy()

    def decision_function(self, X: Any) -> Array:
        """Return scores of shape (n, q), highest for the predicted class; with two classes, their difference, of shape (n,)."""
        scores = self._map_logits(X, lambda method, logits: method.scores(logits)).numpy()
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Save the classifier to a folder for `scarce.load`, as safetensors and JSON (no pickle); `force` overwrites one there."""
        from scarce.estimators.persistence import save_classifier

        save_classifier(self, Path(folder), force=force)

    def _map_logits(self, X: Any, function: Callable[[Method, Tensor], Tensor]) -> Tensor:
        """Apply a function to the method and the logits on the CPU, batch by batch, so that n × q logits are never stored."""
        check_is_fitted(self)
        inputs = check_inputs(self, X, reset=False)
        device = check_device(self.device)
        # A loaded model may be on another device, and so may a model whose `device` was changed after `fit`.
        model, method = self.model_.to(device), self.method_.cpu()
        checked = checked_logits(inputs, lambda logits: function(method, logits.cpu()))
        return map_logits(model, inputs, checked, device=device)

    def learned_error_rates(self) -> ErrorRates | None:
        """Return the error rates of annotators learned in training, or None if none were."""
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
