"""CIFAR-10 with labels as people give them, drawn from how they erred on CLCIFAR-10."""

import numpy as np

from scarce.datasets._files import Found
from scarce.datasets.cifar import read_cifar10
from scarce.datasets.image_dataset import Parts
from scarce.simulate import human

__all__ = ["read_human_cifar10"]

_PEOPLE = 3


def read_human_cifar10(found: Found) -> Parts:
    """Return CIFAR-10 with three draws per training image from the human matrix; always the same ones."""
    parts = read_cifar10(found)
    said = [human(parts.y_train, source="clcifar10", draws=1, seed=seed).indices for seed in range(_PEOPLE)]
    return parts._replace(annotations=np.stack(said, axis=1).astype(np.int64))
