"""``scarce predict``: to a file or the terminal, from tables in any column order and in shards."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.csv_files import write_csv

TrainingState = Callable[..., Any]


def test_predictions_go_to_a_file_or_the_terminal(
    dataset_dir: Path, tmp_path: Path, run: TrainingState
) -> None:
    shown = run("predict", dataset_dir / "model", dataset_dir / "features.csv").out
    result = run("predict", dataset_dir / "model", dataset_dir / "features.csv", "--out", tmp_path / "p.csv")
    assert result.out == f"wrote 90 predictions to {tmp_path / 'p.csv'}\n"
    assert (tmp_path / "p.csv").read_text() == shown
    by_row = run("predict", dataset_dir / "model", dataset_dir / "features.npy").out
    assert by_row.splitlines()[:2] == ["row,class,probability", shown.splitlines()[1].replace("d000", "0")]


def test_columns_in_another_order_are_put_right(
    dataset_dir: Path, tmp_path: Path, run: TrainingState
) -> None:
    rows = [line.split(",") for line in (dataset_dir / "features.csv").read_text().splitlines()]
    write_csv(tmp_path / "turned.csv", rows[0][::-1], (row[::-1] for row in rows[1:]))
    assert run("predict", dataset_dir / "model", tmp_path / "turned.csv") == run(
        "predict", dataset_dir / "model", dataset_dir / "features.csv"
    )


def test_a_model_predicts_the_same_of_tables_in_pieces(run, dataset_dir, shards):
    whole = run("predict", dataset_dir / "model", dataset_dir / "features.csv")
    pieces = run("predict", dataset_dir / "model", shards / "tables")
    assert (whole.code, pieces.code) == (0, 0), pieces.err
    assert pieces.out == whole.out
