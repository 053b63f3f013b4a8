"""Losses for several excluded classes per row, drawn uniformly: an unbiased risk, and upper bounds."""

from typing import Literal

from torch import Tensor

from scarce import risk
from scarce._validation import check_option
from scarce.functional._arguments import check_rows
from scarce.methods.multiple_labels import mean_over_labeled, multiple_label_losses, upper_bound_losses


def multiple_label_risk(logits: Tensor, excluded: Tensor, *, loss: str = "mae") -> Tensor:
    """Mean Σ_{j ∉ Ȳ} L_j − ((q − 1 − s)/s) Σ_{j ∈ Ȳ} L_j over the rows with s = |Ȳ| ≥ 1.

    An unbiased estimate of the ordinary risk E[L_y] if, given its size s, the set Ȳ of excluded classes is drawn uniformly from
    the wrong classes [1]_.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class.
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. Rows that exclude no class are ignored.
    loss : {"mae", "mse", "gce", "phuber", "cce"}
        The multi-class loss L, one of `scarce.risk.MULTICLASS_LOSSES`.

    Returns
    -------
    Tensor
        The risk, a scalar. With an unbounded loss such as ``cce`` it can become negative, and flexible models then overfit.

    See Also
    --------
    scarce.methods.MultipleLabelMAE, scarce.methods.MultipleLabelMSE, scarce.methods.MultipleLabelGCE,
    scarce.methods.MultipleLabelPhuberCE : The methods for `ScarceClassifier`.
    scarce.functional.multiple_label_bound : Upper bounds of this risk, which are never negative.

    References
    ----------
    .. [1] L. Feng, T. Kaneko, B. Han, G. Niu, B. An and M. Sugiyama, "Learning with Multiple Complementary Labels",
       ICML 2020. https://arxiv.org/abs/1912.12927

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import multiple_label_risk
    >>> round(multiple_label_risk(torch.zeros(1, 3), torch.tensor([[False, True, True]])).item(), 4)
    1.3333
    """
    logits, excluded = check_rows(logits, excluded)
    return mean_over_labeled(multiple_label_losses(risk.multiclass_loss(loss)(logits), excluded), excluded)


def multiple_label_bound(logits: Tensor, excluded: Tensor, *, kind: Literal["log", "exp"] = "log") -> Tensor:
    """Mean −((q − 1)/s) log Σ_{j ∉ Ȳ} p_j, or ((q − 1)/s) e^{−Σ_{j ∉ Ȳ} p_j}, over the rows with s = |Ȳ| ≥ 1.

    Ȳ is the set of excluded classes. Both are upper bounds of half of `multiple_label_risk` with ``loss="mae"`` [1]_.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f, one row per example and one column per class; p = softmax(f).
    excluded : Tensor of shape (n, q)
        ȳ: True or 1 where a class is excluded. Rows that exclude no class are ignored.
    kind : {"log", "exp"}
        ``log`` is the first formula, ``exp`` the second.

    Returns
    -------
    Tensor
        The loss, a scalar.

    See Also
    --------
    scarce.methods.MultipleLabelLog, scarce.methods.MultipleLabelExp : The methods for `ScarceClassifier`.
    scarce.functional.cc_loss : The logarithmic bound without the factor (q − 1)/s, as a mean over all rows.

    References
    ----------
    .. [1] L. Feng, T. Kaneko, B. Han, G. Niu, B. An and M. Sugiyama, "Learning with Multiple Complementary Labels",
       ICML 2020. https://arxiv.org/abs/1912.12927

    Examples
    --------
    >>> import torch
    >>> from scarce.functional import multiple_label_bound
    >>> round(multiple_label_bound(torch.zeros(1, 3), torch.tensor([[False, False, True]])).item(), 4)
    0.8109
    """
    check_option("kind", kind, ("log", "exp"))
    logits, excluded = check_rows(logits, excluded)
    return mean_over_labeled(upper_bound_losses(logits, excluded, kind), excluded)
