"""Read exports of Label Studio: tasks, their annotations, and the choices of each annotation."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from scarce._io.json import field_of, name_field, read_json
from scarce._io.paths import prefix_errors
from scarce._validation import check_option
from scarce.errors import FileError, LabelError
from scarce.labels.answers import Conflict
from scarce.labels.container import ComplementaryLabels

Meaning = Literal["excluded", "answer"]
_EXPORT_HINT = "Export the project as JSON (not JSON-MIN)."
_ANSWERS = {"yes": "yes", "no": "no", "true": "yes", "false": "no", "skip": "skip"}


def read_label_studio(
    path: str | Path,
    *,
    meaning: Meaning,
    class_field: str = "class_name",
    control: str | None = None,
    id_field: str | None = None,
    classes: Any = None,
    conflict: Conflict = "raise",
) -> ComplementaryLabels:
    """Read the JSON export of a Label Studio project with a Choices control.

    Parameters
    ----------
    path : path
        The export, a list of tasks.
    meaning : {"excluded", "answer"}
        What a choice means. ``excluded``: a class that the example is *not*; ``answer``: yes or no to the class that the task
        names in ``data[class_field]``.
    class_field : str
        The field of ``data`` with the class that the task asks about.
    control : str, optional
        The name of the Choices control in the labeling interface; required if there are several.
    id_field : str, optional
        The field of ``data`` that identifies the example; by default the ``id`` of the task.
    classes : int or sequence of length q, optional
        All class names, in order; required for ``meaning="excluded"``.
    conflict : {"raise", "drop", "majority"}
        What to do when annotators contradict each other: raise an error, leave out the disputed answers, or follow the majority.

    Returns
    -------
    ComplementaryLabels
        The labels, with the ids of their examples and, for ``meaning="answer"``, with their `answers`.

    Raises
    ------
    FileError
        If the file is missing, damaged, or not a list of tasks.
    LabelError
        If a task or a choice is invalid, or annotators contradict each other.

    See Also
    --------
    read_prodigy : Read exports of Prodigy.
    read_labels : Read label files of all types.

    Notes
    -----
    A cancelled (skipped) annotation counts as a skip with ``meaning="answer"``, and is ignored otherwise. A task without
    annotations is kept as an example without labels.

    References
    ----------
    Label Studio, https://labelstud.io

    Examples
    --------
    >>> import json
    >>> from tempfile import TemporaryDirectory
    >>> task = {"id": 7, "data": {}, "annotations": [{"completed_by": 1, "result": [
    ...     {"from_name": "not", "type": "choices", "value": {"choices": ["cat", "cow"]}}]}]}
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "export.json")
    ...     _ = path.write_text(json.dumps([task]))
    ...     labels = read_label_studio(path, meaning="excluded", classes=["cat", "cow", "dog"])
    >>> labels.ids.tolist(), labels.indicator(dtype=int).tolist()
    ([7], [[1, 1, 0]])
    """
    check_option("meaning", meaning, get_args(Meaning))
    tasks = read_json(path)
    if not isinstance(tasks, list) or not tasks:
        raise FileError(f"{path} is not a list of tasks, as expected. {_EXPORT_HINT}")
    with prefix_errors(path):
        if meaning == "excluded" and classes is None:
            raise LabelError(
                "choices of excluded classes do not name all classes; pass them as classes=[...] (--classes)."
            )
        control = _find_control(tasks, control)
        columns: dict[str, list[Any]] = {"example_id": [], "class_name": [], "answer": [], "annotator": []}
        examples: dict[int | str, None] = {}
        for number, task in enumerate(tasks):
            where = f"task {number}"
            data = field_of(task, "data", dict, where, _EXPORT_HINT)
            example = (
                name_field(task, "id", where, "Name a field of its data with id_field=.")
                if id_field is None
                else name_field(data, id_field, where, "Correct id_field=.")
            )
            examples[example] = None
            asked_class = (
                name_field(
                    data,
                    class_field,
                    where,
                    "Name the field of the class that the task asks about with class_field=.",
                )
                if meaning == "answer"
                else None
            )
            for row in _answer_rows(task, where, control, asked_class):
                for name, value in zip(columns, (example, *row), strict=True):
                    columns[name].append(value)
        labels = ComplementaryLabels.from_answers(columns, classes, ids=list(examples), conflict=conflict)
    # "Choose what it is not" does not ask about one class, so its choices are not answers.
    return labels if meaning == "answer" else replace(labels, answers=None)


def _answer_rows(
    task: Any, where: str, control: str | None, asked_class: int | str | None
) -> list[tuple[Any, str, str]]:
    """Return the class, the answer and the annotator of every choice in a task."""
    rows: list[tuple[Any, str, str]] = []
    for annotation in field_of(task, "annotations", list, where, _EXPORT_HINT):
        annotator = _annotator(annotation)
        choices = _choices(annotation, where, control)
        if asked_class is None:
            rows += [(choice, "no", annotator) for choice in choices]
        elif not choices:
            rows.append((asked_class, "skip", annotator))
        else:
            answer = _ANSWERS.get(choices[0].strip().lower())
            if answer is None or len(choices) > 1:
                raise LabelError(
                    f"{where}: the choice {', '.join(choices)!r} is not an answer; expected yes, no or skip. "
                    "If choices name classes that the example is not, pass meaning='excluded'."
                )
            rows.append((asked_class, answer, annotator))
    return rows or ([] if asked_class is None else [(asked_class, "", "")])


def _choices(annotation: Any, where: str, control: str | None) -> list[str]:
    """Return the choices of an annotation; none if it was cancelled."""
    if isinstance(annotation, dict) and annotation.get("was_cancelled"):
        return []
    chosen: list[str] = []
    for result in field_of(annotation, "result", list, where, _EXPORT_HINT):
        if control is not None and field_of(result, "from_name", str, where, _EXPORT_HINT) == control:
            value = field_of(result, "value", dict, where, _EXPORT_HINT)
            chosen += field_of(
                value, "choices", list, where, f"The control {control!r} must be a Choices tag."
            )
    if not all(isinstance(choice, str) for choice in chosen):
        raise LabelError(f"{where}: the choices {chosen} are not all text. {_EXPORT_HINT}")
    return chosen


def _annotator(annotation: Any) -> str:
    annotator = annotation.get("completed_by") if isinstance(annotation, dict) else None
    if isinstance(annotator, dict):
        annotator = annotator.get("email") or annotator.get("id")
    return "" if annotator is None else str(annotator)


def _find_control(tasks: list[Any], control: str | None) -> str | None:
    """Return the name of the only Choices control, or check that the named control exists."""
    results = [
        result
        for number, task in enumerate(tasks)
        for annotation in field_of(task, "annotations", list, f"task {number}", _EXPORT_HINT)
        if isinstance(annotation, dict) and isinstance(annotation.get("result"), list)
        for result in annotation["result"]
        if isinstance(result, dict)
    ]
    found = {str(result.get("from_name")) for result in results if result.get("type") == "choices"}
    if control is not None and control in (result.get("from_name") for result in results):
        return control
    names = sorted(found)
    if control is not None and names:
        raise LabelError(
            f"there is no control={control!r}; the project has {', '.join(names)}: pass one of them."
        )
    if control is None and len(names) > 1:
        raise LabelError(
            f"the project has several controls with choices, {', '.join(names)}; choose one with control=."
        )
    return control or (names[0] if names else None)
