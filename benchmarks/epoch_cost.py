"""Seconds per epoch of `scarce.training.train`, of a bare loop, and of a loop like that of the paper's release.

    python benchmarks/epoch_cost.py [--rows 60000] [--rounds 5] [--models mlp lenet]

(a) a bare loop with cross-entropy on true labels and batches gathered by index: the practical limit;
(b) `scarce.training.train` with the method `scarce`;
(c) the pattern of the paper's release: a `DataLoader` that reads a `TensorDataset` item by item, the release's loss, and
    a full evaluation of training and test data after every epoch.

All three use the same model, batch size and optimizer, one thread, and take turns within one process. The data are MNIST if
the folder SCARCE_DATA contains `mnist/`, otherwise random bytes of the same shape.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot, softplus
from torch.utils.data import DataLoader, TensorDataset

from _common import make_parser, peak_megabytes, versions
from scarce.datasets.mnist import load_mnist_like
from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.models import make_model
from scarce.simulate import uniform
from scarce.training import PAPER, train

BATCH = 256


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


def bare_loop(model: nn.Module, data: Data) -> None:
    """(a): only gather, forward, backward, step."""
    images, y = torch.from_numpy(data.images), torch.from_numpy(data.y)
    optimizer = PAPER.make_optimizer(list(model.parameters()))
    model.train()
    for index in torch.randperm(len(images)).split(BATCH):
        loss = cross_entropy(model(images[index].float().div_(255)), y[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def with_scarce(model: nn.Module, data: Data) -> None:
    """(b): one epoch of `scarce.training.train`."""
    train(model, make_method("scarce"), data.images, data.labels, replace(PAPER, epochs=1), priors=[0.1] * 10)


def released_loss(logits: Tensor, excluded: Tensor) -> Tensor:
    """|mean_X ℓ(f_k) − 0.9 mean_{N_k} ℓ(f_k)| + 0.9 mean_{N_k} ℓ(−f_k), summed over ten equally likely classes."""
    mask = one_hot(excluded.long(), 10).float()
    counts = mask.sum(dim=0)
    counts[counts == 0] = 1
    positive, negative = softplus(-logits), softplus(logits)
    corrected = positive.mean(dim=0) - 0.9 * (mask * positive).sum(dim=0) / counts
    return (corrected.abs() + 0.9 * (mask * negative).sum(dim=0) / counts).sum()


def as_released(model: nn.Module, data: Data) -> None:
    """(c): items one by one, images converted to float at the start, both sets evaluated after the epoch."""
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


VARIANTS: dict[str, Callable[[nn.Module, Data], None]] = {
    "a": bare_loop,
    "b": with_scarce,
    "c": as_released,
}


def seconds(variant: str, model_name: str, data: Data) -> float:
    torch.manual_seed(0)
    model = make_model(model_name, (28, 28), 10)
    started = time.perf_counter()
    VARIANTS[variant](model, data)
    return time.perf_counter() - started


def measure_time(data: Data, models: list[str], rounds: int, console: Console) -> None:
    table = Table(title="Seconds per epoch: median of the rounds, then the median ratio within a round")
    for column in ("model", "(a) bare loop", "(b) scarce", "(c) release's pattern", "(b)/(a)", "(c)/(b)"):
        table.add_column(column, justify="left" if column == "model" else "right")
    for name in models:
        for variant in VARIANTS:
            seconds(variant, name, data.first(2048))  # warm up
        runs = [{variant: seconds(variant, name, data) for variant in VARIANTS} for _ in range(rounds)]
        middle = {variant: f"{median(run[variant] for run in runs):.2f}" for variant in VARIANTS}
        ratios = [
            f"{median(run[over] / run[under] for run in runs):.2f}"
            for over, under in (("b", "a"), ("c", "b"))
        ]
        table.add_row(name, *middle.values(), *ratios)
    console.print(table)


def measure_memory(rows: int) -> None:
    """Print the peak memory before and after one epoch of (b); runs in a separate process."""
    data = load(rows)
    with_scarce(make_model("mlp", (28, 28), 10), data.first(512))
    before = peak_megabytes()
    with_scarce(make_model("mlp", (28, 28), 10), data)
    print(f"{data.images.nbytes / 2**20:.0f} {before:.0f} {peak_megabytes():.0f}")


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", nargs="+", default=["mlp", "lenet"], choices=["linear", "mlp", "lenet"])
    parser.add_argument("--memory-of", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.memory_of:
        return measure_memory(options.memory_of)
    console = Console(width=100)
    data = load(options.rows)
    console.print(
        f"{len(data.images):,} rows of {data.source}, batch {BATCH}, one thread, {options.rounds} interleaved rounds; "
        f"{versions()}"
    )
    measure_time(data, options.models, options.rounds, console)
    for rows in (options.rows // 2, options.rows):
        command = [sys.executable, __file__, "--memory-of", str(rows)]
        images, before, after = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.split()
        console.print(
            f"peak memory of (b), mlp, {rows:,} rows: {after} MB in all; {before} MB with the data ({images} MB of images) "
            f"loaded and training started, so the epoch adds {int(after) - int(before)} MB"
        )
    return None


if __name__ == "__main__":
    main()
