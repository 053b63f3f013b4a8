"""Labels and names with characters special to matplotlib, LaTeX or a terminal are shown unchanged."""

import re
from pathlib import Path

import pytest
from helpers.bench import fill_store, make_record, plan_trials, seed_offset, small_experiment, stored_results

from scarce._console import text_table
from scarce.bench import reports as report_experiment
from scarce.bench.reports import write_report
from scarce.bench.reports.content import make_report
from scarce.bench.reports.figures.comparison import draw_figures
from scarce.bench.reports.figures.panels import Drawing
from scarce.bench.reports.rendering import latex_report
from scarce.bench.reports.summaries import SummaryTable
from scarce.bench.reports.terminal import report_text
from scarce.bench.trials.store import Store
from scarce.errors import FileError

ODD = ["_hidden", r"$\frac$", "[bold] a <b> | σ"]
METHODS = [
    {"label": label, "method": method} for label, method in zip(ODD, ("ga", "nn", "scarce"), strict=True)
]
FEW = {"name": "few [c] $x_1$ and $", "process": "scar", "params": {"rates": 0.2}}


def odd_experiment(**changes):
    return small_experiment(**({"methods": METHODS, "settings": ["uniform", FEW], "seeds": 2} | changes))


def filled(folder, experiment):
    return fill_store(
        folder, [make_record(trial, 0.8 + seed_offset(trial)) for trial in plan_trials(experiment)]
    )


def svg_texts(path):
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text("utf-8"))


def test_figures_show_names_unchanged(tmp_path):
    experiment = odd_experiment()
    write_report(stored_results(experiment, filled(tmp_path / "store", experiment)), tmp_path / "out")
    curves = svg_texts(tmp_path / "out" / "figures" / "curves-mnist-mlp.svg")
    dots = svg_texts(tmp_path / "out" / "figures" / "comparison-mnist-mlp.svg")
    shown = [text.lstrip("\N{ZERO WIDTH SPACE}") for text in curves]
    for name in ("_hidden", r"$\frac$", "[bold] a &lt;b&gt; | σ"):
        assert name in shown
        assert name in dots
    assert FEW["name"] in curves
    assert FEW["name"] in dots


def test_bar_figures_show_names_with_leading_underscore(tmp_path):
    for number, methods in enumerate((METHODS, METHODS[:1])):
        experiment = odd_experiment(settings="uniform", methods=methods)
        out = tmp_path / str(number)
        write_report(stored_results(experiment, filled(out / "store", experiment)), out)
        shown = [
            text.lstrip("\N{ZERO WIDTH SPACE}") for text in svg_texts(out / "figures" / "comparison.svg")
        ]
        assert "_hidden" in shown


def test_report_keeps_texts_when_a_figure_fails(tmp_path, monkeypatch):
    experiment = odd_experiment()
    store = filled(tmp_path / "store", experiment)

    def fail(results):
        raise FileError("cannot be drawn")

    monkeypatch.setattr(report_experiment, "draw_figures", fail)
    with pytest.raises(FileError, match="cannot be drawn"):
        write_report(stored_results(experiment, store), tmp_path / "out")
    for name in ("report.md", "report.tex", "report.html"):
        assert "80." in (tmp_path / "out" / name).read_text("utf-8")


def test_markdown_report_links_every_figure(tmp_path):
    experiment = odd_experiment()
    write_report(stored_results(experiment, filled(tmp_path / "store", experiment)), tmp_path / "out")
    drawings = draw_figures(stored_results(experiment, Store(tmp_path / "store")))
    assert all(isinstance(drawing, Drawing) for drawing in drawings)
    text = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert all(f"figures/{drawing.name}.png" in text for drawing in drawings)


def words_of(lines):
    return set(" ".join(lines).replace(";", " ").split())


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_terminal_report_breaks_no_word(tmp_path, width):
    experiment = odd_experiment(methods=["ga", {"label": "no correction", "method": "scarce-ure"}])
    names = ("approximated_accuracy", "covering_rate", "scar_risk", "scar_accuracy", "scel")
    selection = {name: list(range(12)) for name in names}
    store = fill_store(
        tmp_path, [make_record(trial, 0.8, selection=selection) for trial in plan_trials(experiment)]
    )
    lines = report_text(make_report(stored_results(experiment, store), "command"), width).splitlines()
    assert max(map(len, lines)) <= width
    assert {"approximated", "accuracy", "covering", "criterion", "correction", "seconds"} <= {
        word.strip(":,") for word in words_of(lines)
    }


def test_text_table_narrows_columns_before_breaking_words():
    columns = [
        "data",
        "model",
        "setting",
        "scar accuracy",
        "scar risk",
        "covering rate",
        "approximated accuracy",
        "best",
    ]
    row = [
        "mnist",
        "mlp",
        "biased-a",
        *["scar-likelihood\n93.24"] * 2,
        "l-uw\n93.24",
        "ga\n80.00",
        "l-uw\n93.24",
    ]
    for width in range(87, 101):
        lines = text_table(columns, [row], len(columns), width).splitlines()
        assert max(map(len, lines)) <= width
        assert {"approximated", "accuracy", "covering", "scar-likelihood", "93.24", "biased-a"} <= words_of(
            lines
        )


def test_terminal_report_lists_rows_where_table_is_too_narrow(monkeypatch):
    summary_table = SummaryTable(
        "Costs", ("method", "approximated accuracy"), (("ga", "l-uw\n93.24"), ("nn", "–")), n_text_columns=2
    )
    report = make_report(stored_results(small_experiment(), Store(Path("nowhere"))), "command")
    shown = report_text(
        type(report)(**{**vars(report), "tables": (), "summary_tables": (summary_table,)}), 19
    )
    assert shown.endswith(
        "Costs\nmethod: ga;\n  approximated\n  accuracy: l-uw\n  93.24\n"
        "method: nn;\n  approximated\n  accuracy: –\n\ncommand"
    )


def latex_of(folder, experiment, records):
    return latex_report(
        make_report(stored_results(experiment, fill_store(folder, records)), "scarce bench run small")
    )


def test_latex_report_warns_of_letters_pdflatex_cannot_print(tmp_path):
    experiment = odd_experiment(methods=[{"label": "猫 and π", "method": "ga"}])
    records = [make_record(trial, 0.8) for trial in plan_trials(experiment)]
    assert "% pdfLaTeX cannot print 猫: use LuaLaTeX" in latex_of(tmp_path / "a", experiment, records)
    plain = odd_experiment()
    assert "pdfLaTeX" not in latex_of(
        tmp_path / "b", plain, [make_record(trial, 0.8) for trial in plan_trials(plain)]
    )
