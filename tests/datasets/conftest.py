"""Data sets are looked for in temporary folders only."""

from pathlib import Path

import pooch
import pytest

from scarce.datasets import _files


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder instead of the user's."""
    monkeypatch.delenv("SCARCE_DATA", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda _: tmp_path / "cache")
    monkeypatch.setattr(_files, "_SYSTEM", tmp_path / "system")
    return tmp_path / "cache"
