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
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median

import torch
from rich.console import Console
from rich.table import Table
from torch import nn
from torch.nn.functional import cross_entropy

from _common import make_parser, peak_megabytes, versions
from _data import Data, load
from _release import BATCH, as_released
from scarce.methods import make_method
from scarce.models import make_model
from scarce.training import PAPER, train


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
