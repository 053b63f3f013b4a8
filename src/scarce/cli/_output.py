"""Print the results of commands, in tables no wider than the terminal."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from scarce._printable import unwrapped

if TYPE_CHECKING:
    from scarce.estimators import ScarceClassifier
    from scarce.estimators.auto import Choice
    from scarce.features import Features
    from scarce.labels import LabelSummary
    from scarce.metrics import ComplementaryReport
    from scarce.priors import PriorEstimate
    from scarce.training import History

_MAX_CLASSES = 20
_SOURCES = {
    "given": "as given",
    "uniform": "assumed equal; pass --priors if you know them",
    "answers": 'from the fraction of "yes" among the answers',
}


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0) -> None:
    """Print a table no wider than the terminal; its last `numbers` columns are right-aligned.

    Examples
    --------
    >>> print_table(["class", "excluded"], [["cat", "12"], ["dog", "7"]], numbers=1)
    class  excluded
    cat          12
    dog           7
    """
    from scarce._console import terminal_width, text_table

    print(text_table(columns, rows, len(columns) - numbers, terminal_width()))


def data_stream() -> Any:
    """Return the stream for data, as CSV or JSON: standard output, which keeps names as they are unless it is a terminal."""
    return sys.stdout if sys.stdout.isatty() else unwrapped(sys.stdout)


def show_note(features: "Features", *, beside_data: bool = False) -> None:
    """Print what was done to the images of a folder, if anything: on standard error if standard output is for data."""
    if features.note is not None:
        print(features.note, file=sys.stderr if beside_data else sys.stdout, flush=True)


def show_labels(summary: "LabelSummary", priors: "PriorEstimate | None" = None) -> None:
    """Print the summary of labels, and the priors if they are known."""
    print(summary)
    if priors is not None:
        rows = [
            [str(name), f"{prior:.3f}"] for name, prior in zip(summary.classes, priors.values, strict=True)
        ]
        _print_classes(["class", "prior"], rows)
        print(f"priors: {_SOURCES.get(priors.source, f'as estimated by {priors.source}')}")


def show_priors(estimate: "PriorEstimate") -> None:
    """Print estimated priors, class by class, with the raw estimates and their intervals."""
    names = range(len(estimate.values)) if estimate.classes is None else estimate.classes
    columns, values = ["class", "prior", "raw estimate"], [estimate.values, estimate.raw]
    if estimate.low is not None and estimate.high is not None:
        columns += ["95% from", "to"]
        values += [estimate.low, estimate.high]
    rows = [
        [str(name), *(f"{number:.3f}" for number in numbers)]
        for name, *numbers in zip(names, *values, strict=True)
    ]
    _print_classes(columns, rows)
    source = estimate.source
    if not source.startswith(("learned", "candidate")):
        source = f"estimated by {source}"
    print(f"priors: {_SOURCES.get(estimate.source, source)}; raw estimates sum to {estimate.total:.3f}")


def show_training(classifier: "ScarceClassifier", *, explain: bool) -> None:
    """Print what the automatic default chose, with the comparison of all candidates if `explain`, and a summary of training."""
    from scarce._console import terminal_width

    choice: Choice | None = getattr(classifier, "choice_", None)
    if choice is not None:
        lines = choice.comparison_lines(terminal_width()) if explain else []
        print("\n".join([choice.reason, *lines]))
    if len(classifier.history_):
        print(f"trained {_training_text(classifier.history_)}")


def show_report(report: "ComplementaryReport") -> None:
    """Print the accuracy of a classifier, the assumptions behind it, and a table of classes."""
    from scarce._console import terminal_width

    print("\n".join(report.summary_lines()))
    print("\n".join(report.class_lines(terminal_width())))


def show_alarms(report: "ComplementaryReport") -> None:
    """Print every alarm, wrapped to the terminal."""
    import textwrap

    from scarce._console import terminal_width

    for line in report.alarm_lines():
        print(textwrap.fill(line, terminal_width(), subsequent_indent="  "))


def show_truth(classes: Iterable[object], counts: Sequence[int]) -> None:
    """Print the number of examples of each class."""
    n = sum(counts)
    print(f"{n:,} examples, {len(counts):,} classes, ordinary labels")
    _print_classes(
        ["class", "examples", "share"],
        [[str(name), f"{count:,}", f"{count / n:.3f}"] for name, count in zip(classes, counts, strict=True)],
    )


def _print_classes(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print_table(columns, rows[:_MAX_CLASSES], numbers=len(columns) - 1)
    if len(rows) > _MAX_CLASSES:
        print(f"... and {len(rows) - _MAX_CLASSES:,} more classes")


def _training_text(history: "History") -> str:
    epochs = "1 epoch" if len(history) == 1 else f"{len(history)} epochs"
    text = f"for {epochs} in {sum(history['seconds']):.1f} s, last loss {history['loss'][-1]:.4f}"
    kind = next(
        (kind for kind in ("likelihood", "score", "accuracy") if f"validation_{kind}" in history.records[-1]),
        None,
    )
    if kind is not None:
        last_stage = [record for record in history if record.get("stage") == history.records[-1].get("stage")]
        best = max(last_stage, key=lambda record: record[f"validation_{kind}"])
        text += (
            f", best {kind} on held-out labels {best[f'validation_{kind}']:.4f} after epoch {best['epoch']}"
        )
    return text
