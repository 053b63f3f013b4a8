"""Laplace's approximation: a density around its mode as a normal distribution."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from scarce._arrays import FloatArray

__all__ = ["Normal", "hold", "laplace", "minimum", "probability"]

_TAILS = 4.0  # degrees of freedom of Student's t
_FLAT = 1e-3  # curvature below which a direction counts as this flat


class Normal(NamedTuple):
    """A normal distribution around the mode of a density.

    Attributes
    ----------
    mean : tensor of shape (d,)
        The mode.
    scaled_directions : tensor of shape (d, d)
        A square root of the covariance: its rows are eigenvectors times standard deviations.
    log_evidence : float
        The logarithm of the integral of the density, up to (d / 2) log 2π.
    """

    mean: Tensor
    scaled_directions: Tensor
    log_evidence: float

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw n points with the tails of Student's t: densities that are skewed lie partly beyond those of a normal one."""
        heavier = rng.standard_normal((n, len(self.mean))) / np.sqrt(rng.chisquare(_TAILS, (n, 1)) / _TAILS)
        return (self.mean + torch.from_numpy(heavier) @ self.scaled_directions).numpy()


def laplace(loss: Callable[[Tensor], Tensor], start: Tensor) -> Normal:
    """Approximate the density exp(−loss): around its mode, with the inverse of the Hessian as covariance.

    Examples
    --------
    >>> found = laplace(lambda x: ((x - 3) ** 2).sum() / 8, torch.zeros(1, dtype=torch.float64))
    >>> found.mean.round(decimals=3).tolist(), found.scaled_directions.abs().round(decimals=3).tolist()
    ([3.0], [[2.0]])
    """
    if not len(start):
        return Normal(start, torch.empty(0, 0), -loss(start).item())
    mode = minimum(loss, start)
    hessian: Tensor = torch.autograd.functional.hessian(loss, mode, vectorize=True)  # type: ignore[no-untyped-call]
    sizes, directions = torch.linalg.eigh((hessian + hessian.T) / 2)
    sizes = sizes.clamp(min=_FLAT)
    evidence = -loss(mode).item() - float(sizes.log().sum()) / 2
    return Normal(mode, sizes.rsqrt()[:, None] * directions.T, evidence)


def minimum(loss: Callable[[Tensor], Tensor], start: Tensor) -> Tensor:
    """Return the point where a loss is smallest, by L-BFGS.

    Examples
    --------
    >>> minimum(lambda x: (x**2).sum(), torch.ones(2, dtype=torch.float64)).abs().max().item() < 1e-6
    True
    """

    def with_slope(theta: FloatArray) -> tuple[float, FloatArray]:
        point = torch.from_numpy(theta).requires_grad_()
        value = loss(point)
        (slope,) = torch.autograd.grad(value, point)
        return value.item(), slope.numpy()

    found = minimize(with_slope, start.numpy(), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return torch.from_numpy(found.x)


def probability(log_odds: float) -> float:
    """Return the probability of something with these log-odds.

    Examples
    --------
    >>> probability(0.0)
    0.5
    """
    return float(1 / (1 + np.exp(np.clip(-log_odds, -700, 700))))


def hold(theta: Tensor) -> Tensor:
    """Return a penalty that holds in place what a softmax leaves free: the mean of its arguments."""
    return theta.mean() ** 2 / 2 if len(theta) else theta.sum()
