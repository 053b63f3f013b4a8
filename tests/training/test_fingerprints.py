"""Fingerprints of the training loop, of augmentations and of built networks."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from helpers.fingerprints import in_float64, summary, uncovered, waves
from scipy import sparse
from torch import Tensor, nn

from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Method, MethodFacts
from scarce.training import Recipe, train
from scarce.training._augmentation import AUGMENTATIONS, augment
from scarce.training._build import build_model
from scarce.training.loop import REVISION

WHERE = "`REVISION` to {revision} in scarce.training.loop"

N, D, Q = 45, 12, 3
TABLE = waves(N, D).numpy()
IMAGES = (127.5 * (1 + waves(N, 1, 3, 4))).round().numpy().astype(np.uint8)
LABELS = ComplementaryLabels.from_single(np.arange(N) * 5 // 3 % Q, classes=Q)


class ExcludedProbability(Method):
    """Mean probability of the excluded class, independent of the methods of the library."""

    facts = MethodFacts("hushed", "for tests", "none", "nothing")

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        return (torch.log_softmax(logits, dim=1).exp() * batch.excluded).sum(dim=1).mean()


class TwoStages(ExcludedProbability):
    """Trains a second stage with as many epochs as the first."""

    facts = MethodFacts("in two stages", "for tests", "none", "nothing")
    multi_stage = True

    def next_stage(self, stage: int, epochs: int, rows: Any) -> int:
        self.shift = torch.cat([logits for logits, _ in rows()]).mean()
        return epochs if stage == 1 else 0

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        return (1 + getattr(self, "shift", 0.0)) * super().loss(logits, batch)


class Case(NamedTuple):
    """What is pinned, and what computes it."""

    name: str
    numbers: Callable[[], dict[str, Any]]


def _network(dropout: float = 0.0) -> nn.Module:
    layers = (
        nn.Flatten(),
        nn.Linear(D, 5),
        nn.Dropout(dropout),
        nn.BatchNorm1d(5),
        nn.Tanh(),
        nn.Linear(5, Q),
    )
    network = nn.Sequential(*layers).double()
    with torch.no_grad():
        for phase, weights in enumerate(network.parameters()):
            weights.copy_(0.7 * waves(*weights.shape, phase=phase))
    return network


def trained(
    inputs: Any = TABLE, method: type[Method] = ExcludedProbability, dropout: float = 0.0, **settings: Any
) -> Case:
    def numbers() -> dict[str, Any]:
        network = _network(dropout)
        recipe = Recipe(**{"epochs": 3, "batch_size": 8, "learning_rate": 0.02} | settings)
        history = train(network, method(), inputs, LABELS, recipe)
        weights = summary(value for value in network.state_dict().values() if value.is_floating_point())
        return {"losses": history["loss"], "rates": history["learning_rate"], "weights": weights}

    return Case("loop", numbers)


def augmented(*names: str, shape: tuple[int, ...] = (6, 3, 9, 8)) -> Case:
    def numbers() -> dict[str, Any]:
        with in_float64(seed=3):
            return {"images": summary(augment(waves(*shape), names))}

    return Case(names[0], numbers)


def built(**settings: Any) -> Case:
    def numbers() -> dict[str, Any]:
        with in_float64(seed=0):
            network = build_model("linear", TABLE, Q, seed=3, **settings).double()
            return {
                "weights": summary(network.parameters()),
                "outputs": summary(network(torch.from_numpy(TABLE))),
            }

    return Case("build_model", numbers)


CASES: dict[str, Case] = {
    "loop": trained(),
    "loop, another seed": trained(seed=5),
    "loop, constant rate": trained(schedule="constant"),
    "loop, weight decay": trained(weight_decay=0.1),
    "loop, sgd": trained(optimizer="sgd"),
    "loop, whole data as one batch": trained(batch_size=100),
    "loop, a last batch of one row": trained(batch_size=11),
    "loop, in parts": trained(micro_batch=3),
    "loop, dropout": trained(dropout=0.4),
    "loop, images of bytes": trained(IMAGES),
    "loop, sparse table": trained(sparse.csr_matrix(np.where(TABLE > 0, TABLE, 0))),
    "loop, crops and flips": trained(IMAGES, augmentation=("crop", "flip")),
    "loop, affine maps and flips": trained(IMAGES, augmentation=("affine", "flip")),
    "loop, two stages": trained(method=TwoStages),
    "crop": augmented("crop"),
    "crop, gray": augmented("crop", shape=(6, 9, 8)),
    "crop and flip": augmented("crop", "flip"),
    "flip": augmented("flip"),
    "flip, gray": augmented("flip", shape=(6, 9, 8)),
    "shift": augmented("shift"),
    "shift, gray": augmented("shift", shape=(6, 9, 8)),
    "affine": augmented("affine"),
    "affine, gray": augmented("affine", shape=(6, 9, 8)),
    "affine and flip": augmented("affine", "flip"),
    "network for a table": built(),
    "network for a table, not standardized": built(standardize=False),
}


@pytest.mark.parametrize("label", CASES)
def test_training_numbers_match_fingerprint(label, fingerprints):
    fingerprints.check(label, CASES[label].name, REVISION, CASES[label].numbers())


def test_augmentations_all_have_fingerprints():
    assert not uncovered(AUGMENTATIONS, CASES, lambda case: case.name)
