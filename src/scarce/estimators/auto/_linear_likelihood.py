"""Linear models trained by the likelihood of the labels, with full-batch L-BFGS."""

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from torch import Tensor

from scarce._validation import check_option
from scarce.models import Linear

Start = Literal["soft", "soft3", "zero"]
Vector = NDArray[np.float64]
Objective = Callable[[Vector], tuple[float, Vector]]

_SOFT_ITERATIONS = 60
_SOFT_TOLERANCE, _TOLERANCE = 1e-4, 1e-6  # of the loss, relative; features are float32


def linear_objective(X: Any, log_likelihood: Tensor, C: float, *, soft: bool = False) -> Objective:
    """Return a function from the flat parameters (W, b), W of shape (d, q), to the loss and its gradient.

    With f = X W + b and p = softmax(f),

        loss = −Σ_i log Σ_y p_iy e^{E_iy} + ‖W‖² / 2C,     ∂loss/∂f = p − softmax(f + E),

    without a penalty on b. With `soft` the loss is the cross-entropy with the target t = softmax(E) instead, which is convex:
    ∂loss/∂f = p − t.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The features; a sparse matrix stays sparse.
    log_likelihood : tensor of shape (n, q)
        E, the log-likelihood of the labels of row i given class y.
    C : float
        Inverse regularization strength, as in scikit-learn.
    soft : bool
        Use the convex loss.

    Examples
    --------
    >>> X, log_likelihood = np.eye(2), torch.tensor([[0.0, -30.0], [-30.0, 0.0]])
    >>> loss, gradient = linear_objective(X, log_likelihood, C=1.0)(np.zeros(6))
    >>> round(loss, 4), gradient[:4].round(2).tolist()  # 2 log 2
    (1.3863, [-0.5, 0.5, 0.5, -0.5])
    """
    d, q = X.shape[1], log_likelihood.shape[1]
    transposed = X.T.tocsr() if sparse.issparse(X) else X.T
    log_likelihood = torch.from_numpy(log_likelihood.numpy().astype(X.dtype))
    target = torch.softmax(log_likelihood, dim=1)

    def evaluate(flat: Vector) -> tuple[float, Vector]:
        weights, bias = flat[:-q].reshape(d, q), flat[-q:]
        # The product is NumPy's: torch is several times slower for matrices with few columns.
        f = torch.from_numpy(X @ weights.astype(X.dtype) + bias.astype(X.dtype))
        log_p = torch.log_softmax(f, dim=1)
        if soft:
            losses, known = -(target * log_p).sum(dim=1), target
        else:
            joint = log_p + log_likelihood
            losses = -joint.logsumexp(dim=1)
            known = joint.add_(losses[:, None]).exp_()
        residual = log_p.exp_().sub_(known).numpy()
        loss = float(losses.double().sum() + (weights**2).sum() / (2 * C))
        slope = (transposed @ residual).astype(np.float64) + weights / C
        return loss, np.concatenate([slope.ravel(), residual.sum(axis=0, dtype=np.float64)])

    return evaluate


def fit_linear(
    X: Any, log_likelihood: Tensor, C: float, start: Start = "soft", *, iterations: int = 150
) -> Linear:
    """Return the linear model that minimizes `linear_objective`, from one of three starting points.

    The loss has local minima. ``"soft"`` starts from the minimum of the convex loss, ``"soft3"`` from three times its weights
    (better for features of small norm), and ``"zero"`` from zero.

    Examples
    --------
    >>> X = np.array([[-1.0], [-2.0], [1.0], [2.0]], np.float32)
    >>> not_the_second, not_the_first = [0.0, -30.0], [-30.0, 0.0]
    >>> model = fit_linear(X, torch.tensor([not_the_second] * 2 + [not_the_first] * 2), C=1.0)
    >>> model(torch.from_numpy(X)).argmax(dim=1).tolist()
    [0, 0, 1, 1]
    """
    check_option("start", start, get_args(Start))
    d, q = X.shape[1], log_likelihood.shape[1]
    flat = np.zeros((d + 1) * q)
    if start != "zero":
        convex = linear_objective(X, log_likelihood, C, soft=True)
        flat = _minimize(convex, flat, _SOFT_ITERATIONS, _SOFT_TOLERANCE)
        if start == "soft3":
            flat[: d * q] *= 3
    flat = _minimize(linear_objective(X, log_likelihood, C), flat, iterations, _TOLERANCE)
    model = Linear((d,), q)
    with torch.no_grad():
        model.output.weight.copy_(torch.from_numpy(flat[: d * q].reshape(d, q).T))
        model.output.bias.copy_(torch.from_numpy(flat[d * q :]))
    return model.requires_grad_(False)


def _minimize(objective: Objective, flat: Vector, iterations: int, tolerance: float) -> Vector:
    options = {"maxiter": iterations, "ftol": tolerance, "gtol": 1e-4}
    solution: Vector = minimize(objective, flat, jac=True, method="L-BFGS-B", options=options).x
    return solution
