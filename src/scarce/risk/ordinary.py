"""Mix ordinary labels with complementary ones: α R̂ + (1 − α) R̂ᴼ, as in the paper's "Use of Ordinary-Label Data"."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scarce.labels import ComplementaryLabels

__all__ = ["confirmation_weights", "mix_with_ordinary", "multiclass_ordinary_losses", "ovr_ordinary_losses"]


def ovr_ordinary_losses(losses: Tensor, negated_losses: Tensor, confirmed: Tensor) -> Tensor:
    """ℓ(f_y) + Σ_{k ≠ y} ℓ(−f_k) of every row, from ℓ(f) and ℓ(−f) of shape (B, q); undefined where y = −1.

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
    """L(f, y) of every row, from L(f, k) of shape (B, q); undefined where y = −1.

    Examples
    --------
    >>> multiclass_ordinary_losses(torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([1])).tolist()
    [2.0]
    """
    return losses.gather(1, confirmed.clamp(min=0)[:, None]).squeeze(1)


def mix_with_ordinary(
    risk: Tensor, ordinary_losses: Tensor, confirmed: Tensor, weights: Tensor, alpha: float
) -> Tensor:
    """α R̂ + (1 − α) R̂ᴼ with R̂ᴼ = (1/B) Σ_{i confirmed} w_{y_i} · loss_i, unbiased when w_y = 1 / p(confirmed | y).

    Parameters
    ----------
    risk : Tensor
        R̂, the risk from complementary labels (a scalar).
    ordinary_losses : Tensor of shape (B,)
        The ordinary loss of every row at its confirmed class.
    confirmed : Tensor of int, shape (B,)
        The confirmed class, −1 where there is none.
    weights : Tensor of shape (q,)
        From `confirmation_weights`.
    alpha : float
        Weight of the complementary part.

    Examples
    --------
    >>> mix_with_ordinary(torch.tensor(1.0), torch.tensor([2.0, 9.0]), torch.tensor([0, -1]), torch.tensor([2.0, 2.0]), 0.5).item()
    1.5
    """
    weight = torch.where(confirmed >= 0, weights[confirmed.clamp(min=0)], weights.new_zeros(()))
    return alpha * risk + (1 - alpha) * (weight * ordinary_losses).mean()


def confirmation_weights(labels: ComplementaryLabels) -> NDArray[np.float64]:
    """Return one over the probability that an example of each class is confirmed.

    A "yes" to class k can only come where k was asked about, so with a table of answers it is one over the fraction
    of examples asked about k. Without one, the confirmed examples are assumed to be drawn at random.

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
