"""Terminal output: its width, tables of text, and progress bars."""

import io
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from scarce._printable import printable, unwrapped

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

MAX_WIDTH = 100
COLUMN_GAP = 2  # spaces
_MAX_UNBROKEN = 20  # terminal columns; a longer word, such as a path, may be broken


def terminal_width() -> int:
    """Return the width to print text at: that of the terminal, at most `MAX_WIDTH`.

    Examples
    --------
    >>> terminal_width() <= MAX_WIDTH
    True
    """
    return min(MAX_WIDTH, shutil.get_terminal_size((MAX_WIDTH, 0)).columns)


def make_progress(
    *columns: "ProgressColumn", show: bool | None = None, eta: bool = True, console: Console | None = None
) -> "Progress":
    """Return progress bars on standard error, to be used with ``with``: description, bar, `columns`, time remaining.

    Parameters
    ----------
    *columns : rich.progress.ProgressColumn
        Columns between the bar and the remaining time.
    show : bool, optional
        Whether to show them; by default only if standard error is a terminal.
    eta : bool
        Whether to show the time remaining.
    console : rich.console.Console, optional
        Where to show them instead.

    Examples
    --------
    >>> with make_progress(show=False) as bars:
    ...     task = bars.add_task("epochs", total=3)
    ...     bars.advance(task)
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = console or _PrintableConsole(file=unwrapped(sys.stderr))
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *columns,
        *([TimeRemainingColumn()] if eta else []),
        console=console,
        disable=not (console.is_terminal if show is None else show),
    )


def text_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], n_text_columns: int = 1, width: int = MAX_WIDTH
) -> str:
    """Return a table no wider than `width`; the first `n_text_columns` columns are left-aligned, the rest right-aligned.

    Lines break between words, and within very long words. If not even single words fit side by side, each row becomes a
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
    columns, *rows = [[printable(cell) for cell in row] for row in (columns, *rows)]
    widths = _column_widths([columns, *rows], n_text_columns, width)
    if widths is None:
        return "\n".join(_paragraph(columns, row, width) for row in rows)
    table = Table(box=None, padding=(0, COLUMN_GAP, 0, 0), pad_edge=False)
    for index, (column, column_width) in enumerate(zip(columns, widths, strict=True)):
        table.add_column(
            column, justify="left" if index < n_text_columns else "right", overflow="fold", width=column_width
        )
    for row in rows:
        table.add_row(*row)
    # Names are printed as they are: rich would read [bold] and :cat: as markup.
    console = Console(
        file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False, color_system=None
    )
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def max_display_width(texts: Iterable[str]) -> int:
    """Return the width of the widest text in terminal columns.

    Examples
    --------
    >>> max_display_width(["cat", "猫猫"])
    4
    """
    return max(map(cell_len, texts), default=0)


def _column_widths(rows: Sequence[Sequence[str]], n_text_columns: int, width: int) -> list[int] | None:
    """Return the width of each column: that of its widest text, with the widest columns narrowed until all fit.

    No column becomes narrower than its longest word, except that text columns may break words longer than 20. Return None
    if the columns do not fit even so.
    """
    # On its own, rich breaks names and even numbers in the middle while another column still has room.
    columns = list(zip(*rows, strict=True))
    widths = [max_display_width(line for text in column for line in text.split("\n")) for column in columns]
    min_widths = [max_display_width(word for text in column for word in text.split()) for column in columns]
    min_widths = [
        min(size, _MAX_UNBROKEN) if index < n_text_columns else size for index, size in enumerate(min_widths)
    ]
    available = width - COLUMN_GAP * (len(widths) - 1)
    if sum(min_widths) > available:
        return None
    while sum(widths) > available:
        widest = max(
            (index for index in range(len(widths)) if widths[index] > min_widths[index]),
            key=widths.__getitem__,
        )
        widths[widest] -= 1
    return widths


def _paragraph(columns: Sequence[str], row: Sequence[str], width: int) -> str:
    text = "; ".join(f"{name}: {cell}" for name, cell in zip(columns, row, strict=True))
    return textwrap.fill(text, width, subsequent_indent="  ", break_on_hyphens=False)


class _PrintableConsole(Console):
    """A rich console that makes texts `printable`, but not its own control sequences."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))
