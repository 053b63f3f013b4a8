"""Exports of Prodigy, as the tool writes them."""

import json

import pytest

from scarce.errors import FileError, LabelError
from scarce.labels import read_labels, read_prodigy

PETS = ["cat", "cow", "dog"]


@pytest.fixture
def export(tmp_path):
    def export(tasks, name="export.json"):
        path = tmp_path / name
        path.write_text(tasks if isinstance(tasks, str) else json.dumps(tasks), encoding="utf-8")
        return path

    return export


def line(label, answer, **more):
    return json.dumps(
        {"text": "…", "label": label, "answer": answer, "_input_hash": 5, "_task_hash": -7} | more
    )


def test_prodigy(export):
    lines = [
        line("DOG", "reject", _input_hash=-100, _annotator_id="pets-ann", _session_id="pets-1"),
        line("CAT", "accept", _input_hash=-100, _session_id="pets-bob"),
        "",
        line("CAT", "ignore", _input_hash=200),
        line("DOG", "reject", _input_hash=200),
    ]
    path = export("\n".join(lines) + "\n", "pets.jsonl")
    labels = read_prodigy(path)
    assert labels.ids.tolist() == [-100, 200]
    assert labels.classes.tolist() == ["CAT", "DOG"]
    assert labels.indicator(dtype=int).tolist() == [[0, 1], [0, 1]]
    assert labels.confirmed.tolist() == [0, -1]
    assert labels.answers.answer.tolist() == [0, 1, -1, 0]
    assert labels.answers.annotator.tolist() == ["pets-ann", "pets-bob", "", ""]
    assert read_labels(path, form="prodigy") == labels
    wider = read_prodigy(path, classes=["COW", "DOG", "CAT"])
    assert wider.indicator(dtype=int).tolist() == [[0, 1, 0], [0, 1, 0]]


def test_prodigy_names_examples_by_the_first_field_that_does(export):
    lines = [
        line("A", "reject", id="x", meta={"id": "m"}),
        line("B", "reject", meta={"id": "m", "source": "web"}),
        line("A", "reject", meta={"source": "web"}),
    ]
    assert read_prodigy(export("\n".join(lines), "p.jsonl")).ids.tolist() == ["x", "m", "5"]
    lines = [line("A", "reject", photo="f"), line("B", "reject", photo="g")]
    assert read_prodigy(export("\n".join(lines), "p.jsonl"), id_field="photo").ids.tolist() == ["f", "g"]


@pytest.mark.parametrize(
    ("text", "options", "parts"),
    [
        (
            line("A", "reject") + "\n" + line("B", "maybe"),
            {},
            ["line 2", "'maybe'", "accept, reject or ignore"],
        ),
        (line("A", "reject") + "\n" + line("B", ["reject"]), {}, ["line 2", "['reject']"]),
        (line("A", "reject") + '\n{"id": 1, "answer": "accept"}', {}, ["line 2", "'label'", "binary"]),
        (line("A", "reject") + '\n{"label": "B", "answer": "accept"}', {}, ["line 2", "id_field="]),
        (line("A", "reject"), {"id_field": "photo"}, ["line 1", "'photo'", "id_field="]),
        (line("A", "reject", id=[1]), {}, ["line 1", "'id'"]),
        (line("A", "reject", id=True), {}, ["line 1", "'id'"]),
        (line("A", "reject", meta={"id": None}), {}, ["line 1, meta", "'id'"]),
        (line("A", "reject") + '\n{"label": "B", "ans', {}, ["line 2 is not valid JSON", "cut short"]),
        (line("A", "reject") + "\n[1, 2]", {}, ["line 2 is no JSON object"]),
        (
            line("A", "reject") + "\n" + line("A", "accept"),
            {"classes": ["A", "B"]},
            ["example 5", "conflict="],
        ),
        (line("A", "reject"), {"classes": ["B", "C"]}, ["row 0", "A is not one of the classes"]),
        ("\n", {}, ["empty"]),
    ],
)
def test_prodigy_refusals(export, text, options, parts):
    with pytest.raises((LabelError, FileError)) as caught:
        read_prodigy(export(text, "pets.jsonl"), **options)
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in (*parts, "pets.jsonl"))
