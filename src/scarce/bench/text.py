"""Tables as plain text, for terminals and logs."""

import io
import textwrap
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table as RichTable

from scarce.bench.report_content import Report, difference_text, mean_text, trouble_text
from scarce.bench.sheets import Sheet
from scarce.bench.tables import Cell, Table

__all__ = ["WIDTH", "report_text", "text_table"]

WIDTH = 100


def text_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1, width: int = WIDTH
) -> str:
    """Return a table no wider than `width`; the first `words` columns are flush left, the others, numbers, flush right.

    Examples
    --------
    >>> print(text_table(["method", "uniform"], [["scarce", "91.27*"], ["ga", "88.00"]]))
    method  uniform
    scarce   91.27*
    ga        88.00
    """
    table = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < words else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    # Names are printed as they are: rich would read [bold] and :cat: as commands.
    console = Console(
        file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False, color_system=None
    )
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def report_text(report: Report, width: int = WIDTH) -> str:
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
        blocks.append(f"{_folded(sheet.title, width)}\n{_sheet(sheet, width)}")
    return "\n\n".join([*blocks, report.command])


def _parts(table: Table, width: int) -> list[str]:
    """Return the table in as many parts as it takes to keep every part within the width."""
    cells = {place: _cell(cell) for place, cell in table.cells.items()}
    sizes = {}
    for column in table.columns:
        texts = [column, *(cells.get((row, column), "") for row in table.rows)]
        sizes[column] = 2 + max(len(line) for text in texts for line in text.split("\n"))
    left = width - max(map(len, (table.corner, *table.rows)))
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
        text = mean_text(cell.summary.mean, cell.summary.std)
        lines.append(f"{text}*" if cell.bold else f"{text} ")  # numbers stay below each other
    if cell.paper:
        lines.append(f"{mean_text(cell.paper.mean, cell.paper.std)} ")
    lines += [f"{text} " for text in (difference_text(cell), *trouble_text(cell).split(", ")) if text]
    return "\n".join(lines)


def _sheet(sheet: Sheet, width: int) -> str:
    return text_table(sheet.columns, sheet.rows, sheet.words, width)


def _folded(text: str, width: int) -> str:
    return textwrap.fill(text, width)
