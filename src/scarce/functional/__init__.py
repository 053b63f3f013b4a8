"""Every loss as a pure function ``f(logits, excluded, *, …) -> Tensor``, for your own training loop.

``logits`` has the shape (n, q): n examples, q classes. ``excluded`` has the same shape, True (or 1) where an example is known
not to be of a class (`ComplementaryLabels.indicator`). The result is a scalar with a gradient; it equals the loss of the
method in `scarce.methods` on the same batch. All other arguments are keywords:

- ``priors`` π of shape (q,): the class priors;
- ``rates`` π̄ of shape (q,): the fractions of all training rows, not of the batch, that exclude each class;
- ``transition`` T of shape (q, q): T[y, k] = P(k is excluded | class y);
- ``confirmed`` of shape (n,): the true class of rows where it is known, −1 elsewhere.

A loss with a state for every training row takes that of the batch as a keyword: `rc_loss` (RC, PRODEN, POP, CAVL),
`lws_loss` and `cvir_loss`. Not included, as they need more than logits and labels: IDGP (a second network), mixup in VPU
and Dist-PU (mixed inputs), and what methods learn during training (priors and error rates of the SCAR likelihood,
answers, Refine and TEDn). CPE, least-excluded, VPU, CVIR, PUSB and Elkan-Noto do not predict the class of the largest logit; the
function says how to predict, or the method in `scarce.methods` does it.
"""

from scarce.functional._candidates import cc_loss, lws_loss, rc_loss
from scarce.functional._likelihood import (
    answers_nll,
    class_conditional_nll,
    least_excluded_nll,
    scar_nll,
    single_label_nll,
)
from scarce.functional._multiple_labels import multiple_label_bound, multiple_label_risk
from scarce.functional._positive_unlabeled import (
    cvir_loss,
    dist_pu_loss,
    elkan_noto_loss,
    nnpu_risk,
    upu_risk,
    vpu_loss,
)
from scarce.functional._scarce import multiclass_scarce_risk, scarce_risk
from scarce.functional._single_label import (
    cpe_loss,
    discriminative_loss,
    exponential_surrogate_loss,
    forward_loss,
    negative_learning_loss,
    order_preserving_loss,
)
from scarce.functional._unbiased import free_risk, ga_risk, nn_risk, pc_loss

__all__ = [
    "scarce_risk",
    "multiclass_scarce_risk",
    "pc_loss",
    "free_risk",
    "nn_risk",
    "ga_risk",
    "discriminative_loss",
    "order_preserving_loss",
    "forward_loss",
    "negative_learning_loss",
    "exponential_surrogate_loss",
    "cpe_loss",
    "multiple_label_risk",
    "multiple_label_bound",
    "cc_loss",
    "rc_loss",
    "lws_loss",
    "upu_risk",
    "nnpu_risk",
    "vpu_loss",
    "dist_pu_loss",
    "cvir_loss",
    "elkan_noto_loss",
    "scar_nll",
    "class_conditional_nll",
    "single_label_nll",
    "least_excluded_nll",
    "answers_nll",
]
