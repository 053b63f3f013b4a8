"""Nyström features: an approximate feature map of the Gaussian kernel."""

from typing import Self

import torch
from torch import Tensor, nn

_RANK_TOLERANCE = 1e-5  # eigenvalues below this fraction of the largest count as zero


class NystroemFeatures(nn.Module):
    """φ(x) = k(x, Z) K^(−1/2) with k(x, z) = exp(−γ ‖x − z‖²) and K = k(Z, Z), for m landmarks Z [1]_.

    A linear model of φ(x) is a kernel machine whose solution lies in the span of the landmarks.

    Parameters
    ----------
    landmarks : Tensor of shape (m, d)
        Z, the landmarks.
    gamma : Tensor of shape ()
        γ, the coefficient of the kernel.
    whitening : Tensor of shape (m, m)
        K^(−1/2).

    See Also
    --------
    sklearn.kernel_approximation.Nystroem : The same for NumPy arrays.

    References
    ----------
    .. [1] C. K. I. Williams and M. Seeger, "Using the Nyström Method to Speed Up Kernel Machines", NIPS 2000.

    Examples
    --------
    >>> landmarks = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> features = NystroemFeatures.from_landmarks(landmarks, gamma=0.5)
    >>> outputs = features(landmarks)
    >>> torch.allclose(outputs @ outputs.T, torch.exp(-0.5 * torch.cdist(landmarks, landmarks) ** 2), atol=1e-5)
    True
    """

    landmarks: Tensor
    gamma: Tensor
    whitening: Tensor

    def __init__(self, landmarks: Tensor, gamma: Tensor, whitening: Tensor) -> None:
        super().__init__()
        self.register_buffer("landmarks", landmarks)
        self.register_buffer("gamma", gamma)
        self.register_buffer("whitening", whitening)

    @classmethod
    def from_landmarks(cls, landmarks: Tensor, gamma: float) -> Self:
        """Make the layer from landmarks of shape (m, d) and γ.

        K^(−1/2) is computed in float64, without the directions whose eigenvalue is zero up to rounding.
        """
        points = landmarks.double()
        kernel = torch.exp(-gamma * _squared_distances(points, points))
        values, vectors = torch.linalg.eigh(kernel)
        kept = values > _RANK_TOLERANCE * values.max()
        roots = torch.where(kept, values.clamp(min=_RANK_TOLERANCE).rsqrt(), 0.0)
        whitening = (vectors * roots) @ vectors.T
        return cls(landmarks, landmarks.new_tensor(gamma), whitening.to(landmarks))

    def forward(self, inputs: Tensor) -> Tensor:
        """Return features of shape (n, m) from inputs of shape (n, d)."""
        return torch.exp(-self.gamma * _squared_distances(inputs, self.landmarks)) @ self.whitening


def _squared_distances(one: Tensor, other: Tensor) -> Tensor:
    squares = (one**2).sum(dim=1, keepdim=True) + (other**2).sum(dim=1)
    return (squares - 2 * one @ other.T).clamp(min=0)
