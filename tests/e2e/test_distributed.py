"""Two and three real processes train as one does."""

import os
import re

import pytest
import torch
from e2e.scripts.distributed import COUNTS, ONE_STEP, SETTINGS, train_one
from e2e.scripts.distributed_cases import SCENARIOS
from helpers.scripts import run_script
from safetensors.torch import load_file

from scarce.errors import MethodError
from scarce.training.checkpoint import load_state

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.early,
]

REFUSED = {
    "with_unused_weights": r"MethodError: spare.0.weight, .* and others received no gradient.*requires_grad_\(False\)",
    "with_small_batches_and_batch_norm": "MethodError: a batch has 3 rows for 2 processes, and batch norm needs two for each",
    "with_a_damaged_checkpoint_on_the_first": "FileError: .*checkpoint of 0 is damaged",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    run_script("distributed", folder)
    return folder


@pytest.mark.parametrize("count", COUNTS[1:])
@pytest.mark.parametrize("name", SETTINGS)
def test_every_method_trains_as_in_one_process(name, count, root):
    alone = sorted((root / "1").glob(f"{name} *.safetensors"))
    assert alone
    for path in alone:
        expected = load_file(path)
        ranks = [
            load_file(root / str(count) / path.name.replace(" 0.", f" {rank}.")) for rank in range(count)
        ]
        tolerance = 1e-10 if " step " in path.name else 1e-8
        for weight, value in expected.items():
            for other in ranks[1:]:
                torch.testing.assert_close(other[weight], ranks[0][weight], rtol=0, atol=0)
            torch.testing.assert_close(ranks[0][weight], value, rtol=tolerance, atol=tolerance)


@pytest.fixture(scope="module")
def more(tmp_path_factory):
    folder = tmp_path_factory.mktemp("more")
    run_script("distributed_cases", folder)

    def read(name, count):
        return [load_state(folder / str(count) / f"{name} {rank}.safetensors") for rank in range(count)]

    return read


def assert_close(one, other, tolerance):
    assert list(one) == list(other)
    for name, value in one.items():
        torch.testing.assert_close(other[name], value, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in REFUSED])
def test_all_processes_end_with_the_same_weights_and_buffers(name, more):
    first, second = more(name, 2)
    assert_close(first["model"], second["model"], 0)
    assert first.get("loss") == second.get("loss")


@pytest.mark.parametrize(
    "name",
    [
        "in_parts",
        "whole",
        "with_frozen_weights",
        "with_nothing_to_train_but_the_method",
        "with_a_checkpoint_of_the_first",
        "with_refine",
        "with_early_stopping",
    ],
)
def test_without_randomness_of_their_own_they_are_as_one(name, more):
    (alone,), (first, _) = more(name, 1), more(name, 2)
    assert_close(
        alone["model"], first["model"], 1e-6 if name in ("with_refine", "with_early_stopping") else 1e-12
    )
    assert first.get("epochs") == alone.get("epochs")


def test_parts_and_processes_together_give_the_step_of_the_whole(more):
    assert_close(more("whole", 1)[0]["model"], more("in_parts", 2)[0]["model"], 1e-12)


def test_a_group_of_the_user_is_used_and_kept(more):
    for mine, own in zip(more("with_a_group_of_the_user", 2), more("whole", 2), strict=True):
        assert mine["kept"] == "True"
        assert_close(own["model"], mine["model"], 0)


def test_only_the_first_writes_checkpoints(more):
    assert [end["left"] for end in more("with_a_checkpoint_of_the_first", 2)] == ["True", "False"]


def test_augmentation_draws_otherwise_in_every_process(more):
    """Else the second half of every batch would be moved just as the first."""
    (alone,), (first, _) = more("with_augmentation", 1), more("with_augmentation", 2)
    assert alone["loss"] != first["loss"]
    assert alone["loss"] == pytest.approx(first["loss"], rel=0.05)


@pytest.mark.parametrize(("name", "line"), REFUSED.items())
def test_mistakes_are_told_by_every_process(name, line, more):
    for end in more(name, 2):
        assert re.search(line, end["error"])
        assert "\n" not in end["error"]


def test_alone_there_is_nobody_to_train_with(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(
        MethodError, match="distributed=True is for several processes; start them with torchrun"
    ):
        train_one(SETTINGS["scarce"], ONE_STEP, distributed=True)
