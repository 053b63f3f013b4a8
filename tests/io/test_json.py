"""JSON files: values and lines with their positions, and errors that name file and line."""

import pytest

from scarce._io.json import field_of, name_field, read_json, read_json_lines
from scarce.errors import FileError, LabelError


def test_read_json_skips_byte_order_mark(tmp_path):
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf{"a": [1, null]}')
    assert read_json(tmp_path / "a.json") == {"a": [1, None]}


def test_read_json_lines_counts_blank_lines(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n')
    assert list(read_json_lines(tmp_path / "a.jsonl")) == [("line 1", {"a": 1}), ("line 3", {"a": 2})]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; export it again"),
        (b" \n", "is empty; export it again"),
        (b"\xff", "is not UTF-8 text"),
        (b'{"a":\n1,}', "line 2 is not valid JSON"),
        (b"[" * 100_000, "line 1 is not valid JSON"),
    ],
)
def test_read_json_rejects_invalid_files(tmp_path, content, message):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(FileError, match=rf"a\.json {message}"):
        read_json(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n[1]', "line 2 is not a JSON object"),
        ('{"a": 1}\n{"a"', "line 2 is not valid JSON"),
    ],
)
def test_read_json_lines_rejects_invalid_lines(tmp_path, content, message):
    (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(FileError, match=message):
        list(read_json_lines(tmp_path / "a.jsonl"))


def test_field_of_checks_type():
    assert field_of({"data": {"x": 1}}, "data", dict, "task 0", "Fix it.") == {"x": 1}
    for record in ({}, {"data": "x"}, None, ["data"]):
        with pytest.raises(LabelError, match=r"task 0: no field 'data' of type dict\. Fix it\."):
            field_of(record, "data", dict, "task 0", "Fix it.")


@pytest.mark.parametrize("value", ["", None, True, 1.5, ["a"]])
def test_name_field_accepts_only_text_and_whole_numbers(value):
    assert name_field({"id": "a"}, "id", "task 0", "") == "a"
    with pytest.raises(LabelError, match="no field 'id' that holds text or a whole number"):
        name_field({"id": value}, "id", "task 0", "")


def test_read_json_rejects_duplicate_keys(tmp_path):
    (tmp_path / "a.json").write_text('{"a": [{"cat": 1, "cat": 2}]}')
    with pytest.raises(FileError, match=r"a\.json line 1 is not valid JSON \(the key 'cat' occurs twice\)"):
        read_json(tmp_path / "a.json")
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": 2, "a": 2}\n')
    with pytest.raises(FileError, match="line 2 is not valid JSON"):
        list(read_json_lines(tmp_path / "a.jsonl"))
