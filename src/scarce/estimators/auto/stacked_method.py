"""The stack as the classifier uses it: when it applies, the method it keeps, and a progress bar."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from rich.progress import TaskProgressColumn
from torch import Tensor

from scarce._console import make_progress
from scarce.estimators.auto.learners import FAMILIES
from scarce.features.arrays import input_shape
from scarce.features.shards import Shards
from scarce.methods import Batch, Method, MethodFacts
from scarce.methods.cc import ClassifierConsistent

__all__ = ["StackedMethod", "is_stacked", "progress_bar"]


class StackedMethod(Method):
    """What `ScarceClassifier` keeps beside a stack: its logits are log-probabilities, and priors came out of the fit.

    As a loss it has that of candidate sets, −mean log Σ_{j ∈ S} p_j.

    Parameters
    ----------
    priors : sequence of float
        π, as estimated while the stack was fitted.

    Examples
    --------
    >>> method = StackedMethod([0.25, 0.75])
    >>> method.learned_priors().tolist()
    [0.25, 0.75]
    """

    facts = MethodFacts(
        "auto", "stack of learners", "this project", "as held-out labels say", learns_priors=True
    )
    loss_is_likelihood = True

    priors: Tensor

    def __init__(self, priors: Sequence[float] = ()) -> None:
        super().__init__()
        self.register_buffer("priors", torch.tensor(priors, dtype=torch.float64))
        self._candidates = ClassifierConsistent()

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean log Σ_S p."""
        return self._candidates.loss(logits, batch)

    def learned_priors(self) -> Tensor | None:
        """π."""
        return self.priors


# Parameters of one training run: a user who sets one of them wants one network.
_TRAINING_PARAMS = (
    "recipe", "epochs", "batch_size", "optimizer", "learning_rate", "weight_decay", "augmentation", "input_noise", "dropout",
    "micro_batch", "precision", "compile",
    "method_params", "transition", "standardize", "early_stopping", "warm_start", "distributed",
)  # fmt: skip
_MAX_MAPPED_VALUES = 10**8  # of a table on disk that is read into memory


def is_stacked(classifier: Any, X: Any) -> bool:
    """Return whether a classifier fits a stack: nothing but the kind of learner was chosen, and `X` is a table in memory."""
    defaults = inspect.signature(type(classifier).__init__).parameters
    return (
        isinstance(classifier.method, str)
        and classifier.method == "auto"
        and isinstance(classifier.module, str)
        and classifier.module in ("auto", *FAMILIES)
        and classifier.labels == "complementary"
        and len(input_shape(X)) == 1
        and not _is_too_large(X)
        and all(_is_same(getattr(classifier, name), defaults[name].default) for name in _TRAINING_PARAMS)
    )


def _is_same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _is_too_large(X: Any) -> bool:
    """Return whether data on disk are too large to read into memory."""
    return isinstance(X, Shards) or (isinstance(X, np.memmap) and X.size > _MAX_MAPPED_VALUES)


@contextmanager
def progress_bar(show: bool) -> Iterator[Callable[[float, str], None] | None]:
    """Yield a function of the completed fraction and the present step, which shows them as a progress bar on standard error."""
    if not show:
        yield None
        return
    with make_progress(TaskProgressColumn(), show=True) as bar:
        task = bar.add_task("auto", total=1.0)
        yield lambda fraction, step: bar.update(task, completed=fraction, description=step)
