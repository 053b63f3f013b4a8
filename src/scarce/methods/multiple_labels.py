"""Losses for several complementary labels under uniform sets: unbiased risks, and two upper bounds."""

from typing import Any

from torch import Tensor

from scarce.methods.base import Batch, Method, MethodFacts
from scarce.methods.partial_label import candidate_losses
from scarce.methods.registry import register
from scarce.risk import multiclass_loss


def multiple_label_losses(losses: Tensor, excluded: Tensor) -> Tensor:
    """Σ_{j ∉ Ȳ} L_j − ((q − 1 − s)/s) Σ_{j ∈ Ȳ} L_j of every row, with Ȳ the excluded classes and s = |Ȳ|.

    Parameters
    ----------
    losses : Tensor of shape (n, q)
        L_j, the loss of every row if its class were j.
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a class is excluded, in the dtype of the losses.

    Returns
    -------
    Tensor of shape (n,)

    Examples
    --------
    >>> import torch
    >>> multiple_label_losses(torch.tensor([[1.0, 2.0, 4.0]]), torch.tensor([[0.0, 0.0, 1.0]])).item()
    -1.0
    """
    size = excluded.sum(dim=1)
    outside = ((1 - excluded) * losses).sum(dim=1)
    inside = (excluded * losses).sum(dim=1)
    return outside - (losses.shape[1] - 1 - size) / size.clamp(min=1) * inside


def upper_bound_losses(logits: Tensor, excluded: Tensor, kind: str) -> Tensor:
    """((q − 1)/s) e^{−Σ_{j ∉ Ȳ} p_j} or −((q − 1)/s) log Σ_{j ∉ Ȳ} p_j of every row, with p = softmax(f) and s = |Ȳ|.

    Both are upper bounds of half the unbiased loss with mean absolute error.

    Parameters
    ----------
    logits : Tensor of shape (n, q)
        f.
    excluded : Tensor of shape (n, q)
        ȳ, 1 for the excluded classes Ȳ.
    kind : {"exp", "log"}
        Which of the two.

    Returns
    -------
    Tensor of shape (n,)

    Examples
    --------
    >>> import torch
    >>> upper_bound_losses(torch.zeros(1, 3), torch.tensor([[0.0, 0.0, 1.0]]), "log").item()
    0.81093...
    """
    losses = candidate_losses(logits, excluded == 0)
    scale = (logits.shape[1] - 1) / excluded.sum(dim=1).clamp(min=1)
    return scale * ((-(-losses).exp()).exp() if kind == "exp" else losses)


def mean_over_labeled(losses: Tensor, excluded: Tensor) -> Tensor:
    """Return the mean of the losses, of shape (n,), over the rows that exclude some class; 0 if there are none.

    Examples
    --------
    >>> import torch
    >>> mean_over_labeled(torch.tensor([2.0, 5.0]), torch.tensor([[0.0, 1.0], [0.0, 0.0]])).item()
    2.0
    """
    labeled = excluded.sum(dim=1) > 0
    return (losses * labeled).sum() / labeled.sum().clamp(min=1)


class _MultipleLabelMethod(Method):
    """Mean loss of the rows that exclude some class; a subclass passes its name, title and kind of loss."""

    kind: str

    def __init_subclass__(cls, *, name: str = "", title: str = "", kind: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if name:
            cls.facts = MethodFacts(
                name,
                title,
                "Feng et al., ICML 2020",
                "uniform sets",
                accepts=("single", "multiple"),
                url="https://arxiv.org/abs/1912.12927",
            )
            cls.kind = kind

    def row_losses(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """Return the unbiased loss of every row, of shape (n,), with a multi-class loss L."""
        return multiple_label_losses(multiclass_loss(self.kind)(logits), excluded)

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Mean loss of the labeled rows."""
        return mean_over_labeled(self.row_losses(logits, batch.excluded), batch.excluded)


class _UpperBoundMethod(_MultipleLabelMethod):
    """Mean of an upper bound of half the unbiased loss with mean absolute error."""

    def row_losses(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """Return the bound of every row, of shape (n,)."""
        return upper_bound_losses(logits, excluded, self.kind)


@register
class MultipleLabelMAE(_MultipleLabelMethod, name="mae", title="mean absolute error", kind="mae"):
    """mean [ Σ_{j ∉ Ȳ} L_j − ((q − 1 − s)/s) Σ_{j ∈ Ȳ} L_j ] with L_j = ‖p − e_j‖₁, Ȳ the excluded classes and s = |Ȳ|.

    The unbiased risk for uniform label sets [1]_ with the mean absolute error, which is robust to label noise [2]_. The
    loss is bounded and equals ((2q − 2)/s) Σ_{j ∈ Ȳ} p_j.

    See Also
    --------
    MultipleLabelMSE, MultipleLabelGCE, MultipleLabelPhuberCE : The same risk with other losses.
    MultipleLabelExp, MultipleLabelLog : Upper bounds of half this loss.
    scarce.functional.multiple_label_risk : The risk as a function.

    References
    ----------
    .. [1] L. Feng, T. Kaneko, B. Han, G. Niu, B. An and M. Sugiyama, "Learning with Multiple Complementary Labels",
       ICML 2020. https://arxiv.org/abs/1912.12927
    .. [2] A. Ghosh, H. Kumar and P. S. Sastry, "Robust Loss Functions under Label Noise for Deep Neural Networks", AAAI
       2017. https://arxiv.org/abs/1712.09482

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("mae")
    MultipleLabelMAE()
    """


@register
class MultipleLabelMSE(_MultipleLabelMethod, name="mse", title="mean squared error", kind="mse"):
    """mean [ Σ_{j ∉ Ȳ} L_j − ((q − 1 − s)/s) Σ_{j ∈ Ȳ} L_j ] with L_j = ‖p − e_j‖², Ȳ the excluded classes and s = |Ȳ|.

    The unbiased risk for uniform label sets [1]_ with the squared error.

    See Also
    --------
    MultipleLabelMAE, MultipleLabelGCE, MultipleLabelPhuberCE : The same risk with other losses.
    scarce.functional.multiple_label_risk : The risk as a function.

    References
    ----------
    .. [1] L. Feng, T. Kaneko, B. Han, G. Niu, B. An and M. Sugiyama, "Learning with Multiple Complementary Labels",
       ICML 2020. https://arxiv.org/abs/1912.12927

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("mse")
    MultipleLabelMSE()
    """


@register
class MultipleLabelGCE(_MultipleLabelMethod, name="gce", title="generalized cross-entropy", kind="gce"):
    """mean [ Σ_{j ∉ Ȳ} L_j − ((q − 1 − s)/s) Σ_{j ∈ Ȳ} L_j ] with L_j = (1 − p_j^0.7)/0.7, Ȳ the excluded classes and s = |Ȳ|.

    The unbiased risk for uniform label sets [1]_ with the generalized cross-entropy [2]_.

    See Also
    --------
    MultipleLabelMAE, MultipleLabelMSE, MultipleLabelPhuberCE : The same risk with other losses.
    scarce.functional.multiple_label_risk : The risk as a function.

    References
    ----------
    .. [1] L. Feng, T. Kaneko, B. Han, G. Niu, B. An and M. Sugiyama, "Learning with Multiple Complementary Labels",
       ICML 2020. https://arxiv.org/abs/1912.12927
    .. [2] Z. Zhang and M. R. Sabuncu, "Generalized Cross Entropy Loss for Training Deep Neural Networks with Noisy Labels",
       NeurIPS 2018. https://arxiv.org/abs/1805.07836

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("gce")
    MultipleLabelGCE()
    """


@register
class MultipleLabelPhuberCE(
    _MultipleLabelMethod, name="phuber-ce", title="Huberized cross-entropy", kind="phuber"
):
    """mean [ Σ_{j ∉ Ȳ} L_j − ((q − 1 − s)/s) Σ_{j ∈ Ȳ} L_j ], L_j = −log p_j, linear in p_j below 1/10.

    The unbiased risk for uniform label sets [1]_ with the partially Huberized cross-entropy [2]_. Ȳ are the excluded
    classes and s = |Ȳ|.

    See Also
    --------
    MultipleLabelMAE, MultipleLabelMSE, MultipleLabelGCE : The same risk with other losses.
    scarce.functional.multiple_label_risk : The risk as a function.

    References
    ----------
    .. [1] L. Feng, T. Kaneko, B. Han, G. Niu, B. An and M. Sugiyama, "Learning with Multiple Complementary Labels",
       ICML 2020. https://arxiv.org/abs/1912.12927
    .. [2] A. K. Menon, A. S. Rawat, S. J. Reddi and S. Kumar, "Can Gradient Clipping Mitigate Label Noise?", ICLR 2020.
       https://openreview.net/forum?id=rklB76EKPr

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("phuber-ce")
    MultipleLabelPhuberCE()
    """


@register
class MultipleLabelExp(_UpperBoundMethod, name="exp", title="exponential upper bound", kind="exp"):
    """mean ((q − 1)/s) e^{−Σ_{j ∉ Ȳ} p_j}, Ȳ the excluded classes and s = |Ȳ|.

    Raises the total probability of the classes that are not excluded [1]_. The loss is an upper bound of half of
    `MultipleLabelMAE`.

    See Also
    --------
    MultipleLabelLog : The logarithmic bound.
    SurrogateExponential : A similar loss for one label per example.
    scarce.functional.multiple_label_bound : The loss as a function.

    References
    ----------
    .. [1] L. Feng, T. Kaneko, B. Han, G. Niu, B. An and M. Sugiyama, "Learning with Multiple Complementary Labels",
       ICML 2020. https://arxiv.org/abs/1912.12927

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("exp")
    MultipleLabelExp()
    """


@register
class MultipleLabelLog(_UpperBoundMethod, name="log", title="logarithmic upper bound", kind="log"):
    """mean −((q − 1)/s) log Σ_{j ∉ Ȳ} p_j, Ȳ the excluded classes and s = |Ȳ|.

    Maximizes the total probability of the classes that are not excluded [1]_. The loss is an upper bound of half of
    `MultipleLabelMAE`.

    See Also
    --------
    MultipleLabelExp : The exponential bound.
    ClassifierConsistent : The same loss without the weight (q − 1)/s.
    scarce.functional.multiple_label_bound : The loss as a function.

    References
    ----------
    .. [1] L. Feng, T. Kaneko, B. Han, G. Niu, B. An and M. Sugiyama, "Learning with Multiple Complementary Labels",
       ICML 2020. https://arxiv.org/abs/1912.12927

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("log")
    MultipleLabelLog()
    """
