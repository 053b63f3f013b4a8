"""Training in two and three real processes equals training in one."""

import os
import re
from pathlib import Path

import pytest
import torch
from e2e.scripts.distributed import COUNTS, ONE_STEP, SETTINGS, train_one
from e2e.scripts.distributed_cases import SCENARIOS
from helpers.processes import ForkServer
from safetensors.torch import load_file

from scarce.errors import MethodError
from scarce.training._checkpoint import load_state

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.early,
]

REJECTED = {
    "with_unused_weights": r"MethodError: spare.0.weight, .* and others received no gradient.*requires_grad_\(False\)",
    "with_small_batches_and_batch_norm": "MethodError: a batch has 3 rows for 2 processes, but batch norm needs two per process",
    "with_a_damaged_checkpoint_on_the_first": "FileError: .*checkpoint of 0 is damaged",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, fork_server: ForkServer) -> Path:
    folder = tmp_path_factory.mktemp("distributed")
    fork_server.run_script("distributed", folder)
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
def read_case(tmp_path_factory: pytest.TempPathFactory, fork_server: ForkServer):
    folder = tmp_path_factory.mktemp("cases")
    fork_server.run_script("distributed_cases", folder)

    def read(name, count):
        return [load_state(folder / str(count) / f"{name} {rank}.safetensors") for rank in range(count)]

    return read


def assert_close(one, other, tolerance):
    assert list(one) == list(other)
    for name, value in one.items():
        torch.testing.assert_close(other[name], value, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in REJECTED])
def test_processes_end_with_same_weights_and_buffers(name, read_case):
    first, second = read_case(name, 2)
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
def test_processes_without_own_randomness_train_like_one(name, read_case):
    (alone,), (first, _) = read_case(name, 1), read_case(name, 2)
    assert_close(
        alone["model"], first["model"], 1e-6 if name in ("with_refine", "with_early_stopping") else 1e-12
    )
    assert first.get("epochs") == alone.get("epochs")


def test_micro_batches_in_two_processes_give_the_step_of_the_whole_batch(read_case):
    assert_close(read_case("whole", 1)[0]["model"], read_case("in_parts", 2)[0]["model"], 1e-12)


def test_process_group_of_the_user_is_used_and_kept(read_case):
    for mine, own in zip(read_case("with_a_group_of_the_user", 2), read_case("whole", 2), strict=True):
        assert mine["kept"] == "True"
        assert_close(own["model"], mine["model"], 0)


def test_checkpoints_are_written_only_by_rank_0(read_case):
    assert [end["left"] for end in read_case("with_a_checkpoint_of_the_first", 2)] == ["True", "False"]


@pytest.mark.parametrize(
    "name", ["with_crop_and_shift", "with_affine_and_flip", "with_affine_and_flip_of_all_inputs"]
)
def test_processes_augment_each_row_like_one(name, read_case):
    (alone,), (first, _) = read_case(name, 1), read_case(name, 2)
    assert_close(alone["model"], first["model"], 1e-12)
    assert first["loss"] == pytest.approx(alone["loss"], rel=1e-6)


@pytest.mark.parametrize(("name", "line"), REJECTED.items())
def test_mistakes_are_reported_by_every_process(name, line, read_case):
    for end in read_case(name, 2):
        assert re.search(line, end["error"])
        assert "\n" not in end["error"]


def test_distributed_training_rejects_a_single_process(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(
        MethodError, match="distributed=True is for several processes; start them with torchrun"
    ):
        train_one(SETTINGS["scarce"], ONE_STEP, distributed=True)
