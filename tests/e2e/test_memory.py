"""Training with less memory than the data, the activations of a batch, or the logits of all rows take."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from e2e.scripts.low_memory import DATA_ROOM
from helpers.processes import run_script

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs fork and RLIMIT_DATA"),
    pytest.mark.early,
]

TIMES_LARGER = 3  # the data than the memory


def write_sparse_array(path: Path, n_rows: int, width: int) -> None:
    """An array of zeros except for a few rows; the file takes no space on disk."""
    array = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, width))
    array[::1000] = 1


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, dict[str, str]], str]:
    """How each process of the script ended, and what it wrote to the error stream."""
    root = tmp_path_factory.mktemp("large")
    folder = root / "data"
    for name in ("npy", "parquet"):
        (folder / name).mkdir(parents=True)
    width = 2048
    n_rows = TIMES_LARGER * DATA_ROOM // (4 * width)
    write_sparse_array(folder / "whole.npy", n_rows, width)
    for shard in range(5):
        write_sparse_array(folder / "npy" / f"{shard}.npy", n_rows // 5, width)
    column = np.tile(np.arange(8.0), 1024)  # 128 columns of 8,192 numbers: 8 MB, but little on disk
    table = pa.table({f"c{number}": column for number in range(128)})
    for shard in range(TIMES_LARGER * DATA_ROOM // table.nbytes):
        pq.write_table(table, folder / "parquet" / f"{shard:02d}.parquet")
    # The other pools of pyarrow reserve a gigabyte before they need it.
    _, errors = run_script("low_memory", root, ARROW_DEFAULT_MEMORY_POOL="system")
    return json.loads((root / "report.json").read_text()), errors


@pytest.mark.parametrize("data", ["whole.npy", "npy", "parquet"])
def test_mapped_array_and_shards_larger_than_memory_can_be_trained_on(report, data):
    ends, errors = report
    assert ends[data] == {"train": "well", "fit": "well", "array": "out of memory"}, errors


def test_large_batch_fits_in_memory_as_micro_batches(report):
    ends, errors = report
    assert ends["batch"] == {"whole": "out of memory", "micro-batches": "well"}, errors


def test_many_classes_are_learned_where_logits_of_all_rows_do_not_fit(report):
    ends, errors = report
    assert ends["many classes"] == {"learn": "well", "logits of all rows": "out of memory"}, errors
