"""Small experiments and their files, and records whose numbers can be checked by hand."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from scarce.bench.reports.figures._comparison import draw_figures
from scarce.bench.reports.figures._panels import Drawing
from scarce.bench.results.results import ExperimentResults, collect
from scarce.bench.spec.experiment import Experiment, load_experiment
from scarce.bench.trials.plan import Plan, Trial
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store

TINY = """
name = "tiny"
title = "Tiny"
protocol = "shortened"
data = "digits"
settings = "uniform"
methods = ["scarce", "nn"]
models = "linear"
seeds = 2
recipe = "annealed"
epochs = 3
"""
# One method takes several labels per image, the other rejects them.
ONE_METHOD_FAILS = TINY.replace(
    'settings = "uniform"',
    'settings = [{ name = "three", process = "uniform-multiple", params = { sizes = 3 } }]',
)
CLASSIFIERS = """
name = "mine"
title = "Mine"
protocol = "own"
kind = "classifiers"
data = "digits"
split = "70/30"
settings = ["uniform", { name = "scar", process = "scar-unequal" }]
methods = ["pl-knn", "em-lr"]
seeds = 2
"""
IMAGES = """
name = "mine"
title = "Mine"
protocol = "own"
kind = "classifiers"
data = "digits"
split = "standard"
n_train = [200, 1000]
settings = { name = "true labels", process = "uniform-multiple", params = { sizes = 9 } }
methods = { method = "cc", params = { module = "linear", epochs = 40, learning_rate = 0.03 } }
seeds = 2
"""
SEED_OFFSETS = (0.0, 0.004, -0.004, 0.002, -0.002)  # sum to zero over five seeds
MEAN_ACCURACIES = {"ga": 0.88, "nn": 0.68, "scarce": 0.91}


# Experiments in files, whose trials can be run.


def write_experiment(folder: Path, text: str = TINY, name: str = "tiny.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def tiny_experiment(folder: Path, text: str = TINY) -> Experiment:
    return load_experiment(write_experiment(folder, text))


def tiny_plan(folder: Path, text: str = TINY) -> Plan:
    return Plan.from_experiment(tiny_experiment(folder, text)).with_data()


def tiny_trials(folder: Path, text: str = TINY) -> list[Trial]:
    return list(tiny_plan(folder, text))


def with_checksum(trial: Trial, checksum: str) -> Trial:
    return replace(trial, spec=trial.spec.model_copy(update={"data_checksum": checksum}))


def tiny_record(folder: Path, number: int = 0, **changes: object) -> TrialRecord:
    trial = tiny_trials(folder)[number]
    record = TrialRecord(
        spec=trial.spec, label=trial.label, experiment="tiny", protocol="shortened", accuracy=0.5
    )
    return record.model_copy(update=changes)


# Experiments in memory, with made-up records.


def small_experiment(**changes: object) -> Experiment:
    content = {
        "name": "small",
        "title": "A small one",
        "protocol": "paper",
        "data": "mnist",
        "settings": ["uniform", "biased-a"],
        "methods": ["ga", "nn", "scarce"],
        "models": "mlp",
        "seeds": 5,
    }
    return Experiment.model_validate(content | changes)


def small_prior_experiment(**changes: object) -> Experiment:
    return small_experiment(
        **{"kind": "priors", "methods": "best-bin", "settings": "scar-a", "seeds": 2} | changes
    )


def plan_trials(experiment: Experiment) -> list[Trial]:
    return list(Plan.from_experiment(experiment))


def seed_offset(trial: Trial) -> float:
    return SEED_OFFSETS[trial.spec.seed % len(SEED_OFFSETS)]


def make_record(trial: Trial, accuracy: float, *, epochs: int = 12, **fields: object) -> TrialRecord:
    """A record with `accuracy` in each of the last ten epochs, and 0.01 more in the epoch before them."""
    rise = [0.5 * accuracy, accuracy + 0.01]
    curves = {"epoch": list(range(1, epochs + 1)), "test_accuracy": rise + [accuracy] * (epochs - 2)}
    curves["loss"] = [2.0 * 0.8**epoch for epoch in range(epochs)]
    selection = {
        "scar_accuracy": list(curves["test_accuracy"]),  # uses the true labels
        "scar_risk": list(range(epochs)),  # prefers the first epoch
        "covering_rate": [1 - accuracy] * epochs,  # prefers bad methods
    }
    given = {
        "accuracy": accuracy,
        "curves": curves,
        "selection": selection,
        "priors": {"values": [0.1] * 10, "source": "frequencies"},
        "seconds": 60.0 + trial.spec.seed,
        "peak_memory_mb": 500.0,
    }
    return TrialRecord(
        **_identity(trial),
        versions={"scarce": "0.1.0", "torch": "2.13.0"},
        machine={"cpus": 2, "threads": 1, "platform": "Linux"},
        **(given | fields),
    )


def make_failed_record(trial: Trial, error: str) -> TrialRecord:
    return TrialRecord(**_identity(trial), status="failed", error=error, seconds=1.0)


def make_prior_record(trial: Trial, values: list[float]) -> TrialRecord:
    return TrialRecord(**_identity(trial), priors={"values": values, "source": "best-bin"}, seconds=5.0)


def _identity(trial: Trial) -> dict[str, object]:
    names = ("spec", "label", "experiment", "protocol")
    return {name: getattr(trial, name) for name in names}


def replace_spec(record: TrialRecord, **changes: object) -> TrialRecord:
    """A copy of the record with changes to its spec."""
    return record.model_copy(update={"spec": record.spec.model_copy(update=changes)})


def fill_store(folder: Path, records: Iterable[TrialRecord]) -> Store:
    store = Store(folder)
    for record in records:
        store.save(record)
    return store


def make_results(folder: Path, experiment: Experiment, records: Iterable[TrialRecord]) -> ExperimentResults:
    return collect(Plan.from_experiment(experiment), fill_store(folder, records))


def stored_results(experiment: Experiment, store: Store) -> ExperimentResults:
    return collect(Plan.from_experiment(experiment), store)


def fill_results(
    folder: Path, experiment: Experiment, make: Callable[[Trial], TrialRecord]
) -> ExperimentResults:
    """Results in which each trial has the record that `make` returns."""
    return make_results(folder, experiment, map(make, plan_trials(experiment)))


def figures_by_name(
    folder: Path, experiment: Experiment, make: Callable[[Trial], TrialRecord]
) -> dict[str, Drawing]:
    return {drawing.name: drawing for drawing in draw_figures(fill_results(folder, experiment, make))}


def lines_by_label(axes):
    """The lines of a figure that its legend shows, by label."""
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


@contextmanager
def lock_in_another_process(path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Hold a lock for the block in another process, which the block may kill."""
    script = "import filelock, sys; lock = filelock.FileLock(sys.argv[1]); lock.acquire(); print(flush=True); input()"
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()
