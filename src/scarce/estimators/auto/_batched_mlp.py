"""Train small networks for all folds and mechanisms together, as one batched network.

A step is so small that overhead dominates. Forward pass, gradient and AdamW are therefore about twenty batched operations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, pi, sqrt
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from scarce.models import MLP

_BATCH_SIZE = 128
_MIN_EPOCHS = 10  # on large data, where the given number of steps would be fewer epochs
_BETAS, _EPS = (0.9, 0.999), 1e-8  # of Adam


@dataclass(frozen=True, eq=False)
class Task:
    """What one model is trained on: the indices of its rows, and the log-likelihoods E of all n rows, of shape (n, q)."""

    rows: NDArray[np.int64]
    log_likelihood: Tensor


@dataclass(frozen=True)
class MLPSettings:
    """How a network is trained: by AdamW, with a learning rate that falls to zero along a cosine.

    Attributes
    ----------
    hidden : int
        Number of hidden ReLU units.
    noise : float
        Standard deviation of the Gaussian noise that is added to the inputs at every step.
    warm_up : float
        Fraction of the steps, from the first on, that use the convex loss: the cross-entropy with the target softmax(E).
    steps : int
        Number of steps of 128 rows; large data get more, for at least ten epochs.
    dropout : float
        Dropout probability of the hidden units.
    learning_rate, weight_decay : float
        Settings of AdamW.
    """

    hidden: int = 128
    noise: float = 0.0
    warm_up: float = 0.0
    steps: int = 400
    dropout: float = 0.5
    learning_rate: float = 1e-2
    weight_decay: float = 1e-2


def fit_mlps(
    X: Any,
    tasks: Sequence[Task],
    settings: Sequence[MLPSettings],
    *,
    seed: int = 0,
    dtype: torch.dtype = torch.float32,
) -> list[MLP]:
    """Train one network per task, all in parallel, with the loss −mean log Σ_y p_y e^{E_y} over a batch of its rows.

    All networks share their initial weights, noise, dropout masks and the random numbers that pick rows. They therefore differ
    only because of their tasks and settings, and no network depends on which others are trained with it.

    Parameters
    ----------
    X : tensor or sparse matrix of shape (n, d)
        The features.
    tasks : sequence of m Task
        The rows and log-likelihoods of each network.
    settings : sequence of m MLPSettings
        How to train each network; only `noise` and `warm_up` may differ.
    seed : int
        Random seed.
    dtype : torch.dtype
        Floating-point type of weights and features.

    Returns
    -------
    list of m MLP
        The trained networks, frozen.

    Examples
    --------
    >>> X = torch.tensor([[-1.0], [-2.0], [1.0], [2.0]])
    >>> log_likelihood = torch.tensor([[0.0, -30.0]] * 2 + [[-30.0, 0.0]] * 2)
    >>> (model,) = fit_mlps(X, [Task(np.arange(4), log_likelihood)], [MLPSettings(steps=20)])
    >>> model(X).argmax(dim=1).tolist()
    [0, 0, 1, 1]
    """
    common, sizes = settings[0], (X.shape[1], settings[0].hidden, tasks[0].log_likelihood.shape[1])
    steps = [max(common.steps, ceil(_MIN_EPOCHS * len(task.rows) / _BATCH_SIZE)) for task in tasks]
    random = torch.Generator().manual_seed(seed)
    flat = _initial_weights(sizes, random, dtype).repeat(len(tasks), 1)
    gradient = torch.zeros_like(flat)
    weights, gradients = _views(flat, sizes), _views(gradient, sizes)
    moments = torch.zeros_like(flat), torch.zeros_like(flat)
    batches = _Batches(X, tasks, dtype)
    noise = torch.tensor([setting.noise for setting in settings], dtype=dtype)[:, None, None]
    lengths = torch.tensor(steps, dtype=dtype)[:, None]
    warm = torch.tensor([setting.warm_up for setting in settings], dtype=dtype)[:, None] * lengths
    for step in range(max(steps)):
        u = torch.rand(_BATCH_SIZE, generator=random, dtype=torch.float64)
        inputs, log_likelihood, target = batches.take(u)
        inputs += noise * torch.randn(_BATCH_SIZE, sizes[0], generator=random, dtype=dtype)
        kept = torch.rand(_BATCH_SIZE, sizes[1], generator=random, dtype=dtype) >= common.dropout
        is_soft = (step < warm)[:, :, None]
        mlp_gradient(weights, inputs, log_likelihood, target, is_soft, kept / (1 - common.dropout), gradients)
        rates = common.learning_rate * (1 + torch.cos(pi * (step / lengths).clamp(max=1))) / 2
        _adamw_step(flat, gradient, moments, step + 1, rates, common.weight_decay)
    return [_make_mlp([weight[index] for weight in weights]) for index in range(len(tasks))]


def mlp_gradient(
    weights: Sequence[Tensor],
    inputs: Tensor,
    log_likelihood: Tensor,
    target: Tensor,
    is_soft: Tensor,
    kept: Tensor,
    out: Sequence[Tensor],
) -> None:
    """Write the gradients of m networks, each with its own batch, to `out`.

    With h = relu(x W₁ + b₁) · kept, f = h W₂ + b₂ and p = softmax(f), the gradient with respect to f is that of
    `scarce.estimators.auto._linear_likelihood.linear_objective`, (p − softmax(f + E)) / B, or (p − t) / B for the convex loss.

    Parameters
    ----------
    weights, out : four tensors of shape (m, d, h), (m, 1, h), (m, h, q), (m, 1, q)
        W₁, b₁, W₂, b₂, and where to write their gradients.
    inputs : tensor of shape (m, B, d)
        x.
    log_likelihood, target : tensors of shape (m, B, q)
        E, and t = softmax(E).
    is_soft : tensor of shape (m, 1, 1)
        Which networks use the convex loss.
    kept : tensor of shape (B, h)
        The dropout mask, scaled.
    """
    hidden = torch.baddbmm(weights[1], inputs, weights[0]).relu_().mul_(kept)
    f = torch.baddbmm(weights[3], hidden, weights[2])
    known = torch.where(is_soft, target, torch.softmax(f + log_likelihood, dim=2))
    residual = torch.softmax(f, dim=2).sub_(known).div_(inputs.shape[1])
    torch.bmm(hidden.mT, residual, out=out[2])
    torch.sum(residual, dim=1, keepdim=True, out=out[3])
    hidden_gradient = torch.bmm(residual, weights[2].mT).mul_(kept).mul_(hidden > 0)
    torch.bmm(inputs.mT, hidden_gradient, out=out[0])
    torch.sum(hidden_gradient, dim=1, keepdim=True, out=out[1])


class _Batches:
    """Read the features, log-likelihoods and targets of random rows of every task."""

    def __init__(self, X: Any, tasks: Sequence[Task], dtype: torch.dtype) -> None:
        self.X, self.dtype = X if sparse.issparse(X) else X.to(dtype), dtype
        self.rows = [torch.from_numpy(task.rows) for task in tasks]
        by_id = {id(task.log_likelihood): task.log_likelihood.to(dtype) for task in tasks}
        self.log_likelihood = torch.stack(list(by_id.values()))
        self.target = torch.softmax(self.log_likelihood, dim=2)
        self.task_index = torch.tensor([list(by_id).index(id(task.log_likelihood)) for task in tasks])[
            :, None
        ]

    def take(self, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return features (m, B, d), log-likelihoods and targets (m, B, q) of row ⌊u · size⌋ of every task, for B numbers u."""
        rows = torch.stack([rows[(u * len(rows)).long()] for rows in self.rows])
        if sparse.issparse(self.X):
            dense = torch.from_numpy(self.X[rows.flatten().numpy()].toarray()).to(self.dtype)
            inputs = dense.view(*rows.shape, -1)
        else:
            inputs = self.X[rows]
        return inputs, self.log_likelihood[self.task_index, rows], self.target[self.task_index, rows]


def _initial_weights(sizes: tuple[int, int, int], random: torch.Generator, dtype: torch.dtype) -> Tensor:
    """Return W₁, b₁, W₂, b₂ as one vector, uniform in ± 1/√fan-in as in `torch.nn.Linear`."""
    weights = [
        (torch.rand(rows * fan_out, generator=random, dtype=dtype) * 2 - 1) / sqrt(fan_in)
        for fan_in, fan_out in (sizes[:2], sizes[1:])
        for rows in (fan_in, 1)
    ]
    return torch.cat(weights)


def _views(flat: Tensor, sizes: tuple[int, int, int]) -> list[Tensor]:
    """Return W₁, b₁, W₂, b₂ of all networks, of shape (m, …), as views of their flat vectors."""
    d, h, q = sizes
    shapes = (d, h), (1, h), (h, q), (1, q)
    pieces = torch.split(flat, [rows * columns for rows, columns in shapes], dim=1)
    return [piece.view(len(flat), *shape) for piece, shape in zip(pieces, shapes, strict=True)]


def _adamw_step(
    flat: Tensor, gradient: Tensor, moments: tuple[Tensor, Tensor], step: int, rates: Tensor, decay: float
) -> None:
    """w ← w (1 − rate · decay) − rate · m̂ / (√v̂ + ε), with the bias-corrected moments m̂ and v̂ of the gradient."""
    first, second = moments
    first.lerp_(gradient, 1 - _BETAS[0])
    second.mul_(_BETAS[1]).addcmul_(gradient, gradient, value=1 - _BETAS[1])
    scale = (second / (1 - _BETAS[1] ** step)).sqrt_().add_(_EPS)
    flat.mul_(1 - rates * decay)
    flat.sub_(rates / (1 - _BETAS[0] ** step) * first / scale)


def _make_mlp(weights: Sequence[Tensor]) -> MLP:
    first, first_bias, second, second_bias = weights
    model = MLP((len(first),), second.shape[1], len(second)).to(first.dtype)
    with torch.no_grad():
        model.hidden.weight.copy_(first.T)
        model.hidden.bias.copy_(first_bias[0])
        model.output.weight.copy_(second.T)
        model.output.bias.copy_(second_bias[0])
    return model.requires_grad_(False)
