"""A report as one HTML page that needs no other file."""

from collections.abc import Sequence

from scarce._html import data_uri, make_environment
from scarce._plotting import figure_svg
from scarce.bench.reports.content import Report, difference_text, failures_text, mean_text
from scarce.bench.reports.figures.panels import Drawing

__all__ = ["html_report"]


def html_report(report: Report, drawings: Sequence[Drawing] = ()) -> str:
    """Return the report as a page with its style and figures inside.

    Examples
    --------
    >>> html_report(Report("Mine", True, ("Shortened.",), (), (), (), "scarce bench run mine")).splitlines()[0]
    '<!doctype html>'
    """
    environment = make_environment("scarce.bench.reports")
    environment.filters |= {"difference": difference_text, "failures": failures_text, "mean": _mean_text}
    figures = [(drawing, data_uri(figure_svg(drawing.figure).encode(), "svg+xml")) for drawing in drawings]
    return environment.get_template("experiment.html").render(report=report, figures=figures)


def _mean_text(summary: object) -> str:
    """Return the mean and standard deviation of our summary or of the paper's cell."""
    return mean_text(summary.mean, summary.std)  # type: ignore[attr-defined]
