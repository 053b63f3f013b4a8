"""Data several times larger than memory can be trained on and predicted, from mapped arrays and from shards."""

import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.scripts import run_script

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs fork and RLIMIT_DATA"),
    pytest.mark.early,
]

ROOM = 100 * 2**20
TIMES = 3  # so much larger are the data


def sparse_array(path, n_rows, width):
    """An array of zeros but for a few rows; the file takes no space on disk."""
    array = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, width))
    array[::1000] = 1


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    width = 2048
    n_rows = TIMES * ROOM // (4 * width)
    sparse_array(folder / "whole.npy", n_rows, width)
    (folder / "npy").mkdir()
    for shard in range(5):
        sparse_array(folder / "npy" / f"{shard}.npy", n_rows // 5, width)
    (folder / "parquet").mkdir()
    column = np.tile(np.arange(8.0), 1024)  # 128 columns of 8,192 numbers: 8 MB, but little on disk
    table = pa.table({f"c{place}": column for place in range(128)})
    for shard in range(TIMES * ROOM // table.nbytes):
        pq.write_table(table, folder / "parquet" / f"{shard:02d}.parquet")
    # The other pools of pyarrow reserve a gigabyte before they need it.
    _, errors = run_script("low_memory", folder, ROOM, ARROW_DEFAULT_MEMORY_POOL="system")
    return json.loads((folder / "report.json").read_text()), errors


@pytest.mark.parametrize("data", ["whole.npy", "npy", "parquet"])
def test_memory_is_bounded(report, data):
    ends, errors = report
    assert ends[data] == {"train": "well", "fit": "well", "array": "out of memory"}, errors


def test_large_batch_fits_in_memory_as_micro_batches():
    output, errors = run_script("low_memory_micro_batch")
    assert json.loads(output) == {"whole": "out of memory", "in parts": "well"}, errors
