"""JSON and JSON Lines files, and checks of their fields."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from scarce._io.paths import check_file
from scarce._limits import check_bytes
from scarce.errors import FileError, LabelError


def read_json(path: str | Path) -> Any:
    """Read a file that holds one JSON value.

    Examples
    --------
    >>> read_json("nowhere.json")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere.json does not exist; check the path.
    """
    path = check_file(path)
    text = _read_text(path)
    if not text.strip():
        raise FileError(f"{path} is empty; export it again.")
    return _parse(text, path, None)


def read_json_lines(path: str | Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read a file with one JSON object per line, each with its position, such as "line 3".

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.jsonl").write_text('{"label": "CAT"}')
    ...     list(read_json_lines(Path(folder, "a.jsonl")))
    [('line 1', {'label': 'CAT'})]
    """
    path = check_file(path)
    for number, line in enumerate(_read_text(path).split("\n"), start=1):
        if line.strip():
            record = _parse(line, path, number)
            if not isinstance(record, dict):
                raise FileError(f"{path} line {number} is not a JSON object; expected one {{...}} per line.")
            yield f"line {number}", record


def unique_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict, or raise `ValueError` if a key occurs twice; the ``object_pairs_hook`` of `json.loads`.

    Examples
    --------
    >>> json.loads('{"cat": 0.3, "cat": 0.7}', object_pairs_hook=unique_keys)
    Traceback (most recent call last):
    ValueError: the key 'cat' occurs twice
    """
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record:
            raise ValueError(f"the key {key!r} occurs twice")
        record[key] = value
    return record


def _read_text(path: Path) -> str:
    try:
        check_bytes(path.stat().st_size, path)
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not UTF-8 text ({error.reason}); export it again.") from error
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error


def _parse(text: str, path: Path, line: int | None) -> Any:
    try:
        return json.loads(text, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        line = line or getattr(error, "lineno", 1)
        raise FileError(
            f"{path} line {line} is not valid JSON ({getattr(error, 'msg', error)}); "
            "the file is damaged, truncated or of another format: export it again."
        ) from error


def field_of(record: Any, name: str, kind: type, where: str, fix: str) -> Any:
    """Return a field of a JSON object, or raise `LabelError` if it is missing or of another type.

    Examples
    --------
    >>> field_of({"data": []}, "data", dict, "task 0", "Export as JSON.")
    Traceback (most recent call last):
    scarce.errors.LabelError: task 0: no field 'data' of type dict. Export as JSON.
    """
    value = record.get(name) if isinstance(record, dict) else None
    if not isinstance(value, kind):
        raise LabelError(f"{where}: no field {name!r} of type {kind.__name__}. {fix}")
    return value


def name_field(record: Any, name: str, where: str, fix: str) -> int | str:
    """Return a field that holds a name (text that is not empty, or an integer), or raise `LabelError`.

    Examples
    --------
    >>> name_field({"id": 7}, "id", "task 0", "Pass id_field=.")
    7
    """
    value = record.get(name) if isinstance(record, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, str)) or value == "":
        raise LabelError(f"{where}: no field {name!r} that holds text or a whole number. {fix}")
    return value
