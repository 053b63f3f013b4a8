"""The content of a report, as sentences and tables, independent of the format."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scarce.bench.reports._summaries import SummaryTable, last_epochs, make_summary_tables
from scarce.bench.results._statistics import LEVEL, Test, can_reject, format_difference
from scarce.bench.results._tables import PAPER_RUNS, Cell, ResultTable, make_prior_tables, make_tables
from scarce.bench.results.results import ExperimentResults
from scarce.bench.spec.trial import TrialSpec
from scarce.bench.trials.record import TrialRecord

_PROTOCOLS = {
    "paper": "The paper's protocol.",
    "shortened": "Shortened: this is not the paper's protocol.",
    "own": "The paper does not have this experiment.",
}
_SPLITS = {
    "70/30": "on the 30 % of the rows that the seed holds out",
    "10-fold": "on the held-out fold; each seed is a fold of one permutation",
    "standard": "on the whole standard test set",
}
_TESTS = {"t": "t-test", "wilcoxon": "Wilcoxon signed-rank test"}


@dataclass(frozen=True)
class Report:
    """The content of a report, without its figures."""

    title: str
    is_shortened: bool
    protocol: tuple[str, ...]
    """Sentences: how the numbers were obtained, and how to read them."""
    tables: tuple[ResultTable, ...]
    summary_tables: tuple[SummaryTable, ...]
    versions: tuple[str, ...]
    command: str


def make_report(
    results: ExperimentResults, command: str | None = None, test: Test = "t", *, correct: bool = False
) -> Report:
    """Return the content of the report on the results of an experiment.

    Parameters
    ----------
    results : ExperimentResults
    command : str, optional
        The command that runs it again; by default ``scarce bench run`` with its name.
    test, correct
        How the best cells are found, see `scarce.bench.results._statistics.best`.

    Examples
    --------
    >>> from scarce.bench import Plan, collect, load_experiment
    >>> results = collect(Plan.from_experiment(load_experiment("quick-digits")), [])
    >>> make_report(results).protocol[-1]
    '0 of 24 trials are done; 24 have not been run.'
    """
    estimates_priors = results.kind == "priors"
    tables = make_prior_tables(results) if estimates_priors else make_tables(results, test, correct=correct)
    is_shortened = results.protocol == "shortened"
    is_titled = "shortened" in results.title.lower()
    return Report(
        title=f"{results.title} (shortened)" if is_shortened and not is_titled else results.title,
        is_shortened=is_shortened,
        protocol=(
            *_training_sentences(results),
            *(() if estimates_priors else _bold_sentences(tables, test, correct)),
            *_paper_sentences(results, tables),
            _progress_sentence(results),
            *_outdated_sentences(results),
        ),
        tables=tuple(tables),
        summary_tables=make_summary_tables(results),
        versions=_versions(results.recorded.record),
        command=f"scarce bench run {results.name}" if command is None else command,
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
    """Return our number minus the paper's and, if the standard error is known, whether it is within two of them.

    Examples
    --------
    >>> from scarce.bench.results._paper import PaperCell
    >>> difference_text(Cell({0: 91.0, 1: 90.0}, paper=PaperCell(90.4, 0.5, False)))
    '+0.10 within'
    """
    if cell.difference is None:
        return ""
    sign = format_difference(cell.difference)
    return sign if cell.agrees is None else f"{sign} {'within' if cell.agrees else 'beyond'}"


def failures_text(cell: Cell) -> str:
    """Return how many trials of a cell failed or are missing.

    Examples
    --------
    >>> failures_text(Cell({}, failed=(0, 2), missing=(1,)))
    '2 failed, 1 missing'
    """
    counts = {"failed": len(cell.failed), "missing": len(cell.missing)}
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _agreement(tables: Iterable[ResultTable]) -> tuple[int, int]:
    """Return how many cells are within two standard errors of the paper's number, and how many could be compared."""
    agrees = [cell.agrees for table in tables for cell in table.cells.values() if cell.agrees is not None]
    return sum(agrees), len(agrees)


def _training_sentences(results: ExperimentResults) -> list[str]:
    seeds = sorted(results.trials.seed.unique().tolist())
    trained = [record.spec for record in results.recorded.record if record.spec.kind != "classifiers"]
    recipes = dict.fromkeys(map(_recipe_text, trained))
    score = (
        "Class priors in per cent"
        if results.kind == "priors"
        else f"Test accuracy in per cent, {_measurement_text(results)}"
    )
    return [
        _PROTOCOLS[results.protocol],
        *([results.description] if results.description else []),
        *(f"Training: {recipe}." for recipe in recipes),
        *_size_sentences(results),
        f"{score}; {_seeds_text(seeds)}.",
    ]


def _measurement_text(results: ExperimentResults) -> str:
    """Return the epochs or the rows on which the accuracy was measured."""
    if results.kind == "classifiers":
        splits = dict.fromkeys(record.spec.split for record in results.done.record)
        return " or ".join(_SPLITS[split] for split in splits if split) or "on held-out rows"
    stopping = {record.spec.early_stopping for record in results.done.record}
    if stopping == {True}:
        return "at the epoch that early stopping chose"
    chosen = " (with early stopping, at the epoch chosen)" * (True in stopping)
    return f"the mean over the {last_epochs(results)} of each trial{chosen}"


def _size_sentences(results: ExperimentResults) -> list[str]:
    sizes: dict[tuple[str, int, float | None], set[int]] = {}
    for record in results.recorded.record:
        key = record.spec.data, record.spec.n_train, record.spec.imbalance
        sizes.setdefault(key, set()).update([record.n_examples] if record.n_examples else [])
    texts = dict.fromkeys(
        f"{_size_text(n_train, imbalance, counts)} of {data}"
        for (data, n_train, imbalance), counts in sizes.items()
    )
    thinned = dict.fromkeys(imbalance for _, _, imbalance in sizes if imbalance is not None)
    return [
        *([f"Training examples: {', '.join(texts)}."] if texts else []),
        *(
            f"The classes of the training and test images were subsampled: the first keeps all its images, each following "
            f"class a smaller fraction, and the last 1/{imbalance:g}."
            for imbalance in thinned
        ),
    ]


def _size_text(n_train: int, imbalance: float | None, counts: set[int]) -> str:
    """Return the number of examples as text; if classes were subsampled, it depends on the seed."""
    if imbalance is None:
        return f"{n_train:,}"
    if not counts:
        return f"fewer than {n_train:,}"
    return " to ".join(f"{count:,}" for count in sorted({min(counts), max(counts)}))


def _recipe_text(spec: TrialSpec) -> str:
    recipe = spec.make_recipe()
    augmentation = " and ".join(recipe.augmentation) or "none"
    limit, stopping = ("at most ", ", early stopping") if spec.early_stopping else ("", "")
    return (
        f"{limit}{recipe.epochs} epochs of {recipe.optimizer}, batches of {recipe.batch_size}, learning rate "
        f"{recipe.learning_rate:g} ({recipe.schedule}), weight decay {recipe.weight_decay:g}, augmentation: "
        f"{augmentation}{stopping}"
    )


def _seeds_text(seeds: list[int]) -> str:
    if len(seeds) == 1:
        return f"one seed ({seeds[0]}), so there is no standard deviation"
    is_range = seeds == list(range(seeds[0], seeds[-1] + 1))
    names = f"{seeds[0]} to {seeds[-1]}" if is_range else ", ".join(map(str, seeds))
    return f"mean ± standard deviation (n − 1) over {len(seeds)} seeds ({names})"


def _bold_sentences(tables: list[ResultTable], test: Test, correct: bool) -> list[str]:
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
        return ["Bold: the best of each column. With one seed, differences cannot be tested."]
    holm = ", corrected by Holm's method for the number of tests in the column" if correct else ""
    explanation = (
        f"Bold: the best mean of each column and all that are not significantly worse (two-sided paired {_TESTS[test]} over "
        f"the common seeds at level {LEVEL}{holm})."
    )
    n_methods = max(Counter((title, column) for title, column, _ in filled).values())
    n_tests = n_methods - 1 if correct else 1
    if n_methods == 1 or can_reject(n, test, n_tests):
        return [explanation]
    n_needed = next(more for more in itertools.count(n) if can_reject(more, test, n_tests))
    return [
        explanation,
        f"With {n} seeds, this test cannot reject at that level{f' among {n_methods} methods' * correct}, so all are bold; it "
        f"needs at least {n_needed} seeds.",
    ]


def _paper_sentences(results: ExperimentResults, tables: list[ResultTable]) -> list[str]:
    if not any(table.has_paper for table in tables):
        return []
    n_within, n_compared = _agreement(tables)
    return [
        f"Each cell: our number, the paper's (mean ± standard deviation over {PAPER_RUNS} runs, bold as in the paper), and the "
        f"difference, ours minus the paper's, which is within two standard errors or beyond; the standard error is "
        f"√(ours²/n + paper's²/{PAPER_RUNS})."
        + (
            f" {n_within} of {n_compared} cells are within."
            if n_compared
            else " With one seed there is no standard error." * (len(results.done) > 0)
        )
        + (
            " Some of the difference is due to the shorter protocol."
            if results.protocol == "shortened"
            else ""
        )
    ]


def _progress_sentence(results: ExperimentResults) -> str:
    parts = [f"{len(results.done)} of {len(results.trials)} trials are done"]
    for count, one, many in (
        (len(results.failed), "has failed", "have failed"),
        (len(results.missing), "has not been run", "have not been run"),
    ):
        if count:
            parts.append(f"{count} {one if count == 1 else many}")
    return "; ".join(parts) + "."


def _outdated_sentences(results: ExperimentResults) -> list[str]:
    n = int(results.trials.outdated.sum())
    if not n:
        return []
    return [
        f"{n} of {len(results.trials)} trials {'was' if n == 1 else 'were'} run with an earlier version of "
        f"{'its' if n == 1 else 'their'} method or data; `scarce bench run` runs {'it' if n == 1 else 'them'} again."
    ]


def _versions(records: Iterable[TrialRecord]) -> tuple[str, ...]:
    """Return each combination of versions and machine that ran trials."""
    lines = dict.fromkeys(
        ", ".join([*(f"{name} {value}" for name, value in record.versions.items()), _machine(record.machine)])
        for record in records
        if record.versions
    )
    return tuple(sorted(lines))


def _machine(machine: Mapping[str, object]) -> str:
    return f"on {machine.get('platform', 'an unknown machine')} with {machine.get('cpus', '?')} processors"
