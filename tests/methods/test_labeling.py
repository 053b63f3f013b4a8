"""Single labels with some unlabeled rows, and ordinary labels mixed with exclusions."""

import numpy as np
import pytest
import torch
from helpers.methods import batch_of, double
from torch import nn

from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, make_method
from scarce.methods._labeling import labeled_rates
from scarce.simulate import scar
from scarce.training import Recipe, train

Q = 5
WEIGHTS = np.array([8, 3, 1, 1, 0.3])
RECIPE = Recipe(epochs=20, batch_size=100, learning_rate=0.005)


def blobs(n=4000):
    rng = np.random.default_rng(1)
    centres = rng.normal(0, 1.6, (Q, 8))
    y = rng.integers(0, Q, n)
    return (centres[y] + rng.normal(size=(n, 8))).astype(np.float32), y, rng


def fit_and_predict(name, X, labels, **params):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, Q))
    method = make_method(name, **params)
    train(model, method, X, labels, RECIPE)
    return method, model(torch.from_numpy(X)).argmax(dim=1).numpy()


def lists_of(labels):
    return [np.nonzero(row)[0].tolist() for row in labels.indicator()]


def with_classes(labels, confirmed):
    return ComplementaryLabels(labels.indptr, labels.indices, labels.classes, confirmed=confirmed)


# Rows without a label among single labels --------------------------------------------------------------------


def test_unlabeled_row_does_not_change_loss_of_others():
    excluded = [[0], [1], [2], [1]] * 10
    full = ComplementaryLabels.from_lists(excluded, classes=3)
    with_unlabeled_row = ComplementaryLabels.from_lists([*excluded, []], classes=3)
    logits = double(np.random.default_rng(0).normal(size=(41, 3)))
    for name in ("scar-likelihood", "least-excluded"):
        losses = []
        for labels in (full, with_unlabeled_row):
            method = make_method(name)
            method.prepare(Problem(labels, double([0.5, 0.3, 0.2])))
            n = len(labels)
            losses.append(n * method.double().loss(logits[:n], batch_of(labels, rows=range(n))).item())
        assert losses[1] == pytest.approx(losses[0], abs=1e-12)
    assert labeled_rates(with_unlabeled_row, single_label=True).tolist() == pytest.approx([0.25, 0.5, 0.25])


@pytest.mark.parametrize("name", ["scar-likelihood", "refine"])
def test_training_tolerates_unlabeled_rows_among_single_labels(name):
    X, y, rng = blobs()
    shares = [np.where(np.arange(Q) == k, 0, WEIGHTS) / (WEIGHTS.sum() - WEIGHTS[k]) for k in range(Q)]
    rows = [[int(rng.choice(Q, p=shares[k]))] for k in y]
    for lists in ([[], *rows[1:]], [row if i % 3 else [] for i, row in enumerate(rows)]):
        _, predicted = fit_and_predict(name, X, ComplementaryLabels.from_lists(lists, classes=Q))
        assert (predicted == y).mean() > 0.9


# Ordinary labels mixed with exclusions ---------------------------------------------------------------------------


def test_labeled_rates_ignore_ordinary_labels():
    y = np.arange(4000) % Q
    complementary = scar(y[:1000], rates=0.4, classes=Q, seed=0)
    both = ComplementaryLabels.from_lists([*lists_of(complementary), *([[]] * 3000)], classes=Q)
    labels = with_classes(both, np.where(np.arange(4000) < 1000, -1, y))
    assert labeled_rates(labels, single_label=False).tolist() == pytest.approx(complementary.rates.tolist())
    method = make_method("scar-likelihood")
    method.prepare(Problem(labels, double([1 / Q] * Q)))
    assert method.exclusion_probabilities.tolist() == pytest.approx([0.5] * Q, abs=0.06)  # 0.4 / (1 − 0.2)


def test_refine_ignores_ordinary_labels_in_exclusion_counts():
    X, y, rng = blobs()
    C = np.array([np.roll([0, 0.7, 0.1, 0.5, 0.2], k) for k in range(Q)])
    excluded = rng.random((len(y), Q)) < C[y]
    known = np.arange(len(y)) >= 2000
    excluded[known] = False
    labels = with_classes(ComplementaryLabels.from_indicator(excluded, Q), np.where(known, y, -1))
    method, predicted = fit_and_predict("refine", X, labels)
    assert method.exclusion_matrix.numpy() == pytest.approx(C, abs=0.12)
    assert (predicted == y).mean() > 0.9
