"""Laplace's approximation of a density: a normal distribution around its mode."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from scarce._arrays import FloatArray

_T_DEGREES_OF_FREEDOM = 4.0  # of Student's t distribution
_MIN_CURVATURE = 1e-3  # lower limit of the eigenvalues of the Hessian


class Normal(NamedTuple):
    """A normal distribution around the mode of a density.

    Attributes
    ----------
    mean : Tensor of shape (d,)
        The mode.
    scaled_directions : Tensor of shape (d, d)
        A square root of the covariance, one eigenvector times its standard deviation per row.
    log_evidence : float
        The logarithm of the integral of the density, up to (d / 2) log 2π.
    """

    mean: Tensor
    scaled_directions: Tensor
    log_evidence: float

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw points of shape (n, d) from Student's t distribution, because its heavier tails cover skewed densities better."""
        t_samples = rng.standard_normal((n, len(self.mean))) / np.sqrt(
            rng.chisquare(_T_DEGREES_OF_FREEDOM, (n, 1)) / _T_DEGREES_OF_FREEDOM
        )
        return (self.mean + torch.from_numpy(t_samples) @ self.scaled_directions).numpy()


def laplace(loss: Callable[[Tensor], Tensor], start: Tensor) -> Normal:
    """Approximate the density exp(−loss) by a normal distribution around its mode, with the inverse Hessian as covariance.

    Examples
    --------
    >>> found = laplace(lambda x: ((x - 3) ** 2).sum() / 8, torch.zeros(1, dtype=torch.float64))
    >>> found.mean.round(decimals=3).tolist(), found.scaled_directions.abs().round(decimals=3).tolist()
    ([3.0], [[2.0]])
    """
    if not len(start):
        return Normal(start, torch.empty(0, 0), -loss(start).item())
    mode = minimize_lbfgs(loss, start)
    hessian: Tensor = torch.autograd.functional.hessian(loss, mode, vectorize=True)  # type: ignore[no-untyped-call]
    eigenvalues, eigenvectors = torch.linalg.eigh((hessian + hessian.T) / 2)
    eigenvalues = eigenvalues.clamp(min=_MIN_CURVATURE)
    log_evidence = -loss(mode).item() - float(eigenvalues.log().sum()) / 2
    return Normal(mode, eigenvalues.rsqrt()[:, None] * eigenvectors.T, log_evidence)


def minimize_lbfgs(loss: Callable[[Tensor], Tensor], start: Tensor) -> Tensor:
    """Return the minimizer of a loss, of shape (d,), found by L-BFGS.

    Examples
    --------
    >>> minimize_lbfgs(lambda x: (x**2).sum(), torch.ones(2, dtype=torch.float64)).abs().max().item() < 1e-6
    True
    """

    def value_and_gradient(theta: FloatArray) -> tuple[float, FloatArray]:
        point = torch.from_numpy(theta).requires_grad_()
        value = loss(point)
        (gradient,) = torch.autograd.grad(value, point)
        return value.item(), gradient.numpy()

    found = minimize(value_and_gradient, start.numpy(), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return torch.from_numpy(found.x)


def sigmoid(log_odds: float) -> float:
    """1 / (1 + e^−z), the probability with log-odds z.

    Examples
    --------
    >>> sigmoid(0.0)
    0.5
    """
    return float(1 / (1 + np.exp(np.clip(-log_odds, -700, 700))))


def mean_penalty(theta: Tensor) -> Tensor:
    """Return a penalty on the mean of logits of shape (d,), which their softmax does not determine."""
    return theta.mean() ** 2 / 2 if len(theta) else theta.sum()
