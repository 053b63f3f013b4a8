"""The benchmark of the time to the printed accuracy runs, and reads the paper's numbers."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PRINTED = {"uniform": 91.27, "biased-a": 88.14, "biased-b": 89.51, "scar-a": 90.98, "scar-b": 81.85}


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.delenv("SCARCE_DATA", raising=False)
    import time_to_accuracy

    return time_to_accuracy


def test_benchmark_tries_every_length_on_random_images(benchmark, monkeypatch, capsys):
    arguments = ["--rows", "300", "--seeds", "2", "--settings", "scar-b"]
    monkeypatch.setattr(sys, "argv", ["time_to_accuracy.py", *arguments])
    benchmark.main()
    text = capsys.readouterr().out
    assert "300 rows of random bytes of MNIST's shape" in text
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines() if "│" in line]
    assert rows[0][:3] == ["scar-b", "scar-likelihood", "81.85"]
    assert [(int(row[3]), *row[7:]) for row in rows] == [(length, "–", "100") for length in (1, 2, 3, 5)]
    assert all(float(row[5]) > 0 and float(row[6]) > 0 for row in rows)


def test_benchmark_stops_at_shortest_length_that_reaches_target(benchmark):
    data = benchmark.load(300)
    assert list(benchmark.PLANS) == list(PRINTED)
    ((epochs, runs),) = benchmark.measure("biased-a", 0.0, 2, data)
    assert (epochs, len(runs)) == (1, 2)
    table = benchmark.Table(*map(str, range(9)))
    benchmark.add_rows(table, "biased-a", 0.0, [(epochs, runs)])
    (faster,) = table.columns[7].cells
    seconds, release = (sum(getattr(run, name) for run in runs) / 2 for name in ("seconds", "release_epoch"))
    assert int(faster) == pytest.approx(200 * release / seconds, rel=0.05, abs=1)


def test_benchmark_compares_with_printed_accuracies(benchmark):
    printed = benchmark.paper_accuracies()
    assert {name: printed["mnist", name, "mlp", "scarce"].mean for name in benchmark.PLANS} == PRINTED
