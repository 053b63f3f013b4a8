"""A small data set in files, a model trained on it, and the command line, called in this process."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from helpers.csv_files import write_csv
from sklearn.datasets import load_digits

from scarce.cli.main import main

N, WIDTH, CLASSES = 90, 64, 3


class Told(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    def run(*arguments: object) -> Told:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Told(code, *capsys.readouterr())

    return run


@pytest.fixture
def refused(run: Callable[..., Told]) -> Callable[..., str]:
    """Run a command that must be refused with exit code 2 and one line, and return that line."""

    def refused(*arguments: object) -> str:
        code, _, err = run(*arguments)
        assert code == 2, err
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert err.endswith("\n")
        return err

    return refused


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digits 0, 1 and 2: features.csv (with ids), features.npy, truth.csv, labels.csv, labels.npz, model/."""
    folder = tmp_path_factory.mktemp("world")
    X, y = load_digits(n_class=CLASSES, return_X_y=True)
    X, y = X[:N].astype(int), y[:N]
    ids = [f"d{row:03d}" for row in range(N)]
    write_csv(
        folder / "features.csv",
        ["id", *(f"px{place}" for place in range(WIDTH))],
        ([name, *row] for name, row in zip(ids, X.tolist(), strict=True)),
    )
    np.save(folder / "features.npy", X)
    order = np.random.default_rng(0).permutation(
        N
    )  # truth and labels stand in another order than the features
    write_csv(folder / "truth.csv", ["id", "label"], ([ids[row], y[row]] for row in order))
    for name in ("labels.csv", "labels.npz"):
        assert main(["labels", "simulate", str(folder / "truth.csv"), str(folder / name)]) == 0
    command = ["train", folder / "features.csv", "--labels", folder / "labels.csv", "--out", folder / "model"]
    assert (
        main(
            [
                *map(str, command),
                "--module",
                "linear",
                "--epochs",
                "40",
                "--learning-rate",
                "0.05",
                "--no-estimate",
            ]
        )
        == 0
    )
    return folder
