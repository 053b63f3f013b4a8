"""The paper's mathematics as pure functions on tensors."""

from scarce.risk.answer_likelihood import answer_evidence
from scarce.risk.binary_losses import BINARY_LOSSES, binary_loss, both_sides
from scarce.risk.class_conditional import (
    conditional_evidence,
    implied_chances,
    one_mark_evidence,
    one_mark_transition,
    scar_weight,
)
from scarce.risk.class_risks import ClassSums, RiskParts, class_sums, risk_parts
from scarce.risk.corrections import CORRECTIONS, make_correction
from scarce.risk.likelihood import confirm, evidence_losses, log_chance, posterior
from scarce.risk.multiclass_losses import MULTICLASS_LOSSES, multiclass_loss
from scarce.risk.ordinary import (
    confirmation_weights,
    mix_with_ordinary,
    multiclass_ordinary_losses,
    ovr_ordinary_losses,
)
from scarce.risk.scar_likelihood import (
    LogRatios,
    exclusion_chances,
    one_mark_ratios,
    one_mark_weights,
    scar_evidence,
    scar_ratios,
)
from scarce.risk.scarce_risk import multiclass_scarce_risk, scarce_risk

__all__ = [
    "BINARY_LOSSES",
    "CORRECTIONS",
    "MULTICLASS_LOSSES",
    "ClassSums",
    "LogRatios",
    "RiskParts",
    "answer_evidence",
    "binary_loss",
    "both_sides",
    "class_sums",
    "conditional_evidence",
    "confirm",
    "confirmation_weights",
    "evidence_losses",
    "exclusion_chances",
    "implied_chances",
    "log_chance",
    "make_correction",
    "mix_with_ordinary",
    "multiclass_loss",
    "multiclass_ordinary_losses",
    "multiclass_scarce_risk",
    "one_mark_evidence",
    "one_mark_ratios",
    "one_mark_transition",
    "one_mark_weights",
    "ovr_ordinary_losses",
    "posterior",
    "risk_parts",
    "scar_evidence",
    "scar_ratios",
    "scar_weight",
    "scarce_risk",
]
