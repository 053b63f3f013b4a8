"""Networks by name: their size, and the shapes they accept."""

import pytest
import torch

from scarce.errors import MethodError
from scarce.models import make_model


def n_weights(model):
    return sum(weights.numel() for weights in model.parameters())


@pytest.mark.parametrize(
    ("name", "shape", "n_classes", "count"),
    [
        ("mlp", (28, 28), 10, 397_510),
        ("mlp", (784,), 10, 397_510),
        ("mlp", (1, 28, 28), 10, 397_510),
        ("lenet", (28, 28), 10, 61_706),
        ("lenet", (1, 28, 28), 10, 61_706),
        ("lenet", (3, 32, 32), 10, 83_126),
        ("lenet", (12, 12), 2, 14_946),
        ("linear", (28, 28), 10, 7_850),
        ("linear", (4,), 3, 15),
    ],
)
def test_make_model_has_expected_number_of_weights(name, shape, n_classes, count):
    assert n_weights(make_model(name, shape, n_classes)) == count


@pytest.mark.parametrize("name", ["linear", "mlp", "lenet"])
@pytest.mark.parametrize("shape", [(28, 28), (12, 17), (1, 14, 13), (3, 32, 32)])
def test_networks_accept_images_of_every_shape(name, shape):
    assert make_model(name, shape, 7)(torch.rand(2, *shape)).shape == (2, 7)


@pytest.mark.parametrize("name", ["linear", "mlp"])
def test_networks_accept_tables_and_empty_batches(name):
    model = make_model(name, (5,), 3)
    assert model(torch.rand(4, 5)).shape == (4, 3)
    assert model(torch.rand(0, 5)).shape == (0, 3)


@pytest.mark.parametrize("name", ["linear", "mlp", "lenet"])
def test_gray_images_give_equal_outputs_with_and_without_channel(name):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = make_model(name, (28, 28), 10).eval()
        images = torch.rand(3, 28, 28)
    assert torch.equal(model(images), model(images.unsqueeze(1)))


def test_make_model_rejects_unknown_name():
    with pytest.raises(MethodError, match="model='vgg' is unknown; expected 'linear', 'mlp', 'lenet'"):
        make_model("vgg", (3,), 2)
