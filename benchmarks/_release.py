"""A training epoch in the pattern of the paper's release."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot, softplus
from torch.utils.data import DataLoader, TensorDataset

from _data import Data

__all__ = ["BATCH", "as_released", "released_loss"]

BATCH = 256


def released_loss(logits: Tensor, excluded: Tensor) -> Tensor:
    """|mean_X ℓ(f_k) − 0.9 mean_{N_k} ℓ(f_k)| + 0.9 mean_{N_k} ℓ(−f_k), summed over ten equally likely classes."""
    mask = one_hot(excluded.long(), 10).float()
    counts = mask.sum(dim=0)
    counts[counts == 0] = 1
    positive, negative = softplus(-logits), softplus(logits)
    corrected = positive.mean(dim=0) - 0.9 * (mask * positive).sum(dim=0) / counts
    return (corrected.abs() + 0.9 * (mask * negative).sum(dim=0) / counts).sum()


def as_released(model: nn.Module, data: Data) -> None:
    """Train for an epoch: items one by one, images converted to float at the start, both sets evaluated after the epoch."""
    images, test_images = (
        torch.from_numpy(part).float().div_(255) for part in (data.images, data.test_images)
    )
    y, test_y = torch.from_numpy(data.y), torch.from_numpy(data.test_y)
    excluded = torch.from_numpy(data.labels.indices.astype(np.float32))
    training = DataLoader(TensorDataset(images, excluded, y), batch_size=BATCH, shuffle=True)
    testing = DataLoader(TensorDataset(test_images, test_y), batch_size=BATCH)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, weight_decay=1e-5)
    model.train()
    for inputs, excluded_class, _ in training:
        loss = released_loss(model(inputs), excluded_class)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    for loader in (training, testing):
        sum((model(inputs).argmax(dim=1) == truth).sum().item() for inputs, *_, truth in loader)
