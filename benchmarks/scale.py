"""Time and memory with many classes and many rows: labels, one epoch, prediction, accuracy without true labels.

    python benchmarks/scale.py [--seeds 3] [--out results] [--quick]

Every example excludes three classes. For each number of rows n and of classes q, a separate process simulates the labels,
builds them from a table of class numbers, fits a linear model on 64 features for one epoch with the method `scarce`, predicts
all rows, and evaluates the predictions with fresh labels. Then one process measures, at q = 1000, what fraction of a training
step the loss takes, compared with cross-entropy on true classes. Everything uses one thread. Times are CPU time, which other
processes disturb least. Writes OUT/speed/scale.md and OUT/figures/scale.svg.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor
from torch.nn.functional import cross_entropy

from _common import make_parser, peak_megabytes, versions, write
from scarce import __version__
from scarce._plotting import COLORS, figure_svg
from scarce.bench.reports.figures._panels import new_panels
from scarce.estimators import ScarceClassifier
from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Problem, make_method
from scarce.metrics import complementary_accuracy
from scarce.models import make_model
from scarce.simulate import uniform_multiple
from scarce.training import PAPER

Record = dict[str, Any]
Cases = dict[tuple[int, int], Record]

FEATURES, EXCLUDED, BATCH = 64, 3, 256
FULL = {
    "rows": [10_000, 100_000, 1_000_000],
    "at_classes": 1000,
    "classes": [10, 100, 1000, 3000],
    "at_rows": 100_000,
    "rounds": 15,
    "steps": 30,
}
QUICK = {"rows": [400, 1200], "at_classes": 30, "classes": [10, 30], "at_rows": 1200, "rounds": 2, "steps": 2}
PHASES = {
    "simulate": "simulate labels",
    "build": "build labels from a table",
    "epoch": "fit, one epoch",
    "evaluate": "predict, label-free accuracy",
}


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = action()
    return time.process_time() - started, result


def label_bytes(labels: ComplementaryLabels) -> int:
    """Return the memory of the labels in bytes; a broadcast column counts as one number."""
    columns = (labels.indptr, labels.indices, labels.confirmed)
    return sum(column.nbytes if column.strides[0] else column.itemsize for column in columns)


def make_data(n: int, q: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw features around q random class centers; return the features and the classes."""
    rng = np.random.default_rng(seed)
    y, centers = rng.integers(0, q, n), rng.standard_normal((q, FEATURES), np.float32)
    X = rng.standard_normal((n, FEATURES), np.float32)
    for start in range(0, n, 8192):
        X[start : start + 8192] += centers[y[start : start + 8192]]
    return X, y


def measure_case(n: int, q: int, seed: int) -> Record:
    """Measure one case; its memory includes the features, but not what was loaded before."""
    before = peak_megabytes()
    X, y = make_data(n, q, seed)
    simulate, indices = seconds(lambda: uniform_multiple(y, sizes=EXCLUDED, classes=q, seed=seed).indices)
    build, labels = seconds(lambda: ComplementaryLabels.from_columns(indices.reshape(n, EXCLUDED), q))
    classifier = ScarceClassifier(module="linear", priors="uniform", epochs=1, random_state=seed)
    epoch, _ = seconds(lambda: classifier.fit(X, labels))
    predict, predicted = seconds(lambda: classifier.predict(X))
    # The training labels would overestimate the accuracy.
    fresh = uniform_multiple(y, sizes=EXCLUDED, classes=q, seed=seed + 1)
    evaluate, estimate = seconds(lambda: complementary_accuracy(predicted, fresh, classifier.priors_))
    return {
        "simulate": simulate,
        "build": build,
        "epoch": epoch,
        "evaluate": predict + evaluate,
        "peak_mb": peak_megabytes() - before,
        "features_mb": X.nbytes / 2**20,
        "bytes_per_label": label_bytes(labels) / len(labels.indices),
        "estimated_accuracy": estimate.value,
        "standard_error": estimate.standard_error,
        "accuracy": float((predicted == y).mean()),
    }


def measure_loss_cost(q: int, rounds: int, steps: int) -> Record:
    """Measure, for both losses in turn, the loss (forward and backward) and the whole step in ms, and their ratio."""
    X, y = make_data(16 * BATCH, q, 0)
    inputs, truth = torch.from_numpy(X), torch.from_numpy(y)
    labels = uniform_multiple(y, sizes=EXCLUDED, classes=q)
    scarce = make_method("scarce")
    scarce.prepare(Problem(labels, torch.full((q,), 1 / q)))
    scarce.float()

    def complementary(index: Tensor) -> Callable[[Tensor], Tensor]:
        excluded = torch.from_numpy(labels.indicator(index.numpy(), np.float32))
        return lambda logits: scarce.loss(logits, Batch(inputs, excluded, index))

    def ordinary(index: Tensor) -> Callable[[Tensor], Tensor]:
        classes = truth[index]
        return lambda logits: cross_entropy(logits, classes)

    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(0)).split(BATCH)
    ways = {"scarce": complementary, "cross-entropy": ordinary}
    models = {name: make_model("linear", (FEATURES,), q) for name in ways}
    optimizers = {name: PAPER.make_optimizer(list(model.parameters())) for name, model in models.items()}

    def run_steps(name: str) -> None:
        for step in range(steps):
            index = order[step % len(order)]
            loss = ways[name](index)(models[name](inputs[index]))
            optimizers[name].zero_grad()
            loss.backward()
            optimizers[name].step()

    def run_loss(name: str) -> None:
        loss, logits = ways[name](order[0]), models[name](inputs[order[0]]).detach().requires_grad_()
        for _ in range(steps):
            logits.grad = None
            loss(logits).backward()

    for name in ways:  # warm up
        run_steps(name)
        run_loss(name)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name in ways:
            times[name].append((seconds(partial(run_loss, name))[0], seconds(partial(run_steps, name))[0]))
    return {
        name: {
            "loss_ms": 1000 * median(loss for loss, _ in pairs) / steps,
            "step_ms": 1000 * median(step for _, step in pairs) / steps,
            "fraction": median(loss / step for loss, step in pairs),
        }
        for name, pairs in times.items()
    }


def measure_alone(n: int, q: int, seed: int) -> Record:
    """Measure one case in a separate process."""
    command = [sys.executable, __file__, "--case", str(n), str(q), str(seed)]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def measure_cases(settings: Record, measure: Callable[[int, int, int], Record]) -> Cases:
    """Return every measured number by (n, q), as the median over the seeds."""
    sizes = [(n, settings["at_classes"]) for n in settings["rows"]]
    sizes += [(settings["at_rows"], q) for q in settings["classes"]]
    cases = {}
    for n, q in dict.fromkeys(sizes):
        records = [measure(n, q, seed) | {"load": os.getloadavg()[0]} for seed in range(settings["seeds"])]
        cases[n, q] = {name: median(record[name] for record in records) for name in records[0]}
        print(f"{n:,} rows, {q:,} classes: {cases[n, q]['epoch']:.2f} s per epoch", file=sys.stderr)
    return cases


def report(settings: Record, cases: Cases, loss_cost: Record, command: str) -> str:
    load = median(case["load"] for case in cases.values())
    lines = [
        "# Many classes, many rows",
        "",
        "Three exclusions for each example, a linear model on 64 features, method `scarce`, batches of 256, one thread; seconds of "
        f"processor time, medians over {settings['seeds']} seeds, every case in a process of its own. The machine has "
        f"{os.cpu_count()} cores, with a load of {load:.1f}, ours included, so ratios and slopes are what counts. Memory is the "
        "peak beyond what was there after a small case; the next columns are the features (in float32) and n × q numbers in "
        "float32, which are never allocated.",
        "",
        f"    {command}",
        "",
        "| rows | classes | simulate (s) | build (s) | fit, one epoch (s) | predict and evaluate (s) | peak (MB) | features (MB) | "
        "n × q (MB) | bytes per label |",
        "|" + "---:|" * 10,
    ]
    for (n, q), case in sorted(cases.items()):
        cells = [f"{n:,}", f"{q:,}", *(f"{case[phase]:.2f}" for phase in PHASES)]
        cells += [f"{case['peak_mb']:,.0f}", f"{case['features_mb']:,.0f}", f"{4 * n * q / 2**20:,.0f}"]
        lines.append(f"| {' | '.join(cells)} | {case['bytes_per_label']:.2f} |")
    ratio = loss_cost["scarce"]["fraction"] / loss_cost["cross-entropy"]["fraction"]
    lines += [
        "",
        "`simulate` draws n × q random numbers, a block of rows at a time; `build` reads the same labels from a table of n × 3 "
        "class numbers.",
        "",
        f"## The loss within a step, at {settings['at_classes']:,} classes",
        "",
        "| loss | forward and backward (ms) | whole step (ms) | fraction |",
        "|---|---:|---:|---:|",
        *(
            f"| {name} | {loss_cost[name]['loss_ms']:.2f} | {loss_cost[name]['step_ms']:.2f} | {loss_cost[name]['fraction']:.2f} |"
            for name in ("scarce", "cross-entropy")
        ),
        "",
        f"Medians of {settings['rounds']} rounds of {settings['steps']} steps, in turn. The fraction of `scarce` is {ratio:.2f} "
        "times that of cross-entropy (goal: at most 2). A step gathers the batch, its exclusions included, and trains the linear "
        "model with Adam.",
        "",
        f"scarce {__version__}, {versions()}.",
    ]
    return "\n".join(lines) + "\n"


def draw(axes: Axes, sizes: Sequence[int], cases: Sequence[Record], what: str, where: str) -> None:
    """Plot seconds against a size on logarithmic axes, with the slope of the fitted line."""
    for (phase, label), color, marker in zip(PHASES.items(), COLORS, "os^D", strict=False):
        times = np.array([case[phase] for case in cases])
        slope, start = np.polyfit(np.log(sizes), np.log(times), 1)
        axes.plot(sizes, times, marker, color=color, label=f"{label}: slope {slope:.2f}")
        axes.plot(sizes, np.exp(start) * np.array(sizes, float) ** slope, color=color, linewidth=1.2)
    axes.set(xscale="log", yscale="log", xlabel=what, title=where)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.minorticks_off()
    axes.margins(x=0.08)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 40)  # room for the legend
    axes.legend(loc="upper left", fontsize=9)


def draw_all(settings: Record, cases: Cases) -> Figure:
    rows, classes = settings["rows"], settings["classes"]
    n, q = settings["at_rows"], settings["at_classes"]
    with new_panels(2, 4.4, 4.2) as (figure, (left, right)):
        draw(left, rows, [cases[size, q] for size in rows], "rows", f"{q:,} classes")
        draw(right, classes, [cases[n, size] for size in classes], "classes", f"{n:,} rows")
        left.set_ylabel("seconds of processor time")
    return figure


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument(
        "--quick", action="store_true", help="small sizes in one process, to check that it runs"
    )
    parser.add_argument("--case", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.case:
        measure_case(BATCH, 10, 0)  # warm up: many modules load at first use
        return print(json.dumps(measure_case(*options.case)))
    settings = {**(QUICK if options.quick else FULL), "seeds": options.seeds}
    cases = measure_cases(settings, measure_case if options.quick else measure_alone)
    loss_cost = measure_loss_cost(settings["at_classes"], settings["rounds"], settings["steps"])
    command = f"python benchmarks/scale.py --seeds {options.seeds}{' --quick' * options.quick}"
    text = report(settings, cases, loss_cost, command)
    write(options.out / "speed" / "scale.md", text)
    write(options.out / "figures" / "scale.svg", figure_svg(draw_all(settings, cases)))
    return print(text)


if __name__ == "__main__":
    main()
