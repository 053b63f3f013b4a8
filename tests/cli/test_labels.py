"""``scarce labels``: describe, simulate and convert."""

from pathlib import Path

import numpy as np
from helpers.command_line import RunCommand
from helpers.csv_files import write_csv

from scarce import read_labels


def test_labels_describe_counts_exclusions_and_warns(tmp_path: Path, run: RunCommand) -> None:
    # Names that look like rich markup are printed unchanged.
    rows = [["a", "no", "", ""], ["b", "no", "no", ""], ["c", "yes", "", ""]]
    write_csv(tmp_path / "labels.csv", ["example_id", "[red]", ":cat:", "cow"], rows)
    out = run("labels", "describe", tmp_path / "labels.csv").out
    assert out == f"{read_labels(tmp_path / 'labels.csv').summary()}\n"
    lines = out.splitlines()
    assert lines[0] == "3 examples, 3 classes, 3 exclusions (1.00 per example)"
    assert [line.split()[:3] for line in lines[-4:]] == [
        ["class", "excluded", "rate"],
        ["[red]", "2", "0.667"],
        [":cat:", "1", "0.333"],
        ["cow", "0", "0.000"],
    ]
    assert "never excluded" in lines[-1]


def test_labels_simulate_keeps_ids_and_accepts_lists_and_matrices(
    dataset_dir: Path, tmp_path: Path, run: RunCommand
) -> None:
    simulate = ["labels", "simulate", dataset_dir / "truth.csv"]
    run(*simulate, tmp_path / "scar.npz", "--process", "scar", "--set", "c=1,0,0", "--seed", 5)
    labels = read_labels(tmp_path / "scar.npz")
    truth = dict(line.split(",") for line in (dataset_dir / "truth.csv").read_text().split()[1:])
    assert labels.ids is not None
    assert labels.ids.tolist() == list(truth)
    assert [truth[name] != "0" for name in truth] == labels.indicator()[:, 0].tolist()
    assert labels.counts[1:].tolist() == [0, 0]

    np.save(tmp_path / "next.npy", np.roll(np.eye(3), 1, axis=1))
    run(
        *simulate,
        tmp_path / "next.csv",
        "--process",
        "transition",
        "--set",
        f"transition={tmp_path}/next.npy",
    )
    after = read_labels(tmp_path / "next.csv").indices
    assert after.tolist() == [(int(name) + 1) % 3 for name in truth.values()]


def test_labels_convert_round_trip_keeps_labels(dataset_dir: Path, tmp_path: Path, run: RunCommand) -> None:
    assert run("labels", "convert", dataset_dir / "labels.csv", tmp_path / "a.npz").code == 0
    assert run("labels", "convert", tmp_path / "a.npz", tmp_path / "b.csv").code == 0
    assert (
        read_labels(tmp_path / "b.csv")
        == read_labels(tmp_path / "a.npz")
        == read_labels(dataset_dir / "labels.csv")
    )
