"""The sketch of training rows, by which a report recognises them."""

import numpy as np
import pytest

from scarce.estimators.training_rows import TrainingRows


def test_overlap_of_many_rows_is_estimated_from_sketch():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 3))
    sketch = TrainingRows.from_features(rows)
    assert len(sketch.hashes) == 4096
    half = np.concatenate([rows[:5000], rng.normal(size=(5000, 3))])
    assert sketch.overlap(half) == pytest.approx(0.5, abs=0.05)
    assert sketch.overlap(rng.normal(size=(5000, 3))) == 0


def test_overlap_ignores_number_type_and_sparse_format():
    from scipy import sparse

    rows = np.random.default_rng(0).integers(0, 5, (50, 20)).astype(np.float64)
    assert TrainingRows.from_features(rows).overlap(rows.astype(np.float32)) == 1
    assert TrainingRows.from_features(sparse.csr_matrix(rows)).overlap(sparse.csc_matrix(rows)) == 1
