"""Risk corrections: what to do with an estimate of P_k that is negative, though P_k is not.

Each takes the `ClassRisks` of all classes and returns one term per class; the terms are summed.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from scarce._validation import check_option
from scarce.errors import MethodError
from scarce.risk.class_risks import ClassRisks

__all__ = ["CORRECTIONS", "Correction", "make_correction"]

Correction = Callable[[ClassRisks], Tensor]


def uncorrected(risks: ClassRisks) -> Tensor:
    """P_k + N_k part: unbiased, unbounded below, overfits."""
    return risks.positive + risks.negative


def leaky(risks: ClassRisks, slope: float) -> Tensor:
    """max(0, P_k) + λ min(0, P_k) + N_k part, with slope λ ≤ 0; the gradient at P_k = 0 is zero."""
    return torch.relu(risks.positive) - slope * torch.relu(-risks.positive) + risks.negative


def absolute(risks: ClassRisks) -> Tensor:
    """|P_k| + N_k part: SCARCE."""
    return risks.positive.abs() + risks.negative


def non_negative(risks: ClassRisks) -> Tensor:
    """max(0, P_k) + N_k part."""
    return torch.relu(risks.positive) + risks.negative


def ascent(risks: ClassRisks, beta: float, gamma: float) -> Tensor:
    """P_k + N_k part while P_k ≥ −β, else −γ P_k alone: a violating class only ascends."""
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
    """Return the correction of that name; `slope` belongs to ``leaky``, `beta` and `gamma` to ``nnpu``.

    Examples
    --------
    >>> risks = ClassRisks(torch.tensor([-1.0, 2.0]), torch.tensor([0.5, 0.5]))
    >>> make_correction("abs")(risks).tolist(), make_correction("leaky", slope=-0.5)(risks).tolist()
    ([1.5, 2.5], [1.0, 2.5])
    """
    check_option("correction", name, CORRECTIONS)
    if slope > 0:
        raise MethodError(f"slope={slope} is positive; a leaky correction takes a slope of at most 0.")
    given = {"slope": slope, "beta": beta, "gamma": gamma}
    return partial(CORRECTIONS[name], **{key: given[key] for key in _PARAMETERS.get(name, ())})
