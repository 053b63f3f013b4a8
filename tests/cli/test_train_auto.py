"""`scarce train --method auto`: one line says which method was chosen and why, and the model can be loaded."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.csv_files import write_csv

import scarce
from scarce.estimators.method_choice import choose_method

Run = Callable[..., Any]


@pytest.fixture
def answers(world: Path, tmp_path: Path) -> Path:
    """One question about every digit, answered truly."""
    truth = [line.split(",") for line in (world / "truth.csv").read_text().split()[1:]]
    asked = np.random.default_rng(0).integers(0, 3, len(truth)).astype(str)
    rows = ([name, k, "yes" if label == k else "no"] for (name, label), k in zip(truth, asked, strict=True))
    return write_csv(tmp_path / "answers.csv", ["example_id", "class_name", "answer"], rows)


@pytest.mark.parametrize("kind", ["answers", "scarce"])
def test_auto_tells_its_choice_and_saves_a_model(
    world: Path, answers: Path, tmp_path: Path, run: Run, kind: str
) -> None:
    labels = answers if kind == "answers" else world / "labels.csv"
    command = ["train", world / "features.csv", "--labels", labels, "--out", tmp_path / "model"]
    told = run(*command, "--method", "auto", "--module", "linear", "--epochs", 20, "--learning-rate", 0.05)
    assert (told.code, told.err) == (0, "")
    chosen = [line for line in told.out.splitlines() if line.startswith("method: ")]
    assert chosen == [choose_method(scarce.read_labels(labels)).reason]
    assert chosen[0].startswith(f"method: {kind}, because ")
    model = scarce.load(tmp_path / "model")
    assert model.method_.facts.name == kind
    features = pd.read_csv(world / "features.csv", index_col="id")
    truth = pd.read_csv(world / "truth.csv", index_col="id")["label"].astype(str)
    assert (model.predict(features).astype(str) == truth[features.index]).mean() > 0.9


def test_a_class_that_nobody_was_asked_about_needs_no_prior(
    world: Path, answers: Path, tmp_path: Path, run: Run
) -> None:
    """Priors come out of the training, and are told after it."""
    rows = [line.split(",") for line in answers.read_text().split()]
    two = write_csv(tmp_path / "two.csv", rows[0], [row for row in rows[1:] if row[1] != "2"])
    command = ["train", world / "features.csv", "--labels", two, "--join", "left", "--classes", "0,1,2"]
    told = run(*command, "--out", tmp_path / "model", "--method", "auto", "--epochs", 2)
    assert (told.code, told.err) == (0, "")
    assert 'share of "yes"' not in told.out
    assert "priors: learned by answers; raw estimates sum to 1.000\n" in told.out


def test_the_method_is_told_only_where_it_was_chosen(world: Path, tmp_path: Path, run: Run) -> None:
    command = ["train", world / "features.csv", "--labels", world / "labels.csv", "--out", tmp_path / "model"]
    assert "method: " not in run(*command, "--method", "refine", "--epochs", 20).out


def test_stages_end_early_and_the_best_epoch_of_the_last_is_told(
    world: Path, tmp_path: Path, run: Run
) -> None:
    command = ["train", world / "features.csv", "--labels", world / "labels.csv", "--out", tmp_path / "model"]
    told = run(*command, "--method", "refine", "--early-stopping", "--patience", 2, "--epochs", 60)
    assert (told.code, told.err) == (0, "")
    history = scarce.load(tmp_path / "model").history_
    last = [record for record in history if record["stage"] == history["stage"][-1]]
    best = max(last, key=lambda record: record["validation_likelihood"])
    assert len(history) < 150
    told_best = (
        f"best likelihood on held-out labels {best['validation_likelihood']:.4f} after epoch {best['epoch']}"
    )
    assert told_best in told.out


def test_default_stacks_learners_explains_them_and_saves_a_model(
    world: Path, tmp_path: Path, run: Run
) -> None:
    command = ["train", world / "features.csv", "--labels", world / "labels.csv", "--out", tmp_path / "model"]
    told = run(*command, "--module", "linear", "--explain")
    assert (told.code, told.err) == (0, "")
    model = scarce.load(tmp_path / "model")
    assert model.choice_.reason in told.out
    lines = told.out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("learner"))
    assert len(lines) - start > len(model.choice_.candidates)
    assert "priors: learned by auto" in told.out
    features = pd.read_csv(world / "features.csv", index_col="id")
    truth = pd.read_csv(world / "truth.csv", index_col="id")["label"].astype(str)
    assert (model.predict(features).astype(str) == truth[features.index]).mean() > 0.9
