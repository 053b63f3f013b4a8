"""The tables of an experiment: rows are methods, columns are settings, and the paper's number stands below ours."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

from scarce.bench.paper import PaperCell, paper_accuracies, paper_priors
from scarce.bench.statistics import Summary, Test, best, summarise
from scarce.bench.study import Slot, Study

__all__ = ["PAPER_RUNS", "Cell", "Table", "make_prior_tables", "make_tables"]

PAPER_RUNS = 5
"""How many runs each number of the paper is a mean of."""


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
        return summarise(list(self.values.values())) if self.values else None

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
class Table:
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


def make_tables(study: Study, test: Test = "t", *, correct: bool = False) -> list[Table]:
    """Return a table for every data set and model that was planned, in the order of the plan.

    Parameters
    ----------
    study : Study
    test, correct
        How to tell the best, see `scarce.bench.statistics.best`.

    Examples
    --------
    >>> from scarce.bench.record import TrialRecord
    >>> slot = Slot("mnist", "uniform", "mlp", "SCARCE", 0)
    >>> record = TrialRecord("0" * 16, {}, "SCARCE", "mine", "paper", accuracy=0.9132)
    >>> (table,) = make_tables(Study("mine", "Mine", "paper", {slot: "scarce"}, {slot: record}))
    >>> cell = table.cells["SCARCE", "uniform"]
    >>> cell.summary, cell.paper.mean, round(cell.difference, 2), cell.bold
    (Summary(mean=91.32, std=None, n=1), 91.27, 0.05, True)
    """
    places: dict[tuple[str, str], dict[tuple[str, str], list[Slot]]] = {}
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
        tables.append(Table(f"{data}, {model}", "method", rows, columns, marked, data, model))
    return tables


def make_prior_tables(study: Study) -> list[Table]:
    """Return a table of estimated class priors, in per cent, for every estimator: rows are classes, columns data sets.

    Examples
    --------
    >>> from scarce.bench.record import TrialRecord
    >>> slot = Slot("mnist", "scar-half", "mlp", "best-bin", 0)
    >>> record = TrialRecord("0" * 16, {}, "best-bin", "mine", "paper", priors={"values": [0.1] * 10})
    >>> (table,) = make_prior_tables(Study("mine", "Mine", "paper", {slot: "best-bin"}, {slot: record}, "priors"))
    >>> cell = table.cells["0", "mnist"]
    >>> cell.summary.mean, cell.paper.mean
    (10.0, 10.4)
    """
    places: dict[tuple[str, str], dict[str, list[Slot]]] = {}
    for slot in study.planned:
        places.setdefault((slot.label, slot.setting), {}).setdefault(slot.data, []).append(slot)
    published = paper_priors()
    tables = []
    for (label, setting), place in places.items():
        cells = {}
        for data, slots in place.items():
            found = {slot.seed: study.done[slot].priors["values"] for slot in slots if slot in study.done}
            mean, std = published.get(data, ((), ())) if study.planned[slots[0]] else ((), ())
            for index in range(max(map(len, found.values()), default=0)):
                paper = (
                    PaperCell(100 * float(mean[index]), 100 * float(std[index]), False)
                    if index < len(mean)
                    else None
                )
                values = {seed: priors[index] for seed, priors in found.items()}
                cells[str(index), data] = _cell(study, slots, values, paper)
        if cells:
            tables.append(Table(f"{label}, {setting}", "class", *_axes(cells), cells, label, setting))
    return tables


def _cell(
    study: Study, slots: Sequence[Slot], found: Mapping[int, float | None], paper: PaperCell | None
) -> Cell:
    return Cell(
        {seed: 100 * share for seed, share in found.items() if share is not None},
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
