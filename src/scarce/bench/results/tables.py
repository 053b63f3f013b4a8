"""The tables of an experiment: methods as rows, settings as columns, and in each cell our number and the paper's."""

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
_ERROR_ROW = "mean absolute error"


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
        """Our mean minus the paper's."""
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


def make_tables(results: ExperimentResults, test: Test = "t", *, correct: bool = False) -> list[ResultTable]:
    """Return a table for every data set and model that was planned, in the order of the plan.

    Parameters
    ----------
    results : ExperimentResults
    test, correct
        How the best cells are found, see `scarce.bench.results.statistics.best`.

    Examples
    --------
    >>> from scarce.bench.trials.record import TrialRecord
    >>> index = TrialIndex("mnist", "uniform", "mlp", "SCARCE", 0)
    >>> from scarce.bench.spec.trial import TrialSpec
    >>> spec = TrialSpec(data="mnist", n_train=9, setting="uniform", method="scarce", model="mlp", seed=0, recipe={})
    >>> record = TrialRecord(spec=spec, label="SCARCE", experiment="mine", protocol="paper", accuracy=0.9132)
    >>> (table,) = make_tables(ExperimentResults("mine", "Mine", "paper", {index: "scarce"}, {index: record}))
    >>> cell = table.cells["SCARCE", "uniform"]
    >>> cell.summary, cell.paper.mean, round(cell.difference, 2), cell.bold
    (Summary(mean=91.32, std=None, n=1), 91.27, 0.05, True)
    """
    by_table: dict[tuple[str, str], dict[tuple[str, str], list[TrialIndex]]] = {}
    for index in results.planned:
        by_cell = by_table.setdefault((index.data, index.model), {})
        by_cell.setdefault((index.label, index.setting), []).append(index)
    published = paper_accuracies()
    tables = []
    for (data, model), by_cell in by_table.items():
        cells = {}
        for (label, setting), indices in by_cell.items():
            paper = published.get((data, setting, model, results.planned[indices[0]] or ""))
            accuracies = {
                index.seed: results.done[index].accuracy for index in indices if index in results.done
            }
            cells[label, setting] = _cell(results, indices, accuracies, paper)
        rows, columns = _axes(cells)
        with_bold = _with_bold(cells, rows, columns, test, correct)
        tables.append(
            ResultTable(
                ", ".join(filter(None, (data, model))), "method", rows, columns, with_bold, data, model
            )
        )
    return tables


def make_prior_tables(results: ExperimentResults) -> list[ResultTable]:
    """Return a table of estimated class priors, in per cent, for every estimator: rows are classes, columns data sets.

    Known true priors have columns of their own, and the mean absolute error is the last row.

    Examples
    --------
    >>> from scarce.bench.trials.record import TrialRecord
    >>> index = TrialIndex("mnist", "scar-half", "mlp", "best-bin", 0)
    >>> from scarce.bench.spec.trial import TrialSpec
    >>> spec = TrialSpec(kind="priors", data="mnist", n_train=9, setting="scar", method="best-bin", model="mlp", seed=0, recipe={})
    >>> record = TrialRecord(spec=spec, label="best-bin", experiment="mine", protocol="paper", priors={"values": [0.1] * 10})
    >>> (table,) = make_prior_tables(ExperimentResults("mine", "Mine", "paper", {index: "best-bin"}, {index: record}, "priors"))
    >>> cell = table.cells["0", "mnist"]
    >>> cell.summary.mean, cell.paper.mean
    (10.0, 10.4)
    """
    models: dict[tuple[str, str, str], set[str]] = {}
    for index in results.planned:
        models.setdefault((index.label, index.setting, index.data), set()).add(index.model)
    # Data sets with different models share a table, but not the models of one data set.
    has_several_models = {(label, setting) for (label, setting, _), names in models.items() if len(names) > 1}
    by_table: dict[tuple[str, ...], dict[str, list[TrialIndex]]] = {}
    for index in results.planned:
        key: tuple[str, ...] = index.label, index.setting
        key += (index.model,) if key in has_several_models else ()
        by_table.setdefault(key, {}).setdefault(index.data, []).append(index)
    tables = []
    for key, columns in by_table.items():
        cells: dict[tuple[str, str], Cell] = {}
        for data, indices in columns.items():
            cells |= _prior_cells(results, data, indices)
        if cells:
            rows, names = _axes(cells)
            rows = tuple(
                sorted(rows, key=lambda row: row == _ERROR_ROW)
            )  # below the classes of all data sets
            title = ", ".join(key)
            tables.append(ResultTable(title, "class", rows, names, cells, title, indices[0].model))
    return tables


def _prior_cells(
    results: ExperimentResults, data: str, indices: Sequence[TrialIndex]
) -> dict[tuple[str, str], Cell]:
    """Return the cells of a data set: its estimated priors, the true ones, and the mean absolute error."""
    records = {index.seed: results.done[index].priors for index in indices if index in results.done}
    estimated = {seed: priors.values or [] for seed, priors in records.items()}
    true = {seed: priors.true for seed, priors in records.items() if priors.true}
    mean, std = paper_priors().get(data, ((), ())) if results.planned[indices[0]] else ((), ())
    cells = {}
    for k in range(max(map(len, estimated.values()), default=0)):
        paper = PaperCell(100 * float(mean[k]), 100 * float(std[k]), False) if k < len(mean) else None
        cells[str(k), data] = _cell(results, indices, _at(estimated, k), paper)
        if true:
            cells[str(k), f"{data}, true"] = Cell(_to_percent(_at(true, k)))
    if true:
        errors = {seed: _mean_absolute_error(estimated[seed], values) for seed, values in true.items()}
        cells[_ERROR_ROW, data] = Cell(_to_percent(errors))
    return cells


def _at(priors: Mapping[int, Sequence[float]], k: int) -> dict[int, float]:
    return {seed: values[k] for seed, values in priors.items() if k < len(values)}


def _mean_absolute_error(first: Sequence[float], second: Sequence[float]) -> float:
    return fmean(abs(a - b) for a, b in zip(first, second, strict=True))


def _to_percent(fractions: Mapping[int, float | None]) -> dict[int, float]:
    return {seed: 100 * fraction for seed, fraction in fractions.items() if fraction is not None}


def _cell(
    results: ExperimentResults,
    indices: Sequence[TrialIndex],
    fractions: Mapping[int, float | None],
    paper: PaperCell | None,
) -> Cell:
    return Cell(
        _to_percent(fractions),
        failed=tuple(index.seed for index in indices if index in results.failed),
        missing=tuple(index.seed for index in indices if index not in results.records),
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
    with_bold = dict(cells)
    for column in columns:
        keys = [(row, column) for row in rows if (row, column) in cells]
        bold = best([cells[key].values for key in keys], test, correct=correct)
        for key, is_best in zip(keys, bold, strict=True):
            with_bold[key] = replace(cells[key], bold=is_best)
    return with_bold
