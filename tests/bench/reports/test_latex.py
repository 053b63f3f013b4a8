"""LaTeX tables and the escaping of characters."""

import re

import pytest
from helpers.bench import (
    fill_store,
    make_failed_record,
    make_record,
    plan_trials,
    small_experiment,
    stored_results,
)

from scarce.bench.reports.content import make_report
from scarce.bench.reports.rendering import latex_report, latex_text


def latex_of(folder, experiment, records):
    return latex_report(
        make_report(stored_results(experiment, fill_store(folder, records)), "scarce bench run small")
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[c]*", "{[}c{]}{*}"),
        ("a<b>|c", r"a\textless{}b\textgreater{}\textbar{}c"),
        ("π, ρ and Σ", r"$\pi$, $\rho$ and $\Sigma$"),
        ("λΛΑο", r"$\lambda$$\Lambda$Ao"),
        ("x₁²", r"x\textsubscript{1}\textsuperscript{2}"),
        ("σ ≤ 0.2 – 3", r"$\sigma$ $\le$ 0.2 -- 3"),
        ("a_b & 5 % {x}\\", r"a\_b \& 5 \% \{x\}\textbackslash{}"),
        ("café, 猫", "café, 猫"),
    ],
)
def test_latex_text_escapes_special_characters(text, written):
    assert latex_text(text) == written


def test_latex_rows_do_not_begin_like_an_argument(tmp_path):
    experiment = small_experiment(
        methods=[{"label": "[a]", "method": "ga"}, {"label": "*b", "method": "nn"}], seeds=2
    )
    text = latex_of(tmp_path, experiment, [make_record(trial, 0.8) for trial in plan_trials(experiment)])
    assert "\n{[}a{]} & " in text
    assert "\n{*}b & " in text
    # After the end of a row, and after a rule of booktabs, an argument may follow on the next line.
    assert not re.search(r"(\\\\|rule)\s*[\[*]", text)
    assert text.endswith("\\end{table}\n")


def test_latex_report_counts_missing_and_failed_trials_and_seeds(tmp_path):
    experiment = small_experiment(methods=["ga", "nn"], settings="uniform", data="kmnist", seeds=3)
    records = []
    for trial in plan_trials(experiment):
        if trial.label == "nn":
            records.append(make_failed_record(trial, "diverged"))
        elif trial.spec.seed:
            records.append(make_record(trial, 0.8))
    text = latex_of(tmp_path, experiment, records)
    (ga,) = [line for line in text.splitlines() if line.startswith("ga & ")]
    (nn,) = [line for line in text.splitlines() if line.startswith("nn & ")]
    assert r"{\scriptsize 1 missing}" in ga
    assert r"\shortstack{--\\" in nn
    assert r"{\scriptsize 3 failed}" in nn
    assert "(kmnist). Mean and standard deviation over 3 seeds." in text
    alone = small_experiment(methods="ga", seeds=1)
    assert "(mnist). One seed." in latex_of(
        tmp_path / "one", alone, [make_record(trial, 0.8) for trial in plan_trials(alone)]
    )
