"""Read exports of Prodigy: one line per question, with the answer accept, reject or ignore."""

from pathlib import Path
from typing import Any

from scarce._io.json import name_field, read_json_lines
from scarce._io.paths import prefix_errors
from scarce.errors import FileError, LabelError
from scarce.labels.answers import Conflict
from scarce.labels.container import ComplementaryLabels

_ANSWERS = {"accept": "yes", "reject": "no", "ignore": "skip"}


def read_prodigy(
    path: str | Path, *, id_field: str | None = None, classes: Any = None, conflict: Conflict = "raise"
) -> ComplementaryLabels:
    r"""Read the JSONL export of a binary Prodigy task: accept means yes, reject no, and ignore skip.

    Parameters
    ----------
    path : path
        The export: one JSON object per line, with ``label`` and ``answer``.
    id_field : str, optional
        The field that identifies the example; by default ``id``, else ``meta.id``, else ``_input_hash``.
    classes : int or sequence of length q, optional
        All class names, in order; by default the labels in the export, sorted.
    conflict : {"raise", "drop", "majority"}
        What to do with contradictory answers: raise an error, leave out the disputed answers, or follow the majority.

    Returns
    -------
    ComplementaryLabels
        The labels, with the ids of their examples and their `answers`.

    Raises
    ------
    FileError
        If the file is missing, damaged or empty.
    LabelError
        If a line is not a binary annotation, or answers contradict each other.

    See Also
    --------
    read_label_studio : Read exports of Label Studio.
    read_labels : Read label files of all types.

    References
    ----------
    Prodigy, https://prodi.gy

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> lines = '{"id": "p1", "label": "CAT", "answer": "reject"}\n{"id": "p1", "label": "DOG", "answer": "accept"}'
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pets.jsonl").write_text(lines)
    ...     labels = read_prodigy(Path(folder, "pets.jsonl"))
    >>> labels.classes.tolist(), labels.indicator(dtype=int).tolist(), labels.confirmed.tolist()
    (['CAT', 'DOG'], [[1, 0]], [1])
    """
    columns: dict[str, list[Any]] = {"example_id": [], "class_name": [], "answer": [], "annotator": []}
    with prefix_errors(path):
        for where, record in read_json_lines(path):
            columns["example_id"].append(_example_id(record, where, id_field))
            columns["class_name"].append(
                name_field(record, "label", where, "Export a binary task (accept or reject one label).")
            )
            answer = record.get("answer")
            if not isinstance(answer, str) or answer not in _ANSWERS:
                raise LabelError(
                    f"{where}: the answer is {answer!r}; expected accept, reject or ignore: export a binary task."
                )
            columns["answer"].append(_ANSWERS[answer])
            columns["annotator"].append(record.get("_annotator_id") or record.get("_session_id") or "")
        if not columns["answer"]:
            raise FileError(f"{path} is empty; export it again.")
        return ComplementaryLabels.from_answers(columns, classes, conflict=conflict)


def _example_id(record: dict[str, Any], where: str, id_field: str | None) -> int | str:
    if id_field is not None:
        return name_field(record, id_field, where, "Correct id_field=.")
    if "id" in record:
        return name_field(record, "id", where, "Name another field with id_field=.")
    meta = record.get("meta")
    if isinstance(meta, dict) and "id" in meta:
        return name_field(meta, "id", f"{where}, meta", "Name another field with id_field=.")
    return name_field(
        record, "_input_hash", where, "Name the field that identifies the example with id_field=."
    )
