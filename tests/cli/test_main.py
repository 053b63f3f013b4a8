"""The command line as a whole: help, version, and exit codes."""

import pytest
from helpers.command_line import RunCommand

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
        (scarce.errors.LabelError("two\nlines"), 2, "error: two lines\n"),
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
