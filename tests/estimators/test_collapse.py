"""Fits in which one class takes over: detection, one retry, and the warning."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

from scarce import ScarceClassifier
from scarce.errors import CollapseWarning
from scarce.estimators.collapse import find_collapse
from scarce.labels import ComplementaryLabels
from scarce.simulate import scar, scar_single
from scarce.training.loop import train_checked

TENTHS = ComplementaryLabels.from_single(np.arange(1000) % 10, classes=10)


def predictions(share, n=1000):
    """Predictions with this share of class 3 and equal shares of the others."""
    codes = np.arange(n) % 10
    codes[: int(share * n)] = 3
    codes[int(share * n) :][codes[int(share * n) :] == 3] = 4
    return codes


@pytest.mark.parametrize(("share", "is_collapsed"), [(0.1, False), (0.59, False), (0.61, True), (0.9, True)])
def test_find_collapse_fires_above_two_thirds_of_possible_examples(share, is_collapsed):
    """Nine tenths do not exclude class 3, so the bound is 0.6; its candidate share is a tenth."""
    found = find_collapse(predictions(share), TENTHS)
    assert (found is not None) == is_collapsed
    if found:
        assert found == (3, pytest.approx(share), pytest.approx(0.1), pytest.approx(0.9))


def test_find_collapse_accepts_class_with_large_prior():
    priors = np.full(10, 0.3 / 9)
    priors[3] = 0.7
    assert find_collapse(predictions(0.75), TENTHS, priors) is None


def test_find_collapse_accepts_common_class_under_informative_labels():
    y = predictions(0.7)
    assert find_collapse(y, scar(y, c=0.9, classes=10, seed=0)) is None


def test_find_collapse_accepts_class_below_half_of_predictions():
    """Class 3 is possible for 0.45 of the examples and predicted for exactly those."""
    labels = ComplementaryLabels.from_lists([[3]] * 55 + [[]] * 45, classes=10)
    assert find_collapse(np.where(np.arange(100) < 55, np.arange(100) % 3, 3), labels) is None


def test_collapse_message_names_class_shares_and_remedy():
    assert str(find_collapse(predictions(0.8), TENTHS)) == (
        "the fit has collapsed: class 3 is predicted for 80% of the training examples (90% do not exclude it), "
        "expected about 10%; pass priors=[...] if you know them, choose method='auto' or 'scarce', or collect more labels."
    )


def few_digits(n=300):
    """Digits with one label each, excluded at rates of 1 : 6, which a network can memorise."""
    X, y = load_digits(return_X_y=True)
    rates = np.linspace(1, 6, 10)
    return X[:n].astype(np.float32), scar_single(y[:n], rates=rates / rates.sum(), seed=0), y[:n]


def make_constant_network(shape, n_classes):
    """A network that is initially certain of class 0."""
    import torch

    network = torch.nn.Linear(shape[0], n_classes)
    with torch.no_grad():
        network.weight.zero_()
        network.bias.copy_(50.0 * (torch.arange(n_classes) == 0))
    return network


def test_collapsed_fit_raises_warning():
    X, labels, _ = few_digits()
    settings = {"epochs": 1, "learning_rate": 1e-6, "standardize": False}
    with pytest.warns(
        CollapseWarning, match=r"class 0 is predicted for 100% of the training examples"
    ) as caught:
        ScarceClassifier("scar-likelihood", module=make_constant_network, **settings).fit(X, labels)
    assert [warning.filename for warning in caught] == [__file__]


def test_fit_on_few_labels_does_not_collapse_by_default():
    X, labels, _ = few_digits()
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollapseWarning)
        classifier = ScarceClassifier("scar-likelihood", epochs=60).fit(X, labels)
    shares = np.bincount(classifier.predict(X), minlength=10) / len(X)
    assert shares.max() < 0.6
    assert classifier.priors_.max() < 0.3


def test_collapsed_fit_is_retried_once_with_more_noise(monkeypatch):
    """The second training uses the strong noise, and its result is kept."""
    X, labels, _ = few_digits(100)
    recipes, found = [], iter([find_collapse(predictions(0.9), TENTHS), None])

    def recorded(model, method, source, problem, recipe, **options):
        recipes.append(recipe)
        return train_checked(model, method, source, problem, recipe, **options)

    monkeypatch.setattr("scarce.estimators._network_fit.train_checked", recorded)
    monkeypatch.setattr("scarce.estimators._network_fit.find_collapse", lambda *_: next(found))
    ScarceClassifier("scar-likelihood", epochs=2).fit(X, labels)
    assert [(recipe.input_noise, recipe.dropout) for recipe in recipes] == [(0.5, 0.5), (1.0, 0.5)]


def test_collapsed_fit_keeps_settings_of_user(monkeypatch):
    X, labels, _ = few_digits(100)
    monkeypatch.setattr(
        "scarce.estimators._network_fit.find_collapse", lambda *_: find_collapse(predictions(0.9), TENTHS)
    )
    with pytest.warns(CollapseWarning):
        classifier = ScarceClassifier("scar-likelihood", epochs=2, input_noise=0.1).fit(X, labels)
    assert len(classifier.history_) == 2
