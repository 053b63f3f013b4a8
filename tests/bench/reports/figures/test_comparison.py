"""Figures that compare methods: learning curves, dots and bars."""

import pytest
from helpers.bench import (
    figures_by_name,
    fill_results,
    lines_by_label,
    make_record,
    seed_offset,
    small_experiment,
)

from scarce._plotting import INK
from scarce.bench.reports.figures._comparison import draw_figures

MEANS = {"ga": 0.88, "a_b|<i>&% {x}": 0.68, "scarce": 0.91}


def test_learning_curves_are_means_over_seeds(tmp_path):
    experiment = small_experiment(methods=["ga", {"label": list(MEANS)[1], "method": "nn"}, "scarce"])
    drawings = figures_by_name(
        tmp_path, experiment, lambda trial: make_record(trial, MEANS[trial.label] + seed_offset(trial))
    )
    uniform, _ = drawings["curves-mnist-mlp"].figure.axes
    lines = lines_by_label(uniform)
    assert list(lines) == list(MEANS)
    assert lines["scarce"].get_ydata().tolist() == pytest.approx([0.455, 0.92] + [0.91] * 10)
    assert lines["scarce"].get_xdata().tolist() == list(range(1, 13))
    assert len(uniform.collections) == 3  # a band each
    assert len({(line.get_color(), line.get_linestyle()) for line in lines.values()}) == 3


def test_comparison_of_few_methods_draws_bars(tmp_path):
    experiment = small_experiment(
        data=["mnist", "kmnist"], methods=["scarce", "scarce-cce"], settings="uniform"
    )
    means = {"mnist": 0.9, "kmnist": 0.7}
    drawings = figures_by_name(
        tmp_path,
        experiment,
        lambda trial: make_record(
            trial, means[trial.spec.data] - 0.1 * (trial.label == "scarce-cce") + seed_offset(trial)
        ),
    )
    (axes,) = drawings["comparison"].figure.axes
    heights = {
        container.get_label(): [bar.get_height() for bar in container]
        for container in axes.containers
        if hasattr(container, "patches")
    }
    assert heights["scarce"] == pytest.approx([90, 70])
    assert heights["scarce-cce"] == pytest.approx([80, 60])


def test_learning_curves_separate_seeds_of_different_length(tmp_path):
    experiment = small_experiment(methods="scarce", settings="uniform", seeds=3)
    lengths = (12, 15, 12)
    results = fill_results(
        tmp_path,
        experiment,
        lambda trial: make_record(trial, 0.5 + 0.1 * trial.spec.seed, epochs=lengths[trial.spec.seed]),
    )
    (drawing,) = [drawing for drawing in draw_figures(results) if drawing.name.startswith("curves")]
    (axes,) = drawing.figure.axes
    lines = {len(line.get_xdata()): line.get_ydata()[-1] for line in axes.lines}
    assert lines == pytest.approx({12: 0.6, 15: 0.6})  # the mean of 0.5 and 0.7, and 0.6
    assert len(axes.collections) == 1  # one band, around the two of one length
    assert drawing.caption.endswith("; seeds with different numbers of epochs are drawn separately.")
    assert [text.get_text() for text in drawing.figure.legends[0].get_texts()] == ["scarce"]


def test_low_bar_has_its_number_above(tmp_path):
    experiment = small_experiment(methods=["ga", "scarce"], settings="uniform", seeds=1)
    results = fill_results(
        tmp_path, experiment, lambda trial: make_record(trial, 0.01 if trial.label == "ga" else 0.9)
    )
    (drawing,) = [drawing for drawing in draw_figures(results) if drawing.name == "comparison"]
    heights = {text.get_text(): (text.xy[1], text.get_color()) for text in drawing.figure.axes[0].texts}
    assert heights["90.0"] == (2, "white")
    assert heights["1.0"] == (3, INK)
