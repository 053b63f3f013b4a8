"""The tables of an experiment: methods as rows, settings as columns, and in each cell our number and the paper's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

from pandas import DataFrame, Series

from scarce.bench.results.paper import PaperCell, paper_accuracies, paper_priors
from scarce.bench.results.results import ExperimentResults
from scarce.bench.results.statistics import Summary, Test, best, summarize

__all__ = ["PAPER_RUNS", "Cell", "ResultTable", "make_prior_tables", "make_tables"]

PAPER_RUNS = 5
"""How many runs each number of the paper is a mean of."""
_ERROR_ROW = "mean absolute error"


@dataclass(frozen=True)
class Cell:
    """The trials of one method in one setting: results in per cent by seed, and the seeds without a result."""

    values: Mapping[int, float]
    failed: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()
    paper: PaperCell | None = None
    bold: bool = False

    @cached_property
    def summary(self) -> Summary | None:
        """Mean and standard deviation over the seeds; None without a result."""
        return summarize(list(self.values.values())) if self.values else None

    @property
    def difference(self) -> float | None:
        """Our mean minus the paper's."""
        return self.summary.mean - self.paper.mean if self.summary and self.paper else None

    @property
    def standard_error(self) -> float | None:
        """The standard error of the difference, √(s² / n + s_paper² / 5); None for a single run."""
        if self.summary is None or self.summary.std is None or self.paper is None:
            return None
        return sqrt(self.summary.std**2 / self.summary.n + self.paper.std**2 / PAPER_RUNS)

    @property
    def agrees(self) -> bool | None:
        """Whether our mean is within two standard errors of the paper's; None if either is unknown."""
        if self.difference is None or self.standard_error is None:
            return None
        return abs(self.difference) <= 2 * self.standard_error


@dataclass(frozen=True)
class ResultTable:
    """Cells by row and column; a table of accuracies has a row per method, a column per setting, and one data set."""

    title: str
    corner: str
    """The heading of the rows."""
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
        From `collect`.
    test, correct
        How the best cells are found, see `scarce.bench.results.statistics.best`.

    Examples
    --------
    >>> from scarce.bench import Plan, TrialRecord, collect, load_experiment
    >>> plan = Plan.from_experiment(load_experiment("paper-mnist")).select(method="scarce", setting="uniform", model="mlp", seed=0)
    >>> record = TrialRecord(spec=plan.trials[0].spec, label="scarce", experiment="mine", protocol="paper", accuracy=0.9132)
    >>> (table,) = make_tables(collect(plan, [record]))
    >>> cell = table.cells["scarce", "uniform"]
    >>> cell.summary, cell.paper.mean, round(cell.difference, 2), cell.bold
    (Summary(mean=91.32, std=None, n=1), 91.27, 0.05, True)
    """
    published = paper_accuracies()
    tables = []
    for (data, model), by_cell in results.trials.groupby(["data", "model"], sort=False):
        cells = {
            (label, setting): _cell(
                trials,
                trials.set_index("seed").accuracy,
                published.get((data, setting, model, trials.paper.iloc[0])),
            )
            for (label, setting), trials in by_cell.groupby(["label", "setting"], sort=False)
        }
        rows, columns = _axes(cells)
        with_bold = _with_bold(cells, rows, columns, test, correct)
        title = ", ".join(filter(None, (data, model)))
        tables.append(ResultTable(title, "method", rows, columns, with_bold, data, model))
    return tables


def make_prior_tables(results: ExperimentResults) -> list[ResultTable]:
    """Return a table of estimated class priors, in per cent, for every estimator: rows are classes, columns data sets.

    Known true priors have columns of their own, and the mean absolute error is the last row.

    Examples
    --------
    >>> from scarce.bench import Plan, TrialRecord, collect, load_experiment
    >>> plan = Plan.from_experiment(load_experiment("paper-priors")).select(data="mnist", seed=0)
    >>> record = TrialRecord(spec=plan.trials[0].spec, label="best-bin", experiment="mine", protocol="paper",
    ...     priors={"values": [0.1] * 10})
    >>> (table,) = make_prior_tables(collect(plan, [record]))
    >>> cell = table.cells["0", "mnist"]
    >>> cell.summary.mean, cell.paper.mean
    (10.0, 10.4)
    """
    trials = results.trials
    # Data sets with different models share a table; the models of one data set have separate tables.
    n_models = trials.groupby(["label", "setting", "data"]).model.transform("nunique")
    has_several_models = n_models.groupby([trials.label, trials.setting]).transform("max") > 1
    model = trials.model.where(has_several_models, "")
    tables = []
    for key, group in trials.groupby(["label", "setting", model], sort=False):
        cells: dict[tuple[str, str], Cell] = {}
        for data, estimates in group.groupby("data", sort=False):
            cells |= _prior_cells(data, estimates)
        if cells:
            rows, columns = _axes(cells)
            rows = tuple(
                sorted(rows, key=lambda row: row == _ERROR_ROW)
            )  # below the classes of all data sets
            title = ", ".join(filter(None, key))
            tables.append(ResultTable(title, "class", rows, columns, cells, title, group.model.iloc[-1]))
    return tables


def _prior_cells(data: str, trials: DataFrame) -> dict[tuple[str, str], Cell]:
    """Return the cells of a data set: its estimated priors, the true ones, and the mean absolute error."""
    priors = {trial.seed: trial.record.priors for trial in trials.itertuples() if trial.status == "done"}
    estimated = DataFrame({seed: found.values for seed, found in priors.items()}).T  # seed × class
    true = DataFrame({seed: found.true for seed, found in priors.items() if found.true}).T
    mean, std = paper_priors().get(data, ((), ())) if trials.paper.iloc[0] else ((), ())
    cells = {}
    for k in estimated:
        paper = PaperCell(100 * float(mean[k]), 100 * float(std[k]), False) if k < len(mean) else None
        cells[str(k), data] = _cell(trials, estimated[k], paper)
        if k in true:
            cells[str(k), f"{data}, true"] = Cell(_percents(true[k]))
    if len(true):
        errors = (estimated - true).abs().mean(axis=1)
        cells[_ERROR_ROW, data] = Cell(_percents(errors))
    return cells


def _percents(fractions: Series) -> dict[int, float]:
    """Return the results by seed in per cent, without the seeds that have none."""
    percents: dict[int, float] = (100 * fractions.dropna()).to_dict()
    return percents


def _cell(trials: DataFrame, fractions: Series, paper: PaperCell | None) -> Cell:
    failed, missing = (tuple(trials.seed[trials.status == status]) for status in ("failed", "missing"))
    return Cell(_percents(fractions), failed, missing, paper)


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
