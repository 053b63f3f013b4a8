"""Exports of Prodigy, as the tool writes them."""

import json

import pytest

from scarce.errors import FileError, LabelError
from scarce.labels import read_labels, read_prodigy


@pytest.fixture
def write_export(tmp_path):
    def write_export(text):
        path = tmp_path / "pets.jsonl"
        path.write_text(text, encoding="utf-8")
        return path

    return write_export


def annotation(label, answer, **more):
    return json.dumps(
        {"text": "…", "label": label, "answer": answer, "_input_hash": 5, "_task_hash": -7} | more
    )


def test_read_prodigy_reads_binary_annotations(write_export):
    lines = [
        annotation("DOG", "reject", _input_hash=-100, _annotator_id="pets-ann", _session_id="pets-1"),
        annotation("CAT", "accept", _input_hash=-100, _session_id="pets-bob"),
        "",
        annotation("CAT", "ignore", _input_hash=200),
        annotation("DOG", "reject", _input_hash=200),
    ]
    path = write_export("\n".join(lines) + "\n")
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


def test_read_prodigy_takes_id_from_first_field_present(write_export):
    lines = [
        annotation("A", "reject", id="x", meta={"id": "m"}),
        annotation("B", "reject", meta={"id": "m", "source": "web"}),
        annotation("A", "reject", meta={"source": "web"}),
    ]
    assert read_prodigy(write_export("\n".join(lines))).ids.tolist() == ["x", "m", "5"]
    lines = [annotation("A", "reject", photo="f"), annotation("B", "reject", photo="g")]
    assert read_prodigy(write_export("\n".join(lines)), id_field="photo").ids.tolist() == [
        "f",
        "g",
    ]


@pytest.mark.parametrize(
    ("text", "options", "parts"),
    [
        (
            annotation("A", "reject") + "\n" + annotation("B", "maybe"),
            {},
            ["line 2", "'maybe'", "accept, reject or ignore"],
        ),
        (annotation("A", "reject") + "\n" + annotation("B", ["reject"]), {}, ["line 2", "['reject']"]),
        (
            annotation("A", "reject") + '\n{"id": 1, "answer": "accept"}',
            {},
            ["line 2", "'label'", "binary"],
        ),
        (
            annotation("A", "reject") + '\n{"label": "B", "answer": "accept"}',
            {},
            ["line 2", "id_field="],
        ),
        (annotation("A", "reject"), {"id_field": "photo"}, ["line 1", "'photo'", "id_field="]),
        (annotation("A", "reject", id=[1]), {}, ["line 1", "'id'"]),
        (annotation("A", "reject", id=True), {}, ["line 1", "'id'"]),
        (annotation("A", "reject", meta={"id": None}), {}, ["line 1, meta", "'id'"]),
        (
            annotation("A", "reject") + '\n{"label": "B", "ans',
            {},
            ["line 2 is not valid JSON", "truncated"],
        ),
        (annotation("A", "reject") + "\n[1, 2]", {}, ["line 2 is not a JSON object"]),
        (
            annotation("A", "reject") + "\n" + annotation("A", "accept"),
            {"classes": ["A", "B"]},
            ["example 5", "conflict="],
        ),
        (annotation("A", "reject"), {"classes": ["B", "C"]}, ["row 0", "A is not one of the classes"]),
        ("\n", {}, ["empty"]),
    ],
)
def test_read_prodigy_rejects_invalid_export(write_export, text, options, parts):
    with pytest.raises((LabelError, FileError)) as caught:
        read_prodigy(write_export(text), **options)
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in (*parts, "pets.jsonl"))
