"""The tables of an experiment: rows are methods, columns are settings, and the paper's number stands below ours."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from statistics import fmean

from scarce.bench.results.paper import PaperCell, paper_accuracies, paper_priors
from scarce.bench.results.results import ExperimentResults, TrialIndex
from scarce.bench.results.statistics import Summary, Test, best, summarize

__all__ = ["PAPER_RUNS", "Cell", "ResultTable", "make_prior_tables", "make_tables"]

PAPER_RUNS = 5
"""How many runs each number of the paper is a mean of."""
_ERROR = "mean absolute error"


@dataclass(frozen=True)
class Cell:
    """The trials of one method in one setting: results in per cent by seed, and the seeds without one."""

    values: Mapping[int, float]
    failed: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    paper: PaperCell | None = None
    bold: bool = False

    @cached_property
    def summary(self) -> Summary | None:
        """Mean and standard deviation over the seeds, if there is a result."""
        return summarize(list(self.values.values())) if self.values else None

    @property
    def difference(self) -> float | None:
        """Our mean less the paper's."""
        return self.summary.mean - self.paper.mean if self.summary and self.paper else None

    @property
    def standard_error(self) -> float | None:
        """Of the difference: √(ours² / n + paper's² / 5), of the standard deviations; unknown for a single run."""
        if self.summary is None or self.summary.std is None or self.paper is None:
            return None
        return sqrt(self.summary.std**2 / self.summary.n + self.paper.std**2 / PAPER_RUNS)

    @property
    def agrees(self) -> bool | None:
        """Whether our mean lies within two standard errors of the paper's."""
        if self.difference is None or self.standard_error is None:
            return None
        return abs(self.difference) <= 2 * self.standard_error


@dataclass(frozen=True)
class ResultTable:
    """Cells by row and column; a table of accuracies has methods as rows, settings as columns, and one data set."""

    title: str
    corner: str
    """What the rows are."""
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    data: str
    model: str

    @property
    def has_paper(self) -> bool:
        """Whether the paper has any of these numbers."""
        return any(cell.paper for cell in self.cells.values())


def make_tables(study: ExperimentResults, test: Test = "t", *, correct: bool = False) -> list[ResultTable]:
    """Return a table for every data set and model that was planned, in the order of the plan.

    Parameters
    ----------
    study : ExperimentResults
    test, correct
        How to tell the best, see `scarce.bench.results.statistics.best`.

    Examples
    --------
    >>> from scarce.bench.trials.record import TrialRecord
    >>> slot = TrialIndex("mnist", "uniform", "mlp", "SCARCE", 0)
    >>> from scarce.bench.spec.trial import TrialSpec
    >>> spec = TrialSpec(data="mnist", n_train=9, setting="uniform", method="scarce", model="mlp", seed=0, recipe={})
    >>> record = TrialRecord(spec=spec, label="SCARCE", experiment="mine", protocol="paper", accuracy=0.9132)
    >>> (table,) = make_tables(ExperimentResults("mine", "Mine", "paper", {slot: "scarce"}, {slot: record}))
    >>> cell = table.cells["SCARCE", "uniform"]
    >>> cell.summary, cell.paper.mean, round(cell.difference, 2), cell.bold
    (Summary(mean=91.32, std=None, n=1), 91.27, 0.05, True)
    """
    places: dict[tuple[str, str], dict[tuple[str, str], list[TrialIndex]]] = {}
    for slot in study.planned:
        place = places.setdefault((slot.data, slot.model), {})
        place.setdefault((slot.label, slot.setting), []).append(slot)
    published = paper_accuracies()
    tables = []
    for (data, model), place in places.items():
        cells = {}
        for (label, setting), slots in place.items():
            paper = published.get((data, setting, model, study.planned[slots[0]] or ""))
            found = {slot.seed: study.done[slot].accuracy for slot in slots if slot in study.done}
            cells[label, setting] = _cell(study, slots, found, paper)
        rows, columns = _axes(cells)
        marked = _with_bold(cells, rows, columns, test, correct)
        tables.append(
            ResultTable(", ".join(filter(None, (data, model))), "method", rows, columns, marked, data, model)
        )
    return tables


def make_prior_tables(study: ExperimentResults) -> list[ResultTable]:
    """Return a table of estimated class priors, in per cent, for every estimator: rows are classes, columns data sets.

    Where the true priors are known, they stand beside the estimated ones, with the mean absolute error below.

    Examples
    --------
    >>> from scarce.bench.trials.record import TrialRecord
    >>> slot = TrialIndex("mnist", "scar-half", "mlp", "best-bin", 0)
    >>> from scarce.bench.spec.trial import TrialSpec
    >>> spec = TrialSpec(kind="priors", data="mnist", n_train=9, setting="scar", method="best-bin", model="mlp", seed=0, recipe={})
    >>> record = TrialRecord(spec=spec, label="best-bin", experiment="mine", protocol="paper", priors={"values": [0.1] * 10})
    >>> (table,) = make_prior_tables(ExperimentResults("mine", "Mine", "paper", {slot: "best-bin"}, {slot: record}, "priors"))
    >>> cell = table.cells["0", "mnist"]
    >>> cell.summary.mean, cell.paper.mean
    (10.0, 10.4)
    """
    models: dict[tuple[str, str, str], set[str]] = {}
    for slot in study.planned:
        models.setdefault((slot.label, slot.setting, slot.data), set()).add(slot.model)
    # Data sets with different models share a table, but not the models of one data set.
    split = {(label, setting) for (label, setting, _), names in models.items() if len(names) > 1}
    places: dict[tuple[str, ...], dict[str, list[TrialIndex]]] = {}
    for slot in study.planned:
        place: tuple[str, ...] = slot.label, slot.setting
        place += (slot.model,) if place in split else ()
        places.setdefault(place, {}).setdefault(slot.data, []).append(slot)
    tables = []
    for place, columns in places.items():
        cells: dict[tuple[str, str], Cell] = {}
        for data, slots in columns.items():
            cells |= _prior_cells(study, data, slots)
        if cells:
            rows, names = _axes(cells)
            rows = tuple(sorted(rows, key=lambda row: row == _ERROR))  # below the classes of all data sets
            title = ", ".join(place)
            tables.append(ResultTable(title, "class", rows, names, cells, title, slots[0].model))
    return tables


def _prior_cells(
    study: ExperimentResults, data: str, slots: Sequence[TrialIndex]
) -> dict[tuple[str, str], Cell]:
    """Return the cells of a data set: its estimated priors, the true ones, and the mean absolute error."""
    records = {slot.seed: study.done[slot].priors for slot in slots if slot in study.done}
    found = {seed: priors.values or [] for seed, priors in records.items()}
    true = {seed: priors.true for seed, priors in records.items() if priors.true}
    mean, std = paper_priors().get(data, ((), ())) if study.planned[slots[0]] else ((), ())
    cells = {}
    for index in range(max(map(len, found.values()), default=0)):
        paper = (
            PaperCell(100 * float(mean[index]), 100 * float(std[index]), False) if index < len(mean) else None
        )
        cells[str(index), data] = _cell(study, slots, _at(found, index), paper)
        if true:
            cells[str(index), f"{data}, true"] = Cell(_per_cent(_at(true, index)))
    if true:
        errors = {seed: _mean_absolute(found[seed], values) for seed, values in true.items()}
        cells[_ERROR, data] = Cell(_per_cent(errors))
    return cells


def _at(priors: Mapping[int, Sequence[float]], index: int) -> dict[int, float]:
    return {seed: values[index] for seed, values in priors.items() if index < len(values)}


def _mean_absolute(first: Sequence[float], second: Sequence[float]) -> float:
    return fmean(abs(a - b) for a, b in zip(first, second, strict=True))


def _per_cent(shares: Mapping[int, float | None]) -> dict[int, float]:
    return {seed: 100 * share for seed, share in shares.items() if share is not None}


def _cell(
    study: ExperimentResults,
    slots: Sequence[TrialIndex],
    found: Mapping[int, float | None],
    paper: PaperCell | None,
) -> Cell:
    return Cell(
        _per_cent(found),
        failed=tuple(slot.seed for slot in slots if slot in study.failed),
        missing=tuple(slot.seed for slot in slots if slot not in study.records),
        paper=paper,
    )


def _axes(cells: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    rows, columns = zip(*cells, strict=True)
    return tuple(dict.fromkeys(rows)), tuple(dict.fromkeys(columns))


def _with_bold(
    cells: dict[tuple[str, str], Cell],
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    test: Test,
    correct: bool,
) -> dict[tuple[str, str], Cell]:
    marked = dict(cells)
    for column in columns:
        places = [(row, column) for row in rows if (row, column) in cells]
        bold = best([cells[place].values for place in places], test, correct=correct)
        for place, is_best in zip(places, bold, strict=True):
            marked[place] = replace(cells[place], bold=is_best)
    return marked
