"""What a report says, in words and rows of text, whatever it will look like."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scarce.bench.reports.summaries import SummaryTable, last_epochs, make_sheets
from scarce.bench.results.results import ExperimentResults
from scarce.bench.results.statistics import LEVEL, Test, can_differ, format_difference
from scarce.bench.results.tables import PAPER_RUNS, Cell, ResultTable, make_prior_tables, make_tables
from scarce.bench.spec.trial import TrialSpec
from scarce.bench.trials.record import TrialRecord

__all__ = ["Report", "difference_text", "make_report", "mean_text", "trouble_text"]

_PROTOCOLS = {
    "paper": "The paper's protocol.",
    "shortened": "Shortened: this is not the paper's protocol.",
    "own": "The paper does not have this experiment.",
}
_SPLITS = {
    "70/30": "on the 30 % of the rows that the seed holds out",
    "10-fold": "on the held-out fold; each seed is a fold of one permutation",
}
_TESTS = {"t": "t-test", "wilcoxon": "Wilcoxon signed-rank test"}


@dataclass(frozen=True)
class Report:
    """All that a report shows, apart from its figures."""

    title: str
    is_shortened: bool
    protocol: tuple[str, ...]
    """Sentences: how the numbers came about, and how to read them."""
    tables: tuple[ResultTable, ...]
    sheets: tuple[SummaryTable, ...]
    versions: tuple[str, ...]
    command: str


def make_report(study: ExperimentResults, command: str, test: Test = "t", *, correct: bool = False) -> Report:
    """Return the content of the report about a study.

    Parameters
    ----------
    study : ExperimentResults
    command : str
        What to type to run it again.
    test, correct
        How to tell the best, see `scarce.bench.results.statistics.best`.

    Examples
    --------
    >>> from scarce.bench.results.results import TrialIndex
    >>> trials = {TrialIndex("mnist", "uniform", "mlp", "SCARCE", 0): None}
    >>> report = make_report(ExperimentResults("mine", "Mine", "shortened", trials), "scarce bench run mine")
    >>> report.protocol[-1]
    '0 of 1 trials are done; 1 has not been run.'
    """
    estimates_priors = study.kind == "priors"
    tables = make_prior_tables(study) if estimates_priors else make_tables(study, test, correct=correct)
    is_shortened = study.protocol == "shortened"
    says_so = "shortened" in study.title.lower()
    return Report(
        title=f"{study.title} (shortened)" if is_shortened and not says_so else study.title,
        is_shortened=is_shortened,
        protocol=(
            *_how_it_was_run(study),
            *(() if estimates_priors else _how_the_best_is_told(tables, test, correct)),
            *_how_the_paper_is_compared(study, tables),
            _progress(study),
            *_how_old_it_is(study),
        ),
        tables=tuple(tables),
        sheets=make_sheets(study),
        versions=_versions(study.records.values()),
        command=command,
    )


def mean_text(mean: float, std: float | None) -> str:
    """Return a mean and its standard deviation as the paper prints them.

    Examples
    --------
    >>> mean_text(91.274, 0.2), mean_text(91.274, None)
    ('91.27 ± 0.20', '91.27')
    """
    return f"{mean:.2f}" if std is None else f"{mean:.2f} ± {std:.2f}"


def difference_text(cell: Cell) -> str:
    """Return ours less the paper's, and whether that lies within two standard errors, where this can be told.

    Examples
    --------
    >>> from scarce.bench.results.paper import PaperCell
    >>> difference_text(Cell({0: 91.0, 1: 90.0}, paper=PaperCell(90.4, 0.5, False)))
    '+0.10 within'
    """
    if cell.difference is None:
        return ""
    sign = format_difference(cell.difference)
    return sign if cell.agrees is None else f"{sign} {'within' if cell.agrees else 'beyond'}"


def trouble_text(cell: Cell) -> str:
    """Return how many trials of a cell have no result.

    Examples
    --------
    >>> trouble_text(Cell({}, failed=(0, 2), missing=(1,)))
    '2 failed, 1 missing'
    """
    counts = {"failed": len(cell.failed), "missing": len(cell.missing)}
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _agreement(tables: Iterable[ResultTable]) -> tuple[int, int]:
    """Return how many cells lie within two standard errors of the paper's number, and how many could be compared."""
    told = [cell.agrees for table in tables for cell in table.cells.values() if cell.agrees is not None]
    return sum(told), len(told)


def _how_it_was_run(study: ExperimentResults) -> list[str]:
    seeds = sorted({slot.seed for slot in study.planned})
    trained = [record.spec for record in study.records.values() if record.spec.kind != "classifiers"]
    recipes = dict.fromkeys(map(_recipe, trained))
    score = (
        "Class priors in per cent" if study.kind == "priors" else f"Test accuracy in per cent, {_when(study)}"
    )
    return [
        _PROTOCOLS[study.protocol],
        *([study.description] if study.description else []),
        *(f"Training: {recipe}." for recipe in recipes),
        *_how_much_was_learned_from(study),
        f"{score}; {_seeds(seeds)}.",
    ]


def _when(study: ExperimentResults) -> str:
    """Return in which epochs, or on which rows, the accuracy was measured."""
    if study.kind == "classifiers":
        splits = dict.fromkeys(record.spec.split for record in study.done.values())
        return " or ".join(_SPLITS[split] for split in splits if split) or "on held-out rows"
    stopping = {record.spec.early_stopping for record in study.done.values()}
    if stopping == {True}:
        return "at the epoch that early stopping chose"
    chosen = " (with early stopping, at the epoch chosen)" * (True in stopping)
    return f"the mean over the {last_epochs(study)} of each trial{chosen}"


def _how_much_was_learned_from(study: ExperimentResults) -> list[str]:
    sizes: dict[tuple[str, int, float | None], set[int]] = {}
    for record in study.records.values():
        place = record.spec.data, record.spec.n_train, record.spec.imbalance
        sizes.setdefault(place, set()).update([record.n_examples] if record.n_examples else [])
    told = dict.fromkeys(
        f"{_size(n_train, imbalance, counts)} of {data}"
        for (data, n_train, imbalance), counts in sizes.items()
    )
    thinned = dict.fromkeys(imbalance for _, _, imbalance in sizes if imbalance is not None)
    return [
        *([f"Training examples: {', '.join(told)}."] if told else []),
        *(
            f"Classes were thinned, in the training and the test images: the first keeps all of its own, every further one a "
            f"smaller share, the last 1/{imbalance:g}."
            for imbalance in thinned
        ),
    ]


def _size(n_train: int, imbalance: float | None, counts: set[int]) -> str:
    """Return how many examples there were; where classes were thinned at random, this depends on the seed."""
    if imbalance is None:
        return f"{n_train:,}"
    if not counts:
        return f"fewer than {n_train:,}"
    return " to ".join(f"{count:,}" for count in sorted({min(counts), max(counts)}))


def _recipe(spec: TrialSpec) -> str:
    recipe = spec.make_recipe()
    augmentation = " and ".join(recipe.augmentation) or "none"
    most, stopping = ("at most ", ", early stopping") if spec.early_stopping else ("", "")
    return (
        f"{most}{recipe.epochs} epochs of {recipe.optimizer}, batches of {recipe.batch_size}, learning rate "
        f"{recipe.learning_rate:g} ({recipe.schedule}), weight decay {recipe.weight_decay:g}, augmentation: "
        f"{augmentation}{stopping}"
    )


def _seeds(seeds: list[int]) -> str:
    if len(seeds) == 1:
        return f"one seed ({seeds[0]}), so that there is no standard deviation"
    is_range = seeds == list(range(seeds[0], seeds[-1] + 1))
    names = f"{seeds[0]} to {seeds[-1]}" if is_range else ", ".join(map(str, seeds))
    return f"mean ± standard deviation (n − 1) over {len(seeds)} seeds ({names})"


def _how_the_best_is_told(tables: list[ResultTable], test: Test, correct: bool) -> list[str]:
    filled = [
        (table.title, column, len(cell.values))
        for table in tables
        for (_, column), cell in table.cells.items()
        if cell.values
    ]
    n = max((count for *_, count in filled), default=0)
    if not n:
        return []
    if n == 1:
        return ["Bold: the best of a column. One seed only: no difference can be tested."]
    holm = ", corrected by Holm's method for the number of tests in the column" if correct else ""
    told = (
        f"Bold: the best mean of a column and all that are not significantly worse (two-sided paired {_TESTS[test]} over "
        f"common seeds at {LEVEL}{holm})."
    )
    rivals = max(Counter(place[:2] for place in filled).values()) - 1
    tests = rivals if correct else 1
    if rivals == 0 or can_differ(n, test, tests):
        return [told]
    needed = next(more for more in itertools.count(n) if can_differ(more, test, tests))
    return [
        told,
        f"With {n} seeds this test cannot find any difference at that level{f' among {rivals + 1} methods' * correct}, so "
        f"that all are bold; it needs {needed}.",
    ]


def _how_the_paper_is_compared(study: ExperimentResults, tables: list[ResultTable]) -> list[str]:
    if not any(table.has_paper for table in tables):
        return []
    within, told = _agreement(tables)
    return [
        f"Below our number stands the paper's (mean ± standard deviation over {PAPER_RUNS} runs, bold as it is there), then ours "
        f"less the paper's, "
        f"and whether it is within two standard errors or beyond, √(ours²/n + paper's²/{PAPER_RUNS}) being the standard error."
        + (
            f" {within} of {told} cells are within."
            if told
            else " With one seed this cannot be told." * bool(study.done)
        )
        + (
            " Part of the differences comes from the shorter protocol."
            if study.protocol == "shortened"
            else ""
        )
    ]


def _progress(study: ExperimentResults) -> str:
    parts = [f"{len(study.done)} of {len(study.planned)} trials are done"]
    for count, one, many in (
        (len(study.failed), "has failed", "have failed"),
        (len(study.missing), "has not been run", "have not been run"),
    ):
        if count:
            parts.append(f"{count} {one if count == 1 else many}")
    return "; ".join(parts) + "."


def _how_old_it_is(study: ExperimentResults) -> list[str]:
    n = len(study.outdated)
    if not n:
        return []
    return [
        f"{n} of {len(study.planned)} trials {'was' if n == 1 else 'were'} run by an earlier version of "
        f"{'its' if n == 1 else 'their'} method or data; `scarce bench run` runs {'it' if n == 1 else 'them'} anew."
    ]


def _versions(records: Iterable[TrialRecord]) -> tuple[str, ...]:
    """Where trials were run by different versions or machines, all of them."""
    lines = dict.fromkeys(
        ", ".join([*(f"{name} {value}" for name, value in record.versions.items()), _machine(record.machine)])
        for record in records
        if record.versions
    )
    return tuple(sorted(lines))


def _machine(machine: Mapping[str, object]) -> str:
    return f"on {machine.get('platform', 'an unknown machine')} with {machine.get('cpus', '?')} processors"
