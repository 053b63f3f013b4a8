"""Column statistics and checks for finite values, computed chunk by chunk."""

import numpy as np
import pytest
from helpers.training import PRIORS, D, make_data
from numpy.testing import assert_allclose
from scipy import sparse

from scarce import ScarceClassifier
from scarce.errors import FeatureError
from scarce.features import Shards, read_features
from scarce.features._arrays import check_finite, column_statistics, iter_chunks
from scarce.features.shards import ArrayShard
from scarce.training import Recipe

INPUTS, LABELS = make_data()
RECIPE = Recipe(epochs=2, batch_size=16)


def mapped(folder, array=INPUTS):
    np.save(folder / "x.npy", array)
    return read_features(folder / "x.npy").values


def classifier(**options):
    return ScarceClassifier(module="linear", recipe=RECIPE, priors=PRIORS, **options)


@pytest.mark.parametrize("n_rows", [1, 5, 1000])
@pytest.mark.parametrize("shift", [0, 1e6])
def test_column_statistics_do_not_depend_on_chunks(monkeypatch, n_rows, shift):
    X = np.random.default_rng(0).normal(size=(n_rows, 3)) * [1, 1e-3, 50] + shift
    whole = column_statistics(X)
    assert np.array_equal(whole, [X.mean(axis=0), X.std(axis=0)])  # one chunk: to the last bit
    monkeypatch.setattr("scarce.features._arrays._MAX_CHUNK_NUMBERS", 3 * 7)
    assert len(list(iter_chunks(X))) == -(-n_rows // 7)
    for inputs in (X, Shards([ArrayShard(X[:3]), ArrayShard(X[3:])])):
        mean, deviation = column_statistics(inputs)
        assert_allclose(mean, whole[0], rtol=1e-12)
        # Numbers near a million are themselves rounded to 1e-10.
        assert_allclose(
            deviation, whole[1], rtol=1e-12 if not shift else 1e-7, atol=1e-16 if not shift else 1e-9
        )


def test_check_finite_finds_nan_in_any_chunk(monkeypatch, tmp_path):
    monkeypatch.setattr("scarce.features._arrays._MAX_CHUNK_NUMBERS", 3 * D)
    X = INPUTS.copy()
    X[40, 2], X[44, 1] = np.nan, np.inf
    for inputs in (X, mapped(tmp_path, X), Shards([ArrayShard(X[:41]), ArrayShard(X[41:])])):
        with pytest.raises(FeatureError, match=r"X contains NaN at row 40, column 2 \(2 in all\)"):
            check_finite(inputs)
        with pytest.raises(FeatureError, match=r"NaN at row 40, column 2"):
            classifier().fit(inputs, LABELS)


UNIX_TIME = 1.7e9  # a column of seconds has a large mean and a small variance


def test_column_statistics_of_sparse_columns_do_not_cancel():
    rng = np.random.default_rng(0)
    X = np.c_[UNIX_TIME + rng.normal(size=500), rng.random(500) * (rng.random(500) < 0.1), np.ones(500)]
    mean, deviation = column_statistics(sparse.csr_matrix(X))
    np.testing.assert_allclose(mean, X.mean(axis=0))
    np.testing.assert_allclose(deviation, X.std(axis=0), rtol=1e-6, atol=1e-12)


def test_check_finite_rejects_infinities_of_any_byte_order_and_numbers_whose_difference_overflows():
    for order in "<>":
        with pytest.raises(FeatureError, match="X contains inf at row 1, column 0"):
            check_finite(np.array([[1], [np.inf]], f"{order}f2"))
    with pytest.raises(FeatureError, match=r"a number too large for float32 at row 0, column 1"):
        check_finite(np.array([[1.0, 3e38]]))
    check_finite(np.array([[1.0, 1.7e38]]))
