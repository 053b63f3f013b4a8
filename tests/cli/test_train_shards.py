"""The commands on features that stay on disk: a mapped array, and folders of shards."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scarce.features import read_features

OPTIONS = ["--module", "linear", "--epochs", "3", "--priors", "uniform"]


@pytest.fixture
def shards(world, tmp_path):
    """The features of the world as three tables with ids, their columns in another order, and as three arrays."""
    features = read_features(world / "features.csv")
    for kind in ("tables", "arrays"):
        (tmp_path / kind).mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(features.values)), 3)):
        columns = dict(zip(features.names, features.values[rows].T, strict=True))
        reversed_columns = dict(reversed(columns.items()))
        table = pa.table({**reversed_columns, "id": features.ids[rows]})
        pq.write_table(table, tmp_path / "tables" / f"{number}.parquet")
        np.save(tmp_path / "arrays" / f"{number}.npy", features.values[rows])
    return tmp_path


def predictions(run, model, features):
    code, out, err = run("predict", model, features)
    assert code == 0, err
    return out


def test_a_model_predicts_the_same_of_tables_in_pieces(run, world, shards):
    whole = predictions(run, world / "model", world / "features.csv")
    assert predictions(run, world / "model", shards / "tables") == whole


@pytest.mark.parametrize("features", ["arrays", "array.npy"])
def test_arrays_in_pieces_train_the_same_model(run, world, shards, features):
    """Without ids the labels must stand in the order of the features."""
    np.save(shards / "array.npy", read_features(world / "features.csv").values)
    labels = shards / "labels.npy"
    np.save(labels, np.arange(90) % 3)
    as_labels = ["--labels", labels, "--form", "single", "--classes", "3"]
    np.savez(shards / "memory.npz", X=np.load(shards / "array.npy"))
    for name in (features, "memory.npz"):
        code, _, err = run("train", shards / name, *as_labels, "--out", shards / f"model of {name}", *OPTIONS)
        assert code == 0, err
    told = [
        predictions(run, shards / f"model of {name}", shards / other)
        for name in (features, "memory.npz")
        for other in (features, "memory.npz")
    ]
    assert told[0].count("\n") == 91
    assert len(set(told)) == 1


@pytest.mark.filterwarnings("ignore::scarce.errors.PriorWarning")  # of 60 rows
def test_train_evaluate_and_priors_join_by_id(run, world, shards):
    few = shards / "few.csv"
    lines = (world / "labels.csv").read_text().splitlines()
    few.write_text("\n".join(lines[:61]) + "\n")
    joined = [shards / "tables", "--labels", few, "--join", "inner"]
    code, _, err = run("train", *joined, "--out", shards / "model", *OPTIONS)
    assert code == 0, err
    code, out, err = run("evaluate", shards / "model", *joined, "--truth", world / "truth.csv")
    assert code == 0, err
    assert "from 60 examples" in out
    assert "from 90 true labels" in out
    code, out, err = run("priors", *joined, "--estimator", "tice", "--set", "n_rows=50")
    assert code == 0, err


def test_shards_do_not_go_to_scikit_learn(refused, world, shards):
    settings = ["--set", "scorer=linear", "--set", "bootstrap=0"]
    labels = ["--labels", world / "labels.npz"]
    message = refused("priors", shards / "tables", *labels, *settings)
    assert "needs all rows in memory" in message
    assert "scorer='network'" in message


def test_mistakes_name_the_file(refused, world, shards):
    (shards / "arrays" / "notes.txt").touch()
    labels = ["--labels", world / "labels.csv", "--out", shards / "model"]
    assert "notes.txt stands between .npy files" in refused("train", shards / "arrays", *labels)
