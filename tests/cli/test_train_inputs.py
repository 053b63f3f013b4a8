"""``scarce train`` reads labels and features from every kind of file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command_line import RunCommand
from helpers.csv_files import write_csv
from PIL import Image
from safetensors.numpy import load_file

from scarce import ComplementaryLabels, read_labels
from scarce.features import read_features

Q = 3


def labels_of(dataset_dir: Path) -> ComplementaryLabels:
    """The labels in the order of the features."""
    labels = read_labels(dataset_dir / "labels.csv")
    return labels[np.argsort(labels.ids)]


def as_answers(labels: ComplementaryLabels) -> list[tuple[str, int]]:
    assert labels.ids is not None
    return list(zip(labels.ids.tolist(), labels.indices.tolist(), strict=True))  # one exclusion each


def label_studio(answers: list[tuple[str, int]], *, asked: bool) -> list[dict[str, Any]]:
    # Task numbers stand for the rows of features.npy, which has no ids.
    return [
        {
            "id": number,
            "data": {"class_name": str(k)},
            "annotations": [
                {
                    "result": [
                        {
                            "from_name": "c",
                            "type": "choices",
                            "value": {"choices": ["no" if asked else str(k)]},
                        }
                    ]
                }
            ],
        }
        for number, (_, k) in enumerate(answers)
    ]


def write_form(form: str, labels: ComplementaryLabels, folder: Path) -> list[object]:
    """Write labels in a form, and return the options that read them."""
    excluded, answers = labels.indicator(dtype=int), as_answers(labels)
    named = ["--form", form, "--classes", "0,1,2"]
    path = folder / "labels.csv"
    if form == "npz":
        path = folder / "labels.npz"
        labels.save(path)
        return ["--labels", path]
    if form in ("matrix.npy", "candidates.npy"):
        path = folder / "labels.npy"
        np.save(path, excluded if form == "matrix.npy" else 1 - excluded)
        return ["--labels", path, "--form", "indicator" if form == "matrix.npy" else "candidates"]
    if form == "answer-matrix.npy":
        path = folder / "labels.npy"
        np.save(path, np.where(excluded, 0, np.nan))
        return ["--labels", path, "--form", "answer-matrix", "--classes", "3"]
    if form == "answers":
        write_csv(path, ["example_id", "class_name", "answer"], ([name, k, "no"] for name, k in answers))
        return ["--labels", path]
    if form in ("lists", "single"):
        write_csv(path, ["example_id", "excluded"], answers)
        return ["--labels", path, *named]
    if form == "columns":
        write_csv(path, ["example_id", "first", "second"], ([name, k, ""] for name, k in answers))
        return ["--labels", path, *named]
    if form in ("indicator", "candidates"):
        cells = excluded if form == "indicator" else 1 - excluded
        rows = ([name, *row] for (name, _), row in zip(answers, cells.tolist(), strict=True))
        write_csv(path, ["example_id", "0", "1", "2"], rows)
        return ["--labels", path, "--form", form]
    if form == "prodigy":
        path = folder / "labels.jsonl"
        lines = [json.dumps({"id": name, "label": str(k), "answer": "reject"}) for name, k in answers]
        path.write_text("\n".join(lines))
        return ["--labels", path, *named]
    path = folder / "labels.json"
    path.write_text(json.dumps(label_studio(answers, asked=form == "label-studio-answer")))
    return ["--labels", path, *named]


FORMS = ["npz", "matrix.npy", "candidates.npy", "answer-matrix.npy", "answers", "lists", "single", "columns",
         "indicator", "candidates", "prodigy", "label-studio-excluded", "label-studio-answer"]  # fmt: skip
FORM_OPTIONS = ["--method", "scarce", "--epochs", "2", "--no-estimate"]


def weights_of(model: Path) -> dict[str, list[Any]]:
    """The weights of the network; the method also keeps other facts of answers."""
    weights = load_file(model / "weights.safetensors")
    return {name: array.tolist() for name, array in weights.items() if name.startswith("model.")}


@pytest.fixture(scope="module")
def expected(dataset_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    from scarce.cli.main import main

    out = tmp_path_factory.mktemp("expected") / "model"
    assert main(["train", str(dataset_dir / "features.csv"), "--labels", str(dataset_dir / "labels.csv"),
                 "--out", str(out), *FORM_OPTIONS]) == 0  # fmt: skip
    return weights_of(out)


@pytest.mark.parametrize("form", FORMS)
def test_every_label_form_trains_the_same_model(
    form: str, dataset_dir: Path, expected: dict[str, list[Any]], tmp_path: Path, run: RunCommand
) -> None:
    without_ids = form.endswith(".npy") or form.startswith("label-studio")
    features = dataset_dir / ("features.npy" if without_ids else "features.csv")
    options = write_form(form, labels_of(dataset_dir), tmp_path)
    result = run("train", features, *options, "--out", tmp_path / "model", *FORM_OPTIONS)
    assert (result.code, result.err) == (0, "")
    assert weights_of(tmp_path / "model") == expected


def test_train_predict_and_evaluate_accept_folder_of_images(
    dataset_dir: Path, tmp_path: Path, run: RunCommand
) -> None:
    pixels = np.load(dataset_dir / "features.npy").reshape(-1, 8, 8).astype(np.uint8) * 15
    ids = labels_of(dataset_dir).ids
    assert ids is not None
    for name, image in zip(ids, pixels, strict=True):
        (tmp_path / "photos" / name[-1]).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / "photos" / name[-1] / f"{name}.png")
    answers = ([f"{name[-1]}/{name}.png", k, "no"] for name, k in as_answers(labels_of(dataset_dir)))
    write_csv(tmp_path / "labels.csv", ["example_id", "class_name", "answer"], answers)

    size = ["--image-size", "16x16"]
    result = run("train", tmp_path / "photos", "--labels", tmp_path / "labels.csv", "--out", tmp_path / "model",
               "--module", "lenet", "--method", "cc", "--epochs", 2, *size)  # fmt: skip
    assert (result.code, result.err) == (0, "")
    result = run("predict", tmp_path / "model", tmp_path / "photos", *size)
    assert result.out.splitlines()[1].startswith("0/d000.png,")
    assert len(result.out.splitlines()) == 91
    result = run(
        "evaluate", tmp_path / "model", tmp_path / "photos", "--labels", tmp_path / "labels.csv", *size
    )
    assert "from 90 examples with 90 exclusions" in result.out


COLORS = [(200, 30, 30), (30, 200, 30), (30, 30, 200)]
MLP = ["--method", "cc", "--module", "mlp", "--epochs", 1, "--priors", "uniform", "--no-estimate"]


def write_photos(folder: Path, sizes: list[tuple[int, int]], *, gray: bool = False) -> None:
    """Write a JPEG of each size (width, height), in one of three colors."""
    folder.mkdir()
    for row, size in enumerate(sizes):
        photo = Image.new("RGB", size, COLORS[row % Q])
        (photo.convert("L") if gray else photo).save(folder / f"{row:02d}.jpg")


def write_photo_labels(folder: Path, n: int) -> Path:
    labels = folder.with_suffix(".csv")
    rows = ([f"{row:02d}.jpg", "rgb"[(row + 1 + row // Q % 2) % Q], "no"] for row in range(n))
    write_csv(labels, ["example_id", "class_name", "answer"], rows)
    return labels


def train_on_photos(folder: Path, n: int, run: RunCommand, *options: object) -> str:
    """Train a model next to a folder of photos, and return what is printed."""
    labels = write_photo_labels(folder, n)
    model = folder.with_suffix(".model")
    result = run("train", folder, "--labels", labels, "--out", model, *MLP, *options)
    assert (result.code, result.err) == (0, "")
    return result.out


def input_shape_of(model: Path) -> list[int]:
    shape: list[int] = json.loads((model / "classifier.json").read_text())["input_shape"]
    return shape


def test_photos_of_any_size_and_color_need_no_option(tmp_path: Path, run: RunCommand) -> None:
    sizes = [(64, 48), (48, 64), (100, 80)] * 4
    write_photos(tmp_path / "photos", sizes)
    out = train_on_photos(tmp_path / "photos", len(sizes), run)
    assert out.startswith(
        "the 12 images differ in size (height x width from 48x64 to 80x100); each was scaled so that its short side is 32 pixels "
        "and cropped at the center to 32x32; image_size (--image-size) changes this\n"
    )
    model = tmp_path / "photos.model"
    assert input_shape_of(model) == [3, 32, 32]

    write_photos(tmp_path / "new", [(50, 40), (20, 20), (300, 70)])
    note = "the 3 images differ in size (height x width from 20x20 to 70x300); each was scaled so that its short side is 32 pixels "
    note += "and cropped at the center to 32x32, as the model expects\n"
    shown = run("predict", model, tmp_path / "new")
    assert (shown.code, shown.err) == (0, note)  # standard output is the table
    assert [line.split(",")[0] for line in shown.out.splitlines()] == [
        "example_id",
        "00.jpg",
        "01.jpg",
        "02.jpg",
    ]
    written = run("predict", model, tmp_path / "new", "--out", tmp_path / "p.csv", "--image-size", "32x32")
    assert written.out == f"{note}wrote 3 predictions to {tmp_path / 'p.csv'}\n"
    assert (tmp_path / "p.csv").read_text() == shown.out

    write_photos(tmp_path / "gray", [(32, 32)] * 3, gray=True)
    gray = run("predict", model, tmp_path / "gray")
    assert (gray.code, gray.err, gray.out.count("\n")) == (0, "", 4)

    truth = tmp_path / "truth.csv"
    write_csv(truth, ["example_id", "class_name"], [["00.jpg", "r"], ["01.jpg", "g"], ["02.jpg", "b"]])
    evaluated = run("evaluate", model, tmp_path / "new", "--truth", truth, "--json")
    assert (evaluated.code, evaluated.err) == (0, note)
    assert json.loads(evaluated.out)["n_true"] == 3
    assert run("evaluate", model, tmp_path / "new", "--truth", truth).out.startswith(note)


def test_model_of_gray_photos_converts_color_photos(tmp_path: Path, run: RunCommand) -> None:
    write_photos(tmp_path / "scans", [(30, 40)] * 12, gray=True)
    out = train_on_photos(tmp_path / "scans", 12, run)
    assert out.startswith("12 examples")  # one small size is kept without a word
    assert input_shape_of(tmp_path / "scans.model") == [40, 30]
    write_photos(tmp_path / "new", [(30, 40)] * 3)
    result = run("predict", tmp_path / "scans.model", tmp_path / "new")
    assert result.code == 0
    assert result.err == "the 3 images are in color and were converted to gray, as the model expects\n"
    assert result.out.count("\n") == 4


def test_predict_on_photos_rejects_other_size_and_model_of_table(
    dataset_dir: Path, tmp_path: Path, run: RunCommand, run_expecting_error: Any
) -> None:
    write_photos(tmp_path / "photos", [(40, 30)] * 6)
    train_on_photos(tmp_path / "photos", 6, run, "--image-size", "16x16")
    model = tmp_path / "photos.model"
    message = run_expecting_error("predict", model, tmp_path / "photos", "--image-size", "20x20")
    assert (
        "image_size is 20x20, but the model was trained on images of 16x16; leave image_size (--image-size) out."
        in message
    )
    message = run_expecting_error("predict", dataset_dir / "model", tmp_path / "photos")
    assert "is a folder of images, but the model was trained on rows of 64 numbers" in message


@pytest.mark.filterwarnings("ignore::scarce.errors.PriorWarning")  # of 60 rows
def test_priors_accept_photos_of_different_sizes(tmp_path: Path, run: RunCommand) -> None:
    write_photos(tmp_path / "photos", [(64, 48), (48, 64)] * 30)
    labels = write_photo_labels(tmp_path / "photos", 60)
    tice = ["--estimator", "tice", "--set", "n_rows=50"]
    result = run("priors", tmp_path / "photos", "--labels", labels, *tice)
    assert result.code == 0, result.err
    assert result.out.startswith("the 60 images differ in size")


@pytest.mark.slow
def test_train_on_labels_that_leave_one_class_is_accurate(
    dataset_dir: Path, tmp_path: Path, run: RunCommand
) -> None:
    simulate = ["labels", "simulate", dataset_dir / "truth.csv", tmp_path / "labels.csv"]
    assert run(*simulate, "--process", "uniform-multiple", "--set", "sizes=2").code == 0
    result = run("train", dataset_dir / "features.csv", "--labels", tmp_path / "labels.csv", "--out", tmp_path / "model",
               "--epochs", 60, "--learning-rate", 0.01)  # fmt: skip
    assert (result.code, result.err) == (0, "")
    result = run(
        "evaluate",
        tmp_path / "model",
        dataset_dir / "features.csv",
        "--truth",
        dataset_dir / "truth.csv",
        "--json",
    )
    assert json.loads(result.out)["true_accuracy"] > 0.95


OPTIONS = ["--module", "linear", "--epochs", "3", "--priors", "uniform"]


def predictions(run, model, features):
    code, out, err = run("predict", model, features)
    assert code == 0, err
    return out


@pytest.mark.parametrize("features", ["arrays", "array.npy"])
def test_array_shards_train_the_same_model(run, dataset_dir, shards, features):
    """Without ids, the labels must follow the order of the features."""
    np.save(shards / "array.npy", read_features(dataset_dir / "features.csv").values)
    labels = shards / "labels.npy"
    np.save(labels, np.arange(90) % 3)
    as_labels = ["--labels", labels, "--form", "single", "--classes", "3"]
    np.savez(shards / "memory.npz", X=np.load(shards / "array.npy"))
    for name in (features, "memory.npz"):
        code, _, err = run("train", shards / name, *as_labels, "--out", shards / f"model of {name}", *OPTIONS)
        assert code == 0, err
    outputs = [
        predictions(run, shards / f"model of {name}", shards / other)
        for name in (features, "memory.npz")
        for other in (features, "memory.npz")
    ]
    assert outputs[0].count("\n") == 91
    assert len(set(outputs)) == 1


@pytest.mark.filterwarnings("ignore::scarce.errors.PriorWarning")  # of 60 rows
def test_train_evaluate_and_priors_join_shards_by_id(run, dataset_dir, shards):
    few = shards / "few.csv"
    lines = (dataset_dir / "labels.csv").read_text().splitlines()
    few.write_text("\n".join(lines[:61]) + "\n")
    joined = [shards / "tables", "--labels", few, "--join", "inner"]
    code, _, err = run("train", *joined, "--out", shards / "model", *OPTIONS)
    assert code == 0, err
    code, out, err = run("evaluate", shards / "model", *joined, "--truth", dataset_dir / "truth.csv")
    assert code == 0, err
    assert "from 60 examples" in out
    assert "from 90 true labels" in out
    code, out, err = run("priors", *joined, "--estimator", "tice", "--set", "n_rows=50")
    assert code == 0, err


def test_priors_with_linear_scorer_rejects_shards(run_expecting_error, dataset_dir, shards):
    settings = ["--set", "scorer=linear", "--set", "bootstrap=0"]
    labels = ["--labels", dataset_dir / "labels.npz"]
    message = run_expecting_error("priors", shards / "tables", *labels, *settings)
    assert "needs all rows in memory" in message
    assert "scorer='network'" in message


def test_train_names_foreign_file_among_shards(run_expecting_error, dataset_dir, shards):
    (shards / "arrays" / "notes.txt").touch()
    labels = ["--labels", dataset_dir / "labels.csv", "--out", shards / "model"]
    assert "notes.txt is in a folder of .npy shards" in run_expecting_error(
        "train", shards / "arrays", *labels
    )
