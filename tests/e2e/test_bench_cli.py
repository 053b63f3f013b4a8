"""``scarce bench`` as a shell runs it: to the end, killed and resumed, twice at once, with failures."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.early

TINY = """
name = "tiny"
title = "Tiny"
protocol = "shortened"
data = "digits"
settings = ["uniform"]
methods = ["scarce", "nn"]
models = "linear"
seeds = 2
recipe = "annealed"
epochs = 3
"""
LONG = TINY.replace("epochs = 3", "epochs = 40")
PAIR = LONG.replace("seeds = 2", "seeds = 1")
COMMAND = [sys.executable, "-m", "scarce", "bench"]
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}
COSTS = ("seconds", "peak_memory_mb", "finished")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "long.toml").write_text(LONG)
    (tmp_path / "pair.toml").write_text(PAIR)
    return tmp_path


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def shell(folder: Path, *arguments: str) -> tuple[int, str, str]:
    with start(folder, *arguments) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def results(store: Path) -> dict[str, Any]:
    """What records hold, apart from what it cost, by key."""
    records = [json.loads(path.read_text()) for path in sorted((store / "records").glob("[!.]*.json"))]
    return {record["key"]: {name: record[name] for name in record if name not in COSTS} for record in records}


def wait_for(what: Callable[[], Any], seconds: float = 60) -> Any:
    for _ in range(int(seconds / 0.01)):
        found = what()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("waited in vain")


def epochs_of_a_checkpoint(store: Path) -> int:
    from scarce.errors import FileError
    from scarce.training.checkpoint import load_state

    for path in (store / "checkpoints").glob("[!.]*.safetensors"):
        try:
            return int(load_state(path)["epoch"])
        except FileError:  # it has just gone
            continue
    return 0


def kill_when(process: subprocess.Popen[str], what: Callable[[], bool]) -> None:
    """Kill at a moment when this holds; what is asked is asked of a halted process, which cannot go past it."""

    def held() -> bool:
        if not what():
            return False
        os.kill(process.pid, signal.SIGSTOP)
        wait_for(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
        if what():
            return True
        os.kill(process.pid, signal.SIGCONT)
        return False

    wait_for(held)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


OWN_METHOD = """
import sys

import torch

from scarce.cli.main import main
from scarce.methods import Method, MethodFacts, register


@register
class Mine(Method):
    facts = MethodFacts("mine", "mine", "none", "nothing")

    def loss(self, logits, batch):
        return (logits.softmax(dim=1) * batch.excluded).sum(dim=1).mean()


@register
class Quitter(Method):
    facts = MethodFacts("quitter", "quitter", "none", "nothing")

    def loss(self, logits, batch):
        sys.exit(3)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def test_a_method_of_a_script_runs_in_other_processes_and_one_that_exits_is_a_failed_trial(
    folder: Path,
) -> None:
    (folder / "own.py").write_text(OWN_METHOD)
    (folder / "own.toml").write_text(
        TINY.replace('["scarce", "nn"]', '["mine", "quitter"]').replace("seeds = 2", "seeds = 1")
    )
    words = ("bench", "run", "own.toml", "--store", "store", "--jobs", "2")
    told = subprocess.run(
        [sys.executable, "own.py", *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert told.returncode == 1, (told.stdout, told.stderr)
    assert "failed: digits, uniform, quitter, linear, seed 0: SystemExit: 3" in told.stdout
    assert told.stdout.endswith("1 done, 1 failed\n")
    labels = {record["label"]: record["accuracy"] for record in results(folder / "store").values()}
    assert 0 < labels["mine"] < 1
    assert labels["quitter"] is None


def test_from_a_plan_to_records_a_report_and_a_comparison(folder: Path, run: Callable[..., Any]) -> None:
    arguments = (folder / "tiny.toml", "--store", folder / "store")
    code, out, err = run("bench", "plan", *arguments)
    assert (code, err) == (0, "")
    assert "method   2  scarce, nn" in out
    assert out.endswith("4 trials: 0 done, 0 failed, 0 running, 4 left\n")
    assert not (folder / "store").exists()

    only = ("--only", "method=scarce", "--only", "seed=1")
    code, out, err = run("bench", "run", *arguments, "--jobs", "1", *only)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"tiny (shortened): 1 trial, 1 to run; store {folder / 'store'}"
    assert "done: digits, uniform, scarce, linear, seed 1: " in out
    first = {path.name: path.stat().st_mtime_ns for path in (folder / "store" / "records").iterdir()}
    assert len(first) == 1

    code, out, err = shell(folder, "run", "tiny.toml", "--store", "store", "--jobs", "2")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "tiny (shortened): 4 trials, 3 to run; store store"
    assert out.splitlines()[-1] == "4 done, 0 failed"
    records = results(folder / "store")
    assert sorted((r["label"], r["spec"]["seed"]) for r in records.values()) == [
        ("nn", 0), ("nn", 1), ("scarce", 0), ("scarce", 1),
    ]  # fmt: skip
    assert all(
        (r["status"], r["protocol"], r["format"]) == ("done", "shortened", "scarce-trial-2")
        for r in records.values()
    )
    assert all(0 < r["accuracy"] < 1 and len(r["curves"]["loss"]) == 3 for r in records.values())
    for name, written in first.items():
        assert (folder / "store" / "records" / name).stat().st_mtime_ns == written
    assert list((folder / "store" / "checkpoints").iterdir()) == []

    code, out, err = run("bench", "status", *arguments)
    assert (code, out, err) == (0, "4 trials: 4 done, 0 failed, 0 running, 0 left\n", "")

    code, out, err = run("bench", "report", *arguments)
    assert (code, err) == (0, "")
    assert out == f"{folder / 'store' / 'report'}: report.md, report.tex, report.html, figures\n"
    text = (folder / "store" / "report" / "report.md").read_text()
    for label in ("scarce", "nn"):
        shares = [100 * record["accuracy"] for record in records.values() if record["label"] == label]
        assert f"| {label} | " in text
        assert f"{sum(shares) / 2:.2f} ± " in text
    some = run("bench", "report", *arguments, "--terminal", "--only", "method=nn", "seed=0").out
    assert "1 of 1 trials are done." in some
    assert not any(line.startswith("scarce ") for line in some.splitlines()[:-1])
    assert some.splitlines()[-1].endswith("--only method=nn --only seed=0")
    others = "holds 4 trials of tiny with another recipe or other settings"
    for command in (("status",), ("report", "--terminal")):
        assert others not in run("bench", command[0], *arguments, *command[1:]).out
        assert others in run("bench", command[0], *arguments, *command[1:], "--epochs", "7").out
    page = (folder / "store" / "report" / "report.html").read_text()
    assert "data:image/" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert {path.suffix for path in (folder / "store" / "report" / "figures").iterdir()} == {".png", ".svg"}

    longer = (folder / "tiny.toml", "--store", folder / "longer", "--epochs", "4")
    assert run("bench", "run", *longer, "--jobs", "1", "--only", "method=nn", "seed=0").code == 0
    code, out, err = run("bench", "compare", folder / "store", folder / "longer")
    assert (code, err) == (0, "")
    assert "\nthey differ: epochs 3 in A, 4 in B\n" in out
    assert [line.split()[3] for line in out.splitlines() if line.startswith("digits")] == ["nn"]


def test_killed_at_any_time_it_goes_on_and_ends_as_if_nothing_had_been(
    folder: Path, run: Callable[..., Any]
) -> None:
    assert run("bench", "run", folder / "long.toml", "--store", folder / "whole", "--jobs", "1").code == 0
    store = folder / "store"
    with start(folder, "run", "long.toml", "--store", "store", "--jobs", "1") as process:
        kill_when(
            process, lambda: len(results(store)) in (1, 2, 3) and 3 < epochs_of_a_checkpoint(store) < 40
        )
    done = results(store)
    assert list((store / "locks").glob("*.lock"))

    code, out, err = run("bench", "run", folder / "long.toml", "--store", store, "--jobs", "1")
    assert (code, err) == (0, "")
    assert f"4 trials, {4 - len(done)} to run" in out
    assert results(store) == results(folder / "whole")
    assert list((store / "locks").glob("*.lock")) == []


def test_a_worker_process_that_is_killed_is_replaced(folder: Path) -> None:
    store = folder / "store"
    with start(folder, "run", "pair.toml", "--store", "store", "--jobs", "2") as process:
        wait_for(lambda: epochs_of_a_checkpoint(store) > 3)
        lock = wait_for(lambda: list((store / "locks").glob("*.lock")))[0]
        os.kill(json.loads(lock.read_text())["pid"], signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.splitlines()[-1] == "2 done, 0 failed"


@pytest.mark.parametrize("end", [
    lambda pid: os.killpg(pid, signal.SIGINT),  # as a terminal does: to all processes
    lambda pid: os.kill(pid, signal.SIGTERM),  # as an administrator or a job scheduler does
])  # fmt: skip
def test_interrupted_it_says_how_to_go_on_and_leaves_no_process_behind(
    folder: Path, end: Callable[[int], None]
) -> None:
    store = folder / "store"
    with start(folder, "run", "long.toml", "--store", "store", "--jobs", "2") as process:
        wait_for(lambda: epochs_of_a_checkpoint(store) > 3)
        lock = wait_for(lambda: list((store / "locks").glob("*.lock")))[0]
        worker = json.loads(lock.read_text())["pid"]
        end(process.pid)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "interrupted; the same command goes on from here\n"
    assert "Traceback" not in out
    wait_for(lambda: not Path(f"/proc/{worker}").exists())


def test_two_runs_on_one_store_do_each_trial_once(folder: Path) -> None:
    runs = [start(folder, "run", "long.toml", "--store", "store", "--jobs", "1") for _ in range(2)]
    ends = [(*run.communicate(timeout=120), run.returncode) for run in runs]
    for out, err, code in ends:
        assert (code, err) == (0, "")
        assert out.splitlines()[-1] == "4 done, 0 failed"
    records = [json.loads(path.read_text()) for path in (folder / "store" / "records").glob("[!.]*.json")]
    assert len(records) == 4
    assert all(len(record["curves"]["loss"]) == 40 for record in records)


def test_a_damaged_record_is_told_of_and_its_trial_run_again(folder: Path, run: Callable[..., Any]) -> None:
    arguments = ("bench", "run", folder / "tiny.toml", "--store", folder / "store", "--jobs", "1")
    assert run(*arguments).code == 0
    before = results(folder / "store")
    damaged = sorted((folder / "store" / "records").iterdir())[0]
    damaged.write_bytes(damaged.read_bytes()[:100])
    code, out, err = shell(folder, "run", "tiny.toml", "--store", "store", "--jobs", "1")
    assert code == 0
    assert err.startswith(f"warning: store/records/{damaged.name} is damaged")
    assert err.count("\n") == 1
    assert "4 trials, 1 to run" in out
    assert results(folder / "store") == before


def test_a_trial_that_fails_is_told_and_the_others_go_on(folder: Path, run: Callable[..., Any]) -> None:
    multiple = '[{ name = "three", process = "uniform-multiple", params = { sizes = 3 } }]'
    (folder / "fails.toml").write_text(TINY.replace('["uniform"]', multiple))
    arguments = (folder / "fails.toml", "--store", folder / "store")
    result = run("bench", "run", *arguments, "--jobs", "1")
    assert result.code == 1
    assert "failed: digits, three, nn, linear, seed 0: nn takes one excluded class per example" in result.out
    assert result.out.splitlines()[-1] == "2 done, 2 failed"
    assert result.err == "`scarce bench status` shows why; --retry-failed runs them again\n"
    assert (
        sorted(record["status"] for record in results(folder / "store").values())
        == ["done"] * 2 + ["failed"] * 2
    )

    again = run("bench", "run", *arguments, "--jobs", "1")
    assert (again.code, "4 trials, 0 to run" in again.out) == (1, True)
    assert "4 trials, 2 to run" in run("bench", "run", *arguments, "--jobs", "1", "--retry-failed").out
    result = run("bench", "status", *arguments)
    assert result.code == 1
    assert result.out.count("failed: digits, three, nn, linear, seed") == 2


def test_changes_on_the_command_line_are_other_trials(folder: Path, run: Callable[..., Any]) -> None:
    arguments = (folder / "tiny.toml", "--store", folder / "store")
    short = ("--epochs", "1", "--seeds", "1", "--only", "method=nn", "--only", "setting=uniform")
    assert run("bench", "run", *arguments, *short, "--jobs", "1").code == 0
    assert "1 trial: 1 done" in run("bench", "plan", *arguments, *short).out
    assert "4 trials: 0 done" in run("bench", "plan", *arguments).out
    result = run("bench", "plan", "paper-mnist", "--recipe", "annealed", "--data-dir", folder, "--seeds", "2")
    assert "paper-mnist: Table 2: MNIST (protocol: shortened)" in result.out
    assert "140 trials: " in result.out


def test_the_experiments_are_listed(run: Callable[..., Any]) -> None:
    result = run("bench", "list")
    assert result.code == 0
    assert "quick-digits" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plan", "paper-minst"), "there is no experiment 'paper-minst'"),
        (
            ("plan", "tiny.toml", "--only", "method"),
            "--only 'method' is not understood; expected axis=name,...",
        ),
        (("plan", "tiny.toml", "--only", "size=3"), "there is no axis 'size'"),
        (("run", "tiny.toml", "--only", "method=scarcy"), "no trial has the method 'scarcy'"),
        (("run", "tiny.toml", "--epochs", "0"), "--epochs"),
        (("status", "tiny.toml", "--store", "nowhere"), "nowhere does not exist"),
        (("report", "tiny.toml", "--store", "nowhere"), "nowhere does not exist"),
        (("compare", "nowhere", "elsewhere"), "nowhere does not exist"),
    ],
)
def test_mistakes(
    folder: Path,
    run_expecting_error: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(folder)
    assert message in run_expecting_error("bench", *arguments)
