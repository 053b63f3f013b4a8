"""``scarce demo`` as a user meets it."""

import subprocess
import sys

import pytest

from scarce.cli.demo import demo
from scarce.demo.page import is_report
from scarce.errors import FileError, ScarceError


def test_the_command_prints_one_table_and_writes_the_page(tmp_path):
    page = tmp_path / "new" / "page.html"
    command = [sys.executable, "-m", "scarce", "demo", "--out", str(page), "--seed", "5", "--epochs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    *lines, where = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert str(page) in where
    assert [sum(line.startswith(name) for line in lines) for name in ("method", "SCARCE", "Ordinary")] == [
        1,
        3,
        1,
    ]
    assert "Ordinary labels" in done.stderr  # the bars, by the names of the runs
    assert "Ordinary labels" in page.read_text(encoding="utf-8")
    assert [path.name for path in page.parent.iterdir()] == ["page.html"]


def test_an_earlier_page_is_replaced_but_no_other_file_unless_forced(tmp_path, capsys):
    page = tmp_path / "page.html"
    page.write_text("something dear")
    with pytest.raises(FileError, match="exists; choose another name, or pass force=True"):
        demo(page, epochs=10**9)  # refused before the work begins
    assert page.read_text() == "something dear"
    demo(page, epochs=1, force=True)
    first = page.read_bytes()
    demo(page, seed=1, epochs=1)
    assert is_report(page)
    assert page.read_bytes() != first
    demo(page, epochs=1)
    assert page.read_bytes() == first
    assert "Ordinary labels" in capsys.readouterr().out


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_a_missing_package_is_named_with_its_cure(package, monkeypatch, tmp_path):
    for name in ("scarce.demo.page", "scarce._plotting"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ScarceError, match=rf'needs {package}, which is not installed: pip install "scarce\[bench\]"'
    ):
        demo(tmp_path / "page.html")


def test_the_module_of_the_command_is_light():
    code = "import sys, scarce.cli.demo; print({'torch', 'numpy', 'matplotlib', 'rich.progress'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
