"""A report as plain text, for terminals and logs.

Not rendered from Markdown by rich, which would join the lines of a cell.
"""

import textwrap

from scarce._console import COLUMN_GAP, MAX_WIDTH, max_display_width, text_table
from scarce.bench.reports._content import Report, difference_text, failures_text, mean_text
from scarce.bench.results._tables import Cell, ResultTable


def report_text(report: Report, width: int = MAX_WIDTH) -> str:
    """Return the report as plain text no wider than `width`; an asterisk marks what other formats print in bold.

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
        _wrap(report.title, width),
        "\n".join(
            _wrap(line.replace("Bold:", "Bold (here an asterisk):"), width) for line in report.protocol
        ),
    ]
    blocks += [text for table in report.tables for text in _split_table(table, width)]
    for summary in report.summary_tables:
        text = text_table(summary.columns, summary.rows, summary.n_text_columns, width)
        blocks.append(f"{_wrap(summary.title, width)}\n{text}")
    return "\n\n".join([*blocks, report.command])


def _split_table(table: ResultTable, width: int) -> list[str]:
    """Return the table as text, split by columns into as many tables as the width requires."""
    cells = {key: _cell(cell) for key, cell in table.cells.items()}
    sizes = {}
    for column in table.columns:
        texts = [column, *(cells.get((row, column), "") for row in table.rows)]
        sizes[column] = COLUMN_GAP + max_display_width(line for text in texts for line in text.split("\n"))
    max_room = width - max_display_width((table.corner, *table.rows))
    groups: list[list[str]] = [[]]
    room = max_room
    for column in table.columns:
        if groups[-1] and sizes[column] > room:
            groups.append([])
            room = max_room
        groups[-1].append(column)
        room -= sizes[column]
    return [
        f"{_wrap(table.title, width)}\n"
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
        lines.append(_with_asterisk(mean_text(cell.summary.mean, cell.summary.std), cell.bold))
    elif cell.paper:
        lines.append("– ")  # the first line is ours
    if cell.paper:
        lines.append(_with_asterisk(mean_text(cell.paper.mean, cell.paper.std), cell.paper.bold))
    lines += [f"{text} " for text in (difference_text(cell), *failures_text(cell).split(", ")) if text]
    return "\n".join(lines)


def _with_asterisk(text: str, is_bold: bool) -> str:
    return f"{text}*" if is_bold else f"{text} "  # keeps numbers aligned


def _wrap(text: str, width: int) -> str:
    return textwrap.fill(text, width)
