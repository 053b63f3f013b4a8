"""Reports on an experiment: files in several formats, or text in the terminal."""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from scarce._console import terminal_width
from scarce._io.atomic import atomic_write
from scarce._plotting import figure_svg
from scarce.bench.reports.content import Report, make_report
from scarce.bench.reports.figures.comparison import draw_figures
from scarce.bench.reports.figures.panels import Drawing
from scarce.bench.reports.html import html_report
from scarce.bench.reports.latex import latex_report
from scarce.bench.reports.markdown import markdown_report
from scarce.bench.reports.terminal import report_text
from scarce.bench.results.results import collect_results
from scarce.bench.results.statistics import Test
from scarce.bench.spec.experiment import Experiment, available_experiments
from scarce.bench.trials.packed import PackedStore
from scarce.bench.trials.store import Store

__all__ = ["write_report"]

_FIGURES = "figures"
_DPI = 150


def write_report(
    experiment: Experiment,
    store: Store | PackedStore,
    out: Path | None = None,
    *,
    command: str | None = None,
    test: Test = "t",
    holm: bool = False,
    terminal: bool = False,
    only: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """Write the report on an experiment: ``report.md``, ``report.tex``, ``report.html`` and the figures.

    The same records give the same files; earlier ones are replaced.

    Parameters
    ----------
    experiment : Experiment
        From `scarce.bench.spec.experiment.load_experiment`.
    store : Store
        Where its trials are.
    out : Path, optional
        The folder to write to, or a file ``.md`` for the tables alone; by default the folder ``report`` of the store, or no
        file with `terminal`.
    command : str, optional
        The command that runs it again; by default a guess from the name of the experiment.
    test : {"t", "wilcoxon"}
        The paired test that decides what is printed in bold.
    holm : bool
        Correct the tests of a column for their number.
    terminal : bool
        Print the tables.
    only : mapping, optional
        Which trials to report on, as names by axis; see `scarce.bench.trials.plan.select`.

    Examples
    --------
    >>> from scarce.bench.spec.experiment import load_experiment
    >>> write_report(load_experiment("quick-digits"), Store(Path("nowhere")), terminal=True)
    Digits of scikit-learn, in a minute (shortened)
    ...
    """
    results = collect_results(experiment, store, only)
    content = make_report(results, command or _command(experiment, store), test, correct=holm)
    if terminal:
        print(report_text(content, terminal_width()))
    if out is None and terminal:
        return
    if out is not None and out.suffix == ".md":
        _write_text(out, markdown_report(content))
        print(out)
        return
    folder = store.report_dir if out is None else out
    _write(content, [], folder)  # first without figures, in case one cannot be drawn
    drawings = draw_figures(results)
    for drawing in drawings:
        _save(drawing, folder / _FIGURES)
    names = _write(content, drawings, folder)
    print(f"{folder}: {', '.join(names)}, {_FIGURES}")


def _write(content: Report, drawings: list[Drawing], folder: Path) -> list[str]:
    texts = {
        "report.md": markdown_report(content, drawings, _FIGURES),
        "report.tex": latex_report(content),
        "report.html": html_report(content, drawings),
    }
    for name, text in texts.items():
        _write_text(folder / name, text)
    return list(texts)


def _write_text(path: Path, text: str) -> None:
    with atomic_write(path, force=True) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _save(drawing: Drawing, folder: Path) -> None:
    _write_text(folder / f"{drawing.name}.svg", figure_svg(drawing.figure) + "\n")
    with atomic_write(folder / f"{drawing.name}.png", force=True) as temporary:
        # Without the name of the program, so that another version of it gives the same file.
        drawing.figure.savefig(temporary, format="png", dpi=_DPI, metadata={"Software": None})


def _command(experiment: Experiment, store: Store | PackedStore) -> str:
    is_shipped = experiment.name in available_experiments()
    name = experiment.name if is_shipped else f"{experiment.name}.toml"
    return shlex.join(["scarce", "bench", "run", name, "--store", str(store.path)])
