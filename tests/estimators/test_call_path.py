"""The way of a call through `fit` stays short, and what was checked is not checked again."""

import sys
from collections import Counter
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import scarce
from scarce import ScarceClassifier
from scarce.simulate import scar, uniform

SOURCE = Path(scarce.__file__).parent
MAX_FILES = 40
CHECKS = {
    "labels": ("labels/_validation.py", "check_consistent"),
    "features": ("features/_arrays.py", "check_finite"),
    "transition": ("_validation.py", "check_transition"),
    "device": ("training/_runtime.py", "check_device"),
}


def calls_of_fit(classifier, X, labels):
    """Return how often each function of the package is called, by its file and name."""
    calls = Counter()

    def count(frame, event, _):
        if event == "call":
            calls[frame.f_code] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        classifier.fit(X, labels)
    finally:
        sys.setprofile(before)
    ours = {code: Path(code.co_filename) for code in calls if code.co_name != "<module>"}
    named = Counter()
    for code, path in ours.items():
        if path.is_relative_to(SOURCE):
            named[path.relative_to(SOURCE).as_posix(), code.co_name] += calls[code]
    return named


@pytest.fixture(scope="module", params=["auto", "scarce"])
def calls(request):
    X, y = load_iris(return_X_y=True)
    return calls_of_fit(ScarceClassifier(request.param), X[::2], scar(y, c=0.5, seed=0)[::2])


def test_fit_passes_few_files(calls):
    files = sorted({file for file, _ in calls})
    assert len(files) <= MAX_FILES, f"{len(files)} files: {', '.join(files)}"


def test_fit_checks_once(calls):
    """The labels were checked when they were made; slices of them, for folds, are not."""
    assert {name: calls[check] for name, check in CHECKS.items() if name != "device"} == {
        "labels": 0,
        "features": 1,
        "transition": 0,
    }


def test_fit_checks_indicator_and_transition_once():
    X, y = load_iris(return_X_y=True)
    indicator = uniform(y, seed=0).indicator()
    transition = [[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]
    classifier = ScarceClassifier("forward", epochs=1, transition=transition, early_stopping=True)
    calls = calls_of_fit(classifier, X, indicator)
    assert {name: calls[check] for name, check in CHECKS.items()} == dict.fromkeys(CHECKS, 1)
