"""Reports in Markdown, LaTeX, HTML and the terminal hold the numbers of the records."""

import base64
import re
from xml.etree import ElementTree

import pytest
from helpers.bench import (
    figures_by_name,
    fill_store,
    make_failed_record,
    make_prior_record,
    make_record,
    plan_trials,
    seed_offset,
    small_experiment,
    stored_results,
)
from helpers.html import Page
from PIL import Image

from scarce.bench.reports import show_report, write_report
from scarce.bench.reports._content import make_report
from scarce.bench.reports._rendering import latex_report
from scarce.bench.spec.experiment import load_experiment
from scarce.bench.trials.store import Store

ERROR = "the loss | of <b>this</b> method is nan_1 & 50 % more; lower the learning rate."
MEANS = {"ga": 0.88, "a_b|<i>&% {x}": 0.68, "scarce": 0.91}
ODD = list(MEANS)[1]
METHODS = ["ga", {"label": ODD, "method": "nn"}, "scarce"]
FILES = ("report.md", "report.tex", "report.html")


def small_store(folder, experiment):
    records = []
    for trial in plan_trials(experiment):
        key = (trial.label, trial.spec.setting, trial.spec.seed)
        if key == ("ga", "biased-a", 1):
            records.append(make_failed_record(trial, ERROR))
        elif key != ("scarce", "biased-a", 0):
            records.append(make_record(trial, MEANS[trial.label] + seed_offset(trial)))
    return fill_store(folder, records)


@pytest.fixture(scope="module")
def experiment():
    return small_experiment(methods=METHODS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, experiment):
    folder = tmp_path_factory.mktemp("reports")
    store = small_store(folder / "store", experiment)
    write_report(stored_results(experiment, store), folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def texts(folder):
    return {name: (folder / name).read_text("utf-8") for name in FILES}


def printed(capsys, experiment, store, **options):
    capsys.readouterr()
    show_report(stored_results(experiment, store), **options)
    return capsys.readouterr().out


def test_markdown_report_holds_our_number_the_papers_and_difference(texts):
    rows = [line for line in texts["report.md"].splitlines() if line.startswith("| scarce |")]
    # The paper has 91.27 ± 0.20, and the seeds here 91.0, 91.4, 90.6, 91.2, 90.8: √(0.1 / 5 + 0.04 / 5) = 0.17.
    assert "| **91.00 ± 0.32**<br>paper **91.27 ± 0.20**<br>−0.27 within |" in rows[0]
    (ga,) = [line for line in texts["report.md"].splitlines() if line.startswith("| ga | 88.00 ± 0.32")]
    assert "88.00 ± 0.32<br>paper 88.00 ± 0.85<br>0.00 within" in ga
    assert "<br>1 failed" in ga
    assert "**" not in ga
    assert "1 missing" in rows[0]


def test_reports_escape_names_and_errors(texts):
    assert r"a\_b\|\<i\>&% {x}" in texts["report.md"]
    assert r"the loss \| of \<b\>this\</b\> method is nan\_1 & 50 % more" in texts["report.md"]
    assert r"a\_b\textbar{}\textless{}i\textgreater{}\&\% \{x\} &" in texts["report.tex"]
    assert "<b>this</b>" not in texts["report.html"]
    assert "a_b|&lt;i&gt;&amp;% {x}" in texts["report.html"]


def test_markdown_tables_have_as_many_cells_as_columns(texts):
    tables = re.findall(r"(?:^\|.*\|\n)+", texts["report.md"], re.M)
    assert len(tables) == 5  # results, failures, epochs, methods, costs
    for table in tables:
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(counts) == 1


def test_reports_name_protocol_test_and_costs(texts):
    for text in (texts["report.md"], texts["report.html"]):
        assert "28 of 30 trials are done; 1 has failed; 1 has not been run." in text
        assert (
            "200 epochs of adam, batches of 256, learning rate 0.001 (constant), weight decay 1e-05" in text
        )
        assert "60,000 of mnist" in text
        assert "over 5 seeds (0 to 4)" in text
        assert "paired t-test over the common seeds at level 0.05" in text
        assert "scarce 0.1.0" in text
        assert "scarce bench run small" in text
    # Five seeds of 60 to 64 seconds in one setting, and without seed 0 in the other: 310 + 250.
    assert "| scarce | 9 | 9 min 20 s | 62.2 | 500 |" in texts["report.md"]


def test_report_names_shortened_protocol(tmp_path, capsys):
    experiment = small_experiment(protocol="shortened", seeds=1)
    store = small_store(tmp_path, small_experiment(protocol="shortened", seeds=1, methods=["ga", "scarce"]))
    text = " ".join(printed(capsys, experiment, store).split())  # lines are folded where they are long
    assert text.startswith("A small one (shortened) ")
    assert "Shortened: this is not the paper's protocol" in text
    assert "With one seed, differences cannot be tested." in text


def test_latex_table_has_rows_of_equal_length(texts):
    text = texts["report.tex"]
    (columns,) = re.findall(r"\\begin{tabular}{(l?c*)}", text)
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    stacked = re.sub(r"\\shortstack\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}", "cell", body)
    rows = [line for line in stacked.splitlines() if line.endswith(r" \\")]
    assert len(rows) == 2 + len(METHODS)
    for row in rows:
        spans = sum(int(n) - 1 for n in re.findall(r"\\multicolumn{(\d)}", row))
        assert len(re.findall(r"(?<!\\)&", row)) + 1 + spans == len(columns)
    assert text.count("{") == text.count("}")
    for kind in ("table", "tabular"):
        assert text.count(rf"\begin{{{kind}}}") == text.count(rf"\end{{{kind}}}") == 1
    assert r"\shortstack{\textbf{91.00}\\{\scriptsize $\pm$0.32}\\" in text
    assert r"\textbf{\textit{91.27}}$\pm$\textit{0.20}" in text
    assert r" \textit{88.00}$\pm$\textit{0.85}" in text
    assert r"{\scriptsize $-$0.27 within}" in text


def test_html_report_is_well_formed_and_self_contained(texts):
    page = Page(texts["report.html"])
    page.assert_harmless()
    assert "url(" not in texts["report.html"]
    assert not re.search("https?:", texts["report.html"])
    prefix = "data:image/svg+xml;base64,"
    assert len(page.references) == 2
    for reference in page.references:
        assert reference.startswith(prefix)
        assert ElementTree.fromstring(base64.b64decode(reference.removeprefix(prefix))).tag.endswith("svg")


def test_html_report_marks_best_and_difference(texts):
    text = re.sub(r">\s+<", "><", texts["report.html"])
    assert (
        '<b>91.00 ± 0.32</b><small>paper <b>91.27 ± 0.20</b></small><small class="within">−0.27 within</small>'
        in text
    )
    assert text.count("<b>") == 4  # one in each column, and so in the paper
    assert '<small class="failures">1 failed</small>' in text


def test_figures_are_written_as_png_and_svg(folder):
    names = {path.name for path in (folder / "figures").iterdir()}
    assert names == {
        f"{name}-mnist-mlp.{kind}" for name in ("comparison", "curves") for kind in ("png", "svg")
    }
    for name in names:
        if name.endswith("png"):
            with Image.open(folder / "figures" / name) as image:
                assert image.width > 600
        else:
            ElementTree.parse(folder / "figures" / name)


def test_report_is_reproducible_and_replaces_earlier_files(folder, experiment):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert len(before) == len(FILES) + 4
    write_report(stored_results(experiment, Store(folder.parent / "store")), folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("columns", ["60", "100", "200"])
def test_terminal_report_fits_terminal_width(folder, experiment, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    store = Store(folder.parent / "store")
    lines = printed(capsys, experiment, store).splitlines()
    tables = [line for line in lines if not line.startswith("scarce bench run")]
    assert max(map(len, tables)) <= min(100, int(columns))
    assert any("91.00 ± 0.32*" in line for line in lines)
    assert any(re.search(r"91\.27 ± 0\.20\*", line) for line in lines)
    assert "Bold (here an asterisk)" in "\n".join(lines)


def test_terminal_report_splits_wide_tables(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    names = [{"name": f"uniform number {number}", "process": "uniform"} for number in range(9)]
    experiment = small_experiment(settings=names, methods=["ga", "scarce"], seeds=2)
    store = fill_store(
        tmp_path, [make_record(trial, 0.5 + seed_offset(trial)) for trial in plan_trials(experiment)]
    )
    text = printed(capsys, experiment, store)
    assert text.count("\nmnist, mlp\n") == 2
    assert all(setting["name"] in text for setting in names)
    assert max(map(len, text.splitlines()[:-1])) <= 100


def test_terminal_report_writes_no_files(folder, experiment, capsys):
    store = Store(folder.parent / "store")
    printed(capsys, experiment, store)
    assert not (store.path / "report").exists()


def test_report_names_wilcoxon_test_and_holm_correction(folder, experiment, capsys):
    store = Store(folder.parent / "store")
    text = " ".join(printed(capsys, experiment, store, test="wilcoxon", holm=True).split())
    assert "Wilcoxon signed-rank test over the common seeds at level 0.05, corrected by Holm's method" in text
    # Three methods, two tests: the smallest p-value of n seeds is 2 · 2 / 2ⁿ, below 0.05 from n = 7 on.
    assert (
        "With 5 seeds, this test cannot reject at that level among 3 methods, so all are bold; it needs at least 7 seeds."
        in text
    )
    alone = " ".join(printed(capsys, experiment, store, test="wilcoxon").split())
    assert "cannot reject at that level, so all are bold; it needs at least 6 seeds." in alone


def test_report_accepts_empty_store(tmp_path, experiment):
    write_report(stored_results(experiment, Store(tmp_path)), tmp_path / "out")
    text = (tmp_path / "out" / "report.md").read_text("utf-8")
    assert "0 of 30 trials are done; 30 have not been run." in text
    assert "5 missing" in text


def test_terminal_report_shows_dash_where_our_number_is_missing(tmp_path, experiment, capsys):
    text = printed(capsys, experiment, Store(tmp_path))
    row = text.splitlines().index(next(line for line in text.splitlines() if line.startswith("scarce ")))
    ours, papers = (text.splitlines()[number].split() for number in (row, row + 1))
    assert ours == ["scarce", "–", "–"]
    assert papers[:3] == ["91.27", "±", "0.20*"]
    assert "one seed" not in text


def test_latex_table_groups_models_by_setting(tmp_path):
    experiment = small_experiment(models=["mlp", "lenet"], methods=["ga", "scarce"])
    text = latex_report(
        make_report(stored_results(experiment, small_store(tmp_path, experiment)), "scarce bench run small")
    )
    assert r"Setting & \multicolumn{2}{c}{uniform} & \multicolumn{2}{c}{biased-a} \\" in text
    assert r"Model & mlp & lenet & mlp & lenet \\" in text


def test_prior_report_shows_estimates_and_those_of_the_paper(tmp_path, capsys):
    experiment = load_experiment("paper-priors")
    drawings = figures_by_name(
        tmp_path, experiment, lambda trial: make_prior_record(trial, [0.1 + seed_offset(trial)] + [0.1] * 9)
    )
    axes = drawings["priors"].figure.axes
    assert len(axes) == 4
    ours, paper = axes[0].containers
    assert ours.lines[0].get_ydata().tolist() == pytest.approx([0.1] * 10)
    assert paper.lines[0].get_ydata()[:2].tolist() == [0.104, 0.119]
    assert "10.00 ± 0.32" in printed(capsys, experiment, Store(tmp_path))
    text = latex_report(
        make_report(stored_results(experiment, Store(tmp_path)), "scarce bench run paper-priors")
    )
    assert "Class & mnist & kmnist & fashion-mnist & cifar10" in text
