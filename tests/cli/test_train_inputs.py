"""The same knowledge in every form on disk trains the same model; folders of images are features too."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.csv_files import write_csv
from PIL import Image
from safetensors.numpy import load_file

from scarce import ComplementaryLabels, read_labels

Q = 3


def labels_of(world: Path) -> ComplementaryLabels:
    """The labels in the order of the features."""
    labels = read_labels(world / "labels.csv")
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


def weights_of(model: Path) -> dict[str, list[Any]]:
    """The weights of the network; the method keeps other facts of answers beside them."""
    weights = load_file(model / "weights.safetensors")
    return {name: array.tolist() for name, array in weights.items() if name.startswith("model.")}


@pytest.fixture(scope="module")
def expected(world: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    from scarce.cli.main import main

    out = tmp_path_factory.mktemp("expected") / "model"
    assert main(["train", str(world / "features.csv"), "--labels", str(world / "labels.csv"),
                 "--out", str(out), "--method", "scarce", "--epochs", "2"]) == 0  # fmt: skip
    return weights_of(out)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_trains_the_same_model(
    form: str, world: Path, expected: dict[str, list[Any]], tmp_path: Path, run: Callable[..., Any]
) -> None:
    without_ids = form.endswith(".npy") or form.startswith("label-studio")
    features = world / ("features.npy" if without_ids else "features.csv")
    options = write_form(form, labels_of(world), tmp_path)
    told = run("train", features, *options, "--out", tmp_path / "model", "--method", "scarce", "--epochs", 2)
    assert (told.code, told.err) == (0, "")
    assert weights_of(tmp_path / "model") == expected


def test_convert_keeps_what_labels_say(world: Path, tmp_path: Path, run: Callable[..., Any]) -> None:
    assert run("labels", "convert", world / "labels.csv", tmp_path / "a.npz").code == 0
    assert run("labels", "convert", tmp_path / "a.npz", tmp_path / "b.csv").code == 0
    assert (
        read_labels(tmp_path / "b.csv")
        == read_labels(tmp_path / "a.npz")
        == read_labels(world / "labels.csv")
    )


def test_a_folder_of_images(world: Path, tmp_path: Path, run: Callable[..., Any]) -> None:
    pixels = np.load(world / "features.npy").reshape(-1, 8, 8).astype(np.uint8) * 15
    ids = labels_of(world).ids
    assert ids is not None
    for name, image in zip(ids, pixels, strict=True):
        (tmp_path / "photos" / name[-1]).mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / "photos" / name[-1] / f"{name}.png")
    answers = ([f"{name[-1]}/{name}.png", k, "no"] for name, k in as_answers(labels_of(world)))
    write_csv(tmp_path / "labels.csv", ["example_id", "class_name", "answer"], answers)

    size = ["--image-size", "16x16"]
    told = run("train", tmp_path / "photos", "--labels", tmp_path / "labels.csv", "--out", tmp_path / "model",
               "--module", "lenet", "--method", "cc", "--epochs", 2, *size)  # fmt: skip
    assert (told.code, told.err) == (0, "")
    told = run("predict", tmp_path / "model", tmp_path / "photos", *size)
    assert told.out.splitlines()[1].startswith("0/d000.png,")
    assert len(told.out.splitlines()) == 91
    told = run(
        "evaluate", tmp_path / "model", tmp_path / "photos", "--labels", tmp_path / "labels.csv", *size
    )
    assert "from 90 examples with 90 exclusions" in told.out


def test_everything_excluded_but_one_class_is_enough(
    world: Path, tmp_path: Path, run: Callable[..., Any]
) -> None:
    simulate = ["labels", "simulate", world / "truth.csv", tmp_path / "labels.csv"]
    assert run(*simulate, "--process", "uniform-multiple", "--set", "sizes=2").code == 0
    told = run("train", world / "features.csv", "--labels", tmp_path / "labels.csv", "--out", tmp_path / "model",
               "--epochs", 60, "--learning-rate", 0.01)  # fmt: skip
    assert (told.code, told.err) == (0, "")
    told = run(
        "evaluate", tmp_path / "model", world / "features.csv", "--truth", world / "truth.csv", "--json"
    )
    assert json.loads(told.out)["true_accuracy"] > 0.95
