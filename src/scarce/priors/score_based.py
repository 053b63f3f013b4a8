"""Estimators that read a prior off the scores of held-out rows."""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from scarce._arrays import FloatArray
from scarce._validation import check_integer, check_option
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.priors.base import MakeModel, PriorEstimator, told_classes
from scarce.priors.scorer import classifier_scores, network_scores, splits
from scarce.training import ANNEALED, Recipe
from scarce.training.build import build_network

__all__ = ["ScoredEstimator"]

_EPOCHS, _FEWEST_STEPS = 10, 100
_SMALLEST_BATCH, _STEPS_PER_EPOCH = 16, 8
_MANY_ROWS, _MANY_EXCLUSIONS = 5000, 500  # from here on a fifth of the rows is enough to read a prior from
_FOLDS = 5


@dataclass(frozen=True, kw_only=True)
class ScoredEstimator(PriorEstimator):
    """Trains scorers of "excludes k" against "does not", and reads every prior off the scores of held-out rows.

    Parameters
    ----------
    scorer : {"network", "linear", "boosting"} or scikit-learn classifier
        ``network`` trains one network with an output per class; the others a classifier per class, for tables.
    folds : int, optional
        1 holds out a fifth of the rows; more hold out every row once, which small data need and which costs as many
        trainings. By default 5 for less than 5,000 rows or 500 exclusions of some class, else 1.
    last : int, optional
        Take the mean over the last epochs of the network, instead of the epoch with the lowest held-out loss.
    module : str, nn.Module or callable
        The network, where none is handed over.
    recipe : Recipe, optional
        How it is trained: by default 10 annealed epochs, and at least 100 steps.
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
            raise MethodError(f"recipe={self.recipe!r}; expected a Recipe of scarce.training.")
        if isinstance(self.scorer, str):
            check_option("scorer", self.scorer, ("network", "linear", "boosting"), also="a classifier")

    @abstractmethod
    def prior(self, scores: FloatArray, excluded: NDArray[np.bool_], rate: float) -> float:
        """Return π_k from the scores of the rows and which of them exclude k; there are rows of either kind."""

    def evidence(
        self,
        X: Any,
        labels: ComplementaryLabels,
        *,
        make_model: MakeModel | None,
        device: str,
        verbose: bool,
    ) -> tuple[list[FloatArray], NDArray[np.intp]]:
        """Return the scores of held-out rows, one array for every epoch that counts."""
        make = make_model or partial(self._build, X, labels.n_classes)
        n, fewest = labels.n_examples, labels.counts.min()
        folds = self.folds or (1 if n >= _MANY_ROWS and fewest >= _MANY_EXCLUSIONS else _FOLDS)
        if folds > n:
            raise MethodError(f"folds={folds}; there are only {n} rows to hold out.")
        parts, held_out = [], []
        for rows in splits(n, folds, self.seed):
            if self.scorer == "network":
                recipe = self._recipe(len(rows[0]))
                parts.append(
                    network_scores(
                        X, labels, rows, make, recipe, last=self.last, device=device, verbose=verbose
                    )
                )
            else:
                parts.append([classifier_scores(X, labels, rows, self._classifier())])
            held_out.append(rows[1])
        return [np.concatenate(epoch) for epoch in zip(*parts, strict=True)], np.concatenate(held_out)

    def raw(self, evidence: list[FloatArray], excluded: NDArray[np.bool_], rates: FloatArray) -> FloatArray:
        """Return the mean over the epochs that count; NaN where the rows tell nothing about a class."""
        estimates = np.full((len(evidence), len(rates)), np.nan)
        for epoch, scores in enumerate(evidence):
            for k in told_classes(excluded):
                estimates[epoch, k] = self.prior(scores[:, k], excluded[:, k], rates[k])
        mean: FloatArray = estimates.mean(axis=0)
        return mean

    def _build(self, X: Any, n_classes: int, seed: int) -> Any:
        return build_network(self.module, X, n_classes, seed=seed)

    def _recipe(self, n_rows: int) -> Recipe:
        if self.recipe is not None:
            return self.recipe
        # An epoch of at least eight steps, for the best epoch is looked for.
        batch_size = min(ANNEALED.batch_size, max(_SMALLEST_BATCH, n_rows // _STEPS_PER_EPOCH))
        enough = math.ceil(_FEWEST_STEPS / math.ceil(n_rows / batch_size))
        return replace(ANNEALED, batch_size=batch_size, epochs=max(_EPOCHS, enough), seed=self.seed)

    def _classifier(self) -> Any:
        if self.scorer == "linear":
            return make_pipeline(StandardScaler(with_mean=False), LogisticRegression(max_iter=1000))
        if self.scorer == "boosting":
            return HistGradientBoostingClassifier(random_state=self.seed)
        return self.scorer
