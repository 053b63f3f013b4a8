"""What the commands do when all is well."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from helpers.csv_files import write_csv

import scarce
from scarce import read_labels
from scarce.cli import main as main_module
from scarce.cli._options import ModelName
from scarce.cli.train import RecipeName
from scarce.methods import available_methods
from scarce.models import MODELS
from scarce.training import RECIPES

Run = Callable[..., Any]


def test_version_and_help(run: Run) -> None:
    assert run("--version") == (0, f"scarce {scarce.__version__}\n", "")
    assert run() == run("--help")
    assert run("labels") == run("labels", "--help")


def test_methods_are_listed_within_100_columns(run: Run) -> None:
    code, out, err = run("methods")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 100
    assert {line.split()[0] for line in out.splitlines() if line[0] != " "} == {"name", *available_methods()}


def test_the_names_on_offer_are_those_that_exist() -> None:
    assert get_args(ModelName) == tuple(MODELS)
    assert get_args(RecipeName) == tuple(RECIPES)


def test_describe_counts_and_warns(tmp_path: Path, run: Run) -> None:
    # A name that a terminal library might take for a command is shown as it is.
    rows = [["a", "no", "", ""], ["b", "no", "no", ""], ["c", "yes", "", ""]]
    write_csv(tmp_path / "labels.csv", ["example_id", "[red]", ":cat:", "cow"], rows)
    out = run("labels", "describe", tmp_path / "labels.csv").out.splitlines()
    assert out[0] == "3 examples, 3 classes, 3 exclusions (1.00 per example, 1 examples without any)"
    assert out[1] == "1 examples are confirmed to be of a class"
    assert [line.split() for line in out[2:6]] == [
        ["class", "excluded", "by", "share"],
        ["[red]", "2", "0.667"],
        [":cat:", "1", "0.333"],
        ["cow", "0", "0.000"],
    ]
    assert out[6] == "never excluded, so that nothing is known against it: cow"


def test_simulate_keeps_ids_and_takes_lists_and_matrices(world: Path, tmp_path: Path, run: Run) -> None:
    simulate = ["labels", "simulate", world / "truth.csv"]
    run(*simulate, tmp_path / "scar.npz", "--process", "scar", "--set", "c=1,0,0", "--seed", 5)
    labels = read_labels(tmp_path / "scar.npz")
    truth = dict(line.split(",") for line in (world / "truth.csv").read_text().split()[1:])
    assert labels.ids is not None
    assert labels.ids.tolist() == list(truth)
    assert [truth[name] != "0" for name in truth] == labels.indicator()[:, 0].tolist()
    assert labels.counts[1:].tolist() == [0, 0]

    np.save(tmp_path / "next.npy", np.roll(np.eye(3), 1, axis=1))
    run(
        *simulate,
        tmp_path / "next.csv",
        "--process",
        "transition",
        "--set",
        f"transition={tmp_path}/next.npy",
    )
    after = read_labels(tmp_path / "next.csv").indices
    assert after.tolist() == [(int(name) + 1) % 3 for name in truth.values()]


def test_ordinary_labels(world: Path, tmp_path: Path, run: Run) -> None:
    command = ["train", world / "features.csv", "--labels", world / "truth.csv", "--ordinary", "--out"]
    told = run(*command, tmp_path / "model", "--epochs", 30, "--learning-rate", 0.01)
    assert (told.code, told.err) == (0, "")
    assert "90 examples, 3 classes, ordinary labels" in told.out
    facts = run(
        "evaluate", tmp_path / "model", world / "features.csv", "--truth", world / "truth.csv", "--json"
    )
    assert json.loads(facts.out) == {"true_accuracy": 1.0, "n_true": 90}


def test_methods_that_need_a_transition_matrix(world: Path, tmp_path: Path, run: Run) -> None:
    command = ["train", world / "features.csv", "--labels", world / "labels.csv", "--out", tmp_path / "model"]
    command += ["--method", "forward", "--epochs", 1]
    assert "needs a transition matrix" in run(*command).err
    np.save(tmp_path / "uniform.npy", (1 - np.eye(3)) / 2)
    assert run(*command, "--transition", tmp_path / "uniform.npy").code == 0


def test_early_stopping_tells_the_best_epoch(world: Path, tmp_path: Path, run: Run) -> None:
    command = ["train", world / "features.csv", "--labels", world / "labels.csv", "--out", tmp_path / "model"]
    told = run(*command, "--early-stopping", "--validation-fraction", 0.3, "--patience", 2, "--epochs", 50)
    history = json.loads((tmp_path / "model" / "classifier.json").read_text())["history"]
    values = [record["validation_accuracy"] for record in history]
    assert (
        f"best accuracy on held-out labels {max(values):.4f} after epoch {np.argmax(values) + 1}" in told.out
    )


def test_predictions_go_to_a_file_or_the_terminal(world: Path, tmp_path: Path, run: Run) -> None:
    shown = run("predict", world / "model", world / "features.csv").out
    told = run("predict", world / "model", world / "features.csv", "--out", tmp_path / "p.csv")
    assert told.out == f"wrote 90 predictions to {tmp_path / 'p.csv'}\n"
    assert (tmp_path / "p.csv").read_text() == shown
    by_row = run("predict", world / "model", world / "features.npy").out
    assert by_row.splitlines()[:2] == ["row,class,probability", shown.splitlines()[1].replace("d000", "0")]


def test_classes_are_compared_as_text(world: Path, tmp_path: Path, run: Run) -> None:
    truth = sorted(line.split(",") for line in (world / "truth.csv").read_text().split()[1:])
    np.save(tmp_path / "text.npy", [name for _, name in truth])
    np.save(tmp_path / "numbers.npy", [int(name) for _, name in truth])
    facts = [
        run("evaluate", world / "model", world / "features.csv", "--truth", path, "--json").out
        for path in (tmp_path / "text.npy", tmp_path / "numbers.npy", world / "truth.csv")
    ]
    assert facts[0] == facts[1] == facts[2]


def test_evaluate_tells_what_it_cannot_see(world: Path, tmp_path: Path, run: Run) -> None:
    rows = [[f"d{row:03d}", "no" if row % 3 else "", "", "no" if row % 3 == 0 else ""] for row in range(90)]
    write_csv(tmp_path / "labels.csv", ["example_id", "0", "1", "2"], rows)
    command = ["evaluate", world / "model", world / "features.csv", "--labels", tmp_path / "labels.csv"]
    told = " ".join(run(*command).out.split())  # lines are broken to fit a terminal
    assert "of the predictions are 1, which nobody excludes: errors in them cannot be detected" in told
    assert json.loads(run(*command, "--json").out)["unseen"] == ["1"]


def test_evaluate_joins_labels_and_truth_each_by_id(world: Path, tmp_path: Path, run: Run) -> None:
    lines = (world / "truth.csv").read_text().splitlines()
    (tmp_path / "some.csv").write_text("\n".join(lines[:41]))
    command = ["evaluate", world / "model", world / "features.csv", "--labels", world / "labels.csv"]
    for join in ("inner", "left"):
        facts = json.loads(run(*command, "--truth", tmp_path / "some.csv", "--join", join, "--json").out)
        assert (facts["n_examples"], facts["n_true"]) == (90, 40)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (OSError(28, "No space left on device"), 1, "error: [Errno 28] No space left on device\n"),
        (PermissionError(13, "Permission denied"), 2, "error: [Errno 13] Permission denied\n"),
        (MemoryError(), 1, "error: the memory of this machine does not suffice"),
        (ValueError("X is odd.\nSee the manual."), 2, "error: X is odd.\n"),
        (scarce.errors.LabelError("two\nlines"), 2, "error: two lines\n"),
    ],
)
def test_exit_codes(
    error: Exception, code: int, line: str, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    def app(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(main_module, "app", app)
    told = run("train")
    assert told.code == code
    assert told.err.startswith(line)
    assert told.err.count("\n") == 1


def test_a_full_disk_is_told_from_a_wrong_name(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    def app(*_: object, **__: object) -> None:
        raise scarce.errors.FileError("a.csv cannot be written") from OSError(28, "No space left on device")

    monkeypatch.setattr(main_module, "app", app)
    assert run("train").code == 1
