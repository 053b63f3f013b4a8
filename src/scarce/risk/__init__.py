"""Risks and likelihoods as pure functions on tensors: the mathematics that methods share.

They are building blocks for your own methods. For a loss in your own training loop, see `scarce.functional`. Everywhere, n is the
number of rows and q the number of classes.
"""

from scarce.risk._mixture_proportion import BestBinResult, best_bin, mixture_proportion, priors_from_mixture
from scarce.risk.answer_likelihood import answer_log_likelihood
from scarce.risk.binary_losses import BINARY_LOSSES, binary_loss, signed_losses
from scarce.risk.class_conditional import (
    class_conditional_log_likelihood,
    estimate_exclusion_matrix,
    estimate_scar_strength,
    single_label_log_likelihood,
    single_label_transition,
)
from scarce.risk.class_risks import ClassRisks, ClassSums, class_risks, class_sums
from scarce.risk.corrections import CORRECTIONS, make_correction
from scarce.risk.likelihood import clamp_confirmed, marginal_nll, posterior, safe_log
from scarce.risk.multiclass_losses import MULTICLASS_LOSSES, multiclass_loss
from scarce.risk.ordinary import (
    confirmation_weights,
    mix_with_ordinary,
    multiclass_ordinary_losses,
    ovr_ordinary_losses,
)
from scarce.risk.scar_likelihood import (
    LogRatios,
    exclusion_probabilities,
    scar_log_likelihood,
    scar_ratios,
    single_label_ratios,
    single_label_weights,
)
from scarce.risk.scarce_risk import multiclass_scarce_risk, scarce_risk

__all__ = [
    "BestBinResult",
    "best_bin",
    "mixture_proportion",
    "priors_from_mixture",
    "BINARY_LOSSES",
    "CORRECTIONS",
    "MULTICLASS_LOSSES",
    "ClassSums",
    "LogRatios",
    "ClassRisks",
    "answer_log_likelihood",
    "binary_loss",
    "class_sums",
    "class_conditional_log_likelihood",
    "clamp_confirmed",
    "confirmation_weights",
    "marginal_nll",
    "exclusion_probabilities",
    "estimate_exclusion_matrix",
    "safe_log",
    "make_correction",
    "mix_with_ordinary",
    "multiclass_loss",
    "multiclass_ordinary_losses",
    "multiclass_scarce_risk",
    "single_label_log_likelihood",
    "single_label_ratios",
    "single_label_transition",
    "signed_losses",
    "single_label_weights",
    "ovr_ordinary_losses",
    "posterior",
    "class_risks",
    "scar_log_likelihood",
    "scar_ratios",
    "estimate_scar_strength",
    "scarce_risk",
]
