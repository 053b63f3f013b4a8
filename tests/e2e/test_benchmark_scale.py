"""The benchmark of many classes and rows runs, and its numbers are plausible."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs Linux to measure the memory"
)


@pytest.fixture
def scale(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import scale

    return scale


def test_quick_scale_benchmark_writes_table_and_figure(scale, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["scale.py", "--quick", "--seeds", "1", "--out", str(tmp_path)])
    scale.main()
    table = (tmp_path / "speed" / "scale.md").read_text()
    assert [f"| {case} |" in table for case in ("400 | 30", "1,200 | 30", "1,200 | 10")] == [True] * 3
    assert "python benchmarks/scale.py --seeds 1 --quick" in table
    assert (tmp_path / "figures" / "scale.svg").read_text().startswith("<svg")


def test_scale_benchmark_measures_every_case(scale):
    cases = scale.measure_cases(scale.QUICK | {"seeds": 2}, scale.measure_case)
    assert list(cases) == [(400, 30), (1200, 30), (1200, 10)]
    for case in cases.values():
        assert min(case[phase] for phase in scale.PHASES) > 0
        assert case["bytes_per_label"] == pytest.approx(4 + 8 / 3, abs=0.05)
        assert abs(case["estimated_accuracy"] - case["accuracy"]) < 6 * case["standard_error"]


def test_scale_benchmark_measures_fraction_of_the_loss(scale):
    cost = scale.measure_loss_cost(30, rounds=2, steps=2)
    assert list(cost) == ["scarce", "cross-entropy"]
    assert all(cost[name]["fraction"] > 0 for name in cost)
