"""How well rows that exclude class k can be told from the others: scores of rows that the scorer has not seen."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from torch import Tensor

from scarce._arrays import FloatArray
from scarce.errors import MethodError
from scarce.features.shards import Shards, pick
from scarce.labels import ComplementaryLabels
from scarce.methods.base import Batch, Method, MethodFacts
from scarce.priors.base import MakeModel
from scarce.pu import cvir_losses
from scarce.training import Callback, ProgressBar, Recipe, Run, predict_logits, train

__all__ = ["classifier_scores", "network_scores", "splits"]

_HELD_OUT = 5  # one in five


def positive_versus_unlabeled(g: Tensor, excluded: Tensor) -> Tensor:
    """Σ_k ½ mean_{N_k} softplus(−g_k) + ½ mean_{U_k} softplus(g_k); at its minimum g_k = log p(x | N_k) / p(x | U_k)."""
    return cvir_losses(g, excluded, kept=1 - excluded).sum()


class PositiveVersusUnlabeled(Method):
    """Tells rows that exclude a class from the others, for all classes together."""

    facts = MethodFacts("class priors", "P versus U", "Garg et al., NeurIPS 2021", "SCAR")

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """One network, q outputs, one pass."""
        return positive_versus_unlabeled(logits, batch.excluded)


def splits(n_rows: int, folds: int, seed: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield rows to train on and rows held out: with one fold a fifth of all rows, else every row once.

    Examples
    --------
    >>> [(len(train), len(held_out)) for train, held_out in splits(10, 1, 0)]
    [(8, 2)]
    """
    order = np.random.default_rng(seed).permutation(n_rows)
    parts = np.array_split(order, _HELD_OUT if folds == 1 else folds)
    for held_out in parts[:folds]:
        yield np.setdiff1d(order, held_out), np.sort(held_out)


@dataclass
class _Snapshots(Callback):
    """Keeps the held-out scores of the last `last` epochs, or of the one with the lowest held-out loss."""

    inputs: Any
    labels: ComplementaryLabels
    last: int | None
    device: str

    def on_start(self, run: Run) -> None:
        """Nothing is kept yet."""
        self.kept: list[FloatArray] = []
        self.lowest = np.inf

    def on_epoch(self, run: Run, record: dict[str, float]) -> None:
        """Score the held-out rows."""
        logits = predict_logits(run.model, self.inputs, device=self.device)
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
    device: str,
    verbose: bool,
) -> list[FloatArray]:
    """Train one network with q outputs on the first rows; return its scores of the second, one array per epoch kept."""
    training, held_out = rows
    snapshots = _Snapshots(pick(X, held_out), labels[held_out], last, device)
    callbacks = [snapshots, ProgressBar()] if verbose else [snapshots]
    train(
        make_model(recipe.seed),
        PositiveVersusUnlabeled(),
        pick(X, training),
        labels[training],
        recipe,
        callbacks=callbacks,
        device=device,
    )
    return snapshots.kept


def classifier_scores(
    X: Any, labels: ComplementaryLabels, rows: tuple[NDArray[np.intp], NDArray[np.intp]], classifier: Any
) -> FloatArray:
    """Train a scikit-learn classifier per class on the first rows; return log p(x | N_k) / p(x | U_k) of the second."""
    if not hasattr(classifier, "predict_proba"):
        raise MethodError(
            f"scorer={classifier!r} has no predict_proba; expected 'network', 'linear', 'boosting' or a classifier with it."
        )
    if isinstance(X, Shards):
        raise MethodError(
            f"scorer={classifier!r} needs all rows in memory, and there are {X!r}; use scorer='network', which reads "
            "them a batch at a time."
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
