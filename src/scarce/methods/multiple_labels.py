"""LMCL: losses for several complementary labels, unbiased or bounding half the unbiased one, under uniform sets."""

from torch import Tensor

from scarce.methods.base import Batch, Method, MethodFacts
from scarce.methods.registry import register
from scarce.risk import multiclass_loss

__all__ = ["EXP", "GCE", "LOG", "MAE", "MSE", "PhuberCE", "lmcl_risk", "upper_bound_losses"]

_PAPER = "Feng et al., ICML 2020"
_ASSUMES = "uniform sets"


def lmcl_risk(losses: Tensor, excluded: Tensor) -> Tensor:
    """Mean over labelled rows of Σ_{j ∉ Ȳ} L_j − ((q − 1 − s)/s) Σ_{j ∈ Ȳ} L_j, s = |Ȳ|.

    Examples
    --------
    >>> import torch
    >>> lmcl_risk(torch.tensor([[1.0, 2.0, 4.0]]), torch.tensor([[0.0, 0.0, 1.0]])).item()
    -1.0
    """
    size = excluded.sum(dim=1)
    outside = ((1 - excluded) * losses).sum(dim=1)
    inside = (excluded * losses).sum(dim=1)
    return _mean_of_labelled(outside - (losses.shape[1] - 1 - size) / size.clamp(min=1) * inside, size)


def upper_bound_losses(logits: Tensor, excluded: Tensor, kind: str) -> Tensor:
    """((q − 1)/s) e^{−Σ_{j ∉ Ȳ} p_j} or −((q − 1)/s) log Σ_{j ∉ Ȳ} p_j, of every row.

    Examples
    --------
    >>> import torch
    >>> upper_bound_losses(torch.zeros(1, 3), torch.tensor([[0.0, 0.0, 1.0]]), "log").item()
    0.81093...
    """
    possible = logits.masked_fill(excluded > 0, float("-inf")).logsumexp(dim=1) - logits.logsumexp(dim=1)
    scale = (logits.shape[1] - 1) / excluded.sum(dim=1).clamp(min=1)
    return scale * ((-possible.exp()).exp() if kind == "exp" else -possible)


def _mean_of_labelled(rows: Tensor, size: Tensor) -> Tensor:
    labelled = size > 0
    return (rows * labelled).sum() / labelled.sum().clamp(min=1)


class _Unbiased(Method):
    """The unbiased risk with a multi-class loss; rows without a label are left out."""

    loss_name: str

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """The unbiased risk."""
        return lmcl_risk(multiclass_loss(self.loss_name)(logits), batch.excluded)


class _UpperBound(Method):
    """A bound of half the unbiased risk with mean absolute error; rows without a label are left out."""

    kind: str

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """The mean bound."""
        rows = upper_bound_losses(logits, batch.excluded, self.kind)
        return _mean_of_labelled(rows, batch.excluded.sum(dim=1))


@register
class MAE(_Unbiased):
    """The unbiased risk with L = ‖p − e_j‖₁; bounded, equal to ((2q − 2)/s) Σ_{j ∈ Ȳ} p_j."""

    facts = MethodFacts("mae", "mean absolute error", _PAPER, _ASSUMES, accepts=("single", "multiple"))
    loss_name = "mae"


@register
class MSE(_Unbiased):
    """The unbiased risk with L = ‖p − e_j‖²."""

    facts = MethodFacts("mse", "mean squared error", _PAPER, _ASSUMES, accepts=("single", "multiple"))
    loss_name = "mse"


@register
class GCE(_Unbiased):
    """The unbiased risk with L = (1 − p_j^0.7)/0.7."""

    facts = MethodFacts("gce", "generalised cross-entropy", _PAPER, _ASSUMES, accepts=("single", "multiple"))
    loss_name = "gce"


@register
class PhuberCE(_Unbiased):
    """The unbiased risk with cross-entropy made linear below p = 1/10."""

    facts = MethodFacts(
        "phuber-ce", "Huberised cross-entropy", _PAPER, _ASSUMES, accepts=("single", "multiple")
    )
    loss_name = "phuber"


@register
class EXP(_UpperBound):
    """Mean ((q − 1)/s) e^{−Σ_{j ∉ Ȳ} p_j}."""

    facts = MethodFacts("exp", "exponential upper bound", _PAPER, _ASSUMES, accepts=("single", "multiple"))
    kind = "exp"


@register
class LOG(_UpperBound):
    """Mean −((q − 1)/s) log Σ_{j ∉ Ȳ} p_j."""

    facts = MethodFacts("log", "logarithmic upper bound", _PAPER, _ASSUMES, accepts=("single", "multiple"))
    kind = "log"
