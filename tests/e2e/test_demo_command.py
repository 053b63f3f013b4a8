"""``scarce demo`` in a process of its own."""

import subprocess
import sys
from pathlib import Path

from helpers.processes import ENVIRONMENT, ForkServer


def test_demo_prints_one_table_and_writes_the_page(tmp_path: Path, fork_server: ForkServer) -> None:
    page = tmp_path / "new" / "page.html"
    code, out, err = fork_server.run("demo", "--out", page, "--seed", "5", "--epochs", "1")
    assert code == 0, err
    *lines, where = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert str(page) in where
    names = ("method", "SCARCE", "Ordinary")
    assert [sum(line.startswith(name) for line in lines) for name in names] == [1, 3, 1]
    assert "Ordinary labels" in err  # the progress bars, by the names of the runs
    assert "Ordinary labels" in page.read_text(encoding="utf-8")
    assert [path.name for path in page.parent.iterdir()] == ["page.html"]


def test_demo_module_imports_nothing_heavy() -> None:
    code = "import sys, scarce.cli.demo; print({'torch', 'numpy', 'matplotlib', 'rich.progress'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
