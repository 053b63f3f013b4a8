"""Exports of Label Studio and Prodigy, as these tools write them."""

import json

import pytest

from scarce.errors import FileError, LabelError
from scarce.labels import read_label_studio, read_labels, read_prodigy

PETS = ["cat", "cow", "dog"]


def annotation(*choices, who=1, control="animal", cancelled=False):
    result = {
        "id": "x1", "from_name": control, "to_name": "image", "type": "choices", "origin": "manual",
        "value": {"choices": list(choices)},
    }  # fmt: skip
    return {
        "id": 9, "completed_by": who, "result": [result] if choices else [], "was_cancelled": cancelled,
        "ground_truth": False, "lead_time": 3.1,
    }  # fmt: skip


def task(number, *annotations, **data):
    return {"id": number, "data": {"image": f"/d/{number}.jpg"} | data, "annotations": list(annotations),
            "predictions": []}  # fmt: skip


@pytest.fixture
def export(tmp_path):
    def export(tasks, name="export.json"):
        path = tmp_path / name
        path.write_text(tasks if isinstance(tasks, str) else json.dumps(tasks), encoding="utf-8")
        return path

    return export


def test_label_studio_choices_of_excluded_classes(export):
    tasks = [
        task(11, annotation("cat", "dog")),
        task(12, annotation("cow", who=1), annotation("cat", who=2)),
        task(13),
        task(14, annotation("cow", cancelled=True)),
        task(15, annotation()),
    ]
    path = export(tasks)
    labels = read_label_studio(path, meaning="excluded", classes=PETS)
    assert labels.ids.tolist() == [11, 12, 13, 14, 15]
    assert labels.indicator(dtype=int).tolist() == [[1, 0, 1], [1, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert labels.answers is None
    assert labels.confirmed.tolist() == [-1] * 5
    assert read_labels(path, form="label-studio-excluded", classes=PETS) == labels
    by_image = read_label_studio(path, meaning="excluded", classes=PETS, id_field="image")
    assert by_image.ids.tolist() == [f"/d/{number}.jpg" for number in range(11, 16)]


def test_label_studio_answers_to_one_class_per_task(export):
    ann, bob = {"id": 4, "email": "ann@example.org"}, {"id": 5}
    tasks = [
        task(1, annotation("No", who=ann), photo="a", class_name="dog"),
        task(2, annotation("Yes", who=bob), photo="a", class_name="cat"),
        task(3, annotation(cancelled=True, who=7), photo="b", class_name="cat"),
        task(4, photo="c", class_name="cow"),
    ]
    path = export(tasks)
    labels = read_label_studio(path, meaning="answer", id_field="photo")
    assert labels.ids.tolist() == ["a", "b", "c"]
    assert labels.classes.tolist() == PETS  # cow was never answered, but it was asked about
    assert labels.indicator(dtype=int).tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert labels.confirmed.tolist() == [0, -1, -1]
    assert labels.answers.answer.tolist() == [0, 1, -1]
    assert labels.answers.annotator.tolist() == ["ann@example.org", "5", "7"]
    assert len(read_labels(path, form="label-studio-answer")) == 4  # by task, without id_field


def test_label_studio_conflicts_follow_the_policy(export):
    tasks = [
        task(
            1, *(annotation(word, who=who) for who, word in enumerate(["No", "No", "Yes"])), class_name="cat"
        )
    ]
    path = export(tasks)
    with pytest.raises(LabelError, match=r"export\.json: example 1: both 'yes' and 'no'"):
        read_label_studio(path, meaning="answer", classes=PETS)
    labels = read_label_studio(path, meaning="answer", classes=PETS, conflict="majority")
    assert labels.indices.tolist() == [0]
    everything = export([task(1, annotation("cat", "cow"), annotation("dog", who=2))])
    with pytest.raises(LabelError, match="example 1: 'no' to every class"):
        read_label_studio(everything, meaning="excluded", classes=PETS)


def test_label_studio_with_several_controls(export):
    both = annotation("cat")
    both["result"] += [annotation("blurred", control="quality")["result"][0]]
    both["result"] += [{"from_name": "box", "type": "rectanglelabels", "value": {"rectanglelabels": ["cat"]}}]
    path = export([task(1, both)])
    with pytest.raises(
        LabelError, match="several controls with choices, animal, quality; choose one with control="
    ):
        read_label_studio(path, meaning="excluded", classes=PETS)
    labels = read_label_studio(path, meaning="excluded", classes=PETS, control="animal")
    assert labels.indices.tolist() == [0]
    with pytest.raises(LabelError, match="control='colour'; the project has animal, quality"):
        read_label_studio(path, meaning="excluded", classes=PETS, control="colour")
    with pytest.raises(LabelError, match=r"task 0.*'choices'.*Choices tag"):
        read_label_studio(path, meaning="excluded", classes=PETS, control="box")


@pytest.mark.parametrize(
    ("tasks", "options", "parts"),
    [
        ([task(1, annotation("cat"))], {"meaning": "excluded"}, ["classes=[...]"]),
        (
            [task(1, annotation("pig"))],
            {"meaning": "excluded", "classes": PETS},
            ["pig is not one of the classes"],
        ),
        ([task(1, annotation("cat"))], {"meaning": "no"}, ["meaning='no'"]),
        (
            [task(1), task(2, annotation("perhaps"), class_name="cat")],
            {"meaning": "answer"},
            ["task 0", "'class_name'"],
        ),
        (
            [task(1, annotation("perhaps"), class_name="cat")],
            {"meaning": "answer"},
            ["task 0", "'perhaps'", "excluded"],
        ),
        (
            [task(1, annotation("Yes", "No"), class_name="cat")],
            {"meaning": "answer"},
            ["task 0", "'Yes, No'"],
        ),
        (
            [{"id": 1, "data": {}, "animal": "cat"}],
            {"meaning": "excluded", "classes": PETS},
            ["task 0", "JSON-MIN"],
        ),
        (
            [{"data": {}, "annotations": []}],
            {"meaning": "excluded", "classes": PETS},
            ["task 0", "'id'", "id_field="],
        ),
        ([task(1)], {"meaning": "excluded", "classes": PETS, "id_field": "photo"}, ["task 0", "'photo'"]),
        ([task(1, {"result": 5})], {"meaning": "excluded", "classes": PETS}, ["task 0", "'result'"]),
        ([task(1, {"result": [5]})], {"meaning": "excluded", "classes": PETS}, []),
        ([task(1, 5)], {"meaning": "excluded", "classes": PETS}, ["task 0", "'result'"]),
        ([task(1, annotation(5))], {"meaning": "excluded", "classes": PETS}, ["task 0", "not all text"]),
        ([5], {"meaning": "excluded", "classes": PETS}, ["task 0", "'annotations'"]),
        ({"tasks": []}, {"meaning": "answer"}, ["no list of tasks"]),
        ([], {"meaning": "answer"}, ["no list of tasks"]),
        ('[\n{"id": 1,\n"data"', {"meaning": "answer"}, ["line 3 is not valid JSON", "cut short"]),
        ("", {"meaning": "answer"}, ["empty"]),
    ],
)
def test_label_studio_refusals(export, tasks, options, parts):
    path = export(tasks)
    if not parts:
        assert len(read_label_studio(path, **options)) == 1
        return
    with pytest.raises((LabelError, FileError)) as caught:
        read_label_studio(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in parts)
    assert "export.json" in message or "meaning=" in message


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
