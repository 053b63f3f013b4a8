"""The terminal: tables no wider than it, and progress bars."""

import io
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

__all__ = ["GAP", "WIDTH", "longest", "make_progress", "terminal_width", "text_table"]

WIDTH = 100
GAP = 2
"""Blanks between columns."""
_LONG = 20  # a word that is longer, such as a path, may be broken


def terminal_width() -> int:
    """Return how wide text may be: as the terminal, but not so wide that it is hard to read.

    Examples
    --------
    >>> terminal_width() <= WIDTH
    True
    """
    return min(WIDTH, shutil.get_terminal_size((WIDTH, 0)).columns)


def make_progress(
    *columns: "ProgressColumn", show: bool | None = None, eta: bool = True, console: Console | None = None
) -> "Progress":
    """Return progress bars on standard error, to be used with ``with``: description, bar, `columns`, time that is left.

    Parameters
    ----------
    *columns : rich.progress.ProgressColumn
        What stands between the bar and the time.
    show : bool, optional
        Whether to show them; by default only if standard error is a terminal.
    eta : bool
        Whether to show the time that is left.
    console : rich.console.Console, optional
        Where to show them instead.

    Examples
    --------
    >>> with make_progress(show=False) as bars:
    ...     task = bars.add_task("epochs", total=3)
    ...     bars.advance(task)
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = console or Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        *([TimeRemainingColumn()] if eta else []),
        console=console,
        disable=not (console.is_terminal if show is None else show),
    )


def text_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1, width: int = WIDTH
) -> str:
    """Return a table no wider than `width`; the first `words` columns are flush left, the others, numbers, flush right.

    Lines are broken between words, and within very long ones. Where not even words fit side by side, every row is a
    paragraph.

    Examples
    --------
    >>> print(text_table(["method", "uniform"], [["scarce", "91.27*"], ["ga", "88.00"]]))
    method  uniform
    scarce   91.27*
    ga        88.00
    >>> print(text_table(["method", "uniform"], [["scarce", "91.27*"], ["ga", "88.00"]], width=12))
    method:
      scarce;
      uniform:
      91.27*
    method: ga;
      uniform:
      88.00
    """
    rows = list(rows)
    sizes = _widths([columns, *rows], words, width)
    if sizes is None:
        return "\n".join(_paragraph(columns, row, width) for row in rows)
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    for place, (column, size) in enumerate(zip(columns, sizes, strict=True)):
        table.add_column(column, justify="left" if place < words else "right", overflow="fold", width=size)
    for row in rows:
        table.add_row(*row)
    # Names are printed as they are: rich would read [bold] and :cat: as commands.
    console = Console(
        file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False, color_system=None
    )
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def longest(parts: Iterable[str]) -> int:
    """Return how many places of a terminal the longest text takes.

    Examples
    --------
    >>> longest(["cat", "猫猫"])
    4
    """
    return max(map(cell_len, parts), default=0)


def _widths(rows: Sequence[Sequence[str]], words: int, width: int) -> list[int] | None:
    """Return how wide columns are to be: as their texts are, and if that is too much, the widest become narrower.

    None becomes narrower than its longest word, or, for words, than 20 places; if those are too wide together, there are
    no such widths.
    """
    columns = list(zip(*rows, strict=True))
    widths = [longest(line for text in column for line in text.split("\n")) for column in columns]
    least = [longest(word for text in column for word in text.split()) for column in columns]
    least = [min(size, _LONG) if place < words else size for place, size in enumerate(least)]
    room = width - GAP * (len(widths) - 1)
    if sum(least) > room:
        return None
    while sum(widths) > room:
        widest = max(
            (place for place in range(len(widths)) if widths[place] > least[place]), key=widths.__getitem__
        )
        widths[widest] -= 1
    return widths


def _paragraph(columns: Sequence[str], row: Sequence[str], width: int) -> str:
    text = "; ".join(f"{name}: {cell}" for name, cell in zip(columns, row, strict=True))
    return textwrap.fill(text, width, subsequent_indent="  ", break_on_hyphens=False)
