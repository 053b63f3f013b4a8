"""Small files that ask for much memory, and files that never end, are refused in a process with little memory."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.processes import ENVIRONMENT, TIMEOUT

from scarce._limits import MAX_BYTES_VARIABLE, check_bytes, max_bytes
from scarce.errors import FileError, LabelError
from scarce.features import read_features
from scarce.labels.io import read_labels

LIMIT = 50_000_000
ROOM = 10 * LIMIT  # of addresses, beside what the imports took, such as those of threads
HUGE = 12 * LIMIT

SCRIPT = """
import resource, sys, traceback
from pathlib import Path
import pyarrow.compute, pyarrow.dataset, pyarrow.parquet
from scarce.errors import ScarceError
from scarce.estimators import load
from scarce.bench import load_experiment
from scarce.features import read_features, read_truth
from scarce.labels.io import read_labels
READERS = {"features": read_features, "truth": read_truth, "labels": read_labels, "model": load, "experiment": load_experiment,
           "indicator": lambda path: read_labels(path, form="indicator"),
           "prodigy": lambda path: read_labels(path, form="prodigy")}
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
for argument in sys.argv[1:]:
    kind, _, path = argument.partition("=")
    try:
        READERS[kind](Path(path))
        print("accepted")
    except ScarceError as error:
        print(error)
""".replace("ROOM", str(ROOM))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS and /proc"),
]


def read_with_little_memory(*arguments: str) -> list[str]:
    """Read files in a process with `ROOM`, and return what it says about each."""
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env=ENVIRONMENT | {"ARROW_DEFAULT_MEMORY_POOL": "system", MAX_BYTES_VARIABLE: str(LIMIT)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def write_idx(path: Path) -> None:
    sides = (HUGE // 10**6, 1000, 1000)
    header = bytes([0, 0, 8, 3]) + b"".join(side.to_bytes(4, "big") for side in sides)
    path.write_bytes(gzip.compress(header + bytes(HUGE)))


def write_long_idx(path: Path) -> None:
    """The header announces one number, and more than the limit follows."""
    path.write_bytes(gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 1]) + bytes(HUGE)))


def write_model(folder: Path, **changes: object) -> None:
    from scarce import ScarceClassifier
    from scarce.testing import three_blobs

    X, _, labels = three_blobs()
    ScarceClassifier("scarce", "mlp", "uniform", epochs=1).fit(X, labels).save(folder)
    settings = json.loads((folder / "classifier.json").read_text())
    (folder / "classifier.json").write_text(json.dumps(settings | changes))


def test_small_files_of_huge_content_and_endless_files_are_refused_before_memory_is_taken(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", X=np.zeros((HUGE // 8, 1)))
    write_idx(tmp_path / "x.idx.gz")
    write_long_idx(tmp_path / "long.idx.gz")
    pq.write_table(pa.table({"a": pa.array(np.zeros(HUGE // 8, np.int8))}), tmp_path / "x.parquet")
    texts = pa.DictionaryArray.from_arrays(np.zeros(HUGE // 10**6, np.int32), ["x" * 10**6])
    pq.write_table(pa.table({"example_id": texts, "cat": texts, "dog": texts}), tmp_path / "wide.parquet")
    answers = pa.DictionaryArray.from_arrays(np.zeros(HUGE // 200, np.int8), ["no"])
    pq.write_table(pa.table({"cat": answers, "dog": answers}), tmp_path / "labels.parquet")
    with (tmp_path / "ids.csv").open("w") as file:
        file.write("example_id,cat,dog\n" + "a" * 10**5 + ",no,\n")
        file.writelines(f"{row},no,\n" for row in range(1500))
    with (tmp_path / "sparse.csv").open("wb") as file:
        file.truncate(10**11)
    with (tmp_path / "sparse.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "|u1", "fortran_order": False, "shape": (10**11, 1)}
        )
        file.truncate(file.tell() + 10**11)
    write_model(tmp_path / "model", input_shape=[10_000_000])
    (tmp_path / "seeds.toml").write_text(f"seeds = {list(range(200_000))}")
    (tmp_path / "deep.toml").write_text("a." * 50_000 + "b = 1")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    (tmp_path / "random.npy").symlink_to("/dev/random")
    expected = {
        "features=x.npz": "x.npz would take 600,000,128 bytes of memory; expected at most 50,000,000 bytes: save its arrays",
        "features=x.idx.gz": "x.idx.gz would take 600,000,000 bytes",
        "features=long.idx.gz": "long.idx.gz would take 50,331,648 bytes",
        "features=x.parquet": "x.parquet would take 600,000,000 bytes",
        "labels=wide.parquet": "wide.parquet would take 600,000,000 bytes",
        "labels=labels.parquet": "labels.parquet would take 600,000,000 bytes",
        "labels=ids.csv": "the longest example_id has 100,000 characters, and 1,501 such names would take 600,400,000 bytes",
        "labels=sparse.csv": "sparse.csv would take 93.2 GiB",
        "prodigy=sparse.csv": "sparse.csv would take 93.2 GiB",
        "indicator=sparse.npy": "sparse.npy would take 93.2 GiB",
        "model=model": "the settings describe 0.mean of shape (10000000,), and the saved one has shape",
        "experiment=seeds.toml": "an experiment has at most 32,768",
        "experiment=deep.toml": "an experiment has at most 32,768",
        "features=pipe.csv": "pipe.csv is a pipe, a device or a socket; expected an ordinary file",
        "labels=zero.csv": "zero.csv is a pipe, a device or a socket",
        "truth=zero.csv": "zero.csv is a pipe, a device or a socket",
        "prodigy=pipe.csv": "pipe.csv is a pipe, a device or a socket",
        "features=random.npy": "random.npy is a pipe, a device or a socket",
    }
    lines = read_with_little_memory(*(argument.replace("=", f"={tmp_path}/") for argument in expected))
    for line, part in zip(lines, expected.values(), strict=True):
        assert part in line, lines


def test_mapped_array_may_be_larger_than_the_limit(tmp_path, monkeypatch):
    monkeypatch.setenv(MAX_BYTES_VARIABLE, "1000")
    np.save(tmp_path / "x.npy", np.ones((500, 2)))
    assert read_features(tmp_path / "x.npy").values.shape == (500, 2)
    with pytest.raises(
        FileError, match=r"would take 8,128 bytes of memory; expected at most 1,000 bytes.*SCARCE_MAX_BYTES"
    ):
        read_labels(tmp_path / "x.npy", form="indicator")


def test_limit_is_raised_by_the_variable(monkeypatch):
    assert max_bytes() == 4 * 2**30
    monkeypatch.setenv(MAX_BYTES_VARIABLE, str(HUGE))
    check_bytes(HUGE, "x.npz")
    with pytest.raises(FileError, match=r"x\.npz would take"):
        check_bytes(HUGE + 1, "x.npz")
    for text in ("8 GB", "-1", "1e9", "٣"):
        monkeypatch.setenv(MAX_BYTES_VARIABLE, text)
        with pytest.raises(FileError, match="expected a whole number of bytes"):
            max_bytes()


PRODIGY = """{{"id": "{0}", "label": "cat", "answer": "reject"}}
{{"id": 1, "label": "dog", "answer": "accept"}}"""


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.jsonl", PRODIGY, "prodigy"),
        ("a.csv", "example_id,class_name,answer,annotator\n1,cat,no,{0}\n2,dog,no,b\n", None),
        ("a.csv", "excluded\n{0}\ncat\n", "single"),
        ("a.csv", "first,second\n{0},dog\ncat,\n", "columns"),
        ("a.csv", "example_id,cat,dog\n{0},no,\nb,no,\n", None),
    ],
)  # fmt: skip
def test_long_name_is_refused_wherever_it_is_stored(tmp_path, monkeypatch, name, text, form):
    monkeypatch.setenv(MAX_BYTES_VARIABLE, "5000")
    (tmp_path / name).write_text(text.format("x" * 1000))
    with pytest.raises(
        LabelError, match=r"the longest .* has 1,000 characters, and .* such names would take"
    ):
        read_labels(tmp_path / name, form=form, classes=["cat", "dog"])
