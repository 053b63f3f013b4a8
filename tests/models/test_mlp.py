"""The multi-layer perceptron against its formula."""

import torch
from torch.nn.functional import relu

from scarce.models import make_model


def test_mlp_equals_one_hidden_layer_with_relu():
    model = make_model("mlp", (2, 3), 4)
    x = torch.rand(5, 2, 3)
    hidden = relu(x.flatten(1) @ model.hidden.weight.T + model.hidden.bias)
    torch.testing.assert_close(model(x), hidden @ model.output.weight.T + model.output.bias)
    assert hidden.shape == (5, 500)
