"""Mutated files of features are read, or refused by an error of one line; set SCARCE_FUZZ_CASES for more cases."""

import gzip
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.dataset_files import idx_bytes
from helpers.mutations import try_mutations
from PIL import Image

from scarce.features import read_features
from scarce.features._arrays import check_finite

NUMBERS = np.arange(12.0).reshape(4, 3)
TABLE = {"id": ["a", "b"], "width": [1.5, 2.0], "legs": [4, 2]}
CSV = b"id,width,legs\np1,4.5,4\np2,0.1,2\np3,-1e3,1\n"


def content_of(write, *arguments, **options):
    file = io.BytesIO()
    write(file, *arguments, **options)
    return file.getvalue()


def parquet(**options):
    return content_of(lambda file: pq.write_table(pa.table(TABLE), file, **options))


def image(kind):
    picture = Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3))
    return content_of(picture.save, format=kind)


def read(path):
    features = read_features(path)
    check_values(features.values)


def read_folder(path):
    check_values(read_features(path.parent).values)


def check_values(values):
    if values.dtype.kind == "f":
        check_finite(values)
    (values.take([0]) if hasattr(values, "blocks") else values[:1])


READERS = {
    "table.csv": (CSV, read),
    "table.parquet": (parquet(), read),
    "plain.parquet": (parquet(compression="none", use_dictionary=False), read),
    "array.npy": (content_of(np.save, NUMBERS), read),
    "bytes.npy": (content_of(np.save, NUMBERS.astype(np.uint8)), read),
    "arrays.npz": (content_of(np.savez, X=NUMBERS, ids=np.array(list("abcd"))), read),
    "packed.npz": (content_of(np.savez_compressed, X=NUMBERS), read),
    "images-idx3-ubyte": (idx_bytes(NUMBERS.reshape(2, 2, 3)), read),
    "images-idx3-ubyte.gz": (gzip.compress(idx_bytes(NUMBERS.reshape(2, 2, 3)), mtime=0), read),
    "shards/part-1.npy": (content_of(np.save, NUMBERS), read_folder),
    "tables/part-1.parquet": (parquet(), read_folder),
    "photos/a.png": (image("PNG"), read_folder),
    "photos/a.jpg": (image("JPEG"), read_folder),
    "photos/a.bmp": (image("BMP"), read_folder),
    "photos/a.gif": (image("GIF"), read_folder),
    "photos/a.webp": (image("WEBP"), read_folder),
    "photos/a.tif": (image("TIFF"), read_folder),
    "photos/a.ppm": (image("PPM"), read_folder),
}


@pytest.mark.filterwarnings("ignore")  # of Pillow, about damaged metadata
@pytest.mark.parametrize("name", READERS)
def test_mutated_features_are_read_or_refused_in_one_line(tmp_path, record_property, name):
    valid, read = READERS[name]
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(valid)
    read(path)
    counts = try_mutations(valid, path, read, name)
    record_property("counts", dict(counts))
    assert counts["refused"] > 0
