"""Time of one training step of every method, relative to cross-entropy on the same model and batch.

    python benchmarks/step_cost.py [--rounds 9] [--steps 30]

A step is the forward pass, loss, backward pass, optimizer and the method's `after_step`, on the MLP 784-500-10 with a batch
of 256 and one thread. The methods take turns within every round. The result is the median, over rounds, of the ratio to
cross-entropy in the same round.
"""

import time
from collections.abc import Callable
from statistics import median

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch.nn.functional import cross_entropy

from _common import make_parser, versions
from scarce.methods import Batch, Problem, available_methods, make_method
from scarce.models import make_model
from scarce.simulate import ask, uniform
from scarce.training import PAPER

N, Q, BATCH = 2048, 10, 256
SECOND_PASS = ("rc", "lws", "cavl")
SECOND_NETWORK = ("idgp",)
Step = Callable[[], None]


def make_steps() -> dict[str, Step]:
    """Return one training step for every method, and one for cross-entropy on true classes."""
    rng = np.random.default_rng(0)
    inputs = torch.from_numpy(rng.random((N, 784), dtype=np.float32))
    y = rng.integers(0, Q, N)
    exclusions, answers = uniform(y, classes=Q), ask(y, questions=1, classes=Q)
    index = torch.arange(BATCH)
    batch = Batch(inputs[:BATCH], torch.from_numpy(exclusions.indicator(range(BATCH), np.float32)), index)
    truth = torch.from_numpy(y[:BATCH])
    priors, transition = torch.full((Q,), 1 / Q), (1 - torch.eye(Q)) / (Q - 1)

    def cross_entropy_step() -> Step:
        model = make_model("mlp", (784,), Q)
        optimizer = PAPER.make_optimizer(list(model.parameters()))

        def step() -> None:
            loss = cross_entropy(model(batch.inputs), truth)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        return step

    def method_step(name: str) -> Step:
        model, method = make_model("mlp", (784,), Q), make_method(name)
        labels = answers if method.facts.needs_answers else exclusions
        method.prepare(Problem(labels, priors, transition, lambda: make_model("mlp", (784,), Q)))
        method.float()
        optimizer = PAPER.make_optimizer([*model.parameters(), *method.parameters()])

        def step() -> None:
            loss = method.loss(model(batch.inputs), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            method.after_step(model, batch)

        return step

    return {"cross-entropy": cross_entropy_step()} | {name: method_step(name) for name in available_methods()}


def seconds(step: Step, steps: int) -> float:
    started = time.perf_counter()
    for _ in range(steps):
        step()
    return (time.perf_counter() - started) / steps


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    steps = make_steps()
    for step in steps.values():
        seconds(step, 3)
    rounds = [
        {name: seconds(step, options.steps) for name, step in steps.items()} for _ in range(options.rounds)
    ]
    table = Table(
        title="Cost of a training step relative to cross-entropy (goal: 1.5 without a second pass or network)"
    )
    for column in ("method", "milliseconds", "relative", ""):
        table.add_column(column, justify="left" if column in ("method", "") else "right")
    for name in steps:
        relative = median(costs[name] / costs["cross-entropy"] for costs in rounds)
        note = (
            "second forward pass"
            if name in SECOND_PASS
            else "second network"
            if name in SECOND_NETWORK
            else ""
        )
        if not note and relative > 1.5:
            note = "above the goal"
        table.add_row(name, f"{1000 * median(costs[name] for costs in rounds):.2f}", f"{relative:.2f}", note)
    console = Console(width=100)
    console.print(
        f"MLP 784-500-10, batch {BATCH}, one thread, {options.rounds} interleaved rounds of {options.steps} steps; "
        f"{versions()}"
    )
    console.print(table)


if __name__ == "__main__":
    main()
