"""``scarce embed`` and ``scarce train --embed``, and what predict and evaluate do with embeddings."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.command_line import RunCommand, RunExpectingError
from helpers.csv_files import write_csv
from helpers.embedding_models import COLORS, MINILM, make_photos, make_vit

import scarce
from scarce.cli.main import main
from scarce.embeddings import Embedder, embed_images
from scarce.features import read_features

WORDS = {
    "red": "a ripe tomato in the garden",
    "green": "the train to Paris leaves at noon",
    "blue": "how to solve an equation",
}


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """photos/, labels.csv, truth.csv, the model vit/, another one other/, and photos.npy with its classifier model/."""
    folder = tmp_path_factory.mktemp("pictures")
    ids = make_photos(folder / "photos", 60)
    rng = np.random.default_rng(0)
    truth = [COLORS[row % 3] for row in range(60)]
    wrong = [COLORS[(row + 1 + rng.integers(2)) % 3] for row in range(60)]
    answers = ([name, color, "no"] for name, color in zip(ids, wrong, strict=True))
    write_csv(folder / "labels.csv", ["example_id", "class_name", "answer"], answers)
    write_csv(folder / "truth.csv", ["id", "label"], zip(ids, truth, strict=True))
    make_vit(folder / "vit")
    make_vit(folder / "other", seed=1)
    files = [folder / "photos", "--model", folder / "vit", "--out", folder / "photos.npy"]
    assert main(["embed", *map(str, files)]) == 0
    train = [folder / "photos.npy", "--labels", folder / "labels.csv", "--out", folder / "model"]
    assert main(["train", *map(str, train), "--module", "linear", "--no-estimate"]) == 0
    return folder


def test_embedded_photos_are_classified(pictures: Path, tmp_path: Path, run: RunCommand) -> None:
    from_file = run("predict", pictures / "model", pictures / "photos.npy")
    from_photos = run("predict", pictures / "model", pictures / "photos")
    assert (from_file.code, from_file.err) == (from_photos.code, from_photos.err) == (0, "")
    assert from_file.out == from_photos.out
    assert from_file.out.splitlines()[1].startswith("000.png,red,0.9")
    facts = run(
        "evaluate", pictures / "model", pictures / "photos", "--truth", pictures / "truth.csv", "--json"
    )
    assert json.loads(facts.out) == {"true_accuracy": 1.0, "n_true": 60}


def test_saved_classifier_names_the_pretrained_model(pictures: Path) -> None:
    info = scarce.load(pictures / "model").embedding_
    assert info == Embedder(pictures / "vit", "image").info
    assert info.versions["transformers"]


def test_embed_says_what_it_wrote_and_does_not_repeat_it(
    pictures: Path, tmp_path: Path, run: RunCommand
) -> None:
    command = ["embed", pictures / "photos", "--model", pictures / "vit", "--out", tmp_path / "f.npy"]
    code, out, err = run(*command, "--batch-size", 7)
    assert (code, err) == (0, "")
    assert (
        out
        == f"wrote 60 × 16 features to {tmp_path / 'f.npy'}, from {Embedder(pictures / 'vit', 'image').info}\n"
    )
    assert run(*command).out == f"{tmp_path / 'f.npy'} is up to date\n"


def test_training_embeds_and_reuses_embeddings(
    pictures: Path, tmp_path: Path, run: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["train", pictures / "photos", "--embed", pictures / "vit", "--labels", pictures / "labels.csv"]
    command += ["--out", tmp_path / "model", "--module", "linear", "--no-estimate"]
    first = run(*command)
    assert (first.code, first.err) == (0, "")
    assert "embedded 60 examples with" in first.out
    cache = tmp_path / "model.embeddings.npy"
    assert cache.read_bytes() == (pictures / "photos.npy").read_bytes()
    monkeypatch.setattr(Embedder, "embed", None)  # nothing is embedded again
    assert run(*command, "--force").code == 0
    monkeypatch.undo()
    same = run("predict", tmp_path / "model", pictures / "photos").out
    assert same == run("predict", pictures / "model", pictures / "photos").out


def test_embeddings_of_another_model_are_refused(
    pictures: Path, tmp_path: Path, run: RunCommand, run_expecting_error: RunExpectingError
) -> None:
    run("embed", pictures / "photos", "--model", pictures / "other", "--out", tmp_path / "f.npy")
    known, other = (Embedder(pictures / name, "image").info for name in ("vit", "other"))
    for command in ("predict", "evaluate"):
        options = ["--truth", pictures / "truth.csv"] if command == "evaluate" else []
        error = run_expecting_error(command, pictures / "model", tmp_path / "f.npy", *options)
        assert error == (
            f"error: {tmp_path / 'f.npy'} was embedded by {other}, but the model was trained on embeddings of {known}; embed it "
            "with that model: scarce embed ... --model.\n"
        )


def test_pretrained_model_that_has_moved_or_changed(
    pictures: Path, tmp_path: Path, run: RunCommand, run_expecting_error: RunExpectingError
) -> None:
    vit = shutil.copytree(pictures / "vit", tmp_path / "vit")
    train = [
        "train",
        pictures / "photos",
        "--embed",
        vit,
        "--labels",
        pictures / "labels.csv",
        "--out",
        tmp_path / "model",
    ]
    assert run(*train, "--module", "linear", "--no-estimate").code == 0
    vit.rename(tmp_path / "moved")
    predict = ["predict", tmp_path / "model", pictures / "photos"]
    error = run_expecting_error(*predict)
    assert f"the model was trained on embeddings of {vit} (checksum " in error
    assert error.endswith("pass its folder, or NAME@REVISION, with --embed.\n")
    assert run(*predict, "--embed", tmp_path / "moved").code == 0
    shutil.copytree(pictures / "other", vit)
    assert "but the model was trained on embeddings of" in run_expecting_error(*predict)


@pytest.mark.filterwarnings("default:.*does not say which pretrained model")
def test_features_without_a_model_are_warned_about(pictures: Path, tmp_path: Path, run: RunCommand) -> None:
    shutil.copy(pictures / "photos.npy", tmp_path / "bare.npy")
    code, _, err = run("predict", pictures / "model", tmp_path / "bare.npy")
    assert code == 0
    assert err.startswith(f"warning: {tmp_path / 'bare.npy'} does not say which pretrained model computed it")


def test_texts_are_embedded_and_classified(tmp_path: Path, run: RunCommand) -> None:
    names = list(WORDS)
    rows = [[f"q{row}", f"{WORDS[names[row % 3]]} {row}"] for row in range(45)]
    write_csv(tmp_path / "texts.csv", ["id", "question"], rows)
    answers = [[f"q{row}", names[(row + 1 + row // 3 % 2) % 3], "no"] for row in range(45)]
    write_csv(tmp_path / "labels.csv", ["example_id", "class_name", "answer"], answers)
    command = ["train", tmp_path / "texts.csv", "--embed", MINILM, "--text", "question", "--layers", 2]
    command += [
        "--labels",
        tmp_path / "labels.csv",
        "--out",
        tmp_path / "model",
        "--module",
        "linear",
        "--no-estimate",
    ]
    result = run(*command)
    assert (result.code, result.err) == (0, "")
    write_csv(
        tmp_path / "new.csv", ["question", "id", "note"], [["when does the bus to London leave", "new", "x"]]
    )
    predicted = run("predict", tmp_path / "model", tmp_path / "new.csv")
    assert (predicted.code, predicted.err) == (0, "")
    assert predicted.out.splitlines()[1].startswith("new,green,")


def test_interrupted_embedding_says_how_to_resume(
    pictures: Path, tmp_path: Path, run: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed, n_batches = Embedder.embed, 0

    def interrupted(self: Embedder, items: list[object]) -> object:
        nonlocal n_batches
        n_batches += 1
        if n_batches == 3:
            raise KeyboardInterrupt
        return embed(self, items)

    command = [
        "embed",
        pictures / "photos",
        "--model",
        pictures / "vit",
        "--out",
        tmp_path / "f.npy",
        "--batch-size",
        10,
    ]
    monkeypatch.setattr(Embedder, "embed", interrupted)
    code, _, err = run(*command)
    assert (code, err) == (130, "interrupted; rerun the same command to resume\n")
    monkeypatch.undo()
    assert run(*command).code == 0
    expected = embed_images(pictures / "photos", Embedder(pictures / "vit", "image"), batch_size=10).values
    np.testing.assert_array_equal(read_features(tmp_path / "f.npy").values, expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["embed", "photos", "--model", "nowhere/at/all", "--out", "f.npy"],
            "is neither a folder nor the name of a model",
        ),
        (["embed", "photos", "--model", "vit", "--out", "f.csv"], "expected a name that ends in .npy"),
        (["embed", "photos", "--model", "vit", "--out", "f.npy", "--text", "a"], "--text a is for tables"),
        (
            ["embed", "photos", "--model", "vit", "--out", "f.npy", "--id-column", "a"],
            "--id-column a is for tables",
        ),
        (["embed", "photos", "--model", "vit", "--out", "f.npy", "--layers", "2"], "layers=2 is for texts"),
        (
            ["embed", "photos.npy", "--model", "vit", "--out", "f.npy"],
            "ends in '.npy'; expected a folder of images",
        ),
        (["embed", "truth.csv", "--model", "vit", "--out", "f.npy"], "choose the texts with --text COLUMN"),
        (
            ["embed", "truth.csv", "--model", "vit", "--out", "truth.csv", "--text", "label"],
            "is one of the inputs",
        ),
        (["embed", "nothing", "--model", "vit", "--out", "f.npy"], "nothing does not exist; check the path"),
        (["predict", "model", "photos.npy", "--embed", "other"], None),
        (["train", "photos", "--labels", "labels.csv", "--out", "m", "--text", "a"], "--text is for --embed"),
        (
            ["train", "photos", "--labels", "labels.csv", "--out", "m", "--layers", "2"],
            "--layers is for --embed",
        ),
        (
            [
                "train",
                "photos",
                "--labels",
                "labels.csv",
                "--out",
                "m",
                "--embed",
                "vit",
                "--image-size",
                "8x8",
            ],
            "does not go with --embed",
        ),
    ],
)
def test_mistakes_are_named_in_one_line(
    pictures: Path,
    run: RunCommand,
    run_expecting_error: RunExpectingError,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str | None,
) -> None:
    monkeypatch.chdir(pictures)
    if message is None:
        assert run(*arguments).code == 0  # embeddings need no model
    else:
        assert message in run_expecting_error(*arguments)
    assert not (pictures / "f.npy").exists()


def test_where_the_model_is_is_only_asked_for_embeddings(
    dataset_dir: Path, run_expecting_error: RunExpectingError
) -> None:
    error = run_expecting_error(
        "predict", dataset_dir / "model", dataset_dir / "features.csv", "--embed", "vit"
    )
    assert (
        "--embed vit is for models that were trained on embeddings, and this one was not; leave it out"
        in error
    )


def test_transformers_is_imported_only_to_embed() -> None:
    program = "import sys, scarce.embeddings, scarce.cli.main; print('transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
