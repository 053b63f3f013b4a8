"""The initial weights and outputs of every network, for a fixed seed."""

from typing import Any, NamedTuple

import pytest
import torch
from helpers.fingerprints import in_float64, summary, uncovered, waves

from scarce.models import MODELS, make_model
from scarce.models.registry import REVISION

WHERE = "`REVISION` to {revision} in scarce.models.registry"


class Case(NamedTuple):
    """A network by name, and the shape of its inputs."""

    name: str
    shape: tuple[int, ...]


CASES: dict[str, Case] = {
    "linear": Case("linear", (7,)),
    "linear, images": Case("linear", (3, 4, 5)),
    "mlp": Case("mlp", (7,)),
    "mlp, images": Case("mlp", (6, 5)),
    "lenet": Case("lenet", (14, 12)),
    "lenet, color": Case("lenet", (3, 16, 16)),
    "resnet": Case("resnet", (3, 12, 12)),
    "resnet, gray": Case("resnet", (9, 10)),
    "densenet": Case("densenet", (3, 12, 12)),
    "densenet, gray": Case("densenet", (9, 10)),
}


@pytest.mark.parametrize("label", CASES)
def test_network_matches_fingerprint(label, fingerprints):
    case = CASES[label]
    with in_float64(seed=3):
        network = make_model(case.name, case.shape, 4)
    inputs = 2 * waves(5, *case.shape)
    numbers: dict[str, Any] = {
        "n_weights": sum(weights.numel() for weights in network.parameters()),
        "weights": summary(network.parameters()),
        "training": summary(network(inputs)),
    }
    network(inputs).square().sum().backward()
    numbers["gradient"] = summary([weights.grad for weights in network.parameters()])
    with torch.no_grad():
        numbers["evaluation"] = summary(network.eval()(inputs))
    fingerprints.check(label, case.name, REVISION, numbers)


def test_every_network_has_fingerprint():
    assert not uncovered(MODELS, CASES, lambda case: case.name)
