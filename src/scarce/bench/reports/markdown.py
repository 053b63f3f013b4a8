"""The report as Markdown."""

import re
from collections.abc import Iterable, Sequence

from scarce.bench.reports.content import Report, difference_text, mean_text, trouble_text
from scarce.bench.reports.figures._panels import Drawing
from scarce.bench.reports.summaries import SummaryTable
from scarce.bench.results.tables import Cell, ResultTable

__all__ = ["markdown_report"]


def markdown_report(report: Report, drawings: Sequence[Drawing] = (), folder: str = "figures") -> str:
    r"""Return the report as Markdown, with the figures as PNG files of `folder` beside it.

    Examples
    --------
    >>> report = Report("a_b", True, ("Shortened.",), (), (), (), "scarce bench run mine")
    >>> print(markdown_report(report).splitlines()[0])
    # a\_b
    """
    blocks = [f"# {_plain(report.title)}", *map(_plain, report.protocol)]
    for table in report.tables:
        blocks += [f"## {_plain(table.title)}", _results(table)]
    for drawing in drawings:
        blocks += [
            f"## {_plain(drawing.title)}",
            f"![{_plain(drawing.caption)}]({folder}/{drawing.name}.png)",
            _plain(drawing.caption),
        ]
    for sheet in report.sheets:
        blocks += [f"## {_plain(sheet.title)}", *([_plain(sheet.note)] if sheet.note else []), _sheet(sheet)]
    blocks += ["## How this was made"]
    blocks += [f"Run it again, or go on where it stopped:\n\n```\n{report.command}\n```"]
    blocks += ["\n".join(f"- {_plain(line)}" for line in report.versions)] if report.versions else []
    return "\n\n".join(blocks) + "\n"


def _results(table: ResultTable) -> str:
    columns = [table.corner, *map(_plain, table.columns)]
    rows = [
        [_plain(row), *(_cell(table.cells.get((row, column))) for column in table.columns)]
        for row in table.rows
    ]
    return _table(columns, rows, words=1)


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return ""
    lines = []
    if cell.summary:
        text = mean_text(cell.summary.mean, cell.summary.std)
        lines.append(f"**{text}**" if cell.bold else text)
    if cell.paper:
        text = mean_text(cell.paper.mean, cell.paper.std)
        lines.append(f"paper **{text}**" if cell.paper.bold else f"paper {text}")
    lines += [difference_text(cell), trouble_text(cell)]
    return "<br>".join(line for line in lines if line)


def _sheet(sheet: SummaryTable) -> str:
    return _table(sheet.columns, ([_plain(text) for text in row] for row in sheet.rows), sheet.words)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], words: int) -> str:
    ruler = [":---" if place < words else "---:" for place in range(len(columns))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, ruler, *rows))


def _plain(text: str) -> str:
    """Names and errors are shown as they are, whatever they mean in Markdown."""
    return re.sub(r"([\\`*_|<>\[\]#])", r"\\\1", " ".join(text.split()))
