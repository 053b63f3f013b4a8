"""Classifiers of the format ``scarce-classifier-1``, saved before parameters were renamed, load and predict as before.

Each was trained on iris with a linear model by the version that wrote that format; ``predictions.npy`` holds its
`predict_proba` of every fifth flower.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import scarce

FOLDERS = sorted((Path(__file__).parent.parent / "data" / "classifiers-1").iterdir())
NEW_PARAMS = {
    "answers": {"false_negative_rate": None, "false_positive_rate": None},
    "meta-cvir": {"unlabeled": "rest", "warm_up": 1},
    "refine": {
        "base_method": "scar-likelihood",
        "rounds": 1,
        "short_fraction": 0.5,
        "confident_fraction": 0.6,
        "tol": 0.1,
        "scar_strength": 50.0,
        "error_rate": 0.05,
    },
    "scar-likelihood": {"error_rate": "learn"},
}


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request):
    return request.param


def test_stored_classifiers_cover_every_renamed_method():
    assert [folder.name for folder in FOLDERS] == sorted(NEW_PARAMS)


def test_loaded_old_classifier_predicts_as_before(folder):
    before = np.load(folder / "predictions.npy")
    X = load_iris(return_X_y=True)[0][::5]
    classifier = scarce.load(folder)
    np.testing.assert_allclose(classifier.predict_proba(X), before, rtol=1e-6)
    np.testing.assert_array_equal(classifier.predict(X), classifier.classes_[before.argmax(axis=1)])


def test_loaded_old_classifier_has_new_parameter_names(folder):
    classifier = scarce.load(folder)
    assert classifier.method_.params == classifier.method_params == NEW_PARAMS[folder.name]


def test_loaded_old_classifier_is_saved_in_current_format(folder, tmp_path):
    before = scarce.load(folder)
    before.save(tmp_path / "model")
    assert json.loads((tmp_path / "model" / "classifier.json").read_text())["format"] == "scarce-classifier-2"
    after = scarce.load(tmp_path / "model")
    X = load_iris(return_X_y=True)[0]
    np.testing.assert_array_equal(after.predict_proba(X), before.predict_proba(X))
    assert after.history_.records == before.history_.records
    old, new = before.method_.prediction_state(), after.method_.prediction_state()
    assert old.keys() == new.keys()
    assert all(old[name].equal(new[name]) for name in old)


def test_loaded_old_classifier_keeps_learned_rates():
    folder = next(folder for folder in FOLDERS if folder.name == "answers")
    stored = json.loads((folder / "classifier.json").read_text())["history"]
    classifier = scarce.load(folder)
    assert classifier.history_["false_negative_rate"] == [record["miss"] for record in stored]
    assert classifier.history_["false_positive_rate"] == [record["false"] for record in stored]
    assert classifier.method_.false_negative_rate.tolist() == stored[-1]["miss"]
    assert classifier.method_.false_positive_rate.tolist() == stored[-1]["false"]


def test_loaded_old_refine_keeps_state_of_base_method():
    folder = next(folder for folder in FOLDERS if folder.name == "refine")
    base = scarce.load(folder).method_.base_method
    assert base.error_rate.tolist() == [0.0] * 3
    assert len(base.rates) == 3
