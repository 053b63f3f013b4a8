"""Positive-unlabelled learning, the parts that SCARCE-Meta and the estimation of priors are built from.

For class k the "positives" are the rows N_k that exclude it: they are known to be *not k*. A score g_k is high for
"not k", so the predicted class is the one with the lowest g_k. Every learner gives one loss per class, of shape (q,).
"""

from scarce.pu.best_bin import BestBinResult, best_bin
from scarce.pu.cvir import cvir_kept, cvir_losses
from scarce.pu.dist_pu import binary_entropy, dist_pu_losses, entropy_weight, mixed_losses
from scarce.pu.elkan_noto import elkan_noto_losses, label_frequency, not_k_posterior
from scarce.pu.nnpu import nnpu_losses
from scarce.pu.pusb import pusb_thresholds
from scarce.pu.sets import Unlabeled, check_unlabeled, class_means, unlabeled_rows
from scarce.pu.shares import positive_share, priors_from_share
from scarce.pu.upu import PURisks, pu_risks, upu_losses
from scarce.pu.vpu import log_not_k, vpu_losses, vpu_mixup_losses

__all__ = [
    "BestBinResult",
    "PURisks",
    "Unlabeled",
    "best_bin",
    "binary_entropy",
    "check_unlabeled",
    "class_means",
    "cvir_kept",
    "cvir_losses",
    "dist_pu_losses",
    "elkan_noto_losses",
    "entropy_weight",
    "label_frequency",
    "log_not_k",
    "mixed_losses",
    "nnpu_losses",
    "not_k_posterior",
    "positive_share",
    "priors_from_share",
    "pu_risks",
    "pusb_thresholds",
    "unlabeled_rows",
    "upu_losses",
    "vpu_losses",
    "vpu_mixup_losses",
]
