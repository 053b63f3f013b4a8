"""Nyström features against the exact kernel."""

import torch

from scarce.models import NystroemFeatures


def test_nystroem_is_exact_on_landmarks_with_duplicates():
    points = torch.randn(8, 3)
    points[5] = points[2]
    features = NystroemFeatures.from_landmarks(points, gamma=0.2)(points)
    kernel = torch.exp(-0.2 * torch.cdist(points, points) ** 2)
    assert torch.allclose(features @ features.T, kernel, atol=1e-3)
