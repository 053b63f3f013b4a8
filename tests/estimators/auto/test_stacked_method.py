"""The default of `ScarceClassifier`: a stack for tables that can be saved, cloned and used in pipelines."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import scarce
from scarce import ComplementaryLabels, ScarceClassifier
from scarce.errors import AccuracyWarning, LabelError, MethodError, PriorError
from scarce.estimators.auto import Choice
from scarce.models import Stack
from scarce.simulate import ask, scar
from scarce.testing import three_blobs

FAST = {"module": "linear"}


@pytest.fixture(scope="module")
def blobs():
    X, y, _ = three_blobs(240)
    return X, y, scar(y, c=[0.3, 0.5, 0.6], seed=0)


@pytest.fixture(scope="module")
def fitted(blobs):
    X, _, labels = blobs
    return ScarceClassifier(**FAST).fit(X, labels)


def test_default_learns_and_reports_its_choice(blobs):
    X, y, labels = blobs
    classifier = ScarceClassifier(time_limit=60).fit(X, labels)
    assert isinstance(classifier.model_, Stack)
    assert classifier.score(X, y) > 0.95
    choice = classifier.choice_
    assert choice.criterion == "scar"
    assert choice.reason in str(choice.as_dict()["reason"])
    assert {candidate.learner.split()[0] for candidate in choice.candidates} == {"linear", "nystroem", "mlp"}
    assert sum(candidate.weight for candidate in choice.candidates) == pytest.approx(1)
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_allclose(classifier.priors_.sum(), 1)


def test_stack_round_trips_through_saving(blobs, fitted, tmp_path):
    X, _, labels = blobs
    fitted.save(tmp_path / "model")
    again = scarce.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.choice_ == fitted.choice_
    assert (again.method, again.module) == ("auto", "linear")
    assert again.priors_.tolist() == fitted.priors_.tolist()
    with pytest.warns(AccuracyWarning, match="trained-on-these"):
        assert again.score(X, labels) == fitted.score(X, labels)
    settings = json.loads((tmp_path / "model" / "classifier.json").read_text())
    assert Choice.from_dict(settings["choice"]) == fitted.choice_
    again.fit(X, labels)
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_stack_clone_is_unfitted_and_refits_identically(blobs, fitted):
    X, _, labels = blobs
    other = clone(fitted)
    assert not hasattr(other, "model_")
    np.testing.assert_array_equal(other.fit(X, labels).predict_proba(X), fitted.predict_proba(X))


def test_stack_ignores_large_column_offsets(blobs, fitted):
    X, y, labels = blobs
    shifted = X.astype(np.float64) + np.array([1.7e9, 0])
    classifier = ScarceClassifier(**FAST).fit(shifted, labels)
    assert classifier.score(shifted, y) == pytest.approx(fitted.score(X, y), abs=0.02)


def test_stack_accepts_pipelines_sparse_frames_and_memmaps(blobs, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y, labels = blobs
    assert make_pipeline(MinMaxScaler(), ScarceClassifier(**FAST)).fit(X, labels).score(X, y) > 0.95
    matrix = sparse.csr_matrix(X)
    assert ScarceClassifier(**FAST).fit(matrix, labels).score(matrix, y) > 0.9
    frame = pd.DataFrame(X, columns=["a", "b"])
    by_name = ScarceClassifier(**FAST).fit(frame, labels)
    assert by_name.feature_names_in_.tolist() == ["a", "b"]
    np.save(tmp_path / "X.npy", X)
    mapped = ScarceClassifier(**FAST).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), labels)
    np.testing.assert_array_equal(mapped.predict(X), by_name.predict(frame))


def test_stack_uses_given_priors_and_rejects_invalid_ones(blobs):
    X, y, labels = blobs
    given = ScarceClassifier(priors=[0.2, 0.3, 0.5], **FAST).fit(X, labels)
    assert given.priors_.tolist() == [0.2, 0.3, 0.5]
    assert given.choice_.priors == (0.2, 0.3, 0.5)
    assert given.score(X, y) > 0.9
    with pytest.raises(PriorError):
        ScarceClassifier(priors=[0.2, 0.3, 0.6], **FAST).fit(X, labels)


def test_stack_uses_answers_as_criterion(blobs):
    X, y, _ = blobs
    classifier = ScarceClassifier(**FAST).fit(X, ask(y, questions=2, false_positive_rate=0.05, seed=0))
    assert classifier.choice_.criterion == "answers"
    assert classifier.score(X, y) > 0.95


@pytest.mark.parametrize("given", [{"epochs": 2}, {"recipe": "paper", "epochs": 1}, {"early_stopping": True}])
def test_training_settings_select_single_network(blobs, given):
    X, _, labels = blobs
    classifier = ScarceClassifier(**{"epochs": 2, **given}).fit(X, labels)
    assert not isinstance(classifier.model_, Stack)
    assert classifier.choice_.reason.startswith("method: ")
    assert len(classifier.history_) > 0


def test_images_select_single_network(blobs):
    _, y, labels = blobs
    images = np.random.default_rng(0).normal(size=(len(y), 4, 4)).astype(np.float32)
    classifier = ScarceClassifier(priors="uniform", epochs=1).fit(images, labels)
    assert not isinstance(classifier.model_, Stack)


def test_empty_labels_are_rejected_and_keep_earlier_stack(blobs):
    X, y, labels = blobs
    classifier = ScarceClassifier(**FAST).fit(X, labels)
    before = classifier.predict_proba(X)
    with pytest.raises(LabelError, match="are empty"):
        classifier.fit(X, ComplementaryLabels.from_lists([[]] * len(y), classes=3))
    np.testing.assert_array_equal(classifier.predict_proba(X), before)


@pytest.mark.parametrize("limit", [-1, "soon", float("nan")])
def test_stack_rejects_invalid_time_limit(blobs, limit):
    X, _, labels = blobs
    with pytest.raises(MethodError, match=r"time_limit=.*; expected a number of at least 0"):
        ScarceClassifier(time_limit=limit).fit(X, labels)


def test_stack_prints_progress_to_stderr(blobs, capsys):
    X, _, labels = blobs
    ScarceClassifier(verbose=True, **FAST).fit(X, labels)
    shown = capsys.readouterr()
    assert "100%" in shown.err
    assert shown.out == ""
