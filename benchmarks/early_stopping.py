"""How far early stopping helps where there are few examples: MNIST, MLP, one complementary label per image.

    python benchmarks/early_stopping.py --data FOLDER [--seeds 2] [--epochs 60] [--out results/early-stopping]

FOLDER holds the folder mnist with its four idx files. A tenth of the images is held out, the patience is five epochs.
`scarce` and `scar-likelihood` are given the true priors, `refine` learns them. Writes OUT.json (records are kept and not
repeated) and OUT.md. The same without early stopping: `scarce bench run likelihood-few`.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scarce import ScarceClassifier
from scarce.datasets import load_mnist_like
from scarce.simulate import simulate
from store import collect, options, versions, write

SIZES = (3_000, 5_000, 10_000)
SETTINGS = ("uniform", "biased-a", "scar-a")
METHODS = ("scarce", "scar-likelihood", "refine")
PATIENCE = 5


def measure(row: str, folder: Path, epochs: int) -> dict[str, Any]:
    size, setting, method, seed_text = row.split("/")
    seed = int(seed_text)
    X, y, test_X, test_y = load_mnist_like(folder / "mnist")
    rows = np.random.default_rng(seed).permutation(len(y))[: int(size)]
    X, y = X[rows], y[rows]
    classifier = ScarceClassifier(
        method,
        module="mlp",
        priors="estimate" if method == "refine" else np.bincount(y, minlength=10) / len(y),
        epochs=epochs,
        early_stopping=True,
        patience=PATIENCE,
        random_state=seed,
    )
    started = time.perf_counter()
    classifier.fit(X, simulate(setting, y, classes=10, seed=seed))
    return {
        "test_accuracy": float((classifier.predict(test_X) == test_y).mean()),
        "epochs": len(classifier.history_),
        "seconds": round(time.perf_counter() - started, 1),
    }


def table(result: dict[str, Any]) -> str:
    columns = [(size, setting) for size in SIZES for setting in SETTINGS]
    lines = [
        "# Few examples, and early stopping by held-out complementary labels",
        "",
        f"MNIST, MLP, one complementary label per image, at most {result['settings']['epochs']} annealed epochs (`refine`: per "
        f"stage, or half of it), a tenth of the images held out, patience {PATIENCE}. Test accuracy in per cent, mean ± "
        "standard deviation over seeds, and the mean number of epochs.",
        "",
        f"    {result['command']}",
        "",
        "| method | " + " | ".join(f"{setting}, {size:,}" for size, setting in columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    for method in METHODS:
        cells = []
        for size, setting in columns:
            records = [r for r in result["records"] if r["row"].startswith(f"{size}/{setting}/{method}/")]
            values = 100 * np.array([record["test_accuracy"] for record in records])
            epochs = np.mean([record["epochs"] for record in records])
            spread = f" ± {values.std(ddof=1):.1f}" if len(values) > 1 else ""
            cells.append(f"{values.mean():.1f}{spread} ({epochs:.0f})")
        lines.append(f"| `{method}` | " + " | ".join(cells) + " |")
    lines += ["", versions(result)]
    return "\n".join(lines) + "\n"


def main() -> None:
    chosen = options(__doc__, seeds=2, epochs=60, out="results/early-stopping")
    torch.set_num_threads(1)
    rows = [
        f"{size}/{setting}/{method}/{seed}"
        for size in SIZES
        for setting in SETTINGS
        for method in METHODS
        for seed in range(chosen.seeds)
    ]
    result = collect(
        chosen.out.with_suffix(".json"),
        f"python benchmarks/early_stopping.py --data FOLDER --seeds {chosen.seeds} --epochs {chosen.epochs}",
        {"epochs": chosen.epochs, "patience": PATIENCE},
        rows,
        lambda row: measure(row, chosen.data, chosen.epochs),
    )
    write(chosen.out.with_suffix(".md"), table(result))


if __name__ == "__main__":
    main()
