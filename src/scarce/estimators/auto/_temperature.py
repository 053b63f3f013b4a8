"""Temperature scaling by the likelihood of held-out labels: a network that is too sure of itself is made less so."""

import copy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

_TEMPERATURES = 2.0 ** (np.arange(13) / 4)


def best_temperature(probabilities: NDArray[np.float64], log_likelihood: Tensor) -> float:
    """Return the T ≥ 1 that maximizes Σ_i log Σ_y p_iy(T) e^{E_iy}, where p(T) is proportional to p^{1/T}.

    Parameters
    ----------
    probabilities : array of shape (n, q)
        p, predictions for rows that the network was not trained on.
    log_likelihood : Tensor of shape (n, q)
        E, of the labels of these rows.

    Returns
    -------
    float
        T, one of 1, 2^¼, 2^½, …, 8.

    Examples
    --------
    >>> p = np.array([[0.99, 0.01]] * 4)
    >>> excluded = torch.tensor([[0.0, -9.0], [0.0, -9.0], [0.0, -9.0], [-9.0, 0.0]])  # one prediction in four is wrong
    >>> best_temperature(p, excluded).__round__(2), scaled(p, 4.0)[0].round(2).tolist()
    (4.0, [0.76, 0.24])
    """
    totals = [
        torch.logsumexp(torch.from_numpy(np.log(scaled(probabilities, T))) + log_likelihood, dim=1).sum()
        for T in _TEMPERATURES
    ]
    return float(_TEMPERATURES[int(torch.stack(totals).argmax())])


def scaled(probabilities: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Return p^{1/T}, normalized."""
    log_p = np.log(np.maximum(probabilities, 1e-12)) / temperature
    p: NDArray[np.float64] = torch.softmax(torch.from_numpy(log_p), dim=1).numpy()
    return p


def with_temperature(model: nn.Module, temperature: float) -> nn.Module:
    """Return a copy of a network whose logits are divided by T, which scales its last linear layer.

    Examples
    --------
    >>> network = nn.Sequential(nn.Linear(2, 3))
    >>> x = torch.ones(1, 2)
    >>> torch.allclose(with_temperature(network, 2.0)(x), network(x) / 2)
    True
    """
    scaled_model = copy.deepcopy(model)
    last = [module for module in scaled_model.modules() if isinstance(module, nn.Linear)][-1]
    with torch.no_grad():
        for parameter in last.parameters():
            parameter.div_(temperature)
    return scaled_model
