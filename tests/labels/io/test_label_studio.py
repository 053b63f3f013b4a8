"""Exports of Label Studio, as the tool writes them."""

import json

import pytest

from scarce.errors import FileError, LabelError, MethodError
from scarce.labels import read_label_studio, read_labels

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
def write_export(tmp_path):
    def write_export(tasks):
        path = tmp_path / "export.json"
        path.write_text(tasks if isinstance(tasks, str) else json.dumps(tasks), encoding="utf-8")
        return path

    return write_export


def test_read_label_studio_reads_choices_of_excluded_classes(write_export):
    tasks = [
        task(11, annotation("cat", "dog")),
        task(12, annotation("cow", who=1), annotation("cat", who=2)),
        task(13),
        task(14, annotation("cow", cancelled=True)),
        task(15, annotation()),
    ]
    path = write_export(tasks)
    labels = read_label_studio(path, meaning="excluded", classes=PETS)
    assert labels.ids.tolist() == [11, 12, 13, 14, 15]
    assert labels.indicator(dtype=int).tolist() == [[1, 0, 1], [1, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert labels.answers is None
    assert labels.confirmed.tolist() == [-1] * 5
    assert read_labels(path, form="label-studio-excluded", classes=PETS) == labels
    by_image = read_label_studio(path, meaning="excluded", classes=PETS, id_field="image")
    assert by_image.ids.tolist() == [f"/d/{number}.jpg" for number in range(11, 16)]


def test_read_label_studio_reads_answers_to_one_class_per_task(write_export):
    ann, bob = {"id": 4, "email": "ann@example.org"}, {"id": 5}
    tasks = [
        task(1, annotation("No", who=ann), photo="a", class_name="dog"),
        task(2, annotation("Yes", who=bob), photo="a", class_name="cat"),
        task(3, annotation(cancelled=True, who=7), photo="b", class_name="cat"),
        task(4, photo="c", class_name="cow"),
    ]
    path = write_export(tasks)
    labels = read_label_studio(path, meaning="answer", id_field="photo")
    assert labels.ids.tolist() == ["a", "b", "c"]
    assert labels.classes.tolist() == PETS  # cow was never answered, but it was asked about
    assert labels.indicator(dtype=int).tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert labels.confirmed.tolist() == [0, -1, -1]
    assert labels.answers.answer.tolist() == [0, 1, -1]
    assert labels.answers.annotator.tolist() == ["ann@example.org", "5", "7"]
    assert len(read_labels(path, form="label-studio-answer")) == 4  # by task, without id_field


def test_read_label_studio_applies_conflict_policy(write_export):
    tasks = [
        task(
            1, *(annotation(word, who=who) for who, word in enumerate(["No", "No", "Yes"])), class_name="cat"
        )
    ]
    path = write_export(tasks)
    with pytest.raises(LabelError, match=r"export\.json: example 1: both 'yes' and 'no'"):
        read_label_studio(path, meaning="answer", classes=PETS)
    labels = read_label_studio(path, meaning="answer", classes=PETS, conflict="majority")
    assert labels.indices.tolist() == [0]
    contradictory = write_export([task(1, annotation("cat", "cow"), annotation("dog", who=2))])
    with pytest.raises(LabelError, match="example 1: 'no' to every class"):
        read_label_studio(contradictory, meaning="excluded", classes=PETS)


def test_read_label_studio_requires_choice_among_several_controls(write_export):
    both = annotation("cat")
    both["result"] += [annotation("blurred", control="quality")["result"][0]]
    both["result"] += [{"from_name": "box", "type": "rectanglelabels", "value": {"rectanglelabels": ["cat"]}}]
    path = write_export([task(1, both)])
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
        ({"tasks": []}, {"meaning": "answer"}, ["is not a list of tasks"]),
        ([], {"meaning": "answer"}, ["is not a list of tasks"]),
        ('[\n{"id": 1,\n"data"', {"meaning": "answer"}, ["line 3 is not valid JSON", "truncated"]),
        ("", {"meaning": "answer"}, ["empty"]),
    ],
)
def test_read_label_studio_rejects_invalid_export(write_export, tasks, options, parts):
    path = write_export(tasks)
    if not parts:
        assert len(read_label_studio(path, **options)) == 1
        return
    with pytest.raises((LabelError, FileError)) as caught:
        read_label_studio(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in parts)
    assert "export.json" in message or "meaning=" in message


def test_read_label_studio_rejects_unknown_meaning(tmp_path):
    with pytest.raises(MethodError, match="meaning='no' is unknown; expected 'excluded' or 'answer'"):
        read_label_studio(tmp_path / "export.json", meaning="no")
