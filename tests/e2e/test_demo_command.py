"""``scarce demo`` as a user meets it."""

import subprocess
import sys


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


def test_the_module_of_the_command_is_light():
    code = "import sys, scarce.cli.demo; print({'torch', 'numpy', 'matplotlib', 'rich.progress'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
