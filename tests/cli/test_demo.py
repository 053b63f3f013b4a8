"""``scarce demo``: which file it writes, and what it needs."""

import sys

import pytest

from scarce.cli.demo import demo
from scarce.demo.page import is_report
from scarce.errors import FileError, ScarceError


def test_demo_replaces_other_file_only_with_force(tmp_path, capsys):
    page = tmp_path / "page.html"
    page.write_text("another file")
    with pytest.raises(FileError, match="exists; choose another name, or pass force=True"):
        demo(page, epochs=10**9)  # rejected before the work begins
    assert page.read_text() == "another file"
    demo(page, epochs=1, force=True)
    first = page.read_bytes()
    demo(page, seed=1, epochs=1)
    assert is_report(page)
    assert page.read_bytes() != first
    demo(page, epochs=1)
    assert page.read_bytes() == first
    assert "Ordinary labels" in capsys.readouterr().out


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_demo_names_missing_package_and_how_to_install_it(package, monkeypatch, tmp_path):
    for name in ("scarce.demo.page", "scarce._html", "scarce._plotting"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ScarceError, match=rf'needs {package}, which is not installed: pip install "scarce\[bench\]"'
    ):
        demo(tmp_path / "page.html")
