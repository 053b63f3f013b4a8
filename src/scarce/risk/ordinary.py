"""α R̂ + (1 − α) R̂ᴼ: mix the risk from complementary labels with that from ordinary labels, as in the SCARCE paper."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarce.labels import ComplementaryLabels


def ovr_ordinary_losses(losses: Tensor, negated_losses: Tensor, confirmed: Tensor) -> Tensor:
    """ℓ(f_y) + Σ_{k ≠ y} ℓ(−f_k) of every row, the one-versus-rest loss at the true class y.

    Parameters
    ----------
    losses, negated_losses : Tensor of shape (n, q)
        ℓ(f) and ℓ(−f).
    confirmed : Tensor of int, shape (n,)
        y; the result is meaningless where it is −1.

    Returns
    -------
    Tensor of shape (n,)

    See Also
    --------
    signed_losses : ℓ(f) and ℓ(−f).
    mix_with_ordinary : Ignores rows with y = −1.

    Examples
    --------
    >>> losses, negated_losses = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[10.0, 20.0, 30.0]])
    >>> ovr_ordinary_losses(losses, negated_losses, torch.tensor([1])).tolist()
    [42.0]
    """
    y = confirmed.clamp(min=0)[:, None]
    return (
        negated_losses.sum(dim=1, keepdim=True) - negated_losses.gather(1, y) + losses.gather(1, y)
    ).squeeze(1)


def multiclass_ordinary_losses(losses: Tensor, confirmed: Tensor) -> Tensor:
    """L(f, y) of every row, the multi-class loss at the true class y.

    Parameters
    ----------
    losses : Tensor of shape (n, q)
        L(f, k) of all classes k.
    confirmed : Tensor of int, shape (n,)
        y; the result is meaningless where it is −1.

    Returns
    -------
    Tensor of shape (n,)

    See Also
    --------
    mix_with_ordinary : Ignores rows with y = −1.

    Examples
    --------
    >>> multiclass_ordinary_losses(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([1])).tolist()
    [2.0]
    """
    return losses.gather(1, confirmed.clamp(min=0)[:, None]).squeeze(1)


def mix_with_ordinary(
    risk: Tensor, ordinary_losses: Tensor, confirmed: Tensor, weights: Tensor, alpha: float
) -> Tensor:
    """α R̂ + (1 − α) R̂ᴼ with R̂ᴼ = (1/n) Σ_{i confirmed} w_{y_i} loss_i, which is unbiased if w_y = 1 / P(confirmed | y) [1]_.

    Parameters
    ----------
    risk : Tensor of shape ()
        R̂, the risk from complementary labels.
    ordinary_losses : Tensor of shape (n,)
        The ordinary loss of every row at its confirmed class; ignored where there is none.
    confirmed : Tensor of int, shape (n,)
        The confirmed class, −1 where there is none.
    weights : Tensor of shape (q,)
        w, from `confirmation_weights`.
    alpha : float
        α, the weight of R̂, from 0 to 1.

    Returns
    -------
    Tensor of shape ()

    See Also
    --------
    ovr_ordinary_losses, multiclass_ordinary_losses : The losses of the rows.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> mix_with_ordinary(torch.tensor(1.0), torch.tensor([2.0, 9.0]), torch.tensor([0, -1]), torch.tensor([2.0, 2.0]), 0.5).item()
    1.5
    """
    weight = torch.where(confirmed >= 0, weights[confirmed.clamp(min=0)], weights.new_zeros(()))
    return alpha * risk + (1 - alpha) * (weight * ordinary_losses).mean()


def confirmation_weights(labels: ComplementaryLabels) -> NDArray[np.float64]:
    """w_y = 1 / P(confirmed | y), the weight of a confirmed example of each class.

    An example can only be confirmed as class y if it was asked about y. So with a table of answers, P(confirmed | y) is the
    fraction of examples asked about y. Without one, the confirmed examples are assumed to be a random sample.

    Parameters
    ----------
    labels : ComplementaryLabels
        Labels of n examples and q classes, some of them confirmed.

    Returns
    -------
    array of shape (q,)
        w; 0 for a class that cannot be confirmed.

    See Also
    --------
    mix_with_ordinary : Uses the weights.

    Examples
    --------
    >>> answers = {"example_id": [0, 1, 2, 3], "class_name": ["a", "a", "a", "b"], "answer": ["yes", "no", "no", "no"]}
    >>> confirmation_weights(ComplementaryLabels.from_answers(answers)).round(3).tolist()
    [1.333, 4.0]
    """
    if labels.answers is None:
        p_confirmed = np.full(labels.n_classes, (labels.confirmed >= 0).mean())
    else:
        answered = labels.answers.answer >= 0
        pairs = np.unique(
            np.stack([labels.answers.example[answered], labels.answers.class_index[answered]]), axis=1
        )
        p_confirmed = np.bincount(pairs[1], minlength=labels.n_classes) / labels.n_examples
    weights: NDArray[np.float64] = np.divide(
        1.0, p_confirmed, out=np.zeros(labels.n_classes), where=p_confirmed > 0
    )
    return weights
