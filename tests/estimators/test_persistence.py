"""Saving and loading classifiers: round trips, and errors for damaged or foreign files."""

import json
import stat

import numpy as np
import pandas as pd
import pytest
from safetensors import SafetensorError, safe_open
from torch import nn, no_grad

import scarce
from scarce import ScarceClassifier
from scarce.errors import FileError, MethodError
from scarce.features import EmbeddingInfo
from scarce.simulate import ask
from scarce.testing import three_blobs

QUICK = {"module": "linear", "priors": "uniform", "epochs": 20, "learning_rate": 0.03}


@pytest.fixture(scope="module")
def blobs():
    return three_blobs()


@pytest.fixture
def saved(blobs, tmp_path):
    X, _, labels = blobs
    ScarceClassifier(**QUICK).fit(X, labels).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("method", ["scarce", "scarce-ure", "scarce-cce"])
@pytest.mark.parametrize("standardize", [True, False])
def test_save_and_load_round_trip(blobs, tmp_path, method, standardize):
    X, y, _ = blobs
    labels = ask(y, questions=2, seed=0)
    frame = pd.DataFrame(X, columns=["width", "height"])
    params = {"loss": "sigmoid"} if method != "scarce-cce" else {"loss": "mae"}
    before = ScarceClassifier(method=method, method_params=params, standardize=standardize, **QUICK).fit(
        frame, labels
    )
    before.save(tmp_path / "model")
    after = scarce.load(tmp_path / "model")
    np.testing.assert_array_equal(after.predict_proba(frame), before.predict_proba(frame))
    np.testing.assert_array_equal(after.classes_, before.classes_)
    np.testing.assert_array_equal(after.priors_, before.priors_)
    assert after.prior_estimate_.as_dict() == before.prior_estimate_.as_dict()
    assert after.history_.records == before.history_.records
    assert after.label_summary_ == before.label_summary_
    assert after.feature_names_in_.tolist() == ["width", "height"]
    assert after.get_params()["epochs"] == 20
    report = after.report(frame, labels)
    assert report.as_dict() == before.report(frame, labels).as_dict()
    assert "trained-on-these" in [alarm.name for alarm in report.alarms]


def test_load_restores_annotators_and_choice(blobs, tmp_path):
    X, y, _ = blobs
    n = len(y)
    columns = {
        "example_id": [*range(n), *range(n)],
        "class_name": ["ant"] * 2 * n,
        "answer": ["yes" if name == "ant" else "no" for name in y] * 2,
        "annotator": ["zoe"] * n + ["ann"] * n,
    }
    labels = scarce.ComplementaryLabels.from_answers(columns, classes=["ant", "bee", "cat"])
    before = ScarceClassifier("auto", module="linear", epochs=3).fit(X, labels)
    before.save(tmp_path / "model")
    after = scarce.load(tmp_path / "model")
    assert after.method_.annotators.tolist() == ["ann", "zoe"]
    assert after.method_.false_negative_rate.tolist() == before.method_.false_negative_rate.tolist()
    assert after.choice_ == before.choice_


def test_load_restores_type_of_classes(blobs, tmp_path):
    X, y, _ = blobs
    numbers = np.unique(y, return_inverse=True)[1]
    for name, target in {"text": y, "numbers": numbers, "objects": y.astype(object)}.items():
        before = ScarceClassifier(labels="ordinary", **{**QUICK, "priors": "estimate"}).fit(X, target)
        before.save(tmp_path / name)
        assert scarce.load(tmp_path / name).predict(X).tolist() == before.predict(X).tolist()


def test_save_writes_only_safetensors_and_json(saved):
    assert sorted(path.name for path in saved.iterdir()) == ["classifier.json", "weights.safetensors"]
    assert stat.S_IMODE(saved.stat().st_mode) & 0o500
    settings = json.loads((saved / "classifier.json").read_text())
    assert settings["versions"]["scarce"] == scarce.__version__
    assert settings["labels"]["n_examples"] == 300


def test_save_omits_state_of_training_examples(blobs, tmp_path):
    X, _, labels = blobs
    before = ScarceClassifier("pop", **QUICK).fit(X, labels)
    before.save(tmp_path / "model")
    with safe_open(tmp_path / "model" / "weights.safetensors", framework="pt") as file:
        assert all(name.startswith("model.") for name in file.keys())  # noqa: SIM118
    np.testing.assert_array_equal(scarce.load(tmp_path / "model").predict_proba(X), before.predict_proba(X))


def test_load_needs_custom_module(blobs, tmp_path):
    X, _, labels = blobs
    before = ScarceClassifier(module=nn.Linear(2, 3), priors="uniform", epochs=20).fit(X, labels)
    before.save(tmp_path / "model")
    with pytest.raises(MethodError, match=r"pass it: scarce.load\(folder, module=...\)"):
        scarce.load(tmp_path / "model")
    after = scarce.load(tmp_path / "model", module=nn.Linear(2, 3))
    np.testing.assert_array_equal(after.predict_proba(X), before.predict_proba(X))
    with pytest.raises(FileError, match="cannot be read as a saved classifier"):
        scarce.load(tmp_path / "model", module=nn.Linear(2, 4))


def test_save_keeps_existing_folder_unless_forced(blobs, saved, tmp_path):
    X, _, labels = blobs
    classifier = ScarceClassifier(**{**QUICK, "epochs": 1}).fit(X, labels)
    before = (saved / "weights.safetensors").read_bytes()
    with pytest.raises(FileError, match=r"exists; choose another name, or pass force=True \(--force\)"):
        classifier.save(saved)
    assert (saved / "weights.safetensors").read_bytes() == before
    classifier.save(saved, force=True)
    assert (saved / "weights.safetensors").read_bytes() != before
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.txt").write_text("precious")
    with pytest.raises(FileError, match="is not a saved classifier and will not be replaced"):
        classifier.save(tmp_path / "thesis", force=True)
    assert (tmp_path / "thesis" / "chapter1.txt").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "thesis"]


def test_save_rejects_unfitted_classifier(tmp_path):
    with pytest.raises(FileError, match="call fit before save"):
        ScarceClassifier().save(tmp_path / "model")


def flip_a_byte(folder):
    path = folder / "weights.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 0xFF
    path.write_bytes(bytes(content))


def cut(folder, name):
    path = folder / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def change(folder, **settings):
    path = folder / "classifier.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (flip_a_byte, r"weights.safetensors is damaged"),
        (lambda folder: cut(folder, "weights.safetensors"), r"weights.safetensors is damaged"),
        (lambda folder: cut(folder, "classifier.json"), r"classifier.json is damaged"),
        (lambda folder: (folder / "weights.safetensors").unlink(), r"weights.safetensors does not exist"),
        (
            lambda folder: (folder / "classifier.json").unlink(),
            r"is not a saved classifier: it has no classifier.json",
        ),
        (lambda folder: (folder / "classifier.json").write_text("[1, 2]"), r"has the format 'list'"),
        (
            lambda folder: (folder / "classifier.json").write_bytes(b"\xff\xfe\x00"),
            r"classifier.json is damaged",
        ),
        (
            lambda folder: change(folder, format="sklearn"),
            r"has the format 'sklearn', expected 'scarce-classifier-5'; it was written by another program",
        ),
        (lambda folder: change(folder, format="scarce-classifier-99"), r"by a newer version: update scarce"),
        (lambda folder: change(folder, method="magic"), r"method='magic' is unknown; expected 'scarce', "),
        (lambda folder: change(folder, module="lenet"), r"lenet takes images"),
        (lambda folder: change(folder, module="mlp"), r"cannot be read as a saved classifier"),
        (lambda folder: change(folder, classes=3), r"cannot be read as a saved classifier"),
        (lambda folder: change(folder, params={"volume": 11}), r"cannot be read as a saved classifier"),
    ],
)
def test_load_rejects_damaged_and_foreign_files(saved, damage, message):
    damage(saved)
    with pytest.raises((FileError, MethodError), match=message) as caught:
        scarce.load(saved)
    assert "\n" not in str(caught.value)


def test_pretrained_model_of_embeddings_is_saved(saved, blobs, tmp_path):
    X, _, labels = blobs
    clf = scarce.load(saved)
    assert not hasattr(clf, "embedding_")
    clf.embedding_ = EmbeddingInfo("text", "tiny/bert", None, "f" * 64, "mean, normalized")
    clf.save(tmp_path / "embedded")
    assert scarce.load(tmp_path / "embedded").embedding_ == clf.embedding_
    assert not hasattr(clf.fit(X, labels), "embedding_")


def test_damaged_embedding_is_refused(saved):
    change(saved, embedding={"kind": "text"})
    with pytest.raises(FileError, match=r"cannot be read as a saved classifier \(embedding is"):
        scarce.load(saved)


def test_load_rejects_file_in_place_of_folder(tmp_path):
    (tmp_path / "model").write_bytes(b"\x80\x04pickle")
    with pytest.raises(FileError, match="is not a saved classifier"):
        scarce.load(tmp_path / "model")


def test_load_rejects_unusable_device(saved, blobs):
    # "meta" is the only other device that every machine has; its tensors hold no data.
    for device in ("meta", "bogus"):
        with pytest.raises(MethodError, match=f"device='{device}' cannot be used"):
            scarce.load(saved, device=device)
        with pytest.raises(MethodError, match=f"device='{device}' cannot be used"):
            scarce.load(saved).set_params(device=device).predict(blobs[0])


def test_save_on_full_disk_leaves_nothing_behind(blobs, tmp_path, monkeypatch):
    def full(*_):
        raise SafetensorError("No space left on device")

    X, _, labels = blobs
    classifier = ScarceClassifier(**{**QUICK, "epochs": 1}).fit(X, labels)
    monkeypatch.setattr("scarce.estimators.persistence.save_file", full)
    with pytest.raises(FileError, match="cannot be written: No space left on device"):
        classifier.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [{"weights_sha256": None}, {"labels": None}, {"labels": [1]}])
def test_load_rejects_settings_of_wrong_type(saved, damage):
    path = saved / "classifier.json"
    settings = {**json.loads(path.read_text()), **damage}
    path.write_text(json.dumps({name: value for name, value in settings.items() if value is not None}))
    with pytest.raises(FileError, match=r"damaged|cannot be read as a saved"):
        scarce.load(saved)
    path.write_text(json.dumps(settings))
    with pytest.raises(FileError, match=r"damaged|cannot be read as a saved"):
        scarce.load(saved)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_load_rejects_weights_that_are_not_finite(saved, value):
    classifier = scarce.load(saved)
    with no_grad():
        next(classifier.model_.parameters())[0] = value
    classifier.save(saved, force=True)
    with pytest.raises(
        FileError, match=r"cannot be read as a saved classifier \(the weights .* are not finite\)"
    ):
        scarce.load(saved)


def test_load_rejects_settings_that_describe_another_network(saved):
    change(saved, input_shape=[10_000_000])
    with pytest.raises(
        FileError, match=r"the settings describe .* of shape \(.*10000000.*, and the saved one has shape"
    ):
        scarce.load(saved)


def test_load_rejects_duplicate_settings(saved):
    text = (saved / "classifier.json").read_text()
    (saved / "classifier.json").write_text(text.replace("{", '{"module": "linear", ', 1))
    with pytest.raises(FileError, match=r"is damaged \(the key 'module' occurs twice\)"):
        scarce.load(saved)
