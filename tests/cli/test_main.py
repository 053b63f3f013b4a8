"""The command line as a whole: help, version, and exit codes."""

from pathlib import Path

import pytest
from helpers.command_line import RunCommand, RunExpectingError
from helpers.csv_files import write_csv

import scarce
from scarce.cli import main as main_module


def test_main_shows_version_and_help(run: RunCommand) -> None:
    assert run("--version") == (0, f"scarce {scarce.__version__}\n", "")
    assert run() == run("--help")
    assert run("labels") == run("labels", "--help")


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (OSError(28, "No space left on device"), 1, "error: [Errno 28] No space left on device\n"),
        (PermissionError(13, "Permission denied"), 2, "error: [Errno 13] Permission denied\n"),
        (MemoryError(), 1, "error: out of memory"),
        (ValueError("X is odd.\nSee the manual."), 2, "error: X is odd.\n"),
        (scarce.errors.LabelError("two\nlines"), 2, "error: two\\nlines\n"),
    ],
)
def test_main_maps_errors_to_exit_codes(
    error: Exception, code: int, line: str, monkeypatch: pytest.MonkeyPatch, run: RunCommand
) -> None:
    def app(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(main_module, "app", app)
    result = run("train")
    assert result.code == code
    assert result.err.startswith(line)
    assert result.err.count("\n") == 1


def test_main_returns_1_for_full_disk(monkeypatch: pytest.MonkeyPatch, run: RunCommand) -> None:
    def app(*_: object, **__: object) -> None:
        raise scarce.errors.FileError("a.csv cannot be written") from OSError(28, "No space left on device")

    monkeypatch.setattr(main_module, "app", app)
    assert run("train").code == 1


def test_main_reports_out_of_memory_in_one_line(run, monkeypatch) -> None:
    def app(*_: object, **__: object) -> None:
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory: 12 bytes."
        )

    monkeypatch.setattr("scarce.cli.main.app", app)
    code, _, err = run("methods")
    assert code == 1
    assert err.startswith("error: out of memory; ")
    assert "--micro-batch" in err


def test_main_raises_other_errors_of_torch(run, monkeypatch) -> None:
    def app(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("scarce.cli.main.app", app)
    with pytest.raises(RuntimeError, match="a bug"):
        run("methods")


def test_control_characters_of_names_are_shown_as_escapes_but_kept_in_files(
    tmp_path: Path, run: RunCommand, run_expecting_error: RunExpectingError
) -> None:
    answers = tmp_path / "a\x1b[2J.csv"
    rows = [[f"e{row}", f"ca\x1b[31mt\u202e{row % 3}", "no"] for row in range(6)]
    write_csv(answers, ["example_id", "class_name", "answer"], rows)
    shown = run("labels", "describe", answers)
    assert shown.code == 0, shown.err
    assert r"ca\x1b[31mt\u202e0" in shown.out
    assert "\x1b" not in shown.out
    assert "\u202e" not in shown.out
    written = run("labels", "convert", answers, tmp_path / "b\x9b.csv")
    assert written.out.endswith("b\\x9b.csv\n")
    assert "ca\x1b[31mt\u202e0" in (tmp_path / "b\x9b.csv").read_text(encoding="utf-8")
    error = run_expecting_error("labels", "describe", tmp_path / "\x1b]0;title\x07.csv")
    assert r"\x1b]0;title\x07.csv does not exist" in error
    assert "\x1b" not in error


def test_class_name_with_lone_surrogate_is_an_error_when_labels_are_read(
    tmp_path: Path, run_expecting_error: RunExpectingError
) -> None:
    (tmp_path / "truth.csv").write_text("id,label\na,cat\nb,dog\n")
    command = ["labels", "simulate", tmp_path / "truth.csv", tmp_path / "out.csv", "--classes"]
    assert r"the class name 'do\udce9' contains a lone surrogate" in run_expecting_error(
        *command, "cat,dog,do\udce9"
    )
    assert not (tmp_path / "out.csv").exists()
