"""Train every method once on one uniform complementary label per MNIST image: ten annealed epochs of the MLP.

    python benchmarks/all_methods.py --data FOLDER [--epochs 10] [--seed 0] [--out results/methods-mnist]

FOLDER holds the four idx files of MNIST. Writes OUT.json (one record per method, kept and not repeated when the command
is run again) and OUT.md (the table). A shortened protocol: the paper trains for 200 epochs and averages five runs.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scarce import ScarceClassifier
from scarce.datasets import load_mnist_like
from scarce.methods import available_methods
from scarce.metrics import complementary_accuracy
from scarce.simulate import uniform
from store import collect, versions, write

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "ga, ascent=plain": ("ga", {"ascent": "plain"}),
    "lws, psi=cross-entropy": ("lws", {"psi": "cross-entropy"}),
    "meta-vpu, mixup=True": ("meta-vpu", {"mixup": True}),
}
NOTES = {
    "scarce-ure": "not corrected: its risk goes negative, and it overfits",
    "free": "not corrected: its risk goes negative, and it overfits",
    "lws": "collapses to one class: with nine of ten classes as candidates, always predicting the same one has a loss of "
    "only β/10. The paper's LWS does so too (10.00 ± 0.00 on CLCIFAR-10 with DenseNet); see the next row",
    "meta-upu": "equals `scarce-ure`: not corrected",
    "meta-dist-pu": "its second stage begins after ten epochs",
    "pop": "equals `proden` until its first purification, after 20 epochs",
    "idgp": "six of the ten epochs are warm-up, three of them of its second network alone",
}


def rows() -> dict[str, tuple[str, dict[str, Any]]]:
    """Every method as it comes, each followed by its variants."""
    found = {}
    for name in available_methods():
        found[name] = (name, {})
        found |= {label: variant for label, variant in VARIANTS.items() if variant[0] == name}
    return found


def measure(row: str, data: tuple[np.ndarray, ...], epochs: int, seed: int) -> dict[str, Any]:
    images, y, test_images, test_y = data
    method, params = rows()[row]
    classifier = ScarceClassifier(
        method, method_params=params, priors="uniform", transition="uniform", epochs=epochs, random_state=seed
    )
    started = time.perf_counter()
    classifier.fit(images, uniform(y, classes=10, seed=seed))
    elapsed = time.perf_counter() - started
    predicted = classifier.predict(test_images)
    estimate = complementary_accuracy(
        predicted, uniform(test_y, classes=10, seed=seed + 1000), classifier.priors_
    )
    return {
        "method": method,
        "params": {name: str(value) for name, value in classifier.method_.params.items()},
        "test_accuracy": float((predicted == test_y).mean()),
        "label_free_estimate": estimate.value,
        "label_free_standard_error": estimate.standard_error,
        "seconds": round(elapsed, 1),
    }


def table(result: dict[str, Any]) -> str:
    lines = [
        "# Every method once: MNIST, one uniform complementary label per image",
        "",
        f"MLP 784-500-10, {result['settings']['epochs']} annealed epochs (a shortened protocol: the paper trains 200), seed "
        f"{result['settings']['seed']}, priors and transition matrix uniform, default parameters, one thread. "
        f"Test accuracy in per cent on the 10,000 test images; the estimate uses complementary labels of the test images "
        "alone, ± its standard error.",
        "",
        f"    {result['command']}",
        "",
        "| method | | paper | test accuracy | without truth | seconds | note |",
        "|---|---|---|---:|---:|---:|---|",
    ]
    facts = available_methods()
    for record in result["records"]:
        row, name = record["row"], record["method"]
        estimate = (
            f"{100 * record['label_free_estimate']:.1f} ± {100 * record['label_free_standard_error']:.1f}"
        )
        lines.append(
            f"| `{row}` | {facts[name].title} | {facts[name].paper} | {100 * record['test_accuracy']:.2f} | {estimate} "
            f"| {record['seconds']:.0f} | {NOTES.get(row, '')} |"
        )
    lines += ["", versions(result)]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/methods-mnist"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    data = load_mnist_like(options.data)
    result = collect(
        options.out.with_suffix(".json"),
        f"python benchmarks/all_methods.py --data mnist --epochs {options.epochs} --seed {options.seed}",
        {"epochs": options.epochs, "seed": options.seed},
        rows(),
        lambda row: measure(row, data, options.epochs, options.seed),
    )
    write(options.out.with_suffix(".md"), table(result))


if __name__ == "__main__":
    main()
