"""Fixtures: the command line, called in this process, and data sets in files."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.csv_files import write_csv
from sklearn.datasets import load_digits

from scarce.cli.main import main
from scarce.features import read_features
from scarce.simulate import ask, from_transition, uniform, uniform_transition, with_errors

N, WIDTH, CLASSES = 90, 64, 3


class Result(NamedTuple):
    code: int
    out: str
    err: str


RunCommand = Callable[..., Result]
RunExpectingError = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> RunCommand:
    def run(*arguments: object) -> Result:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Result(code, *capsys.readouterr())

    return run


@pytest.fixture
def run_expecting_error(run: RunCommand) -> RunExpectingError:
    """Run a command that must fail with exit code 2 and one line, and return that line."""

    def run_expecting_error(*arguments: object) -> str:
        code, _, err = run(*arguments)
        assert code == 2, err
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert err.endswith("\n")
        return err

    return run_expecting_error


@pytest.fixture(scope="session")
def dataset_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digits 0, 1 and 2: features.csv (with ids), features.npy, truth.csv, labels.csv, labels.npz, model/."""
    folder = tmp_path_factory.mktemp("dataset")
    X, y = load_digits(n_class=CLASSES, return_X_y=True)
    X, y = X[:N].astype(int), y[:N]
    ids = [f"d{row:03d}" for row in range(N)]
    write_csv(
        folder / "features.csv",
        ["id", *(f"px{column}" for column in range(WIDTH))],
        ([name, *row] for name, row in zip(ids, X.tolist(), strict=True)),
    )
    np.save(folder / "features.npy", X)
    # Truth and labels are in a different order from the features.
    order = np.random.default_rng(0).permutation(N)
    write_csv(folder / "truth.csv", ["id", "label"], ([ids[row], y[row]] for row in order))
    for name in ("labels.csv", "labels.npz"):
        assert main(["labels", "simulate", str(folder / "truth.csv"), str(folder / name)]) == 0
    command = ["train", folder / "features.csv", "--labels", folder / "labels.csv", "--out", folder / "model"]
    command += ["--module", "linear", "--epochs", "40", "--learning-rate", "0.05", "--no-estimate"]
    assert main([*map(str, command)]) == 0
    return folder


@pytest.fixture(scope="session")
def digits_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All digits: train.npy, test.npy, the true classes, and labels of both parts from several processes."""
    folder = tmp_path_factory.mktemp("digits")
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    wrong = with_errors(uniform_transition(10), 0.05)
    for part, rows, seed in (("train", order[:900], 0), ("test", order[900:], 1)):
        np.save(folder / f"{part}.npy", X[rows])
        np.save(folder / f"{part}-truth.npy", y[rows])
        uniform(y[rows], seed=seed).save(folder / f"{part}-uniform.npz")
        from_transition(y[rows], wrong, seed=seed).save(folder / f"{part}-wrong.npz")
        ask(y[rows], questions=3, false_negative_rate=0.06, false_positive_rate=0.04, seed=seed).save(
            folder / f"{part}-answers.npz"
        )
    return folder


@pytest.fixture
def shards(dataset_dir, tmp_path):
    """The features as three tables with ids, their columns in another order, and as three arrays."""
    features = read_features(dataset_dir / "features.csv")
    for kind in ("tables", "arrays"):
        (tmp_path / kind).mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(features.values)), 3)):
        columns = dict(zip(features.names, features.values[rows].T, strict=True))
        reversed_columns = dict(reversed(columns.items()))
        table = pa.table({**reversed_columns, "id": features.ids[rows]})
        pq.write_table(table, tmp_path / "tables" / f"{number}.parquet")
        np.save(tmp_path / "arrays" / f"{number}.npy", features.values[rows])
    return tmp_path
