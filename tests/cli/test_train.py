"""``scarce train``: options, the choice of a method, and the estimate of the accuracy."""

import json
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from helpers.bench import lock_in_another_process
from helpers.command_line import RunCommand
from helpers.csv_files import write_csv

import scarce
from scarce.cli._options import ModelName, RecipeName
from scarce.estimators._method_choice import choose_method
from scarce.models import MODELS
from scarce.simulate import uniform
from scarce.training import RECIPES, predict_logits


@pytest.fixture
def answers(dataset_dir: Path, tmp_path: Path) -> Path:
    """One question about every digit, answered correctly."""
    truth = [line.split(",") for line in (dataset_dir / "truth.csv").read_text().split()[1:]]
    asked = np.random.default_rng(0).integers(0, 3, len(truth)).astype(str)
    rows = ([name, k, "yes" if label == k else "no"] for (name, label), k in zip(truth, asked, strict=True))
    return write_csv(tmp_path / "answers.csv", ["example_id", "class_name", "answer"], rows)


def test_option_names_match_registries() -> None:
    assert get_args(ModelName) == tuple(MODELS)
    assert get_args(RecipeName) == tuple(RECIPES)


def test_train_with_fast_recipe_makes_1500_steps(dataset_dir: Path, tmp_path: Path, run: RunCommand) -> None:
    """The 90 examples are a single batch."""
    command = ["train", dataset_dir / "features.csv", "--labels", dataset_dir / "labels.csv"]
    options = ["--method", "cc", "--module", "linear", "--no-estimate", "--recipe", "fast"]
    result = run(*command, "--out", tmp_path / "model", *options)
    assert (result.code, result.err) == (0, "")
    assert "trained for 1500 epochs in " in result.out


def test_train_accepts_ordinary_labels(dataset_dir: Path, tmp_path: Path, run: RunCommand) -> None:
    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "truth.csv",
        "--ordinary",
        "--out",
    ]
    result = run(*command, tmp_path / "model", "--epochs", 30, "--learning-rate", 0.01)
    assert (result.code, result.err) == (0, "")
    assert "90 examples, 3 classes, ordinary labels" in result.out
    facts = run(
        "evaluate",
        tmp_path / "model",
        dataset_dir / "features.csv",
        "--truth",
        dataset_dir / "truth.csv",
        "--json",
    )
    assert json.loads(facts.out) == {"true_accuracy": 1.0, "n_true": 90}


def test_train_forward_needs_a_transition_matrix(dataset_dir: Path, tmp_path: Path, run: RunCommand) -> None:
    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "labels.csv",
        "--out",
        tmp_path / "model",
    ]
    command += ["--method", "forward", "--epochs", 1]
    assert "needs a transition matrix" in run(*command).err
    np.save(tmp_path / "uniform.npy", (1 - np.eye(3)) / 2)
    result = run(*command, "--transition", tmp_path / "uniform.npy")
    assert result.code == 0
    assert "trained for 1 epoch in " in result.out


@pytest.mark.slow
def test_train_with_early_stopping_names_best_epoch(
    dataset_dir: Path, tmp_path: Path, run: RunCommand
) -> None:
    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "labels.csv",
        "--out",
        tmp_path / "model",
    ]
    result = run(*command, "--early-stopping", "--validation-fraction", 0.3, "--patience", 2, "--epochs", 50)
    history = json.loads((tmp_path / "model" / "classifier.json").read_text())["history"]
    values = [record["validation_accuracy"] for record in history]
    assert (
        f"best accuracy on held-out labels {max(values):.4f} after epoch {np.argmax(values) + 1}"
        in result.out
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["answers", "scarce"])
def test_train_auto_explains_its_choice_and_saves_a_model(
    dataset_dir: Path, answers: Path, tmp_path: Path, run: RunCommand, kind: str
) -> None:
    labels = answers if kind == "answers" else dataset_dir / "labels.csv"
    command = ["train", dataset_dir / "features.csv", "--labels", labels, "--out", tmp_path / "model"]
    result = run(*command, "--method", "auto", "--module", "linear", "--epochs", 20, "--learning-rate", 0.05)
    assert (result.code, result.err) == (0, "")
    chosen = [line for line in result.out.splitlines() if line.startswith("method: ")]
    assert chosen == [choose_method(scarce.read_labels(labels)).reason]
    assert chosen[0].startswith(f"method: {kind}, because ")
    model = scarce.load(tmp_path / "model")
    assert model.method_.facts.name == kind
    features = pd.read_csv(dataset_dir / "features.csv", index_col="id")
    truth = pd.read_csv(dataset_dir / "truth.csv", index_col="id")["label"].astype(str)
    assert (model.predict(features).astype(str) == truth[features.index]).mean() > 0.9


def test_train_auto_learns_prior_of_class_without_answers(
    dataset_dir: Path, answers: Path, tmp_path: Path, run: RunCommand
) -> None:
    """The priors are learned in training and printed afterwards."""
    rows = [line.split(",") for line in answers.read_text().split()]
    two = write_csv(tmp_path / "two.csv", rows[0], [row for row in rows[1:] if row[1] != "2"])
    command = ["train", dataset_dir / "features.csv", "--labels", two, "--join", "left", "--classes", "0,1,2"]
    result = run(*command, "--out", tmp_path / "model", "--method", "auto", "--epochs", 2)
    assert (result.code, result.err) == (0, "")
    assert 'fraction of "yes"' not in result.out
    assert "priors: learned by answers; raw estimates sum to 1.000\n" in result.out


def test_train_names_method_only_where_it_was_chosen(
    dataset_dir: Path, tmp_path: Path, run: RunCommand
) -> None:
    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "labels.csv",
        "--out",
        tmp_path / "model",
    ]
    assert "method: " not in run(*command, "--method", "refine", "--epochs", 20).out


@pytest.mark.slow
def test_train_refine_stops_early_and_names_best_epoch_of_last_stage(
    dataset_dir: Path, tmp_path: Path, run: RunCommand
) -> None:
    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "labels.csv",
        "--out",
        tmp_path / "model",
    ]
    result = run(*command, "--method", "refine", "--early-stopping", "--patience", 2, "--epochs", 60)
    assert (result.code, result.err) == (0, "")
    history = scarce.load(tmp_path / "model").history_
    last = [record for record in history if record["stage"] == history["stage"][-1]]
    best = max(last, key=lambda record: record["validation_likelihood"])
    assert len(history) < 150
    told_best = (
        f"best likelihood on held-out labels {best['validation_likelihood']:.4f} after epoch {best['epoch']}"
    )
    assert told_best in result.out


def test_train_default_stacks_learners_and_explains_them(
    dataset_dir: Path, tmp_path: Path, run: RunCommand
) -> None:
    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "labels.csv",
        "--out",
        tmp_path / "model",
    ]
    result = run(*command, "--module", "linear", "--explain")
    assert (result.code, result.err) == (0, "")
    model = scarce.load(tmp_path / "model")
    assert model.choice_.reason in result.out
    lines = result.out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("learner"))
    assert len(lines) - start > len(model.choice_.candidates)
    assert "priors: learned by auto" in result.out
    features = pd.read_csv(dataset_dir / "features.csv", index_col="id")
    truth = pd.read_csv(dataset_dir / "truth.csv", index_col="id")["label"].astype(str)
    assert (model.predict(features).astype(str) == truth[features.index]).mean() > 0.9


LINEAR = ["--method", "cc", "--module", "linear", "--epochs", "30", "--learning-rate", "0.03"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [LINEAR, ["--module", "linear"]], ids=["network", "stack"])
def test_train_estimates_accuracy_of_the_model(
    digits_dir: Path, tmp_path: Path, run: RunCommand, options: list[str]
) -> None:
    command = [
        "train",
        digits_dir / "train.npy",
        "--labels",
        digits_dir / "train-uniform.npz",
        "--out",
        tmp_path / "m",
    ]
    result = run(*command, *options)
    assert result.code == 0, result.err
    _, good = result.out.split(f"saved the model to {tmp_path / 'm'}\n")
    assert "estimated accuracy, from" in good
    low, high = map(float, good.split("95% interval ")[1].split(")")[0].split(" to "))
    truth = (
        scarce.load(tmp_path / "m").predict(np.load(digits_dir / "test.npy"))
        == np.load(digits_dir / "test-truth.npy")
    ).mean()
    assert low - 0.03 < truth < high + 0.1  # the copies were trained on three quarters of the rows
    assert "class  precision" in good
    assert max(map(len, good.splitlines())) <= 100


def test_train_without_estimate_ends_with_saved_model(
    digits_dir: Path, tmp_path: Path, run: RunCommand
) -> None:
    command = [
        "train",
        digits_dir / "train.npy",
        "--labels",
        digits_dir / "train-uniform.npz",
        "--out",
        tmp_path / "m",
    ]
    assert run(*command, *LINEAR, "--no-estimate").out.endswith(f"saved the model to {tmp_path / 'm'}\n")


def test_train_skips_estimate_with_too_few_examples(tmp_path: Path, run: RunCommand) -> None:
    np.save(tmp_path / "few.npy", np.eye(6, 4))
    uniform(np.arange(6) % 3, seed=0).save(tmp_path / "few.npz")
    command = ["train", tmp_path / "few.npy", "--labels", tmp_path / "few.npz", "--out", tmp_path / "m"]
    result = run(*command, "--method", "cc", "--epochs", "1")
    assert result.code == 0
    assert "the accuracy is not estimated: 6 examples are too few to hold some out" in result.out


def test_train_saves_model_whose_accuracy_cannot_be_estimated(tmp_path: Path, run: RunCommand) -> None:
    """All true classes but one are the same, so some copies see a single class."""
    np.save(tmp_path / "rows.npy", np.arange(40.0).reshape(20, 2))
    (tmp_path / "truth.csv").write_text("label\n" + "cat\n" * 19 + "dog\n")
    command = [
        "train",
        tmp_path / "rows.npy",
        "--labels",
        tmp_path / "truth.csv",
        "--ordinary",
        "--out",
        tmp_path / "m",
    ]
    result = run(*command, "--module", "linear", "--epochs", "2")
    assert result.code == 0, result.err
    assert "the accuracy is not estimated: y holds only one class, cat" in result.out
    assert scarce.load(tmp_path / "m").classes_.tolist() == ["cat", "dog"]


def train_command(dataset_dir, out, *more):
    options = [
        "--module",
        "linear",
        "--epochs",
        "5",
        "--batch-size",
        "30",
        "--priors",
        "uniform",
        "--no-estimate",
    ]
    files = ["train", dataset_dir / "features.csv", "--labels", dataset_dir / "labels.csv", "--out", out]
    return [str(part) for part in (*files, *options, *more)]


def logits_of(dataset_dir, model):
    return predict_logits(scarce.load(model).model_, np.load(dataset_dir / "features.npy")).numpy()


def test_train_with_bf16_is_near_full_precision(dataset_dir: Path, tmp_path: Path, run) -> None:
    for name in ("full", "bf16"):
        assert run(*train_command(dataset_dir, tmp_path / name, "--precision", name)).code == 0
    full, short = logits_of(dataset_dir, tmp_path / "full"), logits_of(dataset_dir, tmp_path / "bf16")
    assert not np.array_equal(full, short)
    np.testing.assert_allclose(full, short, atol=0.05)


@pytest.mark.parametrize(
    ("option", "value", "line"),
    [
        ("--micro-batch", "0", "Invalid value for '--micro-batch'"),
        ("--precision", "half", "Invalid value for '--precision'"),
    ],
)
def test_train_rejects_wrong_micro_batch_and_precision(
    dataset_dir: Path, tmp_path: Path, run_expecting_error, option, value, line
) -> None:
    assert line in run_expecting_error(*train_command(dataset_dir, tmp_path / "m", option, value))


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:dynamo_pgo force disabled:UserWarning")
@pytest.mark.usefixtures("no_compiler")
def test_train_names_missing_compiler_in_one_line(
    dataset_dir: Path, tmp_path: Path, run_expecting_error
) -> None:
    assert "or leave out compile=True (--compile)" in run_expecting_error(
        *train_command(dataset_dir, tmp_path / "m", "--compile")
    )


@pytest.mark.parametrize("target", ["nowhere", "trained"])
def test_train_rejects_link_as_output_before_it_trains(
    target: str, dataset_dir: Path, tmp_path: Path, run_expecting_error
) -> None:
    (tmp_path / "trained").symlink_to(dataset_dir / "model")
    (tmp_path / "link").symlink_to(tmp_path / target)
    labels = tmp_path / "missing.csv"  # the output is checked before the inputs
    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        labels,
        "--out",
        tmp_path / "link",
        "--force",
    ]
    assert f"link is a link to {tmp_path / target}" in run_expecting_error(*command)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "trained"]


def test_train_says_at_once_that_another_process_trains_into_its_output(
    dataset_dir: Path, tmp_path: Path, run, run_expecting_error
) -> None:
    command = train_command(dataset_dir, tmp_path / "m")
    with lock_in_another_process(tmp_path / "m.lock") as process:
        message = run_expecting_error(*command)
        assert f"another process is training into {tmp_path / 'm'}; wait for it, or choose" in message
        process.kill()
        process.wait()
        assert run(*command).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
