"""Compare predicted probabilities with how often they come true: `scarce` and `scar-likelihood`, on test images.

    python benchmarks/calibration.py --data FOLDER [--seeds 3] [--epochs 20] [--out results/calibration]

FOLDER holds the folders mnist and fashion-mnist with their four idx files each. Two kinds of labels: one uniform label
per image, and SCAR with every class excluded at a rate of 0.5. `scarce` is given the true priors, `scar-likelihood` learns
them. Writes OUT.json (records are kept and not repeated), OUT.md (the table) and OUT-mnist.svg, OUT-fashion-mnist.svg.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scarce.datasets import load_mnist_like
from scarce.figures import figure_svg
from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.metrics import Reliability, reliability
from scarce.metrics.calibration_figure import reliability_figure
from scarce.simulate import scar, uniform
from scarce.training import ANNEALED, Recipe, predict_logits, train
from scarce.training.network import build_network
from store import collect, options, versions, write

DATA = ("mnist", "fashion-mnist")
LABELS = ("uniform", "scar")
METHODS = ("scarce", "scar-likelihood")
BINS = 15


def draw(kind: str, y: np.ndarray, seed: int) -> ComplementaryLabels:
    return uniform(y, classes=10, seed=seed) if kind == "uniform" else scar(y, rates=0.5, seed=seed)


def measure(row: str, folder: Path, epochs: int) -> dict[str, Any]:
    data, kind, name, seed_text = row.split("/")
    seed = int(seed_text)
    X, y, test_X, test_y = load_mnist_like(folder / data)
    method, model = make_method(name), build_network("mlp", X, 10, seed=seed)
    priors = None if method.facts.learns_priors else np.bincount(y, minlength=10) / len(y)
    recipe = Recipe(epochs=epochs, seed=seed, learning_rate=ANNEALED.learning_rate)
    started = time.perf_counter()
    train(model, method, X, draw(kind, y, seed), recipe, priors=priors)
    elapsed = time.perf_counter() - started
    curve = reliability(method.probabilities(predict_logits(model, test_X).double()), test_y, BINS)
    seen = curve.counts > 0
    return {
        "test_accuracy": float(curve.counts[seen] @ curve.accuracy[seen] / len(test_y)),
        "mean_confidence": float(curve.counts[seen] @ curve.confidence[seen] / len(test_y)),
        "expected_calibration_error": curve.expected_error,
        "counts": curve.counts.tolist(),
        "confidence_sums": np.where(seen, curve.counts * curve.confidence, 0).tolist(),
        "right": np.where(seen, np.rint(curve.counts * curve.accuracy), 0).tolist(),
        "seconds": round(elapsed, 1),
    }


def records_of(result: dict[str, Any], data: str, kind: str, method: str) -> list[dict[str, Any]]:
    return [record for record in result["records"] if record["row"].startswith(f"{data}/{kind}/{method}/")]


def per_cent(records: list[dict[str, Any]], name: str) -> str:
    values = 100 * np.array([record[name] for record in records])
    return f"{values.mean():.2f}" + (f" ± {values.std(ddof=1):.2f}" if len(values) > 1 else "")


def table(result: dict[str, Any]) -> str:
    n_seeds = len(result["records"]) // len(DATA) // len(LABELS) // len(METHODS)
    lines = [
        "# Predicted probabilities and how often they come true",
        "",
        f"MLP 784-500-10, {result['settings']['epochs']} annealed epochs, seeds: {n_seeds} (labels and network), one "
        "thread. Per cent on the 10,000 test images, mean and standard deviation over the seeds. Confidence: the mean of the "
        "highest probability. ECE: expected calibration error, the mean distance of accuracy and confidence over "
        f"{result['settings']['bins']} bins of equal width. `scarce` is given the true priors, `scar-likelihood` learns them.",
        "",
        f"    {result['command']}",
        "",
        "| data | labels | method | test accuracy | confidence | ECE |",
        "|---|---|---|---:|---:|---:|",
    ]
    for data in DATA:
        for kind in LABELS:
            for method in METHODS:
                records = records_of(result, data, kind, method)
                names = ("test_accuracy", "mean_confidence", "expected_calibration_error")
                cells = " | ".join(per_cent(records, name) for name in names)
                lines.append(f"| {data} | {kind} | `{method}` | {cells} |")
    lines += [
        "",
        "`uniform`: one uniform complementary label per image. `scar`: every class is excluded at a rate of 0.5. The figures "
        "put the predictions of all seeds into the same bins, so that their ECE is at most the mean above. The probabilities "
        "of `scarce`, which learns each class against the rest, are σ(f_k) / Σ_j σ(f_j); those of `scar-likelihood` a softmax.",
        "",
        versions(result),
    ]
    return "\n".join(lines) + "\n"


def pooled(records: list[dict[str, Any]]) -> Reliability:
    """Put the predictions of all seeds into the same bins."""
    counts, confidence, right = (
        np.sum([record[name] for record in records], axis=0)
        for name in ("counts", "confidence_sums", "right")
    )
    members = np.where(counts > 0, counts, np.nan)
    return Reliability(confidence / members, right / members, counts)


def figure(result: dict[str, Any], data: str) -> str:
    curves = {
        f"{method}, {kind}": pooled(records_of(result, data, kind, method))
        for kind in LABELS
        for method in METHODS
    }
    return figure_svg(reliability_figure(curves))


def main() -> None:
    chosen = options(__doc__, seeds=3, epochs=20, out="results/calibration")
    torch.set_num_threads(1)
    rows = [
        f"{data}/{kind}/{method}/{seed}"
        for data in DATA
        for kind in LABELS
        for method in METHODS
        for seed in range(chosen.seeds)
    ]
    result = collect(
        chosen.out.with_suffix(".json"),
        f"python benchmarks/calibration.py --data FOLDER --seeds {chosen.seeds} --epochs {chosen.epochs}",
        {"epochs": chosen.epochs, "bins": BINS},
        rows,
        lambda row: measure(row, chosen.data, chosen.epochs),
    )
    write(chosen.out.with_suffix(".md"), table(result))
    for data in DATA:
        write(chosen.out.with_name(f"{chosen.out.name}-{data}.svg"), figure(result, data))


if __name__ == "__main__":
    main()
