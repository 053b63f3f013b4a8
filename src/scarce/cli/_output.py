"""Tables for people, no wider than their terminal."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scarce.estimators.auto import Choice
    from scarce.labels import LabelSummary
    from scarce.metrics import ComplementaryReport
    from scarce.priors import PriorEstimate

__all__ = [
    "print_table",
    "show_alarms",
    "show_choice",
    "show_labels",
    "show_priors",
    "show_report",
    "show_truth",
]

_SHOWN = 20
_SOURCES = {
    "given": "as given",
    "uniform": "taken as equal; if you know better, pass --priors",
    "answers": 'from the share of "yes" among the answers',
}


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0) -> None:
    """Print a table as wide as the terminal; the last `numbers` of its columns are flush right, as numbers are.

    Examples
    --------
    >>> print_table(["class", "excluded"], [["cat", "12"], ["dog", "7"]], numbers=1)
    class  excluded
    cat          12
    dog           7
    """
    from scarce._console import terminal_width, text_table

    print(text_table(columns, rows, len(columns) - numbers, terminal_width()))


def show_labels(summary: "LabelSummary", priors: "PriorEstimate | None" = None) -> None:
    """Print what is known, per class and per example, and the priors that go with it."""
    from scarce._validation import abbreviate

    n, sizes = summary.n_examples, summary.examples_by_exclusions
    print(
        f"{n:,} examples, {summary.n_classes:,} classes, {summary.n_exclusions:,} exclusions "
        f"({summary.n_exclusions / n:.2f} per example, {sizes[0]:,} examples without any)"
    )
    if summary.n_answers:
        print(f"{summary.n_answers:,} answers, {summary.n_skipped:,} of them skipped")
    if summary.n_confirmed:
        print(f"{summary.n_confirmed:,} examples are confirmed to be of a class")
    columns = ["class", "excluded by", "share"]
    rows = [
        [str(name), f"{count:,}", f"{rate:.3f}"]
        for name, count, rate in zip(summary.classes, summary.counts, summary.rates, strict=True)
    ]
    if priors is not None:
        columns.append("prior")
        for row, value in zip(rows, priors.values, strict=True):
            row.append(f"{value:.3f}")
    _print_some(columns, rows)
    never = [name for name, count in zip(summary.classes, summary.counts, strict=True) if not count]
    if never:
        print(f"never excluded, so that nothing is known against it: {abbreviate(never)}")
    if priors is not None:
        print(f"priors: {_SOURCES.get(priors.source, f'as estimated by {priors.source}')}")


def show_priors(estimate: "PriorEstimate") -> None:
    """Print estimated priors, class by class, with the raw estimates and their intervals."""
    names = range(len(estimate.values)) if estimate.classes is None else estimate.classes
    columns, cells = ["class", "prior", "raw estimate"], [estimate.values, estimate.raw]
    if estimate.low is not None and estimate.high is not None:
        columns += ["95 % from", "to"]
        cells += [estimate.low, estimate.high]
    rows = [
        [str(name), *(f"{number:.3f}" for number in numbers)]
        for name, *numbers in zip(names, *cells, strict=True)
    ]
    _print_some(columns, rows)
    source = estimate.source
    if not source.startswith(("learned", "candidate")):
        source = f"estimated by {source}"
    print(f"priors: {_SOURCES.get(estimate.source, source)}; raw estimates sum to {estimate.total:.3f}")


def show_choice(choice: "Choice") -> None:
    """Print what the automatic default compared: weights, mean log-likelihoods of held-out labels, and seconds."""
    rows = [
        [
            one.learner,
            one.mechanism,
            f"{one.weight:.2f}" if one.weight else "-",
            "-" if one.score is None else f"{one.score:.4f}",
            f"{one.seconds:.1f}",
        ]
        for one in choice.candidates
    ]
    print_table(["learner", "mechanism", "weight", "score", "seconds"], rows, numbers=3)
    print(
        "score: mean log-likelihood of held-out labels; candidates without one were dropped after the first fold"
    )
    for one in choice.candidates:
        if one.error:
            print(f"left out: {one.name}: {one.error}")
    gate = choice.gate
    if gate is not None:
        verdict = "rejects SCAR: the labels are candidate sets" if gate.rejects_scar else "agrees with SCAR"
        print(f"co-exclusion test over {gate.n_pairs} pairs of classes: Z = {gate.statistic:.2f}, {verdict}")


def show_report(report: "ComplementaryReport") -> None:
    """Print how good a classifier is: accuracy, what was assumed, and a table of classes as wide as the terminal."""
    from scarce._console import terminal_width

    print("\n".join(report.summary_lines()))
    print("\n".join(report.class_lines(terminal_width())))


def show_alarms(report: "ComplementaryReport") -> None:
    """Print every alarm in lines no wider than the terminal."""
    import textwrap

    from scarce._console import terminal_width

    for line in report.alarm_lines():
        print(textwrap.fill(line, terminal_width(), subsequent_indent="  "))


def show_truth(classes: Iterable[object], counts: Sequence[int]) -> None:
    """Print how many examples are of each class."""
    n = sum(counts)
    print(f"{n:,} examples, {len(counts):,} classes, ordinary labels")
    _print_some(
        ["class", "examples", "share"],
        [[str(name), f"{count:,}", f"{count / n:.3f}"] for name, count in zip(classes, counts, strict=True)],
    )


def _print_some(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print_table(columns, rows[:_SHOWN], numbers=len(columns) - 1)
    if len(rows) > _SHOWN:
        print(f"... and {len(rows) - _SHOWN:,} more classes")
