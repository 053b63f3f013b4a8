"""A seed gives the same labels on every machine and for every block size."""

from hashlib import sha256

import numpy as np
import pytest

from scarce.simulate import BIASED_B, ask, simulate
from scarce.simulate import _drawing as drawing

Y = np.arange(997) ** 2 % 13 % 10

# name, parameters, and the digest of the expected labels
STORED = [
    ("uniform", {}, "2581af9bfd0e8d1e"),
    ("biased-a", {}, "f3358f75798f14dd"),
    ("biased-b", {}, "d594afe9988ef319"),
    ("transition", {"transition": BIASED_B, "draws": 3}, "318455e55b0c6ab1"),
    ("transition", {"transition": BIASED_B, "draws": 3, "distinct": True}, "7daee3ca013eedce"),
    ("noisy", {"noise": 0.2}, "e4739e10cd7e6586"),
    ("scar", {"c": 0.3, "error_rate": 0.05}, "ceeeb53db318da1d"),
    ("scar-single", {"rates": np.linspace(0.01, 0.2, 10)}, "965459c4daa6f68b"),
    ("scar-a", {}, "0a3a54bba2e3c420"),
    ("scar-b", {}, "2d50e636978da78a"),
    ("uniform-multiple", {}, "815ce75748302d1f"),
    ("human", {}, "a402b89066299c3b"),
    ("ask", {"questions": 4, "false_negative_rate": 0.1, "false_positive_rate": 0.1}, "dcea8dbc8bf174b2"),
]


def digest(labels):
    parts = (labels.indptr, labels.indices, labels.confirmed)
    return sha256(b"".join(part.astype("<i8").tobytes() for part in parts)).hexdigest()[:16]


@pytest.mark.parametrize(("name", "params", "stored"), STORED)
def test_seed_reproduces_stored_labels(name, params, stored):
    assert digest(simulate(name, Y, classes=10, seed=2024, **params)) == stored


@pytest.mark.parametrize(("name", "params"), [row[:2] for row in STORED])
def test_different_seeds_give_different_labels(name, params):
    one, same, other = (simulate(name, Y, classes=10, seed=seed, **params) for seed in (1, 1, 2))
    assert one == same
    assert one != other


@pytest.mark.parametrize(("name", "params"), [row[:2] for row in STORED if row[0] != "ask"])
def test_block_size_does_not_change_labels(name, params, monkeypatch):
    whole = simulate(name, Y, classes=10, **params)
    monkeypatch.setattr(drawing, "_BLOCK_CELLS", 70)
    assert simulate(name, Y, classes=10, **params) == whole


def test_questions_in_blocks_match_examples(monkeypatch):
    monkeypatch.setattr(drawing, "_BLOCK_CELLS", 70)
    table = ask(Y, questions=3, classes=10).answers
    assert table.example.tolist() == np.repeat(np.arange(len(Y)), 3).tolist()
    assert (table.answer == (table.class_index == Y[table.example])).all()
