"""`Shards` are indexed like an array and read only the rows that are taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scarce.errors import FeatureError
from scarce.features import Shards, read_features
from scarce.features._arrays import take_rows
from scarce.features.shards import ArrayShard

SIZES = (3, 0, 5, 1)
VALUES = np.random.default_rng(0).normal(size=(sum(SIZES), 4))


class Unmapped(ArrayShard):
    """A file that must be read whole; counts the reads."""

    is_mapped = False
    n_reads = 0

    def read(self):
        self.n_reads += 1
        return super().read()


def parts_of(values=VALUES, sizes=SIZES, kind=ArrayShard):
    return [kind(part) for part in np.split(values, np.cumsum(sizes)[:-1])]


@pytest.mark.parametrize("kind", [ArrayShard, Unmapped])
@given(data=st.data())
def test_shards_index_like_array_without_reading(kind, data):
    parts = parts_of(kind=kind)
    shards, array = Shards(parts), VALUES
    for _ in range(data.draw(st.integers(1, 3))):
        if data.draw(st.booleans()):
            columns = data.draw(st.lists(st.integers(0, array.shape[1] - 1), min_size=1))
            shards, array = shards[:, columns], array[:, columns]
        elif data.draw(st.booleans()):
            mask = np.array(
                data.draw(st.lists(st.booleans(), min_size=len(array), max_size=len(array))), bool
            )
            shards, array = shards[mask], array[mask]
        else:
            rows = data.draw(st.slices(len(array)))
            shards, array = shards[rows], array[rows]
        assert shards.shape == array.shape
    assert kind is ArrayShard or not any(part.n_reads for part in parts)
    assert np.array_equal(shards.take(slice(None)), array)


def test_shards_accept_ellipsis():
    assert np.array_equal(Shards(parts_of())[[2, 1], ...].take([0, 1]), VALUES[[2, 1]])


def test_shards_blocks_are_rows_of_one_file():
    assert Shards(parts_of()).blocks == (9,)
    shards = Shards(parts_of(kind=Unmapped))
    assert shards.blocks == (3, 5, 1)
    assert shards[2:].blocks == (1, 5, 1)
    assert shards[[0, 3, 4, 1]].blocks == (1, 2, 1)
    assert shards[[]].blocks == (0,)


def test_shards_read_file_once_for_consecutive_rows():
    parts = parts_of(kind=Unmapped)
    shards = Shards(parts)
    for rows in np.array_split([6, 4, 3, 7, 5, 2, 0, 1, 8], 4):
        assert np.array_equal(shards.take(rows), VALUES[rows])
    assert [part.n_reads for part in parts] == [1, 0, 1, 1]


def test_shards_views_share_loaded_file():
    parts = parts_of(kind=Unmapped)
    shards = Shards(parts)
    shards[:2].take([0]), shards[2:].take([0])
    assert parts[0].n_reads == 1


def test_shards_reject_conversion_to_array():
    with pytest.raises(FeatureError, match=r"Shards\(9 × 4 float64 in 4 files\) stays on disk"):
        np.asarray(Shards(parts_of()))


def test_take_rows_avoids_copies(tmp_path):
    np.save(tmp_path / "x.npy", VALUES)
    mapped = read_features(tmp_path / "x.npy").values
    assert isinstance(mapped, np.memmap)
    for X in (VALUES, mapped, Shards(parts_of())):
        assert take_rows(X, np.arange(9)) is X
    chosen = take_rows(mapped, [5, 2])
    assert isinstance(chosen, Shards)
    assert np.array_equal(chosen.take([1, 0]), VALUES[[2, 5]])
    assert np.array_equal(take_rows(VALUES, [5, 2]), VALUES[[5, 2]])
