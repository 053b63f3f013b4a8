"""What many classes and many rows cost: labels, one epoch, predictions and their label-free accuracy.

    python benchmarks/scale.py [--seeds 3] [--out results/scale] [--quick]

Every example excludes three classes. For each number of rows n and of classes q, in a process of its own: the labels are
simulated, built from a table of class numbers, and a linear model on 64 features is fitted for one epoch with the method
`scarce`, predicts all rows, and is judged by fresh labels of theirs. Then, at q = 1000 and within one process, what share of a
training step the loss takes, beside cross-entropy on true classes. All with one thread and in seconds of processor time, which
other processes disturb least. Writes OUT.json (records are kept and not repeated), OUT.md, OUT.svg and OUT.png.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from scale_report import draw_all, report
from scarce.estimators import ScarceClassifier
from scarce.figures import figure_svg
from scarce.files import written_aside
from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Problem, make_method
from scarce.metrics import complementary_accuracy
from scarce.models import make_model
from scarce.simulate import uniform_multiple
from scarce.training import PAPER
from store import Record, collect, write

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


def peak_megabytes() -> float:
    """Return the most memory this process ever had; unlike `getrusage`, without that of the process it came from."""
    status = Path("/proc/self/status").read_text()
    return float(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    result = action()
    return time.process_time() - started, result


def label_bytes(labels: ComplementaryLabels) -> int:
    """What the labels hold in memory; a column that repeats one number is that number."""
    columns = (labels.indptr, labels.indices, labels.confirmed)
    return sum(column.nbytes if column.strides[0] else column.itemsize for column in columns)


def make_data(n: int, q: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes around q random centres."""
    rng = np.random.default_rng(seed)
    y, centres = rng.integers(0, q, n), rng.standard_normal((q, FEATURES), np.float32)
    X = rng.standard_normal((n, FEATURES), np.float32)
    for start in range(0, n, 8192):
        X[start : start + 8192] += centres[y[start : start + 8192]]
    return X, y


def measure_case(n: int, q: int, seed: int) -> Record:
    """Measure one case; what was loaded before is not counted as memory, the features are."""
    before = peak_megabytes()
    X, y = make_data(n, q, seed)
    simulate, indices = seconds(lambda: uniform_multiple(y, sizes=EXCLUDED, classes=q, seed=seed).indices)
    build, labels = seconds(lambda: ComplementaryLabels.from_columns(indices.reshape(n, EXCLUDED), q))
    classifier = ScarceClassifier(module="linear", priors="uniform", epochs=1, random_state=seed)
    epoch, _ = seconds(lambda: classifier.fit(X, labels))
    predict, predicted = seconds(lambda: classifier.predict(X))
    # Labels that were trained on would flatter the classifier.
    fresh = uniform_multiple(y, sizes=EXCLUDED, classes=q, seed=seed + 1)
    judge, estimate = seconds(lambda: complementary_accuracy(predicted, fresh, classifier.priors_))
    return {
        "simulate": simulate,
        "build": build,
        "epoch": epoch,
        "judge": predict + judge,
        "peak_mb": peak_megabytes() - before,
        "features_mb": X.nbytes / 2**20,
        "bytes_per_label": label_bytes(labels) / len(labels.indices),
        "estimated_accuracy": estimate.value,
        "standard_error": estimate.standard_error,
        "accuracy": float((predicted == y).mean()),
    }


def measure_share(q: int, rounds: int, steps: int) -> Record:
    """Median milliseconds of the loss (both ways) and of the whole step, and their ratio, of both losses in turn."""
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

    def whole(name: str) -> None:
        for step in range(steps):
            index = order[step % len(order)]
            loss = ways[name](index)(models[name](inputs[index]))
            optimizers[name].zero_grad()
            loss.backward()
            optimizers[name].step()

    def alone(name: str) -> None:
        loss, logits = ways[name](order[0]), models[name](inputs[order[0]]).detach().requires_grad_()
        for _ in range(steps):
            logits.grad = None
            loss(logits).backward()

    for name in ways:  # warm up
        whole(name)
        alone(name)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name in ways:
            times[name].append((seconds(partial(alone, name))[0], seconds(partial(whole, name))[0]))
    return {
        name: {
            "loss_ms": 1000 * median(loss for loss, _ in pairs) / steps,
            "step_ms": 1000 * median(step for _, step in pairs) / steps,
            "share": median(loss / step for loss, step in pairs),
        }
        for name, pairs in times.items()
    }


def measure_alone(n: int, q: int, seed: int) -> Record:
    """Measure one case in a process of its own."""
    command = [sys.executable, __file__, "--case", str(n), str(q), str(seed)]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def measure(row: str, settings: Record, case: Callable[[int, int, int], Record]) -> Record:
    if row == "share":
        found = measure_share(settings["at_classes"], settings["rounds"], settings["steps"])
    else:
        found = case(*map(int, row.split("/")))
    return found | {"load": os.getloadavg()[0], "cores": os.cpu_count()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("results/scale"))
    parser.add_argument(
        "--quick", action="store_true", help="small sizes in one process, to see that it runs"
    )
    parser.add_argument("--case", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.case:
        measure_case(BATCH, 10, 0)  # warm up: much is loaded at first use
        return print(json.dumps(measure_case(*options.case)))
    settings = {**(QUICK if options.quick else FULL), "seeds": options.seeds}
    cases = [(n, settings["at_classes"]) for n in settings["rows"]]
    cases += [(settings["at_rows"], q) for q in settings["classes"]]
    rows = [f"{n}/{q}/{seed}" for n, q in dict.fromkeys(cases) for seed in range(options.seeds)]
    command = f"python benchmarks/scale.py --seeds {options.seeds}{' --quick' * options.quick}"
    result = collect(
        options.out.with_suffix(".json"),
        command,
        settings,
        [*rows, "share"],
        lambda row: measure(row, settings, measure_case if options.quick else measure_alone),
    )
    text, figure = report(result), draw_all(result)
    write(options.out.with_suffix(".md"), text)
    write(options.out.with_suffix(".svg"), figure_svg(figure))
    with written_aside(options.out.with_suffix(".png"), force=True) as aside:
        figure.savefig(aside, format="png", dpi=150, metadata={"Software": None})
    return print(text)


if __name__ == "__main__":
    main()
