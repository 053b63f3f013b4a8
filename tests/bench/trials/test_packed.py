"""Packed results: two files per experiment, which reports read like a store."""

import gzip
import json
from pathlib import Path

import pytest
from helpers.bench import (
    fill_store,
    make_record,
    plan_trials,
    replace_spec,
    seed_offset,
    small_experiment,
    stored_results,
)

from scarce.bench.reports import write_report
from scarce.bench.results.comparison import compare_stores
from scarce.bench.runners.status import get_status
from scarce.bench.trials.packed import PackedStore, open_store, pack
from scarce.bench.trials.store import Store
from scarce.errors import FileError

ACCURACIES = {"ga": 0.8, "nn": 0.85, "scarce": 0.9}


def filled(folder: Path) -> Store:
    trials = plan_trials(small_experiment())
    return fill_store(
        folder, [make_record(trial, ACCURACIES[trial.label] + seed_offset(trial)) for trial in trials]
    )


@pytest.fixture
def packed(tmp_path: Path) -> PackedStore:
    (packed,) = pack(filled(tmp_path / "store"), tmp_path / "results")
    return packed


def test_packed_records_equal_records_of_store_up_to_rounding(tmp_path: Path, packed: PackedStore) -> None:
    store = Store(tmp_path / "store")
    assert len(packed.records()) == 30
    for old, new in zip(store.records(), packed.records(), strict=True):
        assert new.model_copy(update={"curves": {}, "selection": {}}) == old.model_copy(
            update={"curves": {}, "selection": {}}
        )
        for name, values in (old.curves | old.selection).items():
            assert (new.curves | new.selection)[name] == pytest.approx(values, rel=1e-8)
        assert packed.record(old.key) == new
    assert packed.record("0123456789abcdef") is None


def test_packed_files_are_reproducible_with_one_trial_per_line(tmp_path: Path, packed: PackedStore) -> None:
    lines = [json.loads(line) for line in packed.path.read_text().splitlines()]
    assert [line["label"] for line in lines[:6]] == ["ga"] * 5 + ["nn"]
    assert not {"curves", "selection"} & lines[0].keys()
    curves = gzip.decompress(packed.curves_path.read_bytes()).decode().splitlines()
    assert [json.loads(line)["key"] for line in curves] == [line["key"] for line in lines]
    before = packed.path.read_bytes(), packed.curves_path.read_bytes()
    pack(Store(tmp_path / "store"), tmp_path / "results")
    assert (packed.path.read_bytes(), packed.curves_path.read_bytes()) == before


def test_report_status_and_compare_agree_on_packed_results(tmp_path: Path, packed: PackedStore) -> None:
    experiment, store = small_experiment(), Store(tmp_path / "store")
    texts = []
    for source in (store, packed):
        write_report(stored_results(experiment, source), tmp_path / "tables.md", command="same")
        texts.append((tmp_path / "tables.md").read_text())
    assert texts[0] == texts[1]
    assert "90.00" in texts[0]
    assert len(get_status(plan_trials(experiment), packed).done) == 30
    assert "+0.00" not in compare_stores(store, packed)
    assert "they differ" not in compare_stores(store, packed)


def test_pack_keeps_earlier_records(tmp_path: Path, packed: PackedStore) -> None:
    first, second = packed.records()[:2]
    other = replace_spec(first, seed=99)
    changed = second.model_copy(update={"accuracy": 0.123})
    (again,) = pack(fill_store(tmp_path / "new", [other, changed]), tmp_path / "results")
    assert len(again.records()) == 31
    assert again.record(other.key) == other
    assert again.record(second.key).accuracy == 0.123
    assert again.record(first.key) == first


def test_pack_writes_one_file_per_experiment(tmp_path: Path) -> None:
    store = filled(tmp_path / "store")
    another = replace_spec(store.records()[0], seed=7).model_copy(update={"experiment": "another"})
    store.save(another)
    counts = pack(store, tmp_path / "results")
    assert {target.path.name: n for target, n in counts.items()} == {"small.jsonl": 30, "another.jsonl": 1}


def test_packed_store_warns_of_damaged_line_and_pack_keeps_the_file(
    tmp_path: Path, packed: PackedStore
) -> None:
    lines = packed.path.read_text().splitlines()
    for damage in (
        "{",
        "[]",
        lines[2].replace('"accuracy":0.', '"accuracy":7.'),
        lines[2].replace("ga", "nn"),
    ):
        packed.path.write_text("\n".join([*lines[:2], damage, *lines[3:], ""]))
        with pytest.warns(UserWarning, match=r"small\.jsonl, line 3: .* Its trial counts as not run"):
            assert len(PackedStore(packed.path).records()) == 29
        with pytest.raises(FileError, match="is damaged and was not changed"):
            pack(Store(tmp_path / "store"), tmp_path / "results")


@pytest.mark.parametrize(
    "content", [None, b"", b"no gzip", gzip.compress(b"{")], ids=["missing", "empty", "no gzip", "no JSON"]
)
def test_packed_store_without_readable_curves_keeps_numbers(
    packed: PackedStore, content: bytes | None
) -> None:
    if content is None:
        packed.curves_path.unlink()
    else:
        packed.curves_path.write_bytes(content)
    with pytest.warns(UserWarning, match=r"small\.curves\.jsonl\.gz cannot be read"):
        records = PackedStore(packed.path).records()
    assert len(records) == 30
    assert records[0].curves == {}


def test_open_store_finds_packed_file_by_path_or_folder(tmp_path: Path, packed: PackedStore) -> None:
    assert open_store(packed.path) == open_store(tmp_path / "results", "small") == packed
    assert open_store(tmp_path / "results", "other") == Store(tmp_path / "results")
    with pytest.raises(FileError, match="does not exist"):
        PackedStore(tmp_path / "none.jsonl").check_exists()
