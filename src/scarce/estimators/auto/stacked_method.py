"""The stack as the classifier uses it: the method it keeps, and a progress bar."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from rich.progress import TaskProgressColumn
from torch import Tensor

from scarce._console import make_progress
from scarce.methods import Batch, Method, MethodFacts
from scarce.methods.cc import ClassifierConsistent

__all__ = ["StackedMethod", "progress_bar"]


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


@contextmanager
def progress_bar(show: bool) -> Iterator[Callable[[float, str], None] | None]:
    """Yield a function of the completed fraction and the present step, which shows them as a progress bar on standard error."""
    if not show:
        yield None
        return
    with make_progress(TaskProgressColumn(), show=True) as bar:
        task = bar.add_task("auto", total=1.0)
        yield lambda fraction, step: bar.update(task, completed=fraction, description=step)
