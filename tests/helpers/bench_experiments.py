"""A tiny experiment, and its files; shared with the tests of the command line."""

from pathlib import Path

from scarce.bench.spec.experiment import Experiment, load_experiment
from scarce.bench.trials.execution import load_data
from scarce.bench.trials.plan import Trial, plan

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
# One method takes several labels per image, the other refuses them.
ONE_FAILS = TINY.replace(
    'settings = "uniform"',
    'settings = [{ name = "three", process = "uniform-multiple", params = { sizes = 3 } }]',
)


def write(folder: Path, text: str = TINY, name: str = "tiny.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def tiny(folder: Path, text: str = TINY) -> Experiment:
    return load_experiment(write(folder, text))


def checksum(name: str) -> str:
    return load_data(name, None).checksum


def trials_of(folder: Path, text: str = TINY) -> list[Trial]:
    return plan(tiny(folder, text), checksum)
