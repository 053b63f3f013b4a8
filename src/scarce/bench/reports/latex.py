"""The tables of a report as LaTeX, in the layout of the paper."""

import unicodedata
from collections.abc import Sequence

from scarce.bench.reports.content import Report, difference_text, failures_text
from scarce.bench.results.tables import Cell, ResultTable

__all__ = ["latex_report", "latex_text", "unsupported_letters"]

# In braces what LaTeX would take for an argument after the end of a row.
_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "[": "{[}", "]": "{]}", "*": "{*}",
    "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "√": r"$\surd$", "∞": r"$\infty$", "≤": r"$\le$",
    "≥": r"$\ge$", "≠": r"$\ne$", "≈": r"$\approx$", "→": r"$\to$", "–": "--", "—": "---", "…": r"\dots{}", "’": "'",
    "“": "``", "”": "''",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}  # fmt: skip
# The Greek letters without a command of their own look like Latin ones.
_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))
_RAISED = {"<super>": r"\textsuperscript", "<sub>": r"\textsubscript"}
_LAST_SUPPORTED = "\u017f"  # accented Latin letters


def latex_text(text: str) -> str:
    r"""Return a text in one line, with every character escaped that LaTeX reads as a command or cannot read.

    Examples
    --------
    >>> print(latex_text("[a_b] < π, σ²"))
    {[}a\_b{]} \textless{} $\pi$, $\sigma$\textsuperscript{2}
    """
    return "".join(map(_escape_character, unicodedata.normalize("NFC", " ".join(text.split()))))


def unsupported_letters(text: str) -> str:
    """Return the characters of a text, each once, that pdfLaTeX cannot print.

    Examples
    --------
    >>> unsupported_letters(latex_text("π, é and 猫"))
    '猫'
    """
    return "".join(dict.fromkeys(letter for letter in text if letter > _LAST_SUPPORTED))


def _escape_character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character <= _LAST_SUPPORTED and character not in "¹²³":
        return character
    kind, _, base = unicodedata.decomposition(character).partition(" ")
    if kind in _RAISED:
        return f"{_RAISED[kind]}{{{chr(int(base, 16))}}}"
    words = unicodedata.name(character, "").split()
    if words[:1] == ["GREEK"] and words[2:3] == ["LETTER"] and len(words) == 4:
        name = words[3].lower().replace("lamda", "lambda")
        return _LATIN.get(character) or f"$\\{name if words[1] == 'SMALL' else name.capitalize()}$"
    return character


def latex_report(report: Report) -> str:
    r"""Return a table of LaTeX for every data set: settings side by side and, below each, the models; needs ``booktabs``.

    Examples
    --------
    >>> from scarce.bench.results.tables import Cell, ResultTable
    >>> table = ResultTable("mnist, mlp", "method", ("scarce",), ("uniform",),
    ...               {("scarce", "uniform"): Cell({0: 91.0, 1: 92.0}, bold=True)}, "mnist", "mlp")
    >>> print(latex_report(Report("Mine", False, (), (table,), (), (), "")))
    % Needs \usepackage{booktabs}.
    \begin{table}
    \centering
    \caption{Mine (mnist). Mean and standard deviation over 2 seeds.}
    \begin{tabular}{lc}
    \toprule
    Setting & \multicolumn{1}{c}{uniform} \\
    Model & mlp \\
    \midrule
    scarce & \shortstack{\textbf{91.50}\\{\scriptsize $\pm$0.71}} \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    by_data: dict[str, list[ResultTable]] = {}
    for table in report.tables:
        by_data.setdefault(table.data, []).append(table)
    texts = [_table(report, data, tables) for data, tables in by_data.items()]
    notes = [f"% {' '.join(sentence.split())}" for sentence in report.protocol]
    return "\n".join([r"% Needs \usepackage{booktabs}.", *_engine_note(texts), *notes, *texts]) + "\n"


def _engine_note(tables: Sequence[str]) -> list[str]:
    letters = unsupported_letters("".join(tables))
    note = f"% pdfLaTeX cannot print {letters}: use LuaLaTeX or XeLaTeX, and a font that has them."
    return [note] if letters else []


def _table(report: Report, data: str, tables: Sequence[ResultTable]) -> str:
    columns = list(dict.fromkeys(column for table in tables for column in table.columns))
    rows = list(dict.fromkeys(row for table in tables for row in table.rows))
    groups = {column: [table for table in tables if column in table.columns] for column in columns}
    lines = [
        [
            latex_text(row),
            *(_cell(table.cells.get((row, column))) for column in columns for table in groups[column]),
        ]
        for row in rows
    ]
    has_paper = any(table.has_paper for table in tables)
    note = " Below ours, in italics, the paper's, then ours minus the paper's." if has_paper else ""
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(report.title)} ({latex_text(data)}). {_score(tables)}{note}}}",
            rf"\begin{{tabular}}{{l{'c' * (len(lines[0]) - 1)}}}",
            r"\toprule",
            *_header(tables[0].corner, groups),
            r"\midrule",
            *(f"{' & '.join(line)} \\\\" for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _score(tables: Sequence[ResultTable]) -> str:
    cells = [cell for table in tables for cell in table.cells.values()]
    n_seeds = len({seed for cell in cells for seed in (*cell.values, *cell.failed, *cell.missing)})
    return "One seed." if n_seeds == 1 else f"Mean and standard deviation over {n_seeds} seeds."


def _header(corner: str, groups: dict[str, list[ResultTable]]) -> list[str]:
    if corner != "method":
        return [f"{' & '.join([corner.capitalize(), *map(latex_text, groups)])} \\\\"]
    above = [
        rf"\multicolumn{{{len(tables)}}}{{c}}{{{latex_text(column)}}}" for column, tables in groups.items()
    ]
    below = [latex_text(table.model) for tables in groups.values() for table in tables]
    rows = [("Setting", above), *([("Model", below)] if any(below) else [])]
    return [f"{' & '.join([name, *cells])} \\\\" for name, cells in rows]


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return "--"
    lines = []
    if cell.summary is None:
        lines.append("--")
    else:
        mean = f"{cell.summary.mean:.2f}"
        lines.append(rf"\textbf{{{mean}}}" if cell.bold else mean)
        if cell.summary.std is not None:
            lines.append(_small(rf"$\pm${cell.summary.std:.2f}"))
    if cell.paper:
        mean = rf"\textit{{{cell.paper.mean:.2f}}}"
        mean = rf"\textbf{{{mean}}}" if cell.paper.bold else mean
        lines.append(_small(rf"{mean}$\pm$\textit{{{cell.paper.std:.2f}}}"))
    if cell.difference is not None:
        lines.append(_small(latex_text(difference_text(cell))))
    lines += [_small(text) for text in failures_text(cell).split(", ") if text]
    stack = r"\\".join(lines)
    return rf"\shortstack{{{stack}}}" if len(lines) > 1 else stack


def _small(text: str) -> str:
    return rf"{{\scriptsize {text}}}"
