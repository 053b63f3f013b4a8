"""MNIST for the benchmarks, or random bytes of its shape."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scarce.datasets.mnist import load_mnist_like
from scarce.labels import ComplementaryLabels
from scarce.simulate import uniform

__all__ = ["Data", "load"]


@dataclass(frozen=True)
class Data:
    """Training and test images with their classes, and one complementary label per training image."""

    images: np.ndarray
    y: np.ndarray
    test_images: np.ndarray
    test_y: np.ndarray
    labels: ComplementaryLabels
    source: str

    @classmethod
    def make(
        cls, images: np.ndarray, y: np.ndarray, test_images: np.ndarray, test_y: np.ndarray, source: str
    ) -> "Data":
        return cls(
            images, y.astype(np.int64), test_images, test_y.astype(np.int64), uniform(y, classes=10), source
        )

    def first(self, rows: int) -> "Data":
        return Data.make(
            self.images[:rows], self.y[:rows], self.test_images[:rows], self.test_y[:rows], self.source
        )


def load(rows: int) -> Data:
    folder = os.environ.get("SCARCE_DATA")
    if folder and (Path(folder) / "mnist").exists():
        images, y, test_images, test_y = load_mnist_like(Path(folder) / "mnist")
        return Data.make(images[:rows], y[:rows], test_images, test_y, "MNIST")
    rng = np.random.default_rng(0)
    n_test = max(1, rows // 6)
    pixels = rng.integers(0, 256, (rows + n_test, 28, 28), dtype=np.uint8)
    y = rng.integers(0, 10, rows + n_test)
    return Data.make(pixels[:rows], y[:rows], pixels[rows:], y[rows:], "random bytes of MNIST's shape")
