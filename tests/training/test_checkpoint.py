"""Checkpoint files: what they can hold, and errors for damaged ones."""

import math

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from scarce.errors import FileError
from scarce.training._checkpoint import load_state, save_state


def equal_states(one, other):
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(equal_states(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal_states, one, other))
    return one == other and type(one) is type(other)


STATE = {
    "number": 3,
    "rate": 0.1,
    "nothing": None,
    "best": -math.inf,
    "text": "é",
    "flag": True,
    "empty": {},
    "weights": {
        "0.weight": torch.randn(3, 4, dtype=torch.float64),
        "n": torch.tensor(7),
        "e": torch.empty(0),
    },
    "half": [torch.ones(2, dtype=torch.bfloat16), [torch.tensor([True, False])]],
    "optimizer": {0: {"step": torch.tensor(2.0)}, 1: {"step": torch.tensor(3.0)}},
}


def test_save_state_round_trip(tmp_path):
    save_state(tmp_path / "a", STATE)
    assert equal_states(load_state(tmp_path / "a"), STATE)


def test_save_state_distinguishes_names_with_dots(tmp_path):
    state = {
        "a": {"b.c": torch.tensor(1)},
        "a.b": {"c": torch.tensor(2)},
        "0": torch.tensor(3),
        0: torch.tensor(4),
    }
    save_state(tmp_path / "a", state)
    assert equal_states(load_state(tmp_path / "a"), state)


def test_save_state_copies_tensors_that_share_memory(tmp_path):
    weight = torch.arange(6.0).reshape(2, 3)
    save_state(tmp_path / "a", {"tied": weight, "again": weight, "view": weight.T})
    back = load_state(tmp_path / "a")
    assert equal_states(back, {"tied": weight, "again": weight, "view": weight.T.contiguous()})


def test_save_state_converts_numpy_numbers_and_tuples(tmp_path):
    save_state(tmp_path / "a", {"x": np.float32(0.5), "n": np.int64(3), "betas": (0.9, 0.999)})
    assert equal_states(load_state(tmp_path / "a"), {"x": 0.5, "n": 3, "betas": [0.9, 0.999]})


def test_save_state_rejects_unsupported_value_and_keeps_old_file(tmp_path):
    save_state(tmp_path / "a", {"epoch": 1})
    with pytest.raises(
        FileError, match=r"a cannot hold state.callbacks.0.when, a object; expected dicts, lists"
    ):
        save_state(tmp_path / "a", {"epoch": 2, "callbacks": [{"when": object()}]})
    assert load_state(tmp_path / "a") == {"epoch": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def error_of_loading(path):
    with pytest.raises(FileError, match=str(path)) as e:
        load_state(path)
    assert "\n" not in str(e.value)
    return str(e.value)


def test_load_state_rejects_missing_file(tmp_path):
    assert "does not exist" in error_of_loading(tmp_path / "a")


@pytest.mark.parametrize(
    "content", [b"", b"abc", b"\0" * 64, b"\xff" * 64, b'{"epoch": 3}', b"PK\x03\x04" * 20]
)
def test_load_state_rejects_foreign_files(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    assert "to start over" in error_of_loading(tmp_path / "a")


def test_load_state_rejects_foreign_safetensors(tmp_path):
    save_file({"weight": torch.ones(2)}, tmp_path / "a")
    assert "is not a checkpoint of scarce" in error_of_loading(tmp_path / "a")
    save_file({"weight": torch.ones(2)}, tmp_path / "a", metadata={"format": "pt"})
    assert "is not a checkpoint of scarce" in error_of_loading(tmp_path / "a")


def test_load_state_rejects_file_without_structure(tmp_path):
    save_file({"weight": torch.ones(2)}, tmp_path / "a", metadata={"format": "scarce-state-1"})
    assert "is damaged" in error_of_loading(tmp_path / "a")


def test_load_state_rejects_truncated_file(tmp_path):
    save_state(tmp_path / "whole", STATE)
    whole = (tmp_path / "whole").read_bytes()
    for length in range(0, len(whole), 37):
        (tmp_path / "a").write_bytes(whole[:length])
        error_of_loading(tmp_path / "a")


def test_load_state_detects_changed_byte(tmp_path):
    save_state(tmp_path / "whole", STATE)
    whole = (tmp_path / "whole").read_bytes()
    wrong = []
    for offset in range(0, len(whole), 11):
        damaged = bytearray(whole)
        damaged[offset] ^= 0x10
        (tmp_path / "a").write_bytes(damaged)
        try:
            loaded = load_state(tmp_path / "a")
        except FileError as error:
            wrong += [str(error)] if "\n" in str(error) else []
        else:
            wrong += [] if equal_states(loaded, STATE) else [offset]
    assert wrong == []
