"""SCARCE-Meta with nnPU: the PU risk with a non-negative correction."""

from typing import Any

from torch import Tensor

from scarce._validation import check_number, renamed_parameters
from scarce.methods.base import Batch, MethodFacts
from scarce.methods.meta.base import MixtureMethod
from scarce.methods.meta.upu import pu_risks
from scarce.methods.registry import register
from scarce.risk import ClassRisks, binary_loss, make_correction
from scarce.risk._mixture_proportion import Unlabeled


def nnpu_losses(
    g: Tensor,
    excluded: Tensor,
    mixture_proportion: Tensor,
    *,
    loss: str = "sigmoid",
    beta: float = 0.0,
    gamma: float = 1.0,
    unlabeled: Unlabeled = "all",
) -> Tensor:
    """r⁺ + r⁻ of every class if r⁻ ≥ −β, else −γ r⁻: gradient ascent on classes whose r⁻ is too low.

    r⁺ and r⁻ are those of `pu_risks`. The authors report r⁺ − β in place of −γ r⁻, which is not the value they minimize.

    Parameters
    ----------
    g, excluded, mixture_proportion, loss, unlabeled
        See `pu_risks`.
    beta : float
        β, how far below zero r⁻ may fall.
    gamma : float
        γ, the rate of the ascent.

    Returns
    -------
    Tensor of shape (q,)

    Examples
    --------
    >>> import torch
    >>> g, excluded = torch.tensor([[2.0], [-1.0]]), torch.tensor([[1.0], [0.0]])
    >>> nnpu_losses(g, excluded, torch.tensor([0.75]), loss="ramp", gamma=2.0).tolist()  # r⁻ = 0.5 − 0.75
    [0.5]
    """
    risks = pu_risks(g, excluded, mixture_proportion, loss=loss, unlabeled=unlabeled)
    ascend = make_correction("nnpu", beta=beta, gamma=gamma)
    # In `ClassRisks`, "positive" means "is k"; here it means "not k".
    return ascend(ClassRisks(positive=risks.negative, negative=risks.positive))


@register
@renamed_parameters(unlabelled="unlabeled")
class MetaNNPU(MixtureMethod):
    """Σ_k L_k with L_k = r⁺_k + r⁻_k if r⁻_k ≥ −β, else −γ r⁻_k.

    One non-negative PU risk [1]_ per class [2]_, with r⁺ and r⁻ of `pu_risks`. Where r⁻_k, the risk of the negatives, is too
    low, the step is gradient ascent on r⁻_k.

    Parameters
    ----------
    loss : str
        ℓ, one of `scarce.risk.BINARY_LOSSES`.
    beta : float
        β, how far below zero r⁻_k may fall.
    gamma : float
        γ, the rate of the ascent.
    unlabeled : {"all", "rest"}
        Which rows of a class are unlabeled: all rows, or only those that do not exclude it.
    **params
        The parameters of a subclass.

    See Also
    --------
    MetaUPU : The same risk without correction.
    MetaPUSB : nnPU with thresholds that match the priors.
    Scarce : The same risk with the absolute value as the correction.
    scarce.functional.nnpu_risk : The risk as a function.

    References
    ----------
    .. [1] R. Kiryo, G. Niu, M. C. du Plessis and M. Sugiyama, "Positive-Unlabeled Learning with Non-Negative Risk
       Estimator", NeurIPS 2017. https://arxiv.org/abs/1703.00593
    .. [2] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("meta-nnpu", loss="sigmoid").params["loss"]
    'sigmoid'
    """

    facts = MethodFacts(
        "meta-nnpu",
        "nnPU per class",
        "Kiryo et al., NeurIPS 2017",
        "SCAR",
        needs_priors=True,
        url="https://arxiv.org/abs/1703.00593",
    )

    def __init__(
        self, loss: str = "logistic", beta: float = 0.0, gamma: float = 1.0, unlabeled: Unlabeled = "all",
        **params: Any,
    ) -> None:  # fmt: skip
        super().__init__(unlabeled, loss=loss, beta=beta, gamma=gamma, **params)
        binary_loss(loss)  # checked now rather than at the first step
        check_number("beta", beta)
        check_number("gamma", gamma)
        self.loss_name, self.beta, self.gamma = loss, beta, gamma

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The non-negative risk of every class."""
        return nnpu_losses(
            g,
            batch.excluded,
            self.mixture_proportion,
            loss=self.loss_name,
            beta=self.beta,
            gamma=self.gamma,
            unlabeled=self.unlabeled,
        )
