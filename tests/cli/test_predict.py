"""``scarce predict``: to a file or the terminal, from tables in any column order and from shards."""

from pathlib import Path

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
