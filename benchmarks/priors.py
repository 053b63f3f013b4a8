"""Estimate the class priors of MNIST and Fashion-MNIST from complementary labels, beside the paper's estimates.

    python benchmarks/priors.py --data FOLDER [--seeds 5] [--epochs 10] [--out results/priors]

FOLDER holds the folders mnist and fashion-mnist with their four idx files each. Two cases: SCAR with every class excluded
at a rate of 0.5, as in the paper; and rates from 0.2 to 0.6 with priors from 0.03 to 0.25 (by leaving images out),
which the paper does not try. Writes OUT.json (records are kept and not repeated), OUT.md (tables) and OUT.svg.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scarce.bench.paper import paper_priors
from scarce.datasets import load_mnist_like
from scarce.figures import draw_priors, figure_svg, new_axes
from scarce.priors import BestBin
from scarce.simulate import scar
from scarce.training import ANNEALED, Recipe
from store import collect, options, versions, write

UNEQUAL_PRIORS = np.array([0.03, 0.05, 0.06, 0.08, 0.09, 0.10, 0.10, 0.11, 0.13, 0.25])
UNEQUAL_RATES = np.linspace(0.2, 0.6, 10)
CASES = ("equal", "unequal")
DATA = ("mnist", "fashion-mnist")


def subsample(y: np.ndarray, priors: np.ndarray, seed: int) -> np.ndarray:
    """Return rows in which the classes have these shares, as many as there can be."""
    rng = np.random.default_rng(seed)
    members = [rng.permutation(np.nonzero(y == k)[0]) for k in range(len(priors))]
    n = min(len(rows) / share for rows, share in zip(members, priors, strict=True))
    return np.sort(
        np.concatenate([rows[: int(n * share)] for rows, share in zip(members, priors, strict=True)])
    )


def measure(row: str, folder: Path, epochs: int) -> dict[str, Any]:
    data, case, seed_text = row.split("/")
    seed = int(seed_text)
    X, y, *_ = load_mnist_like(folder / data)
    rates: Any = 0.5
    if case == "unequal":
        rows, rates = subsample(y, UNEQUAL_PRIORS, seed), UNEQUAL_RATES
        X, y = X[rows], y[rows]
    recipe = Recipe(epochs=epochs, seed=seed, learning_rate=ANNEALED.learning_rate)
    started = time.perf_counter()
    estimate = BestBin(seed=seed, recipe=recipe).estimate(X, scar(y, rates=rates, seed=seed))
    assert estimate.low is not None
    assert estimate.high is not None
    return {
        "truth": (np.bincount(y, minlength=10) / len(y)).tolist(),
        "raw": estimate.raw.tolist(),
        "low": estimate.low.tolist(),
        "high": estimate.high.tolist(),
        "values": estimate.values.tolist(),
        "total": estimate.total,
        "seconds": round(time.perf_counter() - started, 1),
    }


def numbers(result: dict[str, Any], data: str, case: str) -> dict[str, np.ndarray]:
    records = [record for record in result["records"] if record["row"].startswith(f"{data}/{case}/")]
    return {
        name: np.array([record[name] for record in records])
        for name in ("truth", "raw", "low", "high", "values", "total")
    }


def table(result: dict[str, Any]) -> str:
    settings, n_seeds = result["settings"], len(result["records"]) // len(DATA) // len(CASES)
    lines = [
        "# Class priors, estimated from complementary labels alone",
        "",
        f"Best Bin Estimation, MLP 784-500-10, {settings['epochs']} annealed epochs on 80 % of the images, scores of the "
        f"other 20 % at the epoch of the lowest held-out loss; {n_seeds} seeds (labels, split and network), one "
        "thread. Means and standard deviations over the seeds. MAE: mean absolute error over classes and seeds.",
        "",
        f"    {result['command']}",
        "",
        "| data | case | MAE raw | MAE normalised | sum of raw | true prior within its 95 % interval |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for data in DATA:
        for case in CASES:
            n = numbers(result, data, case)
            inside = ((n["low"] <= n["truth"]) & (n["truth"] <= n["high"])).mean()
            lines.append(
                f"| {data} | {case} | {abs(n['raw'] - n['truth']).mean():.4f} | {abs(n['values'] - n['truth']).mean():.4f} | "
                f"{n['total'].mean():.3f} ± {n['total'].std(ddof=1):.3f} | {100 * inside:.0f} % |"
            )
    lines += [
        "",
        "`equal`: every class is excluded at a rate of 0.5 (the paper's setting). `unequal`: rates from 0.2 to 0.6, priors from "
        "0.03 to 0.25 (about 24,000 images). The intervals come from a bootstrap of the held-out rows and leave out the "
        "uncertainty of the training.",
    ]
    for data in DATA:
        mean, std = paper_priors()[data]
        for case in CASES:
            n = numbers(result, data, case)
            paper = case == "equal"
            lines += [
                "",
                f"## {data}, {case}",
                "",
                "| class | truth | raw | normalised |" + " paper |" * paper,
            ]
            lines += ["|---:|---:|---:|---:|" + "---:|" * paper]
            for k in range(10):
                cells = [
                    f"{n[name][:, k].mean():.3f} ± {n[name][:, k].std(ddof=1):.3f}"
                    for name in ("raw", "values")
                ]
                cells += [f"{mean[k]:.3f} ± {std[k]:.3f}"] * paper
                lines.append(f"| {k} | {n['truth'][:, k].mean():.3f} | " + " | ".join(cells) + " |")
    lines += ["", versions(result)]
    return "\n".join(lines) + "\n"


def figure(result: dict[str, Any]) -> str:
    n = {name: values.mean(axis=0) for name, values in numbers(result, "fashion-mnist", "unequal").items()}
    with new_axes(width=6.4) as axes:
        title = "Fashion-MNIST, unequal, before normalising"
        draw_priors(axes, range(10), n["raw"], n["low"], n["high"], n["truth"], title)
    return figure_svg(axes.figure)


def main() -> None:
    chosen = options(__doc__, seeds=5, epochs=10, out="results/priors")
    torch.set_num_threads(1)
    settings = {"epochs": chosen.epochs}
    rows = [f"{data}/{case}/{seed}" for data in DATA for case in CASES for seed in range(chosen.seeds)]
    command = f"python benchmarks/priors.py --data FOLDER --seeds {chosen.seeds} --epochs {chosen.epochs}"
    result = collect(
        chosen.out.with_suffix(".json"),
        command,
        settings,
        rows,
        lambda row: measure(row, chosen.data, chosen.epochs),
    )
    write(chosen.out.with_suffix(".md"), table(result))
    write(chosen.out.with_suffix(".svg"), figure(result))


if __name__ == "__main__":
    main()
