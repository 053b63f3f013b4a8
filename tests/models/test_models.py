"""The networks: their size, the shapes they take, and what they refuse."""

import pytest
import torch
from torch import nn
from torch.nn.functional import conv2d, linear, max_pool2d, relu

from scarce.errors import MethodError
from scarce.models import LeNet, Standardize, make_model
from scarce.models._layers import as_images


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
def test_number_of_weights(name, shape, n_classes, count):
    assert n_weights(make_model(name, shape, n_classes)) == count


@pytest.mark.parametrize("name", ["linear", "mlp", "lenet"])
@pytest.mark.parametrize("shape", [(28, 28), (12, 17), (1, 14, 13), (3, 32, 32)])
def test_images_of_every_shape(name, shape):
    assert make_model(name, shape, 7)(torch.rand(2, *shape)).shape == (2, 7)


@pytest.mark.parametrize("name", ["linear", "mlp"])
def test_tables(name):
    model = make_model(name, (5,), 3)
    assert model(torch.rand(4, 5)).shape == (4, 3)
    assert model(torch.rand(0, 5)).shape == (0, 3)


@pytest.mark.parametrize("name", ["linear", "mlp", "lenet"])
def test_grey_images_are_the_same_with_and_without_a_channel(name):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = make_model(name, (28, 28), 10).eval()
        images = torch.rand(3, 28, 28)
    assert torch.equal(model(images), model(images.unsqueeze(1)))


@pytest.mark.parametrize("shape", [(3, 5, 6), (3, 1, 5, 6), (3, 2, 5, 6), (0, 5, 6), (0, 2, 5, 6)])
def test_images_keep_their_pixels_and_have_the_channels_of_each_side_by_side(shape):
    inputs = torch.rand(shape)
    images = as_images(inputs)
    assert torch.equal(images, inputs if len(shape) == 4 else inputs[:, None])
    assert images.stride(1) == 1


def test_lenet_is_two_convolutions_and_three_layers():
    model = LeNet((28, 28), 10)
    one, two, three, four, five = (
        (layer.weight, layer.bias) for layer in model.modules() if isinstance(layer, (nn.Conv2d, nn.Linear))
    )
    images = torch.rand(2, 28, 28)
    hidden = max_pool2d(relu(conv2d(images.unsqueeze(1), *one, padding=2)), 2)
    hidden = max_pool2d(relu(conv2d(hidden, *two)), 2).flatten(1)
    assert hidden.shape == (2, 400)
    expected = linear(relu(linear(relu(linear(hidden, *three)), *four)), *five)
    torch.testing.assert_close(model(images), expected)


def test_mlp_is_one_hidden_layer_of_rectified_units():
    model = make_model("mlp", (2, 3), 4)
    x = torch.rand(5, 2, 3)
    hidden = relu(x.flatten(1) @ model.hidden.weight.T + model.hidden.bias)
    torch.testing.assert_close(model(x), hidden @ model.output.weight.T + model.output.bias)
    assert hidden.shape == (5, 500)


@pytest.mark.parametrize("shape", [(10,), (1, 3, 28, 28)])
def test_lenet_takes_images(shape):
    with pytest.raises(MethodError, match=r"lenet takes images, got inputs of shape .*; choose module='mlp'"):
        make_model("lenet", shape, 3)


@pytest.mark.parametrize("shape", [(11, 28), (28, 11), (3, 8, 8)])
def test_lenet_takes_images_that_are_large_enough(shape):
    with pytest.raises(MethodError, match=r"images of 12 × 12 or more, got .*; choose module='mlp'"):
        make_model("lenet", shape, 3)


def test_an_unknown_model_is_named_with_the_known_ones():
    with pytest.raises(MethodError, match="there is no model 'vgg'; expected one of linear, mlp, lenet"):
        make_model("vgg", (3,), 2)


def test_standardize_brings_columns_to_mean_0_and_deviation_1():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(200, 3, generator=generator) * torch.tensor([1.0, 50.0, 0.01]) + torch.tensor(
        [0.0, -7.0, 3.0]
    )
    y = Standardize(x.mean(dim=0), x.std(dim=0, correction=0))(x)
    torch.testing.assert_close(y.mean(dim=0), torch.zeros(3), atol=1e-4, rtol=0)
    torch.testing.assert_close(y.std(dim=0, correction=0), torch.ones(3), atol=1e-4, rtol=0)


@pytest.mark.parametrize("noise", [0.0, 1e-17, 1e-9])
def test_standardize_only_centres_a_column_that_is_constant_up_to_rounding(noise):
    """The deviation of a column of 0.1 computes as 1e-17: dividing by it would blow rounding up."""
    layer = Standardize(torch.tensor([0.1, 5.0]), torch.tensor([noise, 2.0]))
    assert layer(torch.tensor([[0.1000001, 9.0]]))[0].tolist() == pytest.approx([0.0, 2.0], abs=1e-6)


def test_standardize_is_saved_with_the_model_and_not_trained():
    layer = Standardize(torch.tensor([1.0]), torch.tensor([2.0]))
    assert {name: value.tolist() for name, value in layer.state_dict().items()} == {
        "mean": [1.0],
        "scale": [2.0],
    }
    assert list(layer.parameters()) == []
    assert layer.double()(torch.tensor([[5.0]]).double()).tolist() == [[2.0]]
