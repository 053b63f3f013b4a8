"""Losses for several complementary labels under uniform sets: unbiased, or an upper bound of half the unbiased one."""

from typing import Any

from torch import Tensor

from scarce.methods.base import Batch, Method, MethodFacts
from scarce.methods.partial_label import candidate_losses
from scarce.methods.registry import register
from scarce.risk import multiclass_loss

__all__ = [
    "MultipleLabelExp",
    "MultipleLabelGCE",
    "MultipleLabelLog",
    "MultipleLabelMAE",
    "MultipleLabelMSE",
    "MultipleLabelPhuberCE",
    "mean_over_labeled",
    "multiple_label_losses",
    "upper_bound_losses",
]


def multiple_label_losses(losses: Tensor, excluded: Tensor) -> Tensor:
    """Σ_{j ∉ Ȳ} L_j − ((q − 1 − s)/s) Σ_{j ∈ Ȳ} L_j of every row, s = |Ȳ|.

    Examples
    --------
    >>> import torch
    >>> multiple_label_losses(torch.tensor([[1.0, 2.0, 4.0]]), torch.tensor([[0.0, 0.0, 1.0]])).item()
    -1.0
    """
    size = excluded.sum(dim=1)
    outside = ((1 - excluded) * losses).sum(dim=1)
    inside = (excluded * losses).sum(dim=1)
    return outside - (losses.shape[1] - 1 - size) / size.clamp(min=1) * inside


def upper_bound_losses(logits: Tensor, excluded: Tensor, kind: str) -> Tensor:
    """((q − 1)/s) e^{−Σ_{j ∉ Ȳ} p_j} or −((q − 1)/s) log Σ_{j ∉ Ȳ} p_j, of every row.

    Examples
    --------
    >>> import torch
    >>> upper_bound_losses(torch.zeros(1, 3), torch.tensor([[0.0, 0.0, 1.0]]), "log").item()
    0.81093...
    """
    losses = candidate_losses(logits, excluded == 0)
    scale = (logits.shape[1] - 1) / excluded.sum(dim=1).clamp(min=1)
    return scale * ((-(-losses).exp()).exp() if kind == "exp" else losses)


def mean_over_labeled(losses: Tensor, excluded: Tensor) -> Tensor:
    """Return the mean of the losses, of shape (B,), over the rows that exclude some class; 0 if there are none.

    Examples
    --------
    >>> import torch
    >>> mean_over_labeled(torch.tensor([2.0, 5.0]), torch.tensor([[0.0, 1.0], [0.0, 0.0]])).item()
    2.0
    """
    labeled = excluded.sum(dim=1) > 0
    return (losses * labeled).sum() / labeled.sum().clamp(min=1)


class _MultipleLabelMethod(Method):
    """The mean loss of the rows that exclude some class; a subclass gives its name, title and kind of loss."""

    kind: str

    def __init_subclass__(cls, *, name: str = "", title: str = "", kind: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if name:
            cls.facts = MethodFacts(
                name, title, "Feng et al., ICML 2020", "uniform sets", accepts=("single", "multiple")
            )
            cls.kind = kind

    def row_losses(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """The unbiased loss of every row, with a multi-class loss L."""
        return multiple_label_losses(multiclass_loss(self.kind)(logits), excluded)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """The mean over labelled rows."""
        return mean_over_labeled(self.row_losses(logits, batch.excluded), batch.excluded)


class _UpperBoundMethod(_MultipleLabelMethod):
    """An upper bound of half the unbiased risk with mean absolute error."""

    def row_losses(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """The bound of every row."""
        return upper_bound_losses(logits, excluded, self.kind)


@register
class MultipleLabelMAE(_MultipleLabelMethod, name="mae", title="mean absolute error", kind="mae"):
    """The unbiased risk with L = ‖p − e_j‖₁; bounded, equal to ((2q − 2)/s) Σ_{j ∈ Ȳ} p_j."""


@register
class MultipleLabelMSE(_MultipleLabelMethod, name="mse", title="mean squared error", kind="mse"):
    """The unbiased risk with L = ‖p − e_j‖²."""


@register
class MultipleLabelGCE(_MultipleLabelMethod, name="gce", title="generalised cross-entropy", kind="gce"):
    """The unbiased risk with L = (1 − p_j^0.7)/0.7."""


@register
class MultipleLabelPhuberCE(
    _MultipleLabelMethod, name="phuber-ce", title="Huberised cross-entropy", kind="phuber"
):
    """The unbiased risk with cross-entropy made linear below p = 1/10."""


@register
class MultipleLabelExp(_UpperBoundMethod, name="exp", title="exponential upper bound", kind="exp"):
    """Mean ((q − 1)/s) e^{−Σ_{j ∉ Ȳ} p_j}."""


@register
class MultipleLabelLog(_UpperBoundMethod, name="log", title="logarithmic upper bound", kind="log"):
    """Mean −((q − 1)/s) log Σ_{j ∉ Ȳ} p_j."""
