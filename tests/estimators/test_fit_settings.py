"""Recipes of a fit: named recipes on small data and with few labels."""

import pytest

from scarce import ScarceClassifier
from scarce.estimators._fit_settings import training_recipe
from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.training import FAST, RECIPES


def recipe_of(n, method="cc", **params):
    """The recipe for n examples of three classes, with one label each."""
    labels = ComplementaryLabels.from_single([i % 3 for i in range(n)], classes=3)
    return training_recipe(ScarceClassifier(method, **params), labels, make_method(method), can_shift=False)


@pytest.mark.parametrize(
    ("name", "n", "epochs"),
    [
        ("annealed", 256, 1000),
        ("annealed", 3000, 84),  # 12 steps per epoch
        ("annealed", 20_000, 40),
        ("fast", 128, 1500),
        ("fast", 129, 750),
        ("fast", 3000, 63),  # 24 steps per epoch
        ("fast", 20_000, 10),
        ("paper", 3000, 200),
    ],
)
def test_named_recipe_trains_longer_on_small_data(name, n, epochs):
    recipe = recipe_of(n, recipe=name)
    assert recipe.epochs == epochs
    assert (recipe.batch_size, recipe.learning_rate) == (
        RECIPES[name].batch_size,
        RECIPES[name].learning_rate,
    )


def test_given_settings_override_minimum_of_steps():
    assert recipe_of(3000, recipe="fast", epochs=10).epochs == 10
    assert recipe_of(3000, recipe="fast", batch_size=1000).epochs == 500
    assert recipe_of(3000, recipe=FAST).epochs == 10


@pytest.mark.parametrize("name", ["annealed", "fast", "paper"])
def test_few_labels_are_regularized_unless_recipe_is_the_papers(name):
    recipe = recipe_of(300, "scar-likelihood", recipe=name)
    assert (recipe.input_noise, recipe.dropout) == ((0.0, 0.0) if name == "paper" else (0.5, 0.5))
    recipe = recipe_of(300, "scar-likelihood", recipe=name, input_noise=0.3)
    assert (recipe.input_noise, recipe.dropout) == (0.3, 0.0)
