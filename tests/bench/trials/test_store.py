"""The store of records: round trips, damaged files, abandoned locks."""

from pathlib import Path

import pytest
from helpers.bench import tiny_record

from scarce.bench.trials.store import Store
from scarce.errors import FileError


def test_store_round_trip_removes_checkpoint_of_done_trial(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    done, failed = (
        tiny_record(tmp_path),
        tiny_record(tmp_path, 1, status="failed", error="why", accuracy=None),
    )
    for record in (done, failed):
        store.checkpoint(record.key).parent.mkdir(exist_ok=True, parents=True)
        store.checkpoint(record.key).write_text("half")
        store.save(record)
    assert sorted(store.records(), key=lambda record: record.status) == [done, failed]
    assert store.record(done.key) == done
    assert [path.stem for path in store.checkpoint("x").parent.iterdir()] == [failed.key]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"format": "scarce-trial-2"}', '"scarce-trial-2"', "\x00"]
)
def test_store_warns_of_damaged_record_and_skips_it(tmp_path: Path, content: str) -> None:
    store, record = Store(tmp_path), tiny_record(tmp_path)
    store.save(record)
    path = tmp_path / "records" / f"{record.key}.json"
    path.write_text(content)
    with pytest.warns(UserWarning, match=f"{record.key}.json.* Its trial counts as not run"):
        assert store.record(record.key) is None
    path.write_bytes(b"\xff")
    with pytest.warns(UserWarning, match="is damaged"):
        assert store.records() == []


def test_store_warns_of_record_under_wrong_name(tmp_path: Path) -> None:
    store, record = Store(tmp_path), tiny_record(tmp_path)
    store.save(record)
    folder = tmp_path / "records"
    (folder / f"{record.key}.json").rename(folder / "0123456789abcdef.json")
    with pytest.warns(UserWarning, match=f"holds the record of {record.key}; rename or delete it"):
        assert store.record("0123456789abcdef") is None


def test_check_exists_rejects_folder_without_trials(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="holds no records of trials; run an experiment first"):
        Store(tmp_path).check_exists()
    Store(tmp_path).save(tiny_record(tmp_path))
    assert Store(tmp_path).check_exists() == Store(tmp_path)


def test_is_abandoned_is_true_for_lock_of_dead_process(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert not store.is_abandoned("k")
    with store.claimed("k"):
        assert store.is_claimed("k")
        assert not store.is_abandoned("k")
    assert not store.is_abandoned("k")
    (tmp_path / "locks" / "k.lock").touch()  # what a killed process leaves
    assert store.is_abandoned("k")


@pytest.mark.parametrize("folder", ["records", "locks", "checkpoints"])
def test_check_exists_accepts_store_whose_first_trial_is_running(tmp_path: Path, folder: str) -> None:
    with pytest.raises(FileError, match="holds no records of trials"):
        Store(tmp_path).check_exists()
    (tmp_path / folder).mkdir()
    assert Store(tmp_path).check_exists().records() == []
