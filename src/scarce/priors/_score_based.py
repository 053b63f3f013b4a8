"""Base class of prior estimators that use the scores of held-out rows."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor

from scarce._arrays import FloatArray
from scarce._validation import check_integer, check_option, shorten
from scarce.errors import MethodError
from scarce.features._arrays import take_rows
from scarce.features.shards import Shards
from scarce.labels import ComplementaryLabels
from scarce.methods.base import Batch, Method, MethodFacts, Problem
from scarce.priors.base import MakeModel, PriorEstimator, identifiable_classes
from scarce.risk.binary_losses import balanced_logistic_losses
from scarce.training import ANNEALED, Callback, ProgressBar, Recipe, TrainingState, predict_logits
from scarce.training._batches import as_source
from scarce.training._build import build_model
from scarce.training._runtime import check_device
from scarce.training.loop import train_checked

_HOLD_OUT_FOLDS = 5  # one of them is held out
_EPOCHS, _MIN_STEPS = 10, 100
_MIN_BATCH_SIZE, _MIN_STEPS_PER_EPOCH = 16, 8
_MIN_ROWS_FOR_HOLD_OUT = 5000  # from here on, a fifth of the rows is enough to estimate a prior
_MIN_EXCLUSIONS_FOR_HOLD_OUT = 500  # of every class, likewise
_DEFAULT_FOLDS = 5


def positive_versus_unlabeled(g: Tensor, excluded: Tensor) -> Tensor:
    """Σ_k ½ mean_{P_k} ℓ(g_k) + ½ mean_{U_k} ℓ(−g_k), ℓ being the logistic loss; at the minimum g_k = log p(x | P_k) / p(x | U_k).

    P_k are the rows that exclude class k, and U_k the others. A class that all rows or none exclude has no loss.
    """
    return balanced_logistic_losses(g, excluded, 1 - excluded).sum()


class PositiveVersusUnlabeled(Method):
    """Σ_k ½ mean_{P_k} ℓ(g_k) + ½ mean_{U_k} ℓ(−g_k): separate the rows that exclude a class from the others."""

    facts = MethodFacts("class priors", "P versus U", "Garg et al., NeurIPS 2021", "SCAR")

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """`positive_versus_unlabeled` of the q outputs."""
        return positive_versus_unlabeled(logits, batch.excluded)


def split_folds(n_rows: int, folds: int, seed: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield training rows and held-out rows: one fold holds out a fifth of the rows, several hold out every row once.

    Examples
    --------
    >>> [(len(train), len(held_out)) for train, held_out in split_folds(10, 1, 0)]
    [(8, 2)]
    """
    order = np.random.default_rng(seed).permutation(n_rows)
    pieces = np.array_split(order, _HOLD_OUT_FOLDS if folds == 1 else folds)
    for held_out in pieces[:folds]:
        yield np.setdiff1d(order, held_out), np.sort(held_out)


@dataclass
class _HeldOutScores(Callback):
    """Keep the held-out scores of the latest `last` epochs, or of the epoch with the lowest held-out loss."""

    inputs: Any
    labels: ComplementaryLabels
    last: int | None
    device: torch.device

    def on_train_begin(self, state: TrainingState) -> None:
        """Discard the scores of an earlier run."""
        self.kept: list[FloatArray] = []
        self.lowest = np.inf

    def on_epoch_end(self, state: TrainingState, record: dict[str, float]) -> None:
        """Score the held-out rows."""
        logits = predict_logits(state.model, self.inputs, device=self.device)
        excluded = torch.from_numpy(self.labels.indicator(dtype=np.float32))
        record["held_out_loss"] = positive_versus_unlabeled(logits, excluded).item()
        scores = logits.double().numpy()
        if self.last is not None:
            self.kept = [*self.kept, scores][-self.last :]
        elif record["held_out_loss"] < self.lowest:
            self.kept, self.lowest = [scores], record["held_out_loss"]


def network_scores(
    X: Any,
    labels: ComplementaryLabels,
    rows: tuple[NDArray[np.intp], NDArray[np.intp]],
    make_model: MakeModel,
    recipe: Recipe,
    *,
    last: int | None,
    device: torch.device,
    verbose: bool,
) -> list[FloatArray]:
    """Train one network on the training rows and return its scores of the held-out rows.

    Parameters
    ----------
    X : array, sparse matrix or Shards
        Features of all rows.
    labels : ComplementaryLabels
        Their labels.
    rows : pair of arrays
        Indices of the training rows and of the held-out rows.
    make_model : callable
        From a seed to a network with q outputs.
    recipe : Recipe
        How to train it.
    last : int or None
        How many of the latest epochs to return the scores of; None for the epoch with the lowest held-out loss.
    device : torch.device
        Device to train on.
    verbose : bool
        Show a progress bar.

    Returns
    -------
    list of arrays of shape (m, q)
        One array of scores of the m held-out rows per epoch.
    """
    training, held_out = rows
    held_out_scores = _HeldOutScores(take_rows(X, held_out), labels[held_out], last, device)
    callbacks = [held_out_scores, ProgressBar()] if verbose else [held_out_scores]
    train_checked(
        make_model(recipe.seed),
        PositiveVersusUnlabeled(),
        as_source(take_rows(X, training)),
        Problem(labels[training]),
        recipe,
        callbacks=callbacks,
        device=device,
    )
    return held_out_scores.kept


def classifier_scores(
    X: Any, labels: ComplementaryLabels, rows: tuple[NDArray[np.intp], NDArray[np.intp]], classifier: Any
) -> FloatArray:
    """Train a scikit-learn classifier per class on the training rows; return log p(x | N_k) / p(x | U_k) of the held-out rows."""
    if not hasattr(classifier, "predict_proba"):
        raise MethodError(
            f"scorer={classifier!r} has no predict_proba; pass 'network', 'linear', 'boosting' or a classifier that does."
        )
    if isinstance(X, Shards):
        raise MethodError(
            f"scorer={classifier!r} needs all rows in memory, but X is {X!r}; pass scorer='network', which reads batches."
        )
    training, held_out = rows
    X = X.reshape(X.shape[0], -1)
    scores = np.empty((len(held_out), labels.n_classes))
    excluded = labels.indicator(training)
    for k in range(labels.n_classes):
        try:
            fitted = clone(classifier).fit(X[training], excluded[:, k])
            p = np.clip(fitted.predict_proba(X[held_out])[:, 1], 1e-12, 1 - 1e-12)
        except (TypeError, ValueError, IndexError) as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise MethodError(
                f"the scorer of class {labels.classes[k]} failed: {reason}; choose another scorer."
            ) from error
        rate = excluded[:, k].mean()
        scores[:, k] = np.log(p / (1 - p)) - np.log(rate / (1 - rate))
    return scores


@dataclass(frozen=True, kw_only=True)
class ScoredEstimator(PriorEstimator):
    """Base class of estimators that train scorers to separate rows that exclude a class from the others, and use held-out scores.

    Parameters
    ----------
    scorer : {"network", "linear", "boosting"} or scikit-learn classifier
        ``"network"`` trains one network with an output per class; the others train one classifier per class, for tables.
    folds : int, optional
        1 holds out a fifth of the rows. A larger number trains that many scorers and holds out every row once, which small data
        need. By default, 5 for fewer than 5,000 rows or fewer than 500 exclusions of some class, else 1.
    last : int, optional
        Average the estimates over this many of the latest epochs; by default, use the epoch with the lowest held-out loss.
    module : str, nn.Module or callable
        The network, if `make_model` is not passed to `estimate`.
    recipe : Recipe, optional
        How the network is trained; by default, for 10 annealed epochs, or more to reach 100 steps.
    """

    scorer: Any = "network"
    folds: int | None = None
    last: int | None = None
    module: Any = "mlp"
    recipe: Recipe | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("folds", "last"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), low=1)
        if self.recipe is not None and not isinstance(self.recipe, Recipe):
            raise MethodError(
                f"recipe={shorten(self.recipe)}; expected a Recipe: pass scarce.training.Recipe(...)."
            )
        if isinstance(self.scorer, str):
            check_option("scorer", self.scorer, ("network", "linear", "boosting"), also="a classifier")

    @abstractmethod
    def prior(self, scores: FloatArray, excluded: NDArray[np.bool_], rate: float) -> float:
        """Return π_k from scores of shape (m,), which rows exclude k (some, but not all), and π̄_k."""

    def statistics(
        self,
        X: Any,
        labels: ComplementaryLabels,
        *,
        make_model: MakeModel | None,
        device: str,
        verbose: bool,
    ) -> tuple[list[FloatArray], NDArray[np.intp]]:
        """Return the scores of held-out rows, one array per epoch used, and the indices of these rows."""
        make = make_model or partial(self._build_model, X, labels.n_classes)
        torch_device = check_device(device) if self.scorer == "network" else torch.device("cpu")
        n, min_count = labels.n_examples, labels.counts.min()
        folds = self.folds or (
            1 if n >= _MIN_ROWS_FOR_HOLD_OUT and min_count >= _MIN_EXCLUSIONS_FOR_HOLD_OUT else _DEFAULT_FOLDS
        )
        if folds > n:
            raise MethodError(f"folds={folds}; there are only {n} rows to hold out: pass fewer folds.")
        fold_scores, held_out = [], []
        for rows in split_folds(n, folds, self.seed):
            if self.scorer == "network":
                recipe = self._resolve_recipe(len(rows[0]))
                fold_scores.append(
                    network_scores(
                        X, labels, rows, make, recipe, last=self.last, device=torch_device, verbose=verbose
                    )
                )
            else:
                fold_scores.append([classifier_scores(X, labels, rows, self._make_classifier())])
            held_out.append(rows[1])
        return [np.concatenate(epoch) for epoch in zip(*fold_scores, strict=True)], np.concatenate(held_out)

    def raw(self, statistics: list[FloatArray], excluded: NDArray[np.bool_], rates: FloatArray) -> FloatArray:
        """Return π_k of every class, averaged over the epochs used; NaN if it is not identifiable from these rows."""
        estimates = np.full((len(statistics), len(rates)), np.nan)
        for epoch, scores in enumerate(statistics):
            for k in identifiable_classes(excluded):
                estimates[epoch, k] = self.prior(scores[:, k], excluded[:, k], rates[k])
        mean: FloatArray = estimates.mean(axis=0)
        return mean

    def _build_model(self, X: Any, n_classes: int, seed: int) -> Any:
        return build_model(self.module, X, n_classes, seed=seed)

    def _resolve_recipe(self, n_rows: int) -> Recipe:
        if self.recipe is not None:
            return self.recipe
        # At least eight steps per epoch, so that the best epoch can be chosen.
        batch_size = min(ANNEALED.batch_size, max(_MIN_BATCH_SIZE, n_rows // _MIN_STEPS_PER_EPOCH))
        min_epochs = math.ceil(_MIN_STEPS / math.ceil(n_rows / batch_size))
        return replace(ANNEALED, batch_size=batch_size, epochs=max(_EPOCHS, min_epochs), seed=self.seed)

    def _make_classifier(self) -> Any:
        if self.scorer == "linear":
            return make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=1000))
        if self.scorer == "boosting":
            return HistGradientBoostingClassifier(random_state=self.seed)
        return self.scorer
