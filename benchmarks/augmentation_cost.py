"""Time of one training step with augmentation, relative to the same step without.

    python benchmarks/augmentation_cost.py [--rounds 15] [--steps 20]

A step augments a batch of random images of the shape of MNIST, and then computes the forward pass, SCARCE's loss, the backward
pass and the optimizer, with one thread. The augmentations take turns within every round. The result is the median, over rounds,
of the ratio to the plain step in the same round. `affine by affine_grid` draws the same maps, but torch's `affine_grid` computes
the grid.
"""

import math
import time
from collections.abc import Callable
from statistics import median

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from _common import make_parser, versions
from scarce.methods import Batch, Problem, make_method
from scarce.models import make_model
from scarce.simulate import uniform
from scarce.training import PAPER
from scarce.training._augmentation import augment

Q, SIDE, N_CHUNKS = 10, 28, 8
GOALS = {"mlp": 1.3, "lenet": 1.1}
AUGMENTATIONS = [(), ("crop",), ("flip",), ("shift",), ("affine",), ("affine", "flip")]
BY_AFFINE_GRID = "affine by affine_grid"
Step = Callable[[], None]


def affine_by_affine_grid(images: Tensor) -> Tensor:
    """Return what `random_affine` does, computed with torch's `affine_grid`."""
    angle, scale, shear, down, right = 2 * torch.rand(5, len(images)) - 1
    angle, scale, shear = math.radians(14) * angle, 1 + 0.1 * scale, 0.15 * shear
    cos, sin = angle.cos() / scale, angle.sin() / scale
    inverse = torch.stack([cos + shear * sin, sin - shear * cos, -sin, cos]).T.view(-1, 2, 2)
    offset = -inverse @ (0.2 * torch.stack([right, down])).T[:, :, None]
    grid = affine_grid(torch.cat([inverse, offset], dim=2), (len(images), 1, SIDE, SIDE), align_corners=False)
    return grid_sample(images[:, None], grid, padding_mode="border", align_corners=False)[:, 0]


def make_step(module: str, batch_size: int, change: Callable[[Tensor], Tensor]) -> Step:
    """Return a training step with SCARCE on changed images; it takes another batch every time."""
    torch.manual_seed(0)
    images = torch.rand(N_CHUNKS, batch_size, SIDE, SIDE)
    labels = uniform([row % Q for row in range(batch_size)], classes=Q)
    excluded, index = torch.from_numpy(labels.indicator()).float(), torch.arange(batch_size)
    model, method = make_model(module, (SIDE, SIDE), Q), make_method("scarce")
    method.prepare(Problem(labels, torch.full((Q,), 1 / Q), None, None))
    method.float()
    optimizer = PAPER.make_optimizer(list(model.parameters()))
    chunk = 0

    def step() -> None:
        nonlocal chunk
        chunk = (chunk + 1) % N_CHUNKS
        batch = Batch(change(images[chunk]), excluded, index)
        loss = method.loss(model(batch.inputs), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def make_steps(module: str, batch_size: int) -> dict[str, Step]:
    """Return one training step for every augmentation."""
    steps = {
        " and ".join(names) or "none": make_step(
            module, batch_size, lambda images, names=names: augment(images, names)
        )
        for names in AUGMENTATIONS
    }
    return steps | {BY_AFFINE_GRID: make_step(module, batch_size, affine_by_affine_grid)}


def seconds(step: Step, steps: int) -> float:
    started = time.perf_counter()
    for _ in range(steps):
        step()
    return (time.perf_counter() - started) / steps


def add_rows(table: Table, module: str, batch_size: int, n_rounds: int, n_steps: int) -> None:
    """Measure a network and a batch size, and add a row for every augmentation."""
    steps = make_steps(module, batch_size)
    for step in steps.values():
        seconds(step, 3)
    rounds = [{name: seconds(step, n_steps) for name, step in steps.items()} for _ in range(n_rounds)]
    for name in steps:
        relative = median(costs[name] / costs["none"] for costs in rounds)
        above = name != BY_AFFINE_GRID and relative > GOALS[module]
        milliseconds = 1000 * median(costs[name] for costs in rounds)
        table.add_row(
            module,
            str(batch_size),
            name,
            f"{milliseconds:.2f}",
            f"{relative:.2f}",
            "above the goal" if above else "",
        )


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    torch.set_num_threads(1)
    table = Table(
        title="Cost of a training step relative to one without augmentation (goals: 1.3 for mlp, 1.1 for lenet)"
    )
    for column in ("network", "batch", "augmentation", "milliseconds", "relative", ""):
        table.add_column(
            column, justify="right" if column in ("batch", "milliseconds", "relative") else "left"
        )
    for module in GOALS:
        for batch_size in (128, 256):
            add_rows(table, module, batch_size, options.rounds, options.steps)
    console = Console(width=100)
    console.print(
        f"images of {SIDE} × {SIDE} pixels, one thread, {options.rounds} interleaved rounds of {options.steps} steps; "
        f"{versions()}"
    )
    console.print(table)


if __name__ == "__main__":
    main()
