"""Trials per hour of `scarce bench run` with two jobs, compared with one job.

    SCARCE_DATA=FOLDER python benchmarks/trials_per_hour.py [--trials 8] [--epochs 4] [--rounds 2] [--jobs 2]

Runs the actual command in new stores, alternating between one job and several. The time includes starting Python and
torch, loading the data, and idle jobs during the last trial.
"""

import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from _common import make_parser

EXPERIMENT = """
name = "throughput"
title = "Trials per hour"
protocol = "shortened"
description = "MNIST with the MLP, a few epochs each."
data = "mnist"
settings = "uniform"
methods = "scarce"
models = "mlp"
seeds = {trials}
recipe = "annealed"
epochs = {epochs}
"""


def trials_per_hour(experiment: Path, jobs: int, trials: int) -> float:
    """Return the trials per hour of a run in a new store."""
    with TemporaryDirectory() as store:
        command = [sys.executable, "-m", "scarce", "bench", "run", str(experiment), "--store", store]
        started = time.perf_counter()
        subprocess.run([*command, "--jobs", str(jobs)], check=True, capture_output=True)
        return trials / (time.perf_counter() - started) * 3600


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        experiment = Path(folder, "throughput.toml")
        experiment.write_text(EXPERIMENT.format(trials=options.trials, epochs=options.epochs))
        rounds = [
            [trials_per_hour(experiment, jobs, options.trials) for jobs in (1, options.jobs)]
            for _ in range(options.rounds)
        ]
    one, many = (median(column) for column in zip(*rounds, strict=True))
    print(
        f"{options.trials} trials of {options.epochs} epochs, MNIST, MLP, {options.rounds} rounds by turns; medians"
    )
    print(f"--jobs 1: {one:6.0f} trials per hour")
    print(
        f"--jobs {options.jobs}: {many:6.0f} trials per hour, {median(b / a for a, b in rounds):.2f} × as many"
    )


if __name__ == "__main__":
    main()
