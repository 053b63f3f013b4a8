"""Errors of the Dask runner that need no cluster."""

import sys
from pathlib import Path

import pytest

from scarce.bench.runners.dask import run_on_cluster
from scarce.bench.trials.store import Store
from scarce.errors import FileError, ScarceError


def test_run_on_cluster_reports_missing_scheduler_and_missing_dask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    with pytest.raises(FileError, match="no scheduler answers at nonsense://x"):
        list(run_on_cluster([], store, None, "nonsense://x"))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ScarceError, match=r'--cluster needs distributed.*: pip install "scarce\[dask\]"'):
        list(run_on_cluster([], store, None, "tcp://127.0.0.1:1"))
