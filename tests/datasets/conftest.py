"""Data sets are searched for in temporary folders only."""

from pathlib import Path

import platformdirs
import pytest

from scarce.datasets import _files


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder in place of the user's."""
    monkeypatch.delenv("SCARCE_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path / "cache")
    monkeypatch.setattr(_files, "_SYSTEM", tmp_path / "system")
    return tmp_path / "cache"
