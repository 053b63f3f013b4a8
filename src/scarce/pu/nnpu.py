"""nnPU: the risk that must not go negative (Kiryo et al., 2017)."""

from torch import Tensor

from scarce.pu.sets import Unlabeled
from scarce.pu.upu import pu_risks
from scarce.risk import RiskParts, make_correction

__all__ = ["nnpu_losses"]


def nnpu_losses(
    g: Tensor,
    excluded: Tensor,
    share: Tensor,
    *,
    loss: str = "sigmoid",
    beta: float = 0.0,
    gamma: float = 1.0,
    unlabeled: Unlabeled = "all",
) -> Tensor:
    """Return r⁺ + r⁻ of every class while r⁻ ≥ −β, and else −γ r⁻: a class that has fallen too low only climbs back.

    r⁺, r⁻ and the other parameters are those of `scarce.pu.pu_risks`. In place of −γ r⁻ the authors report r⁺ − β,
    which is not what they minimise.

    Examples
    --------
    >>> import torch
    >>> g, excluded = torch.tensor([[2.0], [-1.0]]), torch.tensor([[1.0], [0.0]])
    >>> nnpu_losses(g, excluded, torch.tensor([0.75]), loss="ramp", gamma=2.0).tolist()  # r⁻ = 0.5 − 0.75
    [0.5]
    """
    risks = pu_risks(g, excluded, share, loss=loss, unlabeled=unlabeled)
    ascend = make_correction("nnpu", beta=beta, gamma=gamma)
    return ascend(
        RiskParts(positive=risks.negative, negative=risks.positive)
    )  # there, "positive" means "is k"
