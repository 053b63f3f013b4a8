"""Fit a stack for `ScarceClassifier`, with a progress bar, and the method that holds it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from rich.progress import TaskProgressColumn
from torch import Tensor

from scarce._console import make_progress
from scarce.estimators._fit_settings import training_priors
from scarce.estimators._fitting import random_seed
from scarce.estimators.auto.fit import fit_stack
from scarce.estimators.auto.images import fit_image_stack
from scarce.estimators.auto.result import StackResult
from scarce.features._arrays import input_shape
from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Method, MethodFacts
from scarce.methods.cc import ClassifierConsistent
from scarce.priors import PriorEstimate
from scarce.priors.resolve import learned_priors

if TYPE_CHECKING:
    from scarce.estimators.classifier import ScarceClassifier


class StackedMethod(Method):
    """−mean log Σ_{j ∈ S} p_j, where S are the candidate classes of a row.

    This is the `method_` of a `ScarceClassifier` that has fitted a stack. The logits of a stack are log-probabilities, and its
    priors are estimated during the fit.

    Parameters
    ----------
    priors : sequence of q floats
        π, as estimated during the fit.

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
        """−mean log Σ_{j ∈ S} p_j."""
        return self._candidates.loss(logits, batch)

    def learned_priors(self) -> Tensor | None:
        """π."""
        return self.priors


@contextmanager
def progress_bar(show: bool) -> Iterator[Callable[[float, str], None] | None]:
    """Yield a function that updates a progress bar on standard error from the completed fraction and the name of the step."""
    if not show:
        yield None
        return
    with make_progress(TaskProgressColumn(), show=True) as bar:
        task = bar.add_task("auto", total=1.0)
        yield lambda fraction, step: bar.update(task, completed=fraction, description=step)


class StackFit(NamedTuple):
    """The result, the method that holds it, and the priors."""

    result: StackResult
    method: StackedMethod
    prior_estimate: PriorEstimate


def fit_classifier_stack(classifier: "ScarceClassifier", X: Any, labels: ComplementaryLabels) -> StackFit:
    """Fit a stack with the parameters of the classifier on checked inputs and labels; the classifier does not change."""
    seed, estimate = random_seed(classifier.random_state), None
    if not (isinstance(classifier.priors, str) and classifier.priors == "estimate"):
        estimate = training_priors(classifier, X, labels, seed, StackedMethod())
    kinds = None if classifier.module == "auto" else [str(classifier.module)]
    with progress_bar(classifier.verbose) as progress:
        common: dict[str, Any] = {
            "seed": seed,
            "priors": None if estimate is None else estimate.values,
            "time_limit": classifier.time_limit,
            "progress": progress,
        }
        if len(input_shape(X)) > 1:
            where: dict[str, Any] = {"device": classifier.device, "checkpoint": classifier.checkpoint}
            result = fit_image_stack(X, labels, modules=kinds, **where, **common)
        else:
            result = fit_stack(X, labels, learners=kinds, **common)
    method = StackedMethod(result.choice.priors)
    return StackFit(result, method, estimate or learned_priors(method, labels.classes))
