"""The paper's mathematics as pure functions on tensors."""

from scarce.risk.binary import BINARY_LOSSES, binary_loss, both_sides
from scarce.risk.corrections import CORRECTIONS, make_correction
from scarce.risk.multiclass import MULTICLASS_LOSSES, multiclass_loss
from scarce.risk.ordinary import (
    confirmation_weights,
    mix_with_ordinary,
    multiclass_ordinary_losses,
    ovr_ordinary_losses,
)
from scarce.risk.parts import ClassSums, RiskParts, class_sums, risk_parts
from scarce.risk.scarce import multiclass_scarce_risk, scarce_risk

__all__ = [
    "BINARY_LOSSES",
    "CORRECTIONS",
    "MULTICLASS_LOSSES",
    "ClassSums",
    "RiskParts",
    "binary_loss",
    "both_sides",
    "class_sums",
    "confirmation_weights",
    "make_correction",
    "mix_with_ordinary",
    "multiclass_loss",
    "multiclass_ordinary_losses",
    "multiclass_scarce_risk",
    "ovr_ordinary_losses",
    "risk_parts",
    "scarce_risk",
]
