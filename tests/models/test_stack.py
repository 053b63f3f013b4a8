"""The stack of models: exact values, precision, and reconstruction from a description."""

import json

import pytest
import torch
from torch import nn

from scarce.models import MLP, Linear, NystroemFeatures, ScaleColumns, Stack, stack_from_description
from scarce.training.batches import float_dtype


class Constant(nn.Module):
    def __init__(self, logits):
        super().__init__()
        self.logits = torch.tensor(logits)

    def forward(self, inputs):
        return self.logits.expand(len(inputs), -1)


def full_stack():
    torch.manual_seed(0)
    landmarks = torch.randn(7, 4)
    scaling = ScaleColumns(torch.randn(4), torch.rand(4), limit=6.0)
    members = [
        nn.Sequential(scaling, Linear((4,), 3)),
        nn.Sequential(scaling, NystroemFeatures.from_landmarks(landmarks, 0.3), Linear((7,), 3)),
        nn.Sequential(scaling, MLP((4,), 3, 5)),
    ]
    return Stack(members, [0.5, 0.3, 0.2])


def test_stack_averages_probabilities_by_weight():
    stack = Stack([Constant([0.0, 0.0]), Constant([0.0, float(torch.log(torch.tensor(3.0)))])], [1.0, 3.0])
    # ¼ (½, ½) + ¾ (¼, ¾)
    assert torch.allclose(stack(torch.zeros(1, 1)).exp(), torch.tensor([[0.3125, 0.6875]]).double())


def test_stack_of_extreme_logits_is_finite():
    stack = Stack([Constant([1000.0, -1000.0]), Constant([-1000.0, 1000.0])], [0.5, 0.5])
    assert torch.allclose(stack(torch.zeros(1, 1)).exp(), torch.full((1, 2), 0.5).double())


def test_stack_round_trips_through_json_and_state_dict():
    stack, inputs = full_stack(), torch.randn(6, 4, dtype=torch.float64)
    again = stack_from_description(json.loads(json.dumps(stack.description())))
    again.load_state_dict(stack.state_dict())
    assert torch.equal(again(inputs), stack(inputs))


def test_stack_rejects_unknown_layer():
    with pytest.raises(TypeError, match="has a layer Constant"):
        Stack([Constant([0.0, 0.0])], [1.0]).description()
    with pytest.raises(ValueError, match="layer 'conv' is unknown"):
        stack_from_description({"members": [[{"layer": "conv"}]]})


def test_stack_takes_inputs_in_float64():
    assert float_dtype(full_stack()) == torch.float64
