"""Memory of labels: about eight bytes per exclusion, and not much more while they are made."""

import tracemalloc

import numpy as np
import pytest

from scarce.labels import ComplementaryLabels
from scarce.simulate import _drawing as drawing
from scarce.simulate import scar

N, Q = 20_000, 1000
RNG = np.random.default_rng(0)
TABLE = np.sort(RNG.integers(0, Q, (N, 3)), axis=1)
LISTS = TABLE.tolist()
TRUTH = RNG.integers(0, Q, N)
CELLS = 1 << 16  # cells of a block of rows and classes in a simulation


@pytest.mark.parametrize(
    ("make", "extra"),
    [
        (lambda: ComplementaryLabels.from_columns(TABLE, Q), 0),
        (lambda: ComplementaryLabels.from_lists(LISTS, Q), 0),
        (lambda: scar(TRUTH, rates=3 / Q, classes=Q), 40 * CELLS),
    ],
    ids=["columns", "lists", "scar"],
)
def test_labels_take_about_eight_bytes_each(monkeypatch, make, extra):
    monkeypatch.setattr(drawing, "_BLOCK_CELLS", CELLS)
    make()  # imports and compilation are not measured
    tracemalloc.start()
    labels = make()
    kept, peak = tracemalloc.get_traced_memory()
    labels.summary()
    kept_after_use, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    n_labels = len(labels.indices)
    assert n_labels > 2.9 * N
    assert kept < 8 * n_labels
    assert kept_after_use < 8 * n_labels + 40 * Q
    assert peak < 64 * n_labels + extra < N * Q  # less than a byte per row and class


def test_subset_of_labels_takes_memory_of_selected_rows():
    labels = ComplementaryLabels.from_columns(TABLE, Q)
    tracemalloc.start()
    half = labels[::2]
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 9 * len(half.indices)
