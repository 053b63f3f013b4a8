"""Reports on the results of an experiment: files in several formats, or text in the terminal."""

from pathlib import Path

from scarce._console import terminal_width
from scarce._io.atomic import atomic_write
from scarce._plotting import figure_svg
from scarce.bench.reports._content import Report, make_report
from scarce.bench.reports._rendering import html_report, latex_report, markdown_report
from scarce.bench.reports._terminal import report_text
from scarce.bench.reports.figures._comparison import draw_figures
from scarce.bench.reports.figures._panels import Drawing
from scarce.bench.results._statistics import Test
from scarce.bench.results.results import ExperimentResults

__all__ = ["show_report", "write_report"]

_FIGURES = "figures"
_DPI = 150


def write_report(
    results: ExperimentResults,
    out: str | Path,
    *,
    command: str | None = None,
    test: Test = "t",
    holm: bool = False,
) -> list[Path]:
    """Write a report: ``report.md``, ``report.tex``, ``report.html`` and the folder ``figures``, or the tables alone.

    The same results give the same files; existing ones are replaced.

    Parameters
    ----------
    results : ExperimentResults
        From `collect`.
    out : str or Path
        The folder to write to, or a ``.md`` file for the tables alone.
    command : str, optional
        The command to print for running the experiment again; by default ``scarce bench run`` with its name.
    test : {"t", "wilcoxon"}
        The paired test that decides which cells are bold.
    holm : bool
        Whether to correct the tests of a column for multiple testing.

    Returns
    -------
    list of Path
        The files and the folder of the figures.

    See Also
    --------
    show_report : Print the tables in the terminal.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scarce.bench import Plan, collect, load_experiment
    >>> results = collect(Plan.from_experiment(load_experiment("quick-digits")), [])
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write_report(results, folder)]
    ['report.md', 'report.tex', 'report.html', 'figures']
    """
    out = Path(out)
    content = make_report(results, command, test, correct=holm)
    if out.suffix == ".md":
        _write_text(out, markdown_report(content))
        return [out]
    _write_texts(content, [], out)  # first without figures, in case one cannot be drawn
    drawings = draw_figures(results)
    for drawing in drawings:
        _save(drawing, out / _FIGURES)
    return [*_write_texts(content, drawings, out), out / _FIGURES]


def show_report(
    results: ExperimentResults, *, command: str | None = None, test: Test = "t", holm: bool = False
) -> None:
    """Print the tables of a report, no wider than the terminal.

    Parameters
    ----------
    results, command, test, holm
        As for `write_report`.

    See Also
    --------
    write_report : Write tables and figures to files.

    Examples
    --------
    >>> from scarce.bench import Plan, collect, load_experiment
    >>> show_report(collect(Plan.from_experiment(load_experiment("quick-digits")), []))
    Digits of scikit-learn, in a minute (shortened)
    ...
    """
    print(report_text(make_report(results, command, test, correct=holm), terminal_width()))


def _write_texts(content: Report, drawings: list[Drawing], folder: Path) -> list[Path]:
    texts = {
        folder / "report.md": markdown_report(content, drawings, _FIGURES),
        folder / "report.tex": latex_report(content),
        folder / "report.html": html_report(content, drawings),
    }
    for path, text in texts.items():
        _write_text(path, text)
    return list(texts)


def _write_text(path: Path, text: str) -> None:
    with atomic_write(path, force=True) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _save(drawing: Drawing, folder: Path) -> None:
    _write_text(folder / f"{drawing.name}.svg", figure_svg(drawing.figure) + "\n")
    with atomic_write(folder / f"{drawing.name}.png", force=True) as temporary:
        # Without the name of the program, so that another version of it gives the same file.
        drawing.figure.savefig(temporary, format="png", dpi=_DPI, metadata={"Software": None})
