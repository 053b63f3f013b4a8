"""The benchmark of many classes and rows runs, and says what it should."""

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to measure the memory")
def test_the_quick_benchmark_measures_every_case(tmp_path, monkeypatch):
    out = tmp_path / "scale"
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.setattr(sys, "argv", ["scale.py", "--quick", "--seeds", "1", "--out", str(out)])
    import scale

    scale.main()
    *cases, share = json.loads(out.with_suffix(".json").read_text())["records"]
    assert [case["row"] for case in cases] == ["400/30/0", "1200/30/0", "1200/10/0"]
    for case in cases:
        assert min(case[part] for part in ("simulate", "build", "epoch", "judge")) > 0
        assert case["bytes_per_label"] == pytest.approx(4 + 8 / 3, abs=0.05)
        assert abs(case["estimated_accuracy"] - case["accuracy"]) < 6 * case["standard_error"]
    assert all(share[name]["share"] > 0 for name in ("scarce", "cross-entropy"))
    assert "| 1,200 | 10 |" in out.with_suffix(".md").read_text()
    assert out.with_suffix(".svg").read_text().startswith("<svg")
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
