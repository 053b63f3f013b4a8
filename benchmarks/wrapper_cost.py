"""Seconds per epoch with micro-batches, bf16 or compilation, relative to plain training.

    python benchmarks/wrapper_cost.py [--rows 60000] [--rounds 3] [--models mlp lenet]

`micro_batch` computes a batch of 256 in four micro-batches, which costs a second forward pass. `bf16` is autocast to 16
bits. `compile` compiles the network; the first epoch, which includes the compilation, is not counted. All take turns within
one process with one thread. The data are MNIST if the folder SCARCE_DATA contains `mnist/`, otherwise random bytes of the same
shape.
"""

import time
from dataclasses import replace
from statistics import median

import torch

from _common import make_parser, versions
from _data import Data, load
from scarce.methods import make_method
from scarce.models import make_model
from scarce.training import PAPER, Callback, Recipe, TrainingState, train

WRAPPERS = {
    "full": PAPER,
    "micro_batch=64": replace(PAPER, micro_batch=64),
    "bf16": replace(PAPER, precision="bf16"),
    "compile": replace(PAPER, compile=True),
}


class Stopwatch(Callback):
    """Record the end time of every epoch."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_epoch_end(self, state: TrainingState, record: dict[str, object]) -> None:
        self.ends.append(time.perf_counter())


def second_epoch(name: str, recipe: Recipe, data: Data) -> float:
    """Return the duration of the second epoch in seconds."""
    torch.manual_seed(0)
    stopwatch = Stopwatch()
    train(
        make_model(name, (28, 28), 10), make_method("scarce"), data.images, data.labels, replace(recipe, epochs=2),
        priors=[0.1] * 10, callbacks=[stopwatch],
    )  # fmt: skip
    return stopwatch.ends[1] - stopwatch.ends[0]


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--models", nargs="+", default=["mlp", "lenet"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    data = load(options.rows)
    print(
        f"{options.rows:,} rows of {data.source}, batch 256, one thread, {options.rounds} interleaved rounds; "
        f"{versions()}; medians"
    )
    for name in options.models:
        rounds = [
            {wrapper: second_epoch(name, recipe, data) for wrapper, recipe in WRAPPERS.items()}
            for _ in range(options.rounds)
        ]
        for wrapper in WRAPPERS:
            ratio = median(times[wrapper] / times["full"] for times in rounds)
            print(
                f"{name:8} {wrapper:16} {median(times[wrapper] for times in rounds):7.2f} s  {ratio:5.2f} × full",
                flush=True,
            )


if __name__ == "__main__":
    main()
