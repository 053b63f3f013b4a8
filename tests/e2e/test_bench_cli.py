"""``scarce bench`` in real processes: run to the end, killed and resumed, interrupted, twice at once."""

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from helpers.bench import TINY
from helpers.processes import ForkedProcess, ForkServer, process_state, wait_for

pytestmark = pytest.mark.early

Run = Callable[..., Any]
StartRun = Callable[[], tuple[ForkedProcess, int]]
LONG = TINY.replace("epochs = 3", "epochs = 40")
HALTING = TINY.replace('["scarce", "nn"]', '["halting", "nn"]').replace("epochs = 3", "epochs = 10")
COSTS = ("seconds", "peak_memory_mb", "finished")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("tiny", TINY), ("long", LONG), ("halting", HALTING)):
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "own.py").write_text(OWN_METHODS)
    return tmp_path


def results(store: Path) -> dict[str, Any]:
    """The content of the records, apart from costs, by key."""
    records = [json.loads(path.read_text()) for path in sorted((store / "records").glob("[!.]*.json"))]
    return {record["key"]: {name: record[name] for name in record if name not in COSTS} for record in records}


OWN_METHODS = """
import os
import signal
import sys
from pathlib import Path

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


@register
class Halting(Method):
    facts = MethodFacts("halting", "halting", "none", "nothing")
    steps = 0

    def loss(self, logits, batch):
        Halting.steps += 1
        if Halting.steps == 20 and not Path("halted").exists():
            Path("halted").write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGSTOP)
        return (logits.softmax(dim=1) * batch.excluded).sum(dim=1).mean()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def test_run_takes_method_of_script_and_records_one_that_exits(folder: Path, fork_server: ForkServer) -> None:
    (folder / "own.toml").write_text(
        TINY.replace('["scarce", "nn"]', '["mine", "quitter"]').replace("seeds = 2", "seeds = 1")
    )
    words = ("bench", "run", "own.toml", "--store", "store", "--jobs", "2")
    ended = fork_server.run(*words, program=folder / "own.py", cwd=folder)
    assert ended.code == 1, ended
    assert "failed: digits, uniform, quitter, linear, seed 0: SystemExit: 3" in ended.out
    assert ended.out.endswith("1 done, 1 failed\n")
    labels = {record["label"]: record["accuracy"] for record in results(folder / "store").values()}
    assert 0 < labels["mine"] < 1
    assert labels["quitter"] is None


def test_bench_commands_lead_from_status_to_report_and_comparison(folder: Path, run: Run) -> None:
    arguments = (folder / "tiny.toml", "--store", folder / "store")
    code, out, err = run("bench", "status", *arguments)
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

    code, out, err = run("bench", "run", *arguments, "--jobs", "1")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"tiny (shortened): 4 trials, 3 to run; store {folder / 'store'}"
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
    assert (code, err) == (0, "")
    assert out.endswith("4 trials: 4 done, 0 failed, 0 running, 0 left\n")

    code, out, err = run("bench", "report", *arguments)
    assert (code, err) == (0, "")
    assert out == f"{folder / 'store' / 'report'}: report.md, report.tex, report.html, figures\n"
    text = (folder / "store" / "report" / "report.md").read_text()
    for label in ("scarce", "nn"):
        shares = [100 * record["accuracy"] for record in records.values() if record["label"] == label]
        assert f"| {label} | " in text
        assert f"{sum(shares) / 2:.2f} ± " in text
    some = run("bench", "report", *arguments, "--terminal", "--only", "method=nn", "--only", "seed=0").out
    assert "1 of 1 trials are done." in some
    assert not any(line.startswith("scarce ") for line in some.splitlines()[:-1])
    assert some.splitlines()[-1].endswith("--only method=nn --only seed=0")
    others = "holds 4 trials of tiny with another recipe or other settings"
    for command in (("status",), ("report", "--terminal")):
        assert others not in run("bench", command[0], *arguments, *command[1:]).out
        assert others in run("bench", command[0], *arguments, *command[1:], "--epochs", "7").out
    page = (folder / "store" / "report" / "report.html").read_text()
    assert "data:image/" in page
    assert not re.search("https?:", page.replace("http://www.w3.org", ""))
    assert {path.suffix for path in (folder / "store" / "report" / "figures").iterdir()} == {".png", ".svg"}

    longer = (folder / "tiny.toml", "--store", folder / "longer", "--epochs", "4")
    assert run("bench", "run", *longer, "--jobs", "1", "--only", "method=nn", "--only", "seed=0").code == 0
    code, out, err = run("bench", "compare", folder / "store", folder / "longer")
    assert (code, err) == (0, "")
    assert "\nthey differ: epochs 3 in A, 4 in B\n" in out
    assert [line.split()[3] for line in out.splitlines() if line.startswith("digits")] == ["nn"]


def test_killed_run_resumes_and_ends_like_undisturbed_run(
    folder: Path, run: Run, fork_server: ForkServer
) -> None:
    assert run("bench", "run", folder / "long.toml", "--store", folder / "whole", "--jobs", "1").code == 0
    store = folder / "store"
    # A trial takes 5 steps in each of 40 epochs.
    process = fork_server.start(
        "bench", "run", "long.toml", "--store", "store", "--jobs", "1", cwd=folder, halt_after=430
    )
    process.wait_until_halted()
    process.send(signal.SIGKILL)
    process.wait()
    done = results(store)
    assert len(done) == 2
    assert list((store / "locks").glob("*.lock"))

    code, out, err = run("bench", "run", folder / "long.toml", "--store", store, "--jobs", "1")
    assert (code, err) == (0, "")
    assert f"4 trials, {4 - len(done)} to run" in out
    assert results(store) == results(folder / "whole")
    assert list((store / "locks").glob("*.lock")) == []


@pytest.fixture
def start_halting_run(folder: Path, fork_server: ForkServer) -> Callable[[], tuple[ForkedProcess, int]]:
    """Start a run in two worker processes, of which one halts in the middle of a trial; return the run and that worker."""

    def start() -> tuple[ForkedProcess, int]:
        words = ("bench", "run", "halting.toml", "--store", "store", "--jobs", "2")
        process = fork_server.start(*words, program=folder / "own.py", cwd=folder)
        note = folder / "halted"
        worker = int(wait_for(lambda: note.exists() and note.read_text(), "a worker within a trial"))
        wait_for(lambda: process_state(worker) == "T", "the worker to halt")
        return process, worker

    return start


def test_killed_worker_process_is_replaced(folder: Path, start_halting_run: StartRun) -> None:
    process, worker = start_halting_run()
    os.kill(worker, signal.SIGKILL)
    code, out, err = process.wait()
    assert code == 0, err
    assert out.splitlines()[0] == "tiny (shortened): 4 trials, 4 to run; store store"
    assert out.splitlines()[-1] == "4 done, 0 failed"
    assert [record["status"] for record in results(folder / "store").values()] == ["done"] * 4
    assert list((folder / "store" / "checkpoints").iterdir()) == []


@pytest.mark.parametrize("end", [
    lambda pid: os.killpg(pid, signal.SIGINT),  # as a terminal does: to all processes
    lambda pid: os.kill(pid, signal.SIGTERM),  # as an administrator or a job scheduler does
], ids=["interrupt", "terminate"])  # fmt: skip
def test_interrupted_run_says_how_to_resume_and_ends_its_workers(
    start_halting_run: StartRun, end: Callable[[int], None]
) -> None:
    process, worker = start_halting_run()
    end(process.pid)
    os.kill(worker, signal.SIGCONT)
    code, out, err = process.wait()
    assert code == 130
    # Rarely, joblib's resource tracker warns, when a daemon thread is ended between two steps of cleaning up.
    ours = re.sub(r".*resource_tracker\.py:.*\n  warnings\.warn\(.*\n", "", err)
    assert ours == "interrupted; rerun the same command to resume\n"
    assert "Traceback" not in out
    wait_for(lambda: process_state(worker) is None, "the end of the worker")


def test_concurrent_runs_on_one_store_do_each_trial_once(folder: Path, fork_server: ForkServer) -> None:
    words = ("bench", "run", "long.toml", "--store", "store", "--jobs", "1")
    runs = [fork_server.start(*words, cwd=folder) for _ in range(2)]
    for code, out, err in [run.wait() for run in runs]:
        assert (code, err) == (0, "")
        assert out.splitlines()[-1] == "4 done, 0 failed"
    records = [json.loads(path.read_text()) for path in (folder / "store" / "records").glob("[!.]*.json")]
    assert len(records) == 4
    assert all(len(record["curves"]["loss"]) == 40 for record in records)
