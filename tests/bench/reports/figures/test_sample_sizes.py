"""The figure of accuracy against the number of training images."""

import numpy as np
import pytest
from helpers.bench import fill_results, make_record

from scarce.bench.reports.figures._comparison import draw_figures
from scarce.bench.reports.figures._sample_sizes import draw_sample_sizes, spread
from scarce.bench.spec.experiment import Experiment

SIZES = (100, 1000, 10_000)
TRUE_LABELS = {"name": "true labels", "process": "uniform-multiple", "params": {"sizes": 9}}


def experiment(**changes):
    content = {
        "name": "sizes",
        "title": "Sizes",
        "protocol": "own",
        "kind": "classifiers",
        "data": "mnist",
        "split": "standard",
        "n_train": list(SIZES),
        "seeds": 2,
        "grid": [
            {"settings": ["uniform", "scar-a"], "methods": ["auto", "cc"]},
            {"settings": TRUE_LABELS, "methods": {"label": "true", "method": "cc"}},
        ],
    }
    return Experiment.model_validate(content | changes)


def record(trial):
    accuracy = {"auto": 0.7, "cc": 0.6, "true": 0.8}[trial.label] + 0.05 * np.log10(trial.spec.n_train / 100)
    return make_record(trial, accuracy + 0.02 * (trial.spec.seed - 0.5), curves={}, selection={})


def lines(axes):
    """The lines of a panel by the names at their ends."""
    names = [text.get_text() for text in axes.texts]
    return dict(zip(names, axes.lines, strict=True))


def test_lines_are_means_over_seeds_on_a_log_axis(tmp_path):
    drawing = draw_sample_sizes(fill_results(tmp_path, experiment(), record))
    uniform, scar = drawing.figure.axes
    assert [axes.get_title(loc="left") for axes in (uniform, scar)] == ["mnist, uniform", "mnist, scar-a"]
    found = lines(uniform)
    assert list(found) == ["auto", "cc", "true"]
    assert found["auto"].get_xdata().tolist() == list(SIZES)
    assert found["auto"].get_ydata().tolist() == pytest.approx([0.7, 0.75, 0.8])
    assert found["true"].get_ydata().tolist() == pytest.approx([0.8, 0.85, 0.9])
    assert uniform.get_xscale() == "log"
    assert len(uniform.collections) == 3  # a band each
    styles = [(line.get_marker(), line.get_linestyle()) for line in found.values()]
    assert len({marker for marker, _ in styles}) == len({dashes for _, dashes in styles}) == 3
    assert "For comparison, true: labels that exclude every wrong class." in drawing.caption


def test_names_at_line_ends_do_not_overlap(tmp_path):
    drawing = draw_sample_sizes(
        fill_results(tmp_path, experiment(), lambda t: make_record(t, 0.9, curves={}))
    )
    axes = drawing.figure.axes[0]
    heights = sorted(text.xy[1] for text in axes.texts)
    low, high = axes.get_ylim()
    assert np.diff(heights).tolist() == pytest.approx([0.07 * (high - low)] * 2)
    assert np.mean(heights) == pytest.approx(0.9)


def test_figure_replaces_comparison_of_columns(tmp_path):
    drawings = draw_figures(fill_results(tmp_path, experiment(), record))
    assert [drawing.name for drawing in drawings] == ["sample-sizes"]


def test_two_sizes_are_compared_without_a_line(tmp_path):
    results = fill_results(tmp_path, experiment(n_train=[100, 1000]), record)
    assert draw_sample_sizes(results) is None
    assert [drawing.name for drawing in draw_figures(results)] == ["comparison-mnist"]


def test_spread_keeps_order_and_distance():
    placed = spread([0.2, 0.21, 0.9, 0.19], 0.1)
    assert placed.tolist() == pytest.approx([0.2, 0.3, 0.9, 0.1])
