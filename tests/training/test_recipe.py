"""Recipes: valid and invalid settings, optimisers and learning rates."""

import math
from dataclasses import FrozenInstanceError, asdict

import numpy as np
import pytest
import torch
from torch import nn

from scarce.errors import MethodError
from scarce.training import ANNEALED, FAST, PAPER, RECIPES, Recipe


def test_named_recipes_have_documented_settings():
    expected = {
        "epochs": 200,
        "batch_size": 256,
        "optimizer": "adam",
        "learning_rate": 1e-3,
        "weight_decay": 1e-5,
        "schedule": "constant",
        "seed": 0,
    }
    assert asdict(PAPER) == asdict(PAPER) | expected
    assert asdict(ANNEALED) == asdict(PAPER) | {"epochs": 40, "schedule": "cosine"}
    assert asdict(FAST) == asdict(ANNEALED) | {"epochs": 10, "batch_size": 128, "learning_rate": 3e-3}
    assert RECIPES == {"annealed": ANNEALED, "fast": FAST, "paper": PAPER}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs=0; expected a whole number from 1 to 4294967295"),
        ({"epochs": 2.5}, r"epochs=2\.5; expected a whole number"),
        ({"epochs": math.nan}, "epochs=nan; expected a whole number"),
        ({"epochs": math.inf}, "epochs=inf; expected a whole number"),
        ({"epochs": "5"}, "epochs='5'; expected a whole number"),
        ({"epochs": None}, "epochs=None; expected a whole number"),
        ({"batch_size": 0}, "batch_size=0; expected a whole number from 1 to 4294967295"),
        ({"seed": -1}, "seed=-1; expected a whole number from 0 to 4294967295"),
        ({"seed": 2**32}, "seed=4294967296; expected a whole number from 0 to 4294967295"),
        ({"learning_rate": -0.1}, r"learning_rate=-0\.1; expected a number above 0"),
        ({"learning_rate": 0}, "learning_rate=0; expected a number above 0"),
        ({"learning_rate": math.inf}, "learning_rate=inf; expected a number"),
        ({"learning_rate": "fast"}, "learning_rate='fast'; expected a number"),
        ({"weight_decay": math.nan}, "weight_decay=nan; expected a number"),
        ({"weight_decay": None}, "weight_decay=None; expected a number"),
        ({"optimizer": "newton"}, "optimizer='newton' is unknown; expected 'adam', 'sgd' or 'lbfgs'"),
        ({"input_noise": -1}, "input_noise=-1; expected a number of at least 0"),
        ({"dropout": 1.0}, r"dropout=1\.0; expected a number of at least 0 and below 1"),
        (
            {"optimizer": "lbfgs", "dropout": 0.5, "micro_batch": 8},
            "does not support micro_batch, dropout; leave out",
        ),
        (
            {"optimizer": "lbfgs", "augmentation": ("flip",)},
            "does not support augmentation; leave out these settings, or choose 'adam'",
        ),
        ({"schedule": "linear"}, "schedule='linear' is unknown; expected 'cosine' or 'constant'"),
    ],
)
def test_recipe_rejects_invalid_settings(settings, message):
    with pytest.raises(MethodError, match=message):
        Recipe(**settings)


def test_recipe_converts_numbers_to_plain_types():
    recipe = Recipe(
        epochs=np.int64(3), batch_size=8.0, seed=np.uint8(7), learning_rate=np.float32(0.5), weight_decay=0
    )
    numbers = (recipe.epochs, recipe.batch_size, recipe.seed, recipe.learning_rate, recipe.weight_decay)
    assert [type(number) for number in numbers] == [int, int, int, float, float]
    assert recipe == Recipe(epochs=3, batch_size=8, seed=7, learning_rate=0.5, weight_decay=0.0)


def test_recipe_is_frozen():
    with pytest.raises(FrozenInstanceError):
        PAPER.epochs = 3


def test_rate_at_matches_values_by_hand():
    recipe = Recipe(learning_rate=0.8)
    at = [recipe.rate_at(progress) for progress in (0, 1 / 3, 1 / 2, 2 / 3, 1)]
    assert at == pytest.approx([0.8, 0.6, 0.4, 0.2, 0.0])
    assert Recipe(learning_rate=0.8, schedule="constant").rate_at(0.9) == 0.8


def stepped(optimizer, weight_decay, gradients):
    weight = nn.Parameter(torch.tensor([2.0], dtype=torch.float64))
    recipe = Recipe(optimizer=optimizer, learning_rate=0.1, weight_decay=weight_decay)
    tool = recipe.make_optimizer([weight])
    for gradient in gradients:
        weight.grad = torch.tensor([gradient], dtype=torch.float64)
        tool.step()
    return weight.item()


def test_sgd_has_momentum_and_l2_decay():
    first = 2.0 - 0.1 * (1.0 + 0.5 * 2.0)
    momentum = 0.9 * 2.0 + (1.0 + 0.5 * first)
    assert stepped("sgd", 0.5, [1.0, 1.0]) == pytest.approx(first - 0.1 * momentum)


def test_adam_applies_weight_decay_through_gradient():
    """With L2 decay the first step is the learning rate whatever the decay; AdamW would also shrink the weight."""
    assert stepped("adam", 0.5, [1.0]) == pytest.approx(1.9, abs=1e-6)
    assert stepped("adam", 0.5, [-3.0]) == pytest.approx(2.1, abs=1e-6)


def test_recipe_settings_omit_unused_noise_and_dropout():
    assert {"input_noise", "dropout"}.isdisjoint(Recipe().settings())
    assert (
        Recipe(input_noise=0.5, dropout=0.25).settings().items()
        >= {"input_noise": 0.5, "dropout": 0.25}.items()
    )
