"""A report as Markdown, LaTeX and HTML, from the files in ``templates``."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from scarce._html import data_uri, make_environment
from scarce._plotting import figure_svg
from scarce.bench.reports.content import Report, difference_text, failures_text, mean_text
from scarce.bench.reports.figures.panels import Drawing
from scarce.bench.results.paper import PaperCell
from scarce.bench.results.statistics import Summary
from scarce.bench.results.tables import ResultTable

__all__ = ["html_report", "latex_report", "latex_text", "markdown_report", "unsupported_letters"]

_PACKAGE = "scarce.bench.reports"
# Brackets and asterisks are in braces: after the end of a row, LaTeX would read them as its argument.
_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "[": "{[}", "]": "{]}", "*": "{*}",
    "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "√": r"$\surd$", "∞": r"$\infty$", "≤": r"$\le$",
    "≥": r"$\ge$", "≠": r"$\ne$", "≈": r"$\approx$", "→": r"$\to$", "–": "--", "—": "---", "…": r"\dots{}", "’": "'",
    "“": "``", "”": "''",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}  # fmt: skip
# The Greek letters that look like Latin ones have no command in LaTeX.
_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))
_RAISED = {"<super>": r"\textsuperscript", "<sub>": r"\textsubscript"}
_LAST_SUPPORTED = "\u017f"  # accented Latin letters


def markdown_report(report: Report, drawings: Sequence[Drawing] = (), folder: str = "figures") -> str:
    r"""Return the report as Markdown, with the figures as PNG files in `folder`.

    Examples
    --------
    >>> report = Report("a_b", True, ("Shortened.",), (), (), (), "scarce bench run mine")
    >>> print(markdown_report(report).splitlines()[0])
    # a\_b
    """
    template = _text_environment(md=_markdown_text).get_template("report.md.j2")
    return template.render(report=report, drawings=drawings, folder=folder)


def html_report(report: Report, drawings: Sequence[Drawing] = ()) -> str:
    """Return the report as one HTML page that includes its style and figures.

    Examples
    --------
    >>> html_report(Report("Mine", True, ("Shortened.",), (), (), (), "scarce bench run mine")).splitlines()[0]
    '<!doctype html>'
    """
    environment = make_environment(_PACKAGE)
    environment.filters |= _cell_filters()
    figures = [(drawing, data_uri(figure_svg(drawing.figure).encode(), "svg+xml")) for drawing in drawings]
    return environment.get_template("experiment.html").render(report=report, figures=figures)


def latex_report(report: Report) -> str:
    r"""Return a LaTeX table for every data set: settings side by side and, below each, the models; needs ``booktabs``.

    Examples
    --------
    >>> from scarce.bench.results.tables import Cell
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
    environment = _text_environment(tex=latex_text, small=_small_latex, unsupported=unsupported_letters)
    # LaTeX is full of braces, which are the default delimiters of jinja.
    latex = environment.overlay(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    groups = [_LatexTable(data, tables) for data, tables in by_data.items()]
    return latex.get_template("tables.tex.j2").render(report=report, groups=groups)


def latex_text(text: str) -> str:
    r"""Return a text in one line, with the characters escaped that LaTeX would interpret or cannot print.

    Examples
    --------
    >>> print(latex_text("[a_b] < π, σ²"))
    {[}a\_b{]} \textless{} $\pi$, $\sigma$\textsuperscript{2}
    """
    return "".join(map(_escape_character, unicodedata.normalize("NFC", " ".join(text.split()))))


def unsupported_letters(text: str) -> str:
    """Return the distinct characters of a text that pdfLaTeX cannot print.

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


@dataclass(frozen=True)
class _LatexTable:
    """The tables of one data set, side by side."""

    data: str
    parts: Sequence[ResultTable]

    @property
    def corner(self) -> str:
        return self.parts[0].corner

    @property
    def rows(self) -> list[str]:
        return list(dict.fromkeys(row for table in self.parts for row in table.rows))

    @property
    def columns(self) -> list[tuple[str, list[ResultTable]]]:
        """Each column with the tables that have it, which differ in their models."""
        names = dict.fromkeys(column for table in self.parts for column in table.columns)
        return [(name, [table for table in self.parts if name in table.columns]) for name in names]

    @property
    def tables(self) -> list[ResultTable]:
        """The table of each printed column."""
        return [table for _, tables in self.columns for table in tables]

    @property
    def has_paper(self) -> bool:
        return any(table.has_paper for table in self.parts)

    @property
    def n_seeds(self) -> int:
        cells = [cell for table in self.parts for cell in table.cells.values()]
        return len({seed for cell in cells for seed in (*cell.values, *cell.failed, *cell.missing)})


def _text_environment(**filters: Callable[..., str]) -> Environment:
    """Return the environment of plain-text templates, which escape by explicit filters."""
    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= _cell_filters() | filters
    return environment


def _cell_filters() -> dict[str, Callable[[Any], str]]:
    return {"difference": difference_text, "failures": failures_text, "mean": _mean_text}


def _mean_text(summary: Summary | PaperCell) -> str:
    return mean_text(summary.mean, summary.std)


def _markdown_text(text: str) -> str:
    """Return a text in one line, with the characters escaped that have a meaning in Markdown."""
    return re.sub(r"([\\`*_|<>\[\]#])", r"\\\1", " ".join(text.split()))


def _small_latex(text: str) -> str:
    return rf"{{\scriptsize {text}}}"
