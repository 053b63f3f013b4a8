"""Figures of the paper: overfitting and sensitivity to wrong priors."""

import pytest
from helpers.bench import (
    figures_by_name,
    fill_results,
    lines_by_label,
    make_record,
    seed_offset,
    small_experiment,
)

from scarce.bench.reports.figures._paper import draw_overfitting, draw_sensitivity


def test_overfitting_figure_shows_both_risks_and_the_zero_crossing(tmp_path):
    def make(trial):
        falls = trial.spec.method == "scarce-ure"
        loss = [1.0, 0.5, -0.5, -2.0] if falls else [1.0, 0.5, 0.4, 0.4]
        return make_record(trial, 0.8, curves={"loss": loss, "test_accuracy": [0.5, 0.9, 0.8, 0.8]})

    experiment = small_experiment(methods=["scarce-ure", "scarce"], settings="uniform", seeds=2)
    loss, accuracy = figures_by_name(tmp_path, experiment, make)["overfitting"].figure.axes
    assert lines_by_label(loss)["uncorrected (URE)"].get_ydata().tolist() == [1.0, 0.5, -0.5, -2.0]
    assert lines_by_label(loss)["corrected (SCARCE)"].get_ydata().tolist() == [1.0, 0.5, 0.4, 0.4]
    assert lines_by_label(accuracy)["corrected (SCARCE)"].get_ydata().tolist() == [0.5, 0.9, 0.8, 0.8]
    assert any(list(line.get_xdata()) == [3, 3] for line in accuracy.lines)


def test_sensitivity_figure_shows_accuracy_against_sigma(tmp_path):
    priors = [{"perturb": 0.4}, {"perturb": 0.0}, {"perturb": 0.2}]
    experiment = small_experiment(methods="scarce", settings="uniform", priors=priors)
    drawings = figures_by_name(
        tmp_path,
        experiment,
        lambda trial: make_record(trial, 0.9 - trial.spec.priors.perturb / 2 + seed_offset(trial)),
    )
    (axes,) = drawings["sensitivity"].figure.axes
    (line,) = lines_by_label(axes).values()
    assert line.get_xydata().ravel().tolist() == pytest.approx([0, 0.9, 0.2, 0.8, 0.4, 0.7])
    assert "comparison-mnist-mlp" not in drawings


def test_sensitivity_figure_has_a_line_per_variant(tmp_path):
    methods = ["scarce", {"label": "flooded", "method": "scarce", "params": {"correction": "relu"}}]
    experiment = small_experiment(
        methods=methods, settings="uniform", seeds=2, priors=[{"perturb": 0.0}, {"perturb": 0.5}]
    )

    def make(trial):
        share = 0.9 if trial.label.startswith("scarce") else 0.6
        return make_record(trial, share - trial.spec.priors.perturb / 5)

    (axes,) = draw_sensitivity(fill_results(tmp_path, experiment, make)).figure.axes
    found = {name: line.get_ydata().tolist() for name, line in lines_by_label(axes).items()}
    assert found == {
        "scarce, mnist, uniform, mlp": pytest.approx([0.9, 0.8]),
        "flooded, mnist, uniform, mlp": pytest.approx([0.6, 0.5]),
    }


def test_overfitting_figure_has_a_line_per_variant(tmp_path):
    losses = {"scarce-ure": [1.0, -1.0], "scarce": [1.0, 0.5], "flooded": [3.0, 2.0]}
    flooded = {"label": "flooded", "method": "scarce", "params": {"correction": "relu"}}
    experiment = small_experiment(methods=["scarce-ure", "scarce", flooded], settings="uniform", seeds=2)

    def make(trial):
        return make_record(trial, 0.8, curves={"loss": losses[trial.label], "test_accuracy": [0.5, 0.8]})

    drawing = draw_overfitting(fill_results(tmp_path, experiment, make))
    risk, _ = drawing.figure.axes
    found = {name: line.get_ydata().tolist() for name, line in lines_by_label(risk).items()}
    assert found == {"uncorrected (URE)": [1.0, -1.0], "scarce": [1.0, 0.5], "flooded": [3.0, 2.0]}
    assert [list(line.get_xdata()) for line in risk.lines].count([2, 2]) == 1
