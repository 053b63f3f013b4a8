"""Tables as plain text, for terminals and logs."""

import io
import shutil
import textwrap
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable

from scarce.bench.report_content import Report, difference_text, mean_text, trouble_text
from scarce.bench.sheets import Sheet
from scarce.bench.tables import Cell, Table

__all__ = ["WIDTH", "report_text", "terminal_width", "text_table"]

WIDTH = 100
_GAP = 2  # between columns


def terminal_width() -> int:
    """Return how wide text may be: as the terminal, but not so wide that it is hard to read.

    Examples
    --------
    >>> terminal_width() <= WIDTH
    True
    """
    return min(WIDTH, shutil.get_terminal_size((WIDTH, 0)).columns)


def text_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1, width: int = WIDTH
) -> str:
    """Return a table no wider than `width`; the first `words` columns are flush left, the others, numbers, flush right.

    Lines are broken between words, and within one only where the longest words do not fit side by side.

    Examples
    --------
    >>> print(text_table(["method", "uniform"], [["scarce", "91.27*"], ["ga", "88.00"]]))
    method  uniform
    scarce   91.27*
    ga        88.00
    """
    rows = list(rows)
    table = RichTable(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
    for place, (column, size) in enumerate(zip(columns, _widths([columns, *rows], width), strict=True)):
        justify = "left" if place < words else "right"
        table.add_column(column, justify=justify, overflow="fold", width=size)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    # Names are printed as they are: rich would read [bold] and :cat: as commands.
    console = Console(
        file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False, color_system=None
    )
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return how wide columns are to be: as their texts are, and if that is too much, the widest become narrower.

    None becomes narrower than its longest word, unless those together are too wide.
    """
    widths = [max(_longest(text.split("\n")) for text in column) for column in zip(*rows, strict=True)]
    least = _least_widths(rows)
    room = width - _GAP * (len(widths) - 1)
    if sum(least) > room:
        least = [1] * len(widths)
    while sum(widths) > max(room, sum(least)):
        widest = max(
            (place for place in range(len(widths)) if widths[place] > least[place]), key=widths.__getitem__
        )
        widths[widest] -= 1
    return widths


def _least_widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(_longest(text.split()) for text in column) for column in zip(*rows, strict=True)]


def _longest(parts: Iterable[str]) -> int:
    return max(map(cell_len, parts), default=0)


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
        sizes[column] = _GAP + _longest(line for text in texts for line in text.split("\n"))
    left = width - _longest((table.corner, *table.rows))
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
    elif cell.paper:
        lines.append("– ")  # the first line is ours
    if cell.paper:
        lines.append(f"{mean_text(cell.paper.mean, cell.paper.std)} ")
    lines += [f"{text} " for text in (difference_text(cell), *trouble_text(cell).split(", ")) if text]
    return "\n".join(lines)


def _sheet(sheet: Sheet, width: int) -> str:
    """Return a table, or, where even its longest words do not fit side by side, a paragraph for every row."""
    sizes = _least_widths([sheet.columns, *sheet.rows])
    if sum(sizes) + _GAP * (len(sizes) - 1) <= width:
        return text_table(sheet.columns, sheet.rows, sheet.words, width)
    return "\n".join(
        textwrap.fill(
            "; ".join(f"{name}: {text}" for name, text in zip(sheet.columns, row, strict=True)),
            width,
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
        for row in sheet.rows
    )


def _folded(text: str, width: int) -> str:
    return textwrap.fill(text, width)
