"""A process that embeds photos is killed; the next one resumes, and writes the same bytes."""

import json

import pytest
from e2e.scripts.killed_embedding import MOMENTS
from helpers.embedding_models import make_photos, make_vit

# What a process leaves behind, and how many of the five batches the next one computes.
LEFT = {
    "before-batch-1": ([], 5),
    "after-array-of-batch-2": ([".partial", ".partial.json"], 4),
    "after-batch-3": ([".partial", ".partial.json"], 2),
    "after-ids": ([".json", ".partial", ".partial.json"], 0),
    "after-renaming": (["", ".json", ".partial.json"], 0),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, fork_server):
    folder = tmp_path_factory.mktemp("embedding")
    make_vit(folder / "vit")
    make_photos(folder / "photos")
    (folder / "out").mkdir()
    fork_server.run_script("killed_embedding", folder / "vit", folder / "photos", folder / "out")
    return folder / "out"


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_embedding_is_resumed_with_the_same_bytes(moment, folder):
    names, n_batches = json.loads((folder / "left.json").read_text())[moment]
    expected, n_expected = LEFT[moment]
    assert [name.removeprefix(f"{moment}.npy") for name in names if not name.endswith(".lock")] == expected
    assert n_batches == n_expected
    for suffix in (".npy", ".npy.json"):
        assert (folder / f"{moment}{suffix}").read_bytes() == (folder / f"whole{suffix}").read_bytes()
