"""A report as Markdown."""

import re
from collections.abc import Iterable, Sequence

from scarce.bench.reports.content import Report, difference_text, failures_text, mean_text
from scarce.bench.reports.figures.panels import Drawing
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
    blocks = [f"# {_escape(report.title)}", *map(_escape, report.protocol)]
    for table in report.tables:
        blocks += [f"## {_escape(table.title)}", _result_table(table)]
    for drawing in drawings:
        blocks += [
            f"## {_escape(drawing.title)}",
            f"![{_escape(drawing.caption)}]({folder}/{drawing.name}.png)",
            _escape(drawing.caption),
        ]
    for summary in report.summary_tables:
        notes = [_escape(summary.note)] if summary.note else []
        blocks += [f"## {_escape(summary.title)}", *notes, _summary_table(summary)]
    blocks += ["## How this was made"]
    blocks += [f"Run it again, or resume it:\n\n```\n{report.command}\n```"]
    blocks += ["\n".join(f"- {_escape(line)}" for line in report.versions)] if report.versions else []
    return "\n\n".join(blocks) + "\n"


def _result_table(table: ResultTable) -> str:
    columns = [table.corner, *map(_escape, table.columns)]
    rows = [
        [_escape(row), *(_cell(table.cells.get((row, column))) for column in table.columns)]
        for row in table.rows
    ]
    return _table(columns, rows, n_text_columns=1)


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
    lines += [difference_text(cell), failures_text(cell)]
    return "<br>".join(line for line in lines if line)


def _summary_table(table: SummaryTable) -> str:
    rows = ([_escape(text) for text in row] for row in table.rows)
    return _table(table.columns, rows, table.n_text_columns)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], n_text_columns: int) -> str:
    ruler = [":---" if number < n_text_columns else "---:" for number in range(len(columns))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, ruler, *rows))


def _escape(text: str) -> str:
    """Return a text with every character escaped that has a meaning in Markdown."""
    return re.sub(r"([\\`*_|<>\[\]#])", r"\\\1", " ".join(text.split()))
