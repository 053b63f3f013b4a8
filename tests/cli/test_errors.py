"""Mistakes of the user: exit code 2, one line that names the mistake, and no output files."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers.command_line import RunCommand, RunExpectingError
from helpers.csv_files import write_csv
from safetensors.numpy import save_file


def features_with(dataset_dir: Path, path: Path, *, value: float) -> Path:
    X = np.load(dataset_dir / "features.npy").astype(float)
    X[7, 3] = value
    np.save(path, X)
    return path


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "inf")])
def test_train_and_predict_reject_nan_and_infinite_features(
    value: float, name: str, dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    bad = features_with(dataset_dir, tmp_path / "bad.npy", value=value)
    command = ["train", bad, "--labels", dataset_dir / "labels.csv", "--out", tmp_path / "model"]
    assert f"{name} at row 7, column 3" in run_expecting_error(*command)
    assert f"{name} at row 7, column 3" in run_expecting_error("predict", dataset_dir / "model", bad)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.npy"]


def test_train_and_predict_reject_features_of_wrong_shape(
    dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    X = np.load(dataset_dir / "features.npy")
    np.save(tmp_path / "short.npy", X[:50])
    np.save(tmp_path / "narrow.npy", X[:, :60])
    np.save(tmp_path / "empty.npy", X[:0])
    np.save(tmp_path / "words.npy", np.array([["a", "b"]]))
    train = ["--labels", dataset_dir / "labels.csv", "--out", tmp_path / "model"]
    assert "50 rows of features and 90 labelled examples" in run_expecting_error(
        "train", tmp_path / "short.npy", *train
    )
    assert "60 features" in run_expecting_error("predict", dataset_dir / "model", tmp_path / "narrow.npy")
    assert "(0, 64)" in run_expecting_error("train", tmp_path / "empty.npy", *train)
    assert "expected numbers" in run_expecting_error("train", tmp_path / "words.npy", *train)


def test_predict_names_missing_and_unexpected_columns(
    dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    text = (dataset_dir / "features.csv").read_text()
    (tmp_path / "renamed.csv").write_text(text.replace("px0,", "other,", 1))
    message = run_expecting_error("predict", dataset_dir / "model", tmp_path / "renamed.csv")
    assert "lacks px0 and also has other" in message


def test_train_rejects_single_class(
    dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    write_csv(tmp_path / "labels.csv", ["example_id", "class_name", "answer"], [["d000", "cat", "no"]])
    command = [
        "train",
        dataset_dir / "features.csv",
        "--out",
        tmp_path / "model",
        "--join",
        "left",
        "--labels",
    ]
    assert "at least 2" in run_expecting_error(*command, tmp_path / "labels.csv")
    write_csv(tmp_path / "truth.csv", ["id", "label"], ([f"d{row:03d}", "cat"] for row in range(90)))
    assert "at least 2" in run_expecting_error(*command, tmp_path / "truth.csv", "--ordinary")


@pytest.mark.parametrize(
    ("priors", "part"),
    [
        ("0.5,0.4,0.3", "sum to 1.2"),
        ("0.6,0.6,-0.2", "-0.2"),
        ("0.5,0.5", "3 numbers"),
        ("0=0.5,1=0.5", "lacks 2"),
        ("0=0.5,1=0.2,dog=0.3", "dog"),
        ("0.9,0.05,0.05", "class 0 is excluded by"),  # more examples exclude 0 than can be of other classes
        ("a lot", "unknown"),
        ("0=much,1=more", "not understood"),
        ("answers", "'answers' needs labels made from answers"),
    ],
)
def test_train_rejects_wrong_priors(
    priors: str, part: str, dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "labels.csv",
        "--out",
        tmp_path / "model",
    ]
    assert part in run_expecting_error(*command, "--priors", priors)
    assert list(tmp_path.iterdir()) == []


def test_train_reads_priors_from_json_file(
    dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError, run: RunCommand
) -> None:
    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "labels.csv",
        "--out",
        tmp_path / "model",
    ]
    (tmp_path / "cut.json").write_text('{"0": 0.3, "1":')
    assert "not valid JSON" in run_expecting_error(*command, "--priors", tmp_path / "cut.json")
    (tmp_path / "good.json").write_text('{"2": 0.5, "0": 0.3, "1": 0.2}')
    assert run(*command, "--priors", tmp_path / "good.json", "--epochs", 1).code == 0
    settings = json.loads((tmp_path / "model" / "classifier.json").read_text())
    assert settings["priors"]["values"] == pytest.approx([0.3, 0.2, 0.5])


@pytest.mark.parametrize(
    "command",
    [
        "train nowhere.csv --labels {labels} --out model",
        "train {features} --labels nowhere.csv --out model",
        "train {features} --labels {labels} --out model --priors nowhere.json",
        "train {features} --labels {labels} --out model --set alpha=nowhere.npy",
        "train {features} --labels {labels} --out model --transition nowhere.npy",
        "predict nowhere {features}",
        "predict {model} nowhere.csv",
        "evaluate {model} {features} --labels nowhere.csv",
        "evaluate {model} {features} --truth nowhere.csv",
        "labels describe nowhere.csv",
        "labels convert nowhere.csv out.csv",
        "labels simulate nowhere.csv out.csv",
    ],
)
def test_commands_name_missing_file(
    command: str,
    dataset_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_expecting_error: RunExpectingError,
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"features": "features.csv", "labels": "labels.csv", "model": "model"}
    words = [
        word.format(**{key: dataset_dir / name for key, name in names.items()}) for word in command.split()
    ]
    assert "does not exist" in run_expecting_error(*words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["features.csv", "features.npy", "labels.npz", "labels.csv", "truth.csv"])
def test_commands_reject_truncated_file(
    name: str, dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    data = (dataset_dir / name).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) // 2].rstrip(b"\r\n0123456789"))
    train = ["--out", tmp_path / "model"]
    if name.startswith("features"):
        message = run_expecting_error(
            "train", tmp_path / name, "--labels", dataset_dir / "labels.csv", *train
        )
    elif name.startswith("labels"):
        message = run_expecting_error(
            "train", dataset_dir / "features.csv", "--labels", tmp_path / name, *train
        )
    else:
        message = run_expecting_error(
            "evaluate", dataset_dir / "model", dataset_dir / "features.csv", "--truth", tmp_path / name
        )
    assert str(tmp_path / name) in message or "have no labels" in message


def test_commands_reject_file_of_another_format(
    dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    (tmp_path / "features.csv").write_bytes((dataset_dir / "features.npy").read_bytes())
    (tmp_path / "labels.xlsx").write_bytes(b"PK")
    (tmp_path / "export.json").write_text('[{"id": 1,')
    (tmp_path / "no-images").mkdir()
    labels, out = ["--labels", dataset_dir / "labels.csv"], ["--out", tmp_path / "model"]
    assert "text" in run_expecting_error("train", tmp_path / "features.csv", *labels, *out)
    assert "contains neither images" in run_expecting_error("train", tmp_path / "no-images", *labels, *out)
    assert "read from .csv" in run_expecting_error("labels", "describe", tmp_path / "labels.xlsx")
    assert "does not state which tool wrote it" in run_expecting_error(
        "labels", "describe", tmp_path / "export.json"
    )
    export = ["labels", "describe", tmp_path / "export.json", "--form", "label-studio-answer"]
    assert "not valid JSON" in run_expecting_error(*export)


def test_train_names_ids_that_differ_and_joins_on_request(
    dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError, run: RunCommand
) -> None:
    lines = (dataset_dir / "labels.csv").read_text().splitlines()
    (tmp_path / "labels.csv").write_text("\n".join([*lines[:81], "x1,no,,"]))
    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        tmp_path / "labels.csv",
        "--out",
        tmp_path / "model",
    ]
    message = run_expecting_error(*command)
    assert "10 feature rows have no labels (d0" in message
    assert "1 label rows have no features (x1)" in message
    result = run(*command, "--join", "inner", "--epochs", 1)
    assert "80 examples" in result.out
    np.save(tmp_path / "one-side.npy", np.load(dataset_dir / "features.npy"))
    command[1] = tmp_path / "one-side.npy"
    assert "the features have none" in run_expecting_error(*command, "--join", "inner", "--force")


def test_commands_do_not_replace_existing_outputs(
    dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError, run: RunCommand
) -> None:
    train = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "labels.csv",
        "--epochs",
        1,
        "--out",
    ]
    (tmp_path / "notes.txt").write_text("mine")
    assert "exists" in run_expecting_error(*train, dataset_dir / "model")
    assert "is not a saved classifier" in run_expecting_error(*train, tmp_path, "--force")
    assert "is not a saved classifier" in run_expecting_error(*train, tmp_path / "notes.txt", "--force")
    assert "cannot be written" in run_expecting_error(*train, tmp_path / "notes.txt" / "model")
    predict = ["predict", dataset_dir / "model", dataset_dir / "features.csv", "--out"]
    assert "exists" in run_expecting_error(*predict, tmp_path / "notes.txt")
    assert "cannot be written" in run_expecting_error(*predict, tmp_path / "notes.txt" / "a.csv")
    simulate = ["labels", "simulate", dataset_dir / "truth.csv"]
    assert "exists" in run_expecting_error(*simulate, dataset_dir / "labels.csv")
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    assert run(*predict, tmp_path / "notes.txt", "--force").code == 0
    assert (tmp_path / "notes.txt").read_text().startswith("example_id,class,probability\nd000,")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ("--method luck", "method='luck' is unknown"),
        ("--set lucky=1", "no parameter 'lucky'"),
        ("--set alpha=much", "alpha='much'"),
        ("--set alpha=7", "alpha=7"),
        ("--set name=x", "no parameter 'name'"),
        ("--set alpha", "expected key=value"),
        ("--module forest", "Invalid value for '--module': 'forest' is not one of 'auto'"),
        ("--module lenet", "lenet takes images"),
        ("--recipe soup", "'--recipe'"),
        ("--augment crop", "is for images"),
        ("--augment spin", "augmentation='spin' is unknown"),
        ("--input-noise -1", "'--input-noise'"),
        ("--module linear --dropout 0.5", "dropout=0.5 is for module='mlp'"),
        ("--optimizer newton", "'--optimizer'"),
        ("--method cc --optimizer lbfgs", "is for module='linear'"),
        ("--module linear --optimizer lbfgs", "the loss of scarce is not"),
        ("--epochs 0", "'--epochs'"),
        ("--epochs many", "'--epochs'"),
        ("--learning-rate -1", "learning_rate=-1"),
        ("--learning-rate nan", "learning_rate=nan"),
        ("--device toaster", "device='toaster' cannot be used"),
        ("--device meta", "device='meta' cannot be used"),
        ("--join outer", "'--join'"),
        ("--conflict fight", "'--conflict'"),
        ("--form guess", "form='guess' is unknown"),
        ("--classes a,b,c", "0, 1, 2"),
        ("--classes a,,c", "an empty name"),
        ("--id-column nobody", "no column 'nobody'"),
        ("--image-size 8x8", "for folders of images"),
        ("--early-stopping --validation-fraction 2", "validation_fraction=2"),
        ("--ordinary --form lists", "--ordinary"),
        ("--zzz", "No such option: --zzz; see scarce train --help"),
        ("too-much", "too-much"),
    ],
)
def test_train_rejects_wrong_options(
    options: str, part: str, dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "labels.csv",
        "--out",
        tmp_path / "model",
    ]
    assert part in run_expecting_error(*command, *options.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("fly", "No such command 'fly'; see scarce --help"),
        ("trian", "error: No such command 'trian'. Did you mean 'train'? See scarce --help"),
        ("labels fly", "see scarce labels --help"),
        ("train", "Missing"),
        ("evaluate {dataset_dir}/model {dataset_dir}/features.csv", "--labels FILE, --truth FILE"),
        ("labels simulate {dataset_dir}/truth.csv out.csv --process luck", "process='luck' is unknown"),
        (
            "labels simulate {dataset_dir}/truth.csv out.csv --process scar --set rate=0.5",
            "has no parameter 'rate'",
        ),
        ("labels simulate {dataset_dir}/truth.csv out.csv --process scar --set rates=0.1,0.2", "3 classes"),
        ("labels simulate {dataset_dir}/truth.csv out.csv --set name=x", "has no parameter 'name'"),
        ("labels simulate {dataset_dir}/truth.csv out.txt", ".csv or .npz"),
        ("labels convert {dataset_dir}/labels.csv out.txt", ".csv or .npz"),
        (
            "predict {dataset_dir}/model {dataset_dir}/features.csv --out {dataset_dir}/features.csv --force",
            "holds the features",
        ),
    ],
)
def test_commands_name_wrong_command_or_argument(
    command: str, part: str, dataset_dir: Path, run_expecting_error: RunExpectingError
) -> None:
    assert part in run_expecting_error(*(word.format(dataset_dir=dataset_dir) for word in command.split()))


def test_predict_rejects_damaged_model(
    dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    def predicted_with(name: str, data: bytes) -> str:
        shutil.rmtree(tmp_path / "model", ignore_errors=True)
        shutil.copytree(dataset_dir / "model", tmp_path / "model")
        (tmp_path / "model" / name).write_bytes(data)
        return run_expecting_error("predict", tmp_path / "model", dataset_dir / "features.csv")

    weights, settings = (
        (dataset_dir / "model" / name).read_bytes() for name in ("weights.safetensors", "classifier.json")
    )
    assert "damaged" in predicted_with("weights.safetensors", weights[:-10])
    assert "damaged" in predicted_with("weights.safetensors", weights[:-1] + bytes([weights[-1] ^ 1]))
    assert "damaged" in predicted_with("classifier.json", settings[: len(settings) // 2])
    assert "another program" in predicted_with("classifier.json", b'{"format": "cake"}')
    (tmp_path / "foreign").mkdir()
    save_file({"x": np.zeros(3)}, tmp_path / "foreign" / "weights.safetensors")
    assert "not a saved classifier" in run_expecting_error(
        "predict", tmp_path / "foreign", dataset_dir / "features.csv"
    )
    assert "expected a folder" in run_expecting_error(
        "predict", dataset_dir / "labels.csv", dataset_dir / "features.csv"
    )


def test_evaluate_rejects_labels_of_other_classes(
    dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    text = (dataset_dir / "labels.csv").read_text()
    (tmp_path / "pets.csv").write_text(text.replace("example_id,0,1,2", "example_id,cat,cow,dog"))
    assert "cat, cow, dog" in run_expecting_error(
        "evaluate", dataset_dir / "model", dataset_dir / "features.csv", "--labels", tmp_path / "pets.csv"
    )
    np.save(tmp_path / "m.npy", np.eye(90, 4))
    message = run_expecting_error("evaluate", dataset_dir / "model", dataset_dir / "features.csv", "--labels", tmp_path / "m.npy",
                      "--form", "indicator", "--classes", "0,1,2,3")  # fmt: skip
    assert "has the classes 0, 1, 2, 3, but the model was trained for 0, 1, 2" in message


@pytest.mark.slow
def test_train_rejects_checkpoint_of_another_run(
    dataset_dir: Path, tmp_path: Path, run_expecting_error: RunExpectingError, run: RunCommand
) -> None:
    from scarce.training._checkpoint import CHECKPOINT_FORMAT, save_state

    command = [
        "train",
        dataset_dir / "features.csv",
        "--labels",
        dataset_dir / "labels.csv",
        "--out",
        tmp_path / "model",
    ]
    for identity, message in (
        ({"checkpoint_format": CHECKPOINT_FORMAT}, "belongs to another run"),
        ({"checkpoint_format": CHECKPOINT_FORMAT - 1}, "delete it (--restart) to train from the start"),
    ):
        save_state(tmp_path / "model.checkpoint", {"identity": identity, "epoch": 3})
        assert message in run_expecting_error(*command, "--epochs", 1)
    (tmp_path / "model.checkpoint").write_bytes(b"no checkpoint")
    assert "damaged" in run_expecting_error(*command, "--epochs", 1)
    assert run(*command, "--epochs", 1, "--restart").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_divergence_has_exit_code_1(dataset_dir: Path, tmp_path: Path, run: RunCommand) -> None:
    result = run("train", dataset_dir / "features.csv", "--labels", dataset_dir / "labels.csv", "--out", tmp_path / "model",
               "--learning-rate", 1e38, "--no-standardize")  # fmt: skip
    assert result.code == 1
    assert "try a smaller learning rate" in result.err
    assert result.err.count("\n") == 1


def test_dangerous_files_end_with_one_line(run_expecting_error, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.csv")
    assert "is a pipe, a device or a socket" in run_expecting_error(
        "labels", "describe", tmp_path / "pipe.csv"
    )
    (tmp_path / "a.csv").write_text("example_id,cat,dog\np1,no,\n")
    monkeypatch.setenv("SCARCE_MAX_BYTES", "10")
    assert "SCARCE_MAX_BYTES" in run_expecting_error("labels", "describe", tmp_path / "a.csv")
