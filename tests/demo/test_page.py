"""The page of the demo: well-formed, self-contained, and true to the numbers."""

import base64
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from helpers.html import Page

from scarce._plotting import new_axes
from scarce.demo import page
from scarce.demo.page import COLUMNS, is_report, render_report, result_rows

pytestmark = pytest.mark.slow  # they share one run of the demonstration


@pytest.fixture(scope="module")
def text(demo):
    return render_report(demo, "scarce demo --out 'a<b>&c.html' --seed 0")


def test_page_is_well_formed_and_self_contained(text):
    page = Page(text)
    page.assert_harmless()
    assert not re.search("https?:", text)
    assert "url(" not in text
    assert len(page.references) == 8 + 3


def test_page_embeds_complete_figures(text):
    prefix = "data:image/svg+xml;base64,"
    figures = [source for source in Page(text).references if source.startswith(prefix)]
    titles = ["Share of each digit", "Risk on the training answers", "Accuracy on the test images"]
    for source, title in zip(figures, titles, strict=True):
        svg = ElementTree.fromstring(base64.b64decode(source.removeprefix(prefix)))
        assert title in "".join(svg.itertext())


def test_page_holds_table_command_and_seed(demo, text):
    words = Page(text).text
    for cell in [*COLUMNS, *(cell for row in result_rows(demo) for cell in row)]:
        assert cell in words
    assert "scarce demo --out 'a<b>&c.html' --seed 0" in words
    assert "Seed 0;" in words
    assert "40 epochs" in words


def test_page_names_epochs_of_negative_risk_and_best_accuracy(demo):
    run = replace(
        demo.uncorrected,
        risks=(4.0, 0.5, -0.25, -7.5),
        accuracies=(0.5, 0.815, 0.7, 0.625),
        estimates=(0.5,) * 4,
        standard_errors=(0.1,) * 4,
    )
    words = Page(render_report(replace(demo, uncorrected=run), "")).text
    assert "falls below zero in epoch 3 and ends at −7.5" in words
    assert "is best after epoch 2, at 81.5 %, and ends at 62.5 %" in words
    never = replace(demo.uncorrected, risks=(4.0, 0.5))
    assert "falls below zero" not in Page(render_report(replace(demo, uncorrected=never), "")).text


def test_result_rows_show_last_epoch_in_per_cent(demo):
    run = replace(
        demo.corrected,
        title="A",
        learned_from="b",
        accuracies=(0.1, 0.9),
        estimates=(0.2, 0.8349),
        standard_errors=(0.3, 0.021),
    )
    assert result_rows(replace(demo, corrected=run))[0] == ("A", "b", "83.5 ± 2.1 %", "90.0 %", "no")


def test_render_report_is_reproducible(demo, text):
    assert render_report(demo, "scarce demo --out 'a<b>&c.html' --seed 0") == text


def test_is_report_recognizes_only_reports(tmp_path, text):
    (tmp_path / "report.html").write_text(text, encoding="utf-8")
    (tmp_path / "other.html").write_text("<!doctype html><title>my thesis</title>")
    assert is_report(tmp_path / "report.html")
    assert not is_report(tmp_path / "other.html")
    assert not is_report(tmp_path)


def curves_of(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def test_draw_risks_starts_at_epoch_one_with_line_at_zero():
    with new_axes() as axes:
        page._draw_risks(axes, [page._Curve("a", [3.0, -1.0, -4.0]), page._Curve("b", [2.0, 1.0, 0.5])])
    lines = curves_of(axes)
    assert list(lines) == ["a", "b"]
    assert lines["a"].get_xydata().tolist() == [[1, 3.0], [2, -1.0], [3, -4.0]]
    assert lines["b"].get_ydata().tolist() == [2.0, 1.0, 0.5]
    (zero,) = [line for line in axes.lines if line not in lines.values()]
    assert list(zero.get_ydata()) == [0, 0]
    assert lines["a"].get_color() != lines["b"].get_color()
    assert lines["a"].get_linestyle() != lines["b"].get_linestyle()


def test_draw_accuracies_draws_band_around_estimate():
    with new_axes() as axes:
        page._draw_accuracies(
            axes, [page._Curve("a", [0.5, 0.75], [0.4, 0.8], [0.1, 0.05]), page._Curve("b", [0.9, 0.9])]
        )
    assert curves_of(axes)["a"].get_ydata().tolist() == [0.5, 0.75]
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices
    for epoch, low, high in ((1, 0.3, 0.5), (2, 0.75, 0.85)):
        heights = corners[corners[:, 0] == epoch, 1]
        assert (heights.min(), heights.max()) == pytest.approx((low, high))
