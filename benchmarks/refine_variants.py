"""Two things that were tried for `refine` and not kept: EM in the last round, and averaged weights. Fashion-MNIST, MLP.

    python benchmarks/refine_variants.py --data FOLDER [--seeds 1] [--epochs 20] [--out results/refine-variants]

FOLDER holds the folder fashion-mnist with its four idx files. Each training gives two numbers: with the weights it ends
with, and with the mean of its weights over the last quarter of the last round. Writes OUT.json (records are kept and not
repeated) and OUT.md. What else was tried: `scarce bench run refine-fashion`.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

from scarce import ScarceClassifier
from scarce.datasets import load_mnist_like
from scarce.methods.base import Batch
from scarce.methods.refine import Refine
from scarce.risk import one_mark_transition, posterior
from scarce.simulate import simulate
from store import collect, options, versions, write

SETTINGS = ("uniform", "biased-a", "biased-b")
BATCH = 256


class Averaging(Refine):
    """`refine`, keeping the mean of the weights over the last quarter of the last round."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self._left = steps
        self.average: AveragedModel | None = None

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        super().after_step(model, batch)
        if self.is_last:
            self._left -= 1
            if self._left == 0:
                self.average = AveragedModel(model)
            if self.average is not None:
                self.average.update_parameters(model)


class ExpectationMaximisation(Averaging):
    """C is counted anew after every epoch of the last round: C[y, k] ∝ Σ_i P(y | x_i, Ȳ_i) [k ∈ Ȳ_i], one label each."""

    def __init__(self, steps: int) -> None:
        super().__init__(steps)
        self._marks: Tensor | float = 0.0

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        if self.is_last:
            belief = posterior(logits.detach(), self._evidence(batch)).double()
            self._marks = self._marks + belief.T @ batch.excluded.double()
        return super().loss(logits, batch)

    def after_epoch(self, epoch: int) -> None:
        super().after_epoch(epoch)
        if self.is_last:
            assert isinstance(self._marks, Tensor)
            rates = self._marks / self._marks.sum(dim=1, keepdim=True).clamp(min=1e-12)
            self.chances, self._marks = one_mark_transition(rates).to(self.chances), 0.0


METHODS = {"refine": Averaging, "EM in the last round": ExpectationMaximisation}


def measure(row: str, folder: Path, epochs: int) -> dict[str, Any]:
    setting, variant, seed_text = row.split("/")
    seed = int(seed_text)
    X, y, test_X, test_y = load_mnist_like(folder / "fashion-mnist")
    method = METHODS[variant](-(-len(y) // BATCH) * epochs * 3 // 4)
    classifier = ScarceClassifier(
        method, module="mlp", recipe="annealed", batch_size=BATCH, epochs=epochs, random_state=seed
    )
    started = time.perf_counter()
    classifier.fit(X, simulate(setting, y, classes=10, seed=seed))
    seconds = round(time.perf_counter() - started, 1)
    accuracy = float((classifier.predict(test_X) == test_y).mean())
    average = classifier.method_.average
    classifier.model_.load_state_dict(average.module.state_dict())
    averaged = float((classifier.predict(test_X) == test_y).mean())
    return {"test_accuracy": accuracy, "averaged_weights": averaged, "seconds": seconds}


def table(result: dict[str, Any]) -> str:
    lines = [
        "# EM and averaged weights",
        "",
        f"Fashion-MNIST, MLP, one complementary label per image, {result['settings']['epochs']} annealed epochs in the last "
        "round. Test accuracy in per cent, mean over seeds.",
        "",
        f"    {result['command']}",
        "",
        "| method | " + " | ".join(SETTINGS) + " |",
        "|---|" + "---:|" * len(SETTINGS),
    ]
    for variant in METHODS:
        for name, column in (
            (variant, "test_accuracy"),
            (f"{variant}, averaged weights", "averaged_weights"),
        ):
            means = [
                np.mean(
                    [r[column] for r in result["records"] if r["row"].startswith(f"{setting}/{variant}/")]
                )
                for setting in SETTINGS
            ]
            lines.append(f"| {name} | " + " | ".join(f"{100 * mean:.1f}" for mean in means) + " |")
    lines += ["", versions(result)]
    return "\n".join(lines) + "\n"


def main() -> None:
    chosen = options(__doc__, seeds=1, epochs=20, out="results/refine-variants")
    torch.set_num_threads(1)
    rows = [
        f"{setting}/{variant}/{seed}"
        for setting in SETTINGS
        for variant in METHODS
        for seed in range(chosen.seeds)
    ]
    result = collect(
        chosen.out.with_suffix(".json"),
        f"python benchmarks/refine_variants.py --data FOLDER --seeds {chosen.seeds} --epochs {chosen.epochs}",
        {"epochs": chosen.epochs},
        rows,
        lambda row: measure(row, chosen.data, chosen.epochs),
    )
    write(chosen.out.with_suffix(".md"), table(result))


if __name__ == "__main__":
    main()
