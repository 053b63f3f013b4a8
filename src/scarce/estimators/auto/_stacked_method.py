"""What a classifier needs to hold a stack: a method, and a progress bar for the fit."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from rich.progress import TaskProgressColumn
from torch import Tensor

from scarce._console import make_progress
from scarce.methods import Batch, Method, MethodFacts
from scarce.methods.cc import ClassifierConsistent


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
