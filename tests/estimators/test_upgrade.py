"""Classifiers saved in earlier formats load, predict as before, and are saved again in the present format.

Each was trained on iris with a linear model by the version that wrote its format (`stack` is the default of that version);
``predictions.npy`` holds its `predict_proba` of every fifth flower.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file
from sklearn.datasets import load_iris

import scarce

DATA = Path(__file__).parent.parent / "data"
FOLDERS = sorted(DATA.glob("classifiers-*/*"))
SCAR_STATE = {"rates", "priors", "exclusion_probabilities", "error_rate", "step"}
# The present names of the parameters of each classifier, with their values, and of the tensors of its method.
PARAMS = {
    "classifiers-1/answers": {"false_negative_rate": None, "false_positive_rate": None},
    "classifiers-1/meta-cvir": {"unlabeled": "rest", "warm_up": 1},
    "classifiers-1/refine": {
        "base_method": "scar-likelihood",
        "rounds": 1,
        "short_fraction": 0.5,
        "confident_fraction": 0.6,
        "tol": 0.1,
        "scar_strength": 50.0,
        "error_rate": 0.05,
    },
    "classifiers-1/scar-likelihood": {"error_rate": "learn"},
    "classifiers-2/answers": {"false_negative_rate": None, "false_positive_rate": None},
    "classifiers-2/least-excluded": {},
    "classifiers-2/meta-pusb": {
        "unlabeled": "all",
        "loss": "logistic",
        "beta": 0.0,
        "gamma": 1.0,
        "hold_out": 0.1,
    },
    "classifiers-2/refine": {
        "base_method": "scar-likelihood",
        "rounds": 1,
        "short_fraction": 0.5,
        "confident_fraction": 0.5,
        "tol": 0.05,
        "scar_strength": "count",
        "error_rate": "count",
    },
    "classifiers-2/scar-likelihood": {"error_rate": "learn"},
    "classifiers-2/stack": {},
    "classifiers-3/answers": {"false_negative_rate": None, "false_positive_rate": None},
    "classifiers-4/answers": {"false_negative_rate": None, "false_positive_rate": None},
    "classifiers-4/stack": {},
    "classifiers-3/refine": {
        "base_method": "least-excluded",
        "rounds": 3,
        "short_fraction": 0.5,
        "confident_fraction": 0.5,
        "tol": 0.05,
        "scar_strength": "count",
        "error_rate": "count",
    },
}
STATE = {
    "answers": {"priors", "false_negative_rate", "false_positive_rate", "sums"},
    "least-excluded": {"log_rates", "single_label"},
    "meta-cvir": {"log_odds"},
    "meta-pusb": {"thresholds"},
    "refine": {
        "stage",
        "exclusion_matrix",
        "counts",
        "n_predicted",
        "priors",
        *(f"base_method.{name}" for name in SCAR_STATE),
    },
    "scar-likelihood": SCAR_STATE,
    "stack": {"priors"},
    "classifiers-3/refine": {
        "stage",
        "exclusion_matrix",
        "counts",
        "n_predicted",
        "priors",
        "base_method.log_rates",
        "base_method.single_label",
    },
}
RENAMED_TENSORS = {
    "classifiers-1/answers": {"miss": "false_negative_rate", "false": "false_positive_rate"},
    "classifiers-1/refine": {
        "chances": "exclusion_matrix",
        "first.chances": "base_method.exclusion_probabilities",
        "first.errors": "base_method.error_rate",
    },
    "classifiers-1/scar-likelihood": {"chances": "exclusion_probabilities", "errors": "error_rate"},
    "classifiers-2/least-excluded": {"one_mark": "single_label"},
    "classifiers-2/refine": {
        "chances": "exclusion_matrix",
        "base_method.chances": "base_method.exclusion_probabilities",
    },
    "classifiers-2/scar-likelihood": {"chances": "exclusion_probabilities"},
}
RENAMED_IN_HISTORY = {
    "classifiers-1/answers": {"miss": "false_negative_rate", "false": "false_positive_rate"},
    "classifiers-1/scar-likelihood": {"chances": "exclusion_probabilities"},
    "classifiers-2/scar-likelihood": {"chances": "exclusion_probabilities"},
}


def name_of(folder):
    return f"{folder.parent.name}/{folder.name}"


def settings_of(folder):
    return json.loads((folder / "classifier.json").read_text())


@pytest.fixture(params=FOLDERS, ids=name_of)
def folder(request):
    return request.param


def test_stored_classifiers_are_all_listed():
    assert [name_of(folder) for folder in FOLDERS] == sorted(PARAMS)
    assert {folder.name for folder in FOLDERS} <= set(STATE)


def test_stored_classifier_has_format_of_its_folder(folder):
    version = folder.parent.name.rpartition("-")[2]
    assert settings_of(folder)["format"] == f"scarce-classifier-{version}"


def test_loaded_old_classifier_predicts_as_before(folder):
    before = np.load(folder / "predictions.npy")
    X = load_iris(return_X_y=True)[0][::5]
    classifier = scarce.load(folder)
    # float32 weights: the last bits depend on the processor.
    np.testing.assert_allclose(classifier.predict_proba(X), before, rtol=2e-5)
    np.testing.assert_array_equal(classifier.predict(X), classifier.classes_[before.argmax(axis=1)])


def test_loaded_old_classifier_has_present_names_of_parameters(folder):
    classifier = scarce.load(folder)
    assert classifier.method_.params == (classifier.method_params or {}) == PARAMS[name_of(folder)]


def test_loaded_old_classifier_has_present_names_of_tensors(folder):
    stored = load_file(folder / "weights.safetensors")
    state = scarce.load(folder).method_.prediction_state()
    assert set(state) == STATE.get(name_of(folder), STATE[folder.name])
    for old, new in RENAMED_TENSORS.get(name_of(folder), {}).items():
        assert state[new].equal(stored[f"method.{old}"])


def test_loaded_old_classifier_has_present_names_in_history(folder):
    stored, loaded = settings_of(folder)["history"], scarce.load(folder).history_.records
    renames = RENAMED_IN_HISTORY.get(name_of(folder), {})
    assert loaded == [{renames.get(key, key): value for key, value in record.items()} for record in stored]
    assert not any({"miss", "false", "chances", "one_mark"} & set(record) for record in loaded)


def test_loaded_old_classifier_is_saved_in_present_format(folder, tmp_path):
    before = scarce.load(folder)
    before.save(tmp_path / "model")
    settings = settings_of(tmp_path / "model")
    assert settings["format"] == "scarce-classifier-5"
    assert settings["method_params"] == PARAMS[name_of(folder)]
    names = load_file(tmp_path / "model" / "weights.safetensors")
    assert {name.partition(".")[2] for name in names if name.startswith("method.")} == STATE.get(
        name_of(folder), STATE[folder.name]
    )
    after = scarce.load(tmp_path / "model")
    X = load_iris(return_X_y=True)[0]
    np.testing.assert_array_equal(after.predict_proba(X), before.predict_proba(X))
    assert after.history_.records == before.history_.records
    old, new = before.method_.prediction_state(), after.method_.prediction_state()
    assert old.keys() == new.keys()
    assert all(old[name].equal(new[name]) for name in old)


def test_loaded_old_answers_keeps_learned_rates():
    folder = DATA / "classifiers-1" / "answers"
    stored = settings_of(folder)["history"]
    classifier = scarce.load(folder)
    assert classifier.history_["false_negative_rate"] == [record["miss"] for record in stored]
    assert classifier.history_["false_positive_rate"] == [record["false"] for record in stored]
    assert classifier.method_.false_negative_rate.tolist() == stored[-1]["miss"]
    assert classifier.method_.false_positive_rate.tolist() == stored[-1]["false"]


@pytest.mark.parametrize("version", ["classifiers-1", "classifiers-2", "classifiers-3"])
def test_loaded_old_answers_keeps_annotators(version):
    folder = DATA / version / "answers"
    assert scarce.load(folder).method_.annotators.tolist() == settings_of(folder)["annotators"]


@pytest.mark.parametrize("version", ["classifiers-1", "classifiers-2"])
def test_loaded_old_refine_keeps_exclusion_matrix_and_base_method(version):
    folder = DATA / version / "refine"
    stored = load_file(folder / "weights.safetensors")
    classifier = scarce.load(folder)
    np.testing.assert_array_equal(classifier.exclusion_matrix_, stored["method.chances"].double().numpy())
    np.testing.assert_array_equal(classifier.exclusion_counts_, stored["method.counts"].double().numpy())
    assert classifier.method_.base_method.error_rate.tolist() == [0.0] * 3
    assert len(classifier.method_.base_method.rates) == 3


def test_loaded_old_stack_keeps_choice():
    folder = DATA / "classifiers-2" / "stack"
    classifier = scarce.load(folder)
    assert classifier.choice_.as_dict() == settings_of(folder)["choice"]
    assert classifier.history_.records == []
