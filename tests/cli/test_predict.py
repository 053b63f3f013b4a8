"""``scarce predict``: to a file or the terminal, from tables in any column order and from shards."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from helpers.command_line import RunCommand
from helpers.csv_files import write_csv


def test_predict_writes_same_rows_to_file_and_terminal(
    dataset_dir: Path, tmp_path: Path, run: RunCommand
) -> None:
    shown = run("predict", dataset_dir / "model", dataset_dir / "features.csv").out
    result = run("predict", dataset_dir / "model", dataset_dir / "features.csv", "--out", tmp_path / "p.csv")
    assert result.out == f"wrote 90 predictions to {tmp_path / 'p.csv'}\n"
    assert (tmp_path / "p.csv").read_text() == shown
    by_row = run("predict", dataset_dir / "model", dataset_dir / "features.npy").out
    assert by_row.splitlines()[:2] == ["row,class,probability", shown.splitlines()[1].replace("d000", "0")]


def test_predict_accepts_columns_in_any_order(dataset_dir: Path, tmp_path: Path, run: RunCommand) -> None:
    rows = [line.split(",") for line in (dataset_dir / "features.csv").read_text().splitlines()]
    write_csv(tmp_path / "turned.csv", rows[0][::-1], (row[::-1] for row in rows[1:]))
    assert run("predict", dataset_dir / "model", tmp_path / "turned.csv") == run(
        "predict", dataset_dir / "model", dataset_dir / "features.csv"
    )


def test_predict_of_shards_equals_predict_of_one_table(run, dataset_dir, shards):
    whole = run("predict", dataset_dir / "model", dataset_dir / "features.csv")
    pieces = run("predict", dataset_dir / "model", shards / "tables")
    assert (whole.code, pieces.code) == (0, 0), pieces.err
    assert pieces.out == whole.out


NAMES = ["=1+1", "+cmd", "-2+3", "@SUM(A1)", " =1", "＝1", "-5", "plain", "ca\x1b[31mt"]


@pytest.fixture(scope="module")
def odd_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose classes are `NAMES`, and features with the same names as ids."""
    from scarce import ScarceClassifier
    from scarce.labels import ComplementaryLabels

    folder, q = tmp_path_factory.mktemp("names"), len(NAMES)
    X = np.eye(q)
    labels = ComplementaryLabels.from_indicator(1 - np.eye(q, dtype=int), NAMES)
    classifier = ScarceClassifier("cc", "linear", "uniform", epochs=100, learning_rate=0.1, standardize=False)
    classifier.fit(X, labels).save(folder / "model")
    write_csv(
        folder / "features.csv", ["id", *(f"x{k}" for k in range(q))], ([NAMES[k], *X[k]] for k in range(q))
    )
    return folder


def test_predict_escapes_formulas_only_if_asked(odd_names: Path, run: RunCommand) -> None:
    command = ["predict", odd_names / "model", odd_names / "features.csv", "--all"]
    plain = run(*command)
    assert plain.code == 0, plain.err
    header, *rows = csv.reader(io.StringIO(plain.out))
    assert [row[:2] for row in rows] == [
        [name, name] for name in NAMES
    ]  # as they are, since this is not a terminal
    assert header[3:] == [f"p_{name}" for name in NAMES]
    _, *rows = csv.reader(io.StringIO(run(*command, "--spreadsheet-safe").out))
    safe = ["'=1+1", "'+cmd", "'-2+3", "'@SUM(A1)", "' =1", "'＝1", "-5", "plain", "ca\x1b[31mt"]
    assert [row[:2] for row in rows] == [[name, name] for name in safe]
