"""``scarce bench``: selection of trials, missing data, failures, and the command of a report."""

import gzip
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from helpers.bench import ONE_METHOD_FAILS, write_experiment
from helpers.command_line import RunCommand, RunExpectingError

from scarce.bench.runners.local import Outcome
from scarce.bench.spec.experiment import Experiment
from scarce.bench.spec.trial import TrialSpec
from scarce.bench.trials import plan as plan_module
from scarce.bench.trials.plan import Trial
from scarce.bench.trials.record import TrialRecord
from scarce.cli.main import main
from scarce.datasets import _files as locate
from scarce.datasets._sources import MNIST

LABELS = """
name = "labels"
title = "Labels"
protocol = "shortened"
data = "digits"
settings = ["uniform", { name = "few, and rare", process = "scar", params = { rates = 0.2 } }]
methods = ["scarce", "nn", { label = "no correction", method = "scarce-ure" }]
models = "linear"
seeds = 2
recipe = "annealed"
epochs = 1
priors = [{ perturb = 0.0 }, { perturb = 0.2 }]
"""


@pytest.fixture
def labels_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an experiment, from which no data of the user or the system is seen."""
    monkeypatch.delenv("SCARCE_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path / "cache")
    monkeypatch.setattr(locate, "_SYSTEM", tmp_path / "system")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labels.toml").write_text(LABELS, "utf-8")
    return tmp_path


@pytest.mark.usefixtures("labels_dir")
@pytest.mark.parametrize(
    ("only", "count", "names"),
    [
        (["method=scarce, σ = 0.2"], 4, "scarce, σ = 0.2"),
        ([" method = no correction, σ = 0 "], 4, "no correction, σ = 0"),
        (["method=scarce, σ = 0.2", "method=nn, σ = 0"], 8, "scarce, σ = 0.2, nn, σ = 0"),
        (["method=scarce-ure , nn", "setting=uniform"], 8, "nn, σ = 0, nn, σ = 0.2, no correction, σ = 0"),
        (["setting=few, and rare", "seed=1"], 6, "few, and rare"),
        (["setting=uniform,few, and rare"], None, "no trial has the setting 'few'"),
        (["method=no"], None, "no trial has the method 'no'"),
        (["method= , "], None, "--only 'method= , ' has no axis or no name; expected AXIS=NAME,..."),
    ],
)
def test_only_option_selects_trials_by_label(
    only: list[str], count: int | None, names: str, run: RunCommand
) -> None:
    result = run("bench", "status", "labels.toml", *(word for text in only for word in ("--only", text)))
    if count is None:
        assert (result.code, names in result.err) == (2, True)
    else:
        assert result.code == 0
        assert names in " ".join(result.out.split())
        assert f"{count} trials: 0 done" in result.out


@pytest.mark.usefixtures("labels_dir")
@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--only", "method=scarce-ure,nn", "--only", "setting=uniform"], 8),
        (["--only=seed=0", "--only=setting=uniform", "--only=method=nn"], 2),
        (["--only", "seed=0", "--seeds", "1", "--only", "method=nn", "--only", "setting=uniform"], 2),
    ],
)
def test_only_option_is_repeated_for_several_axes(words: list[str], count: int, run: RunCommand) -> None:
    result = run("bench", "status", "labels.toml", *words)
    assert (result.code, result.err) == (0, "")
    assert f"{count} trials: 0 done" in result.out


@pytest.mark.usefixtures("labels_dir")
def test_bench_status_rejects_words_that_select_nothing(run_expecting_error: RunExpectingError) -> None:
    assert "unexpected extra argument" in run_expecting_error(
        "bench", "status", "labels.toml", "setting=uniform"
    )
    assert "unexpected extra argument" in run_expecting_error(
        "bench", "status", "labels.toml", "--only", "seed=0", "setting=uniform"
    )
    assert "axis='other' is unknown" in run_expecting_error(
        "bench", "status", "labels.toml", "--only", "other=1"
    )


def test_bench_status_distinguishes_missing_data_from_damaged_data(
    labels_dir: Path, run: RunCommand, run_expecting_error: RunExpectingError
) -> None:
    (labels_dir / "data" / "mnist").mkdir(parents=True)
    result = run("bench", "status", "quick-mnist", "--data-dir", "data")
    assert result.code == 0
    assert (
        "mnist is not downloaded, so its progress is unknown; get it with: scarce data fetch mnist"
        in result.out
    )
    for command in ("status", "status"):
        text = run_expecting_error("bench", command, "quick-mnist", "--data-dir", "nowhere")
        assert "nowhere does not exist" in text
    for file in MNIST.files:
        (labels_dir / "data" / "mnist" / f"{file.name}.gz").write_bytes(gzip.compress(b"digits")[:-5])
    text = run_expecting_error("bench", "status", "quick-mnist", "--data-dir", "data")
    assert "is a damaged or truncated gzip file; download it again" in text


def command_of(run: RunCommand, *arguments: object) -> list[str]:
    result = run("bench", "report", *arguments, "--terminal")
    assert result.code == 0, result.err
    return shlex.split(result.out.splitlines()[-1])


def test_bench_report_repeats_the_command(labels_dir: Path, run: RunCommand) -> None:
    folder = labels_dir / "my files"
    folder.mkdir()
    # A file of the user, with the name of an experiment that comes with the library.
    (folder / "own.toml").write_text(LABELS.replace('"labels"', '"quick-digits"'), "utf-8")
    (labels_dir / "bench" / "quick-digits" / "records").mkdir(parents=True)
    (labels_dir / "elsewhere" / "records").mkdir(parents=True)
    own = "my files/own.toml"
    assert command_of(run, own) == ["scarce", "bench", "run", own]
    options = ["--recipe", "paper", "--epochs", "3", "--seeds", "1", "--store", "elsewhere"]
    assert command_of(run, own, *options) == ["scarce", "bench", "run", own, *options]
    assert command_of(run, "quick-digits", "--seeds", 1)[3:] == ["quick-digits", "--seeds", "1"]


@pytest.mark.usefixtures("labels_dir")
def test_bench_run_on_cluster_counts_its_workers(run: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_ends(trials: list[Trial], *_: object, **__: object) -> Iterator[Outcome]:
        yield Outcome(trials[0], "done", accuracy=0.5, seconds=1.0)

    monkeypatch.setattr("scarce.bench.runners.dask.n_workers", lambda url: {"tcp://host:8786": 5}[url])
    monkeypatch.setattr("scarce.bench.runners.dask.run_on_cluster", one_ends)
    result = run("bench", "run", "labels.toml", "--cluster", "tcp://host:8786")
    assert "(1 done, 5 running, 18 left, 0 failed" in result.out


@pytest.mark.usefixtures("labels_dir")
def test_bench_status_rejects_too_many_seeds(run_expecting_error: RunExpectingError) -> None:
    text = run_expecting_error("bench", "status", "labels.toml", "--seeds", "1000000000000")
    assert "seeds=1000000000000; expected a whole number from 1 to 1000" in text


def test_bench_commands_read_packed_results_and_do_not_write_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "run", "quick-digits", "--epochs", "1", "--seeds", "1", "--jobs", "1"]) == 0
    assert main(["bench", "pack", "bench/quick-digits"]) == 0
    assert capsys.readouterr().out.endswith("results/quick-digits.jsonl: 8 trials\n")
    short = ["--epochs", "1", "--seeds", "1"]
    assert main(["bench", "status", "quick-digits", "--store", "results", *short]) == 0
    assert "8 trials: 8 done" in capsys.readouterr().out
    for store in ("results", "bench/quick-digits"):
        assert (
            main(["bench", "report", "quick-digits", "--store", store, "--out", f"{store}.md", *short]) == 0
        )
    ours, theirs = (Path(name).read_text().splitlines() for name in ("results.md", "bench/quick-digits.md"))
    assert [line for line in ours if "scarce bench" not in line] == [
        line for line in theirs if "scarce bench" not in line
    ]
    assert "scarce bench run quick-digits --epochs 1 --seeds 1" in ours
    assert "Calibration" in "".join(ours)
    capsys.readouterr()
    assert main(["bench", "run", "quick-digits", "--store", "results/quick-digits.jsonl"]) == 2
    assert (
        "packed results, which are read-only; choose another folder with --store" in capsys.readouterr().err
    )


def test_run_does_not_mix_trials_with_packed_results_of_another_experiment(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("results").mkdir()
    Path("results/paper-mnist.jsonl").write_text("")
    assert main(["bench", "run", "quick-digits", "--store", "results"]) == 2
    assert "results holds packed results, which are read-only" in capsys.readouterr().err
    assert [path.name for path in Path("results").iterdir()] == ["paper-mnist.jsonl"]
    assert main(["bench", "pack", "nowhere"]) == 2
    assert "nowhere does not exist" in capsys.readouterr().err


def test_bench_list_names_experiments(run: RunCommand) -> None:
    result = run("bench", "list")
    assert result.code == 0
    assert "quick-digits" in result.out


def contents(store: Path) -> dict[str, Any]:
    """The content of the records, apart from costs, by the name of their file."""
    costs = ("seconds", "peak_memory_mb", "finished")
    records = {path.name: json.loads(path.read_text()) for path in (store / "records").iterdir()}
    return {
        name: {key: record[key] for key in record if key not in costs} for name, record in records.items()
    }


@pytest.fixture
def tiny_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the file of an experiment."""
    monkeypatch.chdir(tmp_path)
    write_experiment(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("tiny_dir")
@pytest.mark.filterwarnings("default:.*is damaged:UserWarning")
def test_bench_run_warns_of_damaged_record_and_repeats_its_trial(run: RunCommand) -> None:
    arguments = ("bench", "run", "tiny.toml", "--store", "store", "--jobs", "1")
    assert run(*arguments).code == 0
    before = contents(Path("store"))
    damaged = sorted(Path("store", "records").iterdir())[0]
    damaged.write_bytes(damaged.read_bytes()[:100])
    code, out, err = run(*arguments)
    assert code == 0
    assert err.startswith(f"warning: store/records/{damaged.name} is damaged")
    assert err.count("\n") == 1
    assert "4 trials, 1 to run" in out
    assert contents(Path("store")) == before


def test_bench_run_reports_failed_trial_and_runs_the_others(tiny_dir: Path, run: RunCommand) -> None:
    write_experiment(tiny_dir, ONE_METHOD_FAILS)
    arguments = ("tiny.toml", "--store", "store")
    result = run("bench", "run", *arguments, "--jobs", "1")
    assert result.code == 1
    assert "failed: digits, three, nn, linear, seed 0: nn takes one excluded class per example" in result.out
    assert result.out.splitlines()[-1] == "2 done, 2 failed"
    assert result.err == "`scarce bench status` shows why; --retry-failed runs them again\n"
    assert (
        sorted(json.loads(path.read_text())["status"] for path in Path("store", "records").iterdir())
        == ["done"] * 2 + ["failed"] * 2
    )

    again = run("bench", "run", *arguments, "--jobs", "1")
    assert (again.code, "4 trials, 0 to run" in again.out) == (1, True)
    assert "4 trials, 2 to run" in run("bench", "run", *arguments, "--jobs", "1", "--retry-failed").out
    result = run("bench", "status", *arguments)
    assert result.code == 1
    assert result.out.count("failed: digits, three, nn, linear, seed") == 2


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("report", "--terminal", "--out", "tables.md"),
        ("report", "--only", "seed=0"),
        ("status", "--epochs", "9"),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("tiny_dir")
def test_bench_commands_plan_once_and_read_each_record_once(
    command: tuple[str, ...], run: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("tiny.toml", "--store", "store")
    assert run("bench", "run", *arguments, "--jobs", "1").code == 0
    plans: list[str] = []
    read: list[str] = []
    real_specs, real_load = plan_module.trial_specs, TrialRecord.load

    def counting_specs(experiment: Experiment) -> Iterator[tuple[TrialSpec, str]]:
        plans.append(experiment.name)
        return real_specs(experiment)

    def counting_load(path: Path) -> TrialRecord:
        read.append(path.name)
        return real_load(path)

    monkeypatch.setattr(plan_module, "trial_specs", counting_specs)
    monkeypatch.setattr(TrialRecord, "load", counting_load)
    name, *options = command
    assert run("bench", name, *arguments, *options).code == 0
    assert plans == ["tiny"]
    assert sorted(read) == sorted(path.name for path in Path("store", "records").iterdir())


def test_bench_options_change_the_trials(tiny_dir: Path, run: RunCommand) -> None:
    arguments = ("tiny.toml", "--store", "store")
    short = ("--epochs", "1", "--seeds", "1", "--only", "method=nn", "--only", "setting=uniform")
    assert run("bench", "run", *arguments, *short, "--jobs", "1").code == 0
    assert "1 trial: 1 done" in run("bench", "status", *arguments, *short).out
    assert "4 trials: 0 done" in run("bench", "status", *arguments).out
    result = run(
        "bench", "status", "paper-mnist", "--recipe", "annealed", "--data-dir", tiny_dir, "--seeds", "2"
    )
    assert "paper-mnist: Table 2: MNIST (protocol: shortened)" in result.out
    assert "140 trials: " in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("status", "paper-minst"), "there is no experiment 'paper-minst'"),
        (
            ("status", "tiny.toml", "--only", "method"),
            "--only 'method' has no axis or no name; expected AXIS=NAME,...",
        ),
        (("status", "tiny.toml", "--only", "size=3"), "axis='size' is unknown"),
        (("run", "tiny.toml", "--only", "method=scarcy"), "no trial has the method 'scarcy'"),
        (("run", "tiny.toml", "--epochs", "0"), "--epochs"),
        (("status", "tiny.toml", "--store", "nowhere.jsonl"), "nowhere.jsonl does not exist"),
        (("report", "tiny.toml", "--store", "nowhere"), "nowhere does not exist"),
        (("compare", "nowhere", "elsewhere"), "nowhere does not exist"),
    ],
)
def test_bench_commands_name_mistake_in_one_line(
    tiny_dir: Path,
    run_expecting_error: RunExpectingError,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    assert message in run_expecting_error("bench", *arguments)
