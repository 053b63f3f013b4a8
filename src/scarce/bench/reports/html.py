"""The report as one HTML page that needs nothing else."""

import base64
from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from scarce._plotting import figure_svg
from scarce.bench.reports.content import Report, difference_text, mean_text, trouble_text
from scarce.bench.reports.figures._panels import Drawing

__all__ = ["html_report"]


def html_report(report: Report, drawings: Sequence[Drawing] = ()) -> str:
    """Return the report as a page with its style and figures inside.

    Examples
    --------
    >>> html_report(Report("Mine", True, ("Shortened.",), (), (), (), "scarce bench run mine")).splitlines()[0]
    '<!doctype html>'
    """
    page = Environment(
        loader=PackageLoader("scarce.bench.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page.filters |= {"difference": difference_text, "trouble": trouble_text, "number": _number}
    figures = [(drawing, _data_uri(figure_svg(drawing.figure))) for drawing in drawings]
    return page.get_template("experiment.html").render(report=report, figures=figures)


def _number(summary: object) -> str:
    """Of our summary or the paper's cell, which both have a mean and a standard deviation."""
    return mean_text(summary.mean, summary.std)  # type: ignore[attr-defined]


def _data_uri(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
