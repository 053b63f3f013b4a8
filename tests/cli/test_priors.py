"""``scarce priors``: from files to a table, a JSON file that ``train`` reads, and a figure."""

import json
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from helpers.csv_files import write_csv

from scarce.cli.priors import EstimatorName
from scarce.priors import PRIOR_ESTIMATORS, load_priors
from scarce.simulate import scar


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of three classes with shares 0.2, 0.3 and 0.5, and what each row is not."""
    folder = tmp_path_factory.mktemp("priors")
    rng = np.random.default_rng(0)
    y = rng.choice(3, 900, p=[0.2, 0.3, 0.5])
    X = 4 * np.eye(3)[y] + rng.normal(size=(900, 3))
    names = np.array(["ant", "bee", "cat"])
    write_csv(folder / "x.csv", ["id", "a", "b", "c"], ([f"r{i}", *row] for i, row in enumerate(X)))
    labels = scar(names[y], c=0.5, classes=names, seed=0)
    excluded = labels.indicator()
    answers = ([f"r{i}", names[k], "no"] for i in range(900) for k in np.nonzero(excluded[i])[0])
    write_csv(folder / "answers.csv", ["example_id", "class_name", "answer"], answers)
    return folder


def test_estimator_names_match_registry() -> None:
    assert set(get_args(EstimatorName)) == {"answers", *PRIOR_ESTIMATORS}


def test_train_accepts_estimated_priors(folder: Path, tmp_path: Path, run) -> None:
    out, figure = tmp_path / "priors.json", tmp_path / "priors.png"
    arguments = (
        "priors",
        folder / "x.csv",
        "--labels",
        folder / "answers.csv",
        "--set",
        "scorer=linear",
        "--join",
        "left",
    )
    result = run(*arguments, "--out", out, "--figure", figure)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0].split() == ["class", "prior", "raw", "estimate", "95%", "from", "to"]
    assert [line.split()[0] for line in lines[1:4]] == ["ant", "bee", "cat"]
    assert "priors: estimated by best-bin; raw estimates sum to" in result.out
    estimate = load_priors(out)
    assert estimate.values.tolist() == pytest.approx([0.2, 0.3, 0.5], abs=0.05)
    assert figure.read_bytes()[:4] == b"\x89PNG"

    model = tmp_path / "model"
    trained = run(
        "train", folder / "x.csv", "--labels", folder / "answers.csv", "--join", "left", "--priors", out, "--out", model,
        "--epochs", "5",
    )  # fmt: skip
    assert trained.code == 0, trained.err
    assert "priors: as estimated by best-bin" in trained.out
    stored = json.loads((model / "classifier.json").read_text())["priors"]
    assert stored["values"] == estimate.values.tolist()
    assert stored["classes"] == ["ant", "bee", "cat"]


def test_train_estimates_priors_by_default(folder: Path, tmp_path: Path, run) -> None:
    result = run(
        "train", folder / "x.csv", "--labels", folder / "answers.csv", "--join", "left", "--out", tmp_path / "m",
        "--method", "scarce", "--epochs", "5",
    )  # fmt: skip
    assert (result.code, result.err) == (0, "")
    assert "priors: estimated by best-bin, shrunk towards uniform; raw estimates sum to" in result.out


def test_priors_names_mistake_in_one_line(folder: Path, tmp_path: Path, run_expecting_error) -> None:
    arguments = ("priors", folder / "x.csv", "--labels", folder / "answers.csv", "--join", "left")
    assert "no answer is 'yes'" in run_expecting_error(*arguments, "--estimator", "answers")
    assert "scorer='tree' is unknown" in run_expecting_error(*arguments, "--set", "scorer=tree")
    assert "best-bin has no parameter 'depth'; it takes" in run_expecting_error(
        *arguments, "--set", "depth=3"
    )
    assert "use --seed" in run_expecting_error(*arguments, "--set", "seed=3")
    assert "expected a Recipe" in run_expecting_error(*arguments, "--set", "recipe=paper")
    answers = folder / "answers.csv"
    assert "is one of the inputs" in run_expecting_error(*arguments, "--out", answers, "--force")
    assert "is a folder" in run_expecting_error(*arguments, "--out", tmp_path, "--force")
    assert "choose two different names" in run_expecting_error(
        *arguments, "--out", tmp_path / "a.png", "--figure", tmp_path / "a.png"
    )
    assert "ends in .png, .svg or .pdf" in run_expecting_error(
        *arguments, "--figure", tmp_path / "priors.docx"
    )
    (tmp_path / "priors.json").write_text("{}")
    assert "priors.json exists" in run_expecting_error(*arguments, "--out", tmp_path / "priors.json")
    run_expecting_error("priors", tmp_path / "nothing.csv", "--labels", folder / "answers.csv")
    run_expecting_error(
        "priors", folder / "x.csv", "--labels", folder / "answers.csv", "--estimator", "magic"
    )


def test_priors_names_missing_matplotlib_before_the_work(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_expecting_error
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    (tmp_path / "labels.csv").write_text("nothing that could be read")
    arguments = (
        "priors",
        folder / "x.csv",
        "--labels",
        tmp_path / "labels.csv",
        "--figure",
        tmp_path / "f.png",
    )
    message = run_expecting_error(*arguments)
    assert (
        'scarce priors --figure needs matplotlib, which is not installed: pip install "scarce[bench]"'
        in message
    )
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


@pytest.mark.filterwarnings("default::scarce.errors.PriorWarning")
def test_train_warns_of_guessed_priors_in_one_line(folder: Path, tmp_path: Path, run) -> None:
    """The classes bee and cat are never excluded, so their priors are guessed."""
    rows = ([f"r{i}", "ant", "no"] for i in range(5))
    few = write_csv(tmp_path / "few.csv", ["example_id", "class_name", "answer"], rows)
    result = run(
        "train", folder / "x.csv", "--labels", few, "--join", "left", "--classes", "ant,bee,cat", "--out", tmp_path / "m",
        "--method", "scarce", "--epochs", "1",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert result.err.startswith(
        "warning: the candidate shares are used as priors: too few of 900 examples exclude class ant, bee"
    )
    assert result.err.count("\n") == 1
