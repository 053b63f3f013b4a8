"""Every loss as a pure function ``f(logits, excluded, *, …) -> Tensor``, for your own training loop.

``logits`` has shape (n, q): one row per example of the batch, one column per class. ``excluded`` has the same shape and is True
(or 1) where an example is known not to belong to a class; these are rows of `ComplementaryLabels.indicator`. The result is a
differentiable scalar, equal to the loss of the method in `scarce.methods` on the same batch. All other arguments are
keyword-only:

- ``priors`` π of shape (q,): the class priors;
- ``rates`` π̄ of shape (q,): the fraction of all training rows (not of the batch) that exclude each class;
- ``transition`` T of shape (q, q): T[y, k] = P(k is excluded | class y);
- ``confirmed`` of shape (n,): the true class of each row, −1 where it is unknown.

Some methods keep a state for every training row. Their functions take the state of the batch: `rc_loss` (RC, PRODEN, POP and
CAVL), `lws_loss` and `cvir_loss`.

Most models predict the class with the largest logit. Those trained with `cpe_loss`, `least_excluded_nll`, `vpu_loss`, `cvir_loss`
or `elkan_noto_loss` do not; the function says how to predict, and the method in `scarce.methods` does it.

Some parts of the methods need more than logits and labels, so they are not here: IDGP (a second network), mixup in VPU and
Dist-PU (mixed inputs), the thresholds of PUSB, and everything that is estimated during training: the priors and error rates of
`ScarLikelihood` and `AnswersLikelihood`, the matrix of `Refine`, and the mixture proportions of TEDn.

Every call checks its arguments, at the cost of a few element-wise operations on the batch. On a GPU, the program waits for the
device once per call to check ``excluded``, and once for every other tensor of the batch (``confirmed``, a state). Pass priors,
rates and matrices as lists, arrays or CPU tensors, because those on a GPU are copied back to be checked.
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
