"""A report as plain text, for terminals and logs."""

import textwrap

from scarce._console import COLUMN_GAP, MAX_WIDTH, max_display_width, text_table
from scarce.bench.reports.content import Report, difference_text, mean_text, trouble_text
from scarce.bench.results.tables import Cell, ResultTable

__all__ = ["report_text"]


def report_text(report: Report, width: int = MAX_WIDTH) -> str:
    """Return the report as plain text no wider than `width`: what is bold elsewhere has an asterisk here.

    Examples
    --------
    >>> print(report_text(Report("Mine", False, ("The paper's protocol.",), (), (), (), "scarce bench run mine")))
    Mine
    <BLANKLINE>
    The paper's protocol.
    <BLANKLINE>
    scarce bench run mine
    """
    blocks = [
        _folded(report.title, width),
        "\n".join(
            _folded(line.replace("Bold:", "Bold (here an asterisk):"), width) for line in report.protocol
        ),
    ]
    blocks += [part for table in report.tables for part in _parts(table, width)]
    for sheet in report.sheets:
        table = text_table(sheet.columns, sheet.rows, sheet.words, width)
        blocks.append(f"{_folded(sheet.title, width)}\n{table}")
    return "\n\n".join([*blocks, report.command])


def _parts(table: ResultTable, width: int) -> list[str]:
    """Return the table in as many parts as it takes to keep every part within the width."""
    cells = {place: _cell(cell) for place, cell in table.cells.items()}
    sizes = {}
    for column in table.columns:
        texts = [column, *(cells.get((row, column), "") for row in table.rows)]
        sizes[column] = COLUMN_GAP + max_display_width(line for text in texts for line in text.split("\n"))
    left = width - max_display_width((table.corner, *table.rows))
    groups: list[list[str]] = [[]]
    room = left
    for column in table.columns:
        if groups[-1] and sizes[column] > room:
            groups.append([])
            room = left
        groups[-1].append(column)
        room -= sizes[column]
    return [
        f"{_folded(table.title, width)}\n"
        + text_table(
            [table.corner, *group],
            ([row, *(cells.get((row, column), "") for column in group)] for row in table.rows),
            width=width,
        )
        for group in groups
    ]


def _cell(cell: Cell) -> str:
    lines = []
    if cell.summary:
        lines.append(_marked(mean_text(cell.summary.mean, cell.summary.std), cell.bold))
    elif cell.paper:
        lines.append("– ")  # the first line is ours
    if cell.paper:
        lines.append(_marked(mean_text(cell.paper.mean, cell.paper.std), cell.paper.bold))
    lines += [f"{text} " for text in (difference_text(cell), *trouble_text(cell).split(", ")) if text]
    return "\n".join(lines)


def _marked(text: str, is_bold: bool) -> str:
    return f"{text}*" if is_bold else f"{text} "  # numbers stay below each other


def _folded(text: str, width: int) -> str:
    return textwrap.fill(text, width)
