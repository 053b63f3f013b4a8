"""The stack inside a classifier: its method, and a progress bar."""

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
    """−mean log Σ_{j ∈ S} p_j, S being the candidate classes of a row.

    The `method_` of a `ScarceClassifier` that has fitted a stack. The logits of a stack are log-probabilities, and its priors are
    estimated during the fit.

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
    """Yield a function of the completed fraction and the current step that updates a progress bar on standard error."""
    if not show:
        yield None
        return
    with make_progress(TaskProgressColumn(), show=True) as bar:
        task = bar.add_task("auto", total=1.0)
        yield lambda fraction, step: bar.update(task, completed=fraction, description=step)
