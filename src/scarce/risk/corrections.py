"""Risk corrections: P_k estimates a risk that is never negative, but the estimate can be.

Each maps the `ClassRisks` P_k and Q_k to one term per class, of shape (q,); the corrected risk is their sum.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from scarce._validation import check_option
from scarce.errors import MethodError
from scarce.risk.class_risks import ClassRisks

Correction = Callable[[ClassRisks], Tensor]


def uncorrected(risks: ClassRisks) -> Tensor:
    """P_k + Q_k, which is unbiased, but unbounded below, so flexible models overfit."""
    return risks.positive + risks.negative


def leaky(risks: ClassRisks, slope: float) -> Tensor:
    """max(0, P_k) + λ min(0, P_k) + Q_k with a slope λ ≤ 0; the gradient of the first two terms at P_k = 0 is zero."""
    return torch.relu(risks.positive) - slope * torch.relu(-risks.positive) + risks.negative


def absolute(risks: ClassRisks) -> Tensor:
    """|P_k| + Q_k, the correction of SCARCE; equals `leaky` with λ = −1."""
    return risks.positive.abs() + risks.negative


def non_negative(risks: ClassRisks) -> Tensor:
    """max(0, P_k) + Q_k."""
    return torch.relu(risks.positive) + risks.negative


def ascent(risks: ClassRisks, beta: float, gamma: float) -> Tensor:
    """P_k + Q_k if P_k ≥ −β, else −γ P_k: gradient ascent on P_k."""
    violated = risks.positive < -beta
    return torch.where(violated, -gamma * risks.positive, risks.positive + risks.negative)


CORRECTIONS: dict[str, Callable[..., Tensor]] = {
    "none": uncorrected,
    "abs": absolute,
    "relu": non_negative,
    "leaky": leaky,
    "nnpu": ascent,
}


_PARAMETERS = {"leaky": ("slope",), "nnpu": ("beta", "gamma")}


def make_correction(name: str, *, slope: float = -0.1, beta: float = 0.0, gamma: float = 1.0) -> Correction:
    """Return the correction of that name: ``abs``, ``relu`` and ``leaky`` are from [1]_, ``nnpu`` is from [2]_.

    Parameters
    ----------
    name : {"none", "abs", "relu", "leaky", "nnpu"}
        A key of `CORRECTIONS`.
    slope : float
        λ ≤ 0 of ``leaky``.
    beta, gamma : float
        β and γ, the threshold and the weight of the gradient ascent of ``nnpu``.

    Returns
    -------
    callable
        The correction; maps `ClassRisks` to a tensor of shape (q,).

    Raises
    ------
    MethodError
        If the name is unknown, or the slope is positive.

    See Also
    --------
    class_risks : The risks to correct.
    scarce_risk : Takes a correction by name, or one returned by this function.

    References
    ----------
    .. [1] N. Lu, T. Zhang, G. Niu and M. Sugiyama, "Mitigating Overfitting in Supervised Classification from Two Unlabeled
       Datasets: A Consistent Risk Correction Approach", AISTATS 2020. https://arxiv.org/abs/1910.08974
    .. [2] R. Kiryo, G. Niu, M. C. du Plessis and M. Sugiyama, "Positive-Unlabeled Learning with Non-Negative Risk Estimator",
       NeurIPS 2017. https://arxiv.org/abs/1703.00593

    Examples
    --------
    >>> risks = ClassRisks(torch.tensor([-1.0, 2.0]), torch.tensor([0.5, 0.5]))
    >>> make_correction("abs")(risks).tolist(), make_correction("leaky", slope=-0.5)(risks).tolist()
    ([1.5, 2.5], [1.0, 2.5])
    """
    check_option("correction", name, CORRECTIONS)
    if slope > 0:
        raise MethodError(f"slope={slope} is positive; expected at most 0: pass slope={-slope}.")
    given = {"slope": slope, "beta": beta, "gamma": gamma}
    return partial(CORRECTIONS[name], **{key: given[key] for key in _PARAMETERS.get(name, ())})
