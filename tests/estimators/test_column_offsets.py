"""Columns with large offsets, such as Unix times, are learned as well as centred ones."""

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.lib.format import open_memmap
from scipy import sparse

import scarce
from scarce import ScarceClassifier
from scarce.features.arrays import column_statistics
from scarce.features.shards import ArrayShard, Shards
from scarce.models import Standardize
from scarce.simulate import uniform
from scarce.training.batches import input_dtype
from scarce.training.build import build_model

SECONDS = 1.7e9
OFFSET = np.array([SECONDS, 0])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    X = np.c_[4.0 * y + rng.normal(size=600) / 2, rng.normal(size=600)]
    return X, y, uniform(y, seed=0)


def fitted(X, labels, method="cc", **params):
    return ScarceClassifier(
        method, module="linear", priors="uniform", epochs=60, learning_rate=0.05, **params
    ).fit(X, labels)


def on_disk(folder, X):
    mapped = open_memmap(folder / "x.npy", "w+", X.dtype, X.shape)
    mapped[:] = X
    return mapped


FORMS = {
    "array": lambda folder, X: X,
    "frame": lambda folder, X: pd.DataFrame(X, columns=["time", "other"]),
    "memmap": on_disk,
    "shards": lambda folder, X: Shards([ArrayShard(X[:300]), ArrayShard(X[300:])]),
    "sparse": lambda folder, X: sparse.csr_matrix(X),
    "longdouble": lambda folder, X: X.astype(np.longdouble),
}


@pytest.mark.parametrize("form", FORMS)
def test_classifier_learns_column_of_unix_times(tmp_path, data, form):
    X, y, labels = data
    late = FORMS[form](tmp_path, X + OFFSET)
    classifier = fitted(late, labels)
    assert classifier.score(late, y) > 0.97
    assert np.mean(classifier.predict(late) == fitted(X, labels).predict(X)) > 0.99
    classifier.save(tmp_path / "model")
    loaded = scarce.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(late), classifier.predict_proba(late))


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, sparse.csr_matrix])
def test_classifier_keeps_digits_of_large_integers(data, make):
    X, y, labels = data
    whole = make(np.c_[(100 * X[:, 0]).astype(np.int64) + int(SECONDS), np.arange(600) % 2])
    assert fitted(whole, labels).score(whole, y) > 0.97


@pytest.mark.parametrize("method", ["scarce", "meta-vpu", "idgp", "refine", "proden"])
def test_methods_with_own_networks_accept_large_offsets(data, method):
    X, _, labels = data
    late = X + OFFSET
    there, here = fitted(late, labels, method).predict(late), fitted(X, labels, method).predict(X)
    assert np.mean(there == here) > 0.97


def test_bf16_micro_batches_and_early_stopping_accept_large_offsets(data):
    X, y, labels = data
    late = X + OFFSET
    assert fitted(late, labels, precision="bf16", micro_batch=50, early_stopping=True).score(late, y) > 0.9


def test_prior_estimates_ignore_large_offsets(data):
    X, _, labels = data
    found = ScarceClassifier(epochs=1).fit(X + OFFSET, labels).priors_
    assert found == pytest.approx(ScarceClassifier(epochs=1).fit(X, labels).priors_, abs=0.02)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_ordinary_columns_are_standardised_in_float32(data, kind):
    """Years, constants and float32 columns need no second buffer `rest`, and inputs stay float32."""
    X = np.c_[data[0], 2020 + 5 * data[0][:, 1], np.full(600, 0.1)].astype(kind)
    model = build_model("linear", X, 3, seed=0)
    assert list(model[0].state_dict()) == ["mean", "scale"]
    assert input_dtype(model) == torch.float32
    mean, deviation = (torch.as_tensor(values, dtype=torch.float32) for values in column_statistics(X))
    assert torch.equal(model[0].mean, mean)
    assert torch.equal(model[0].scale[:3], deviation[:3])
    assert model[0].scale[3] == 1
    far = build_model("linear", (X + SECONDS).astype(np.float32), 3, seed=0)
    assert input_dtype(far) == torch.float32


def test_standardize_mean_and_rest_sum_to_float64_mean(data):
    X = data[0] + [SECONDS, 1e6]
    model = build_model("linear", X, 3, seed=0)
    layer = model[0]
    assert input_dtype(model) == torch.float64
    np.testing.assert_allclose(layer.mean.double() + layer.rest, X.mean(axis=0), rtol=1e-14)
    expected = (X - X.mean(axis=0)) / X.std(axis=0)
    got = layer(torch.from_numpy(X))
    assert got.dtype == torch.float32
    np.testing.assert_allclose(got, expected, atol=1e-5)


def test_classifier_with_float64_module_accepts_large_offsets(data):
    X, y, labels = data
    late = X + OFFSET
    module = torch.nn.Linear(2, 3).double()
    classifier = ScarceClassifier("cc", module, epochs=60, learning_rate=0.05).fit(late, labels)
    assert classifier.score(late, y) > 0.97


def test_constant_column_keeps_scale_one(data):
    X = np.c_[data[0] + SECONDS, np.full(600, 0.1)]
    layer = build_model("linear", X, 3, seed=0)[0]
    assert isinstance(layer, Standardize)
    assert layer.scale[2] == 1
