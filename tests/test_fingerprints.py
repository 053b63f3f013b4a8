"""Comparing numbers with stored fingerprints, and updating the fingerprints."""

import json

import pytest
from helpers.fingerprints import Fingerprints, rounded, uncovered

WHERE = "`revision` of {name!r} to {revision} in its MethodFacts"
OLD = {"name": "refine", "revision": 1, "loss": 1.234567891, "weights": [0.5, -2.0], "digest": "ab12"}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "fingerprints.json"
    path.write_text(json.dumps({"refine": OLD, "gone": OLD}))
    return path


def check(path, numbers, *, revision=1, label="refine", update=False, **kwargs):
    kept = Fingerprints(path, ["refine", "new"], WHERE, update=update)
    kept.check(label, "refine", revision, numbers, **kwargs)
    kept.close()


def numbers(**changed):
    return {"loss": 1.2345678912, "weights": [0.5, -2.0], "digest": "ab12"} | changed


def test_check_passes_for_equal_numbers(path):
    before = path.read_text()
    check(path, numbers())
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"loss": 1.234567999}, "refine: loss was 1.234567891, is 1.234567999. If this is meant, raise"),
        ({"weights": [0.5, -2.00001]}, "weights[1] was -2, is -2.00001"),
        ({"weights": [0.5]}, "weights had 2 numbers, has 1"),
        ({"digest": "ab13"}, "digest was ab12, is ab13"),
        ({"priors": [1.0]}, "held name, revision, loss, weights, digest, and holds"),
        ({"loss": float("nan")}, "loss was 1.234567891, is nan"),
    ],
)
def test_check_fails_for_changed_number_with_instructions(path, changed, part):
    with pytest.raises(pytest.fail.Exception) as failure:
        check(path, numbers(**changed))
    message = str(failure.value)
    assert part in message
    assert "raise `revision` of 'refine' to 2 in its MethodFacts and run `pytest " in message
    assert message.endswith("--update-fingerprints`; a refactoring must not change numbers.")


def test_check_passes_for_change_within_tolerance(path):
    check(path, numbers(loss=1.234567999), tolerance=1e-6)


@pytest.mark.parametrize(("label", "revision"), [("new", 1), ("refine", 2)])
def test_check_fails_for_missing_record_or_other_revision(path, label, revision):
    with pytest.raises(pytest.fail.Exception, match=r"run `pytest .* --update-fingerprints`"):
        check(path, numbers(), label=label, revision=revision)


@pytest.mark.parametrize(
    ("changed", "revision"), [({"loss": 1.3}, 1), ({"loss": 1.3}, 0), ({}, 0), ({"digest": "ab13"}, 1)]
)
def test_update_rejects_changed_numbers_of_same_revision(path, changed, revision):
    before = path.read_text()
    with pytest.raises(
        pytest.fail.Exception,
        match=r"stays as it is.*raise `revision` of 'refine' to 2 in its MethodFacts first",
    ):
        check(path, numbers(**changed), revision=revision, update=True)
    assert path.read_text() == before


def test_update_keeps_rejected_record_and_writes_others(path):
    kept = Fingerprints(path, ["refine", "new"], WHERE, update=True)
    with pytest.raises(pytest.fail.Exception):
        kept.check("refine", "refine", 1, numbers(loss=9.0))
    kept.check("new", "refine", 1, numbers())
    kept.close()
    assert json.loads(path.read_text()) == {"refine": OLD, "new": OLD}


def test_update_writes_numbers_of_raised_revision(path):
    check(path, numbers(loss=1.3), revision=2, update=True)
    assert json.loads(path.read_text()) == {"refine": OLD | {"revision": 2, "loss": 1.3}}
    check(path, numbers(loss=1.3), revision=2)


def test_update_adds_new_and_removes_obsolete_labels(path):
    check(path, numbers(priors=[0.25]), update=True)
    check(path, numbers(), label="new", update=True)
    assert json.loads(path.read_text()) == {"refine": OLD | {"priors": [0.25]}, "new": OLD}


def test_update_without_change_keeps_every_digit(path):
    check(path, numbers(), update=True)
    once = path.read_text()
    check(path, numbers(loss=1.2345678914), update=True)
    assert path.read_text() == once
    assert once.splitlines()[1].startswith('"refine": {"name": "refine", "revision": 1, "loss": 1.234567891,')


def test_rounded_keeps_ten_digits():
    assert rounded([1 / 3, 2e10 / 3, 5, "x", [1e-17]]) == [0.3333333333, 6666666667.0, 5, "x", [0.0]]


def test_uncovered_finds_names_without_case():
    assert uncovered(["one", "two"], {"one, variant": "one"}, str) == {"two"}
