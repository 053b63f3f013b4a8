"""The schema of a checkpoint: what a resumed run reads must fit its freshly prepared model, method and optimizer."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from scarce._io.schema import (
    Check,
    Mismatch,
    anything,
    either,
    fields,
    flag,
    integer,
    list_of,
    mapping,
    number,
    one_of,
    optional,
    text,
)
from scarce._validation import shorten
from scarce.errors import FileError
from scarce.training.callbacks import EarlyStopping

if TYPE_CHECKING:
    from scarce.training.state import TrainingState

_HISTORY_SIZE = 10  # of L-BFGS in a Recipe
_MAX_STAGE_RATIO = 100  # of the epochs of a stage to those of the recipe; a larger stage is taken for damage
_ANY_NUMBER = number(finite=False)
_METRIC = either(
    "a number, text, or a list of numbers", _ANY_NUMBER, flag, text, one_of(None), list_of(_ANY_NUMBER)
)


def check_checkpoint(path: Path, stored: dict[str, Any], state: "TrainingState") -> None:
    """Raise a `FileError` if a run in this state before its first epoch cannot resume from what is stored."""
    try:
        stages: Any = stored.get("stages")
        list_of(integer(1, _MAX_STAGE_RATIO * max(state.recipe.epochs, state.stages[0])))(stages, "stages")
        _number_of_stages(state)(stages, "stages")
        total, before = sum(stages), sum(stages[:-1])
        epoch: Any = stored.get("epoch")
        integer(max(1, before), total)(epoch, "epoch")
        schema = fields(
            {
                "identity": anything,
                "epoch": anything,
                "stages": anything,
                "stop": flag,
                "history": list_of(_RECORD, epoch),
                "weights": _tensors_like(state.weights()),
                "initial_weights": _tensors_like(state.initial_weights),
                "optimizer": fields(
                    {"state": _optimizer_state(state), "param_groups": list_of(_param_group(state), 1)}
                ),
                "callbacks": list_of(anything, len(state.stateful_callbacks())),
            }
        )
        schema(stored, "")
        for position, record in enumerate(stored["history"]):
            one_of(position + 1)(record["epoch"], f"history.{position}.epoch")
        for position, callback in enumerate(state.stateful_callbacks()):
            if isinstance(callback, EarlyStopping):
                _early_stopping(state, epoch, stages)(stored["callbacks"][position], f"callbacks.{position}")
    except Mismatch as error:
        raise FileError(
            f"{path} is not a checkpoint of this run: {error}; delete it (--restart) to train from the start."
        ) from None


_RECORD = fields(
    {"epoch": integer(1), "loss": number(), "learning_rate": number(0), "seconds": number(0)}, _METRIC
)


def _number_of_stages(state: "TrainingState") -> Check:
    """Return a check of the stages: the first is as planned or shorter; only some methods have more than one."""

    def check(stages: Any, where: str) -> None:
        if not stages or (len(stages) > 1 and not state.method.multi_stage) or stages[0] > state.stages[0]:
            expected = f"[{state.stages[0]}]{' and more stages' * state.method.multi_stage}, or less"
            raise Mismatch(where, shorten(stages), expected)

    return check


def _early_stopping(state: "TrainingState", epoch: int, stages: list[int]) -> Check:
    """Return the check of the state of `EarlyStopping`."""
    weights = either("no weights, or those of model and method", one_of({}), _tensors_like(state.weights()))
    return fields(
        {
            "value": _ANY_NUMBER,
            "epoch": integer(0, epoch),
            "stage": integer(0, len(stages)),
            "weights": weights,
        }
    )


def _param_group(state: "TrainingState") -> Check:
    """Return the check of the settings of the optimizer: those of a new one, except for the learning rate."""
    (new,) = state.optimizer.state_dict()["param_groups"]
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in new.items()}
    return fields({name: number(0) if name == "lr" else one_of(value) for name, value in plain.items()})


def _optimizer_state(state: "TrainingState") -> Check:
    """Return the check of what the optimizer keeps of each parameter, by its number."""
    parameters = list(state.optimizer.param_groups[0]["params"])

    def check(value: Any, where: str) -> None:
        mapping(anything, integer(0, len(parameters) - 1))(value, where)
        for position, of_parameter in value.items():
            _PARAMETER_STATES[state.recipe.optimizer](parameters, position)(
                of_parameter, f"{where}.{position}"
            )

    return check


def _adam_state(parameters: list[Tensor], position: int) -> Check:
    like = _tensor_like(parameters[position])
    return fields({"step": _tensor_like(torch.tensor(0.0)), "exp_avg": like, "exp_avg_sq": like})


def _sgd_state(parameters: list[Tensor], position: int) -> Check:
    return fields({"momentum_buffer": optional(_tensor_like(parameters[position]))})


def _lbfgs_state(parameters: list[Tensor], position: int) -> Check:
    """Return the check of the state of L-BFGS, which all parameters share."""
    flat = _tensor_like(torch.cat([parameter.detach().flatten() for parameter in parameters]))
    scalar = either("a number", _ANY_NUMBER, _tensor_like(parameters[0].detach().new_zeros(())))
    history = {"old_dirs": list_of(flat), "old_stps": list_of(flat), "ro": list_of(scalar)}
    others = {"d": flat, "t": scalar, "H_diag": scalar, "prev_flat_grad": flat, "prev_loss": scalar}
    known = fields(
        {"func_evals": integer(), "n_iter": integer()},
        {**others, **history, "al": list_of(optional(scalar), _HISTORY_SIZE)},
    )

    def check(value: Any, where: str) -> None:
        known(value, where)
        if value["n_iter"] == 0:
            return
        for name in (*others, *history):
            if name not in value:
                raise Mismatch(where, shorten(value), f"a mapping with the field {name!r}")
        integer(0, _HISTORY_SIZE)(len(value["old_dirs"]), f"the length of {where}.old_dirs")
        for name in history:
            list_of(anything, len(value["old_dirs"]))(value[name], f"{where}.{name}")

    return check


_PARAMETER_STATES = {"adam": _adam_state, "sgd": _sgd_state, "lbfgs": _lbfgs_state}


def _tensors_like(expected: Mapping[str, Any]) -> Check:
    """Return a check for nested mappings with the same names, and tensors of the same shapes and types."""
    return fields(
        {
            name: _tensors_like(value)
            if isinstance(value, Mapping)
            else _tensor_like(value)
            if isinstance(value, Tensor)
            else anything
            for name, value in expected.items()
        }
    )


def _tensor_like(expected: Tensor) -> Check:
    """Return a check for a tensor of the same shape and type."""

    def check(value: Any, where: str) -> None:
        is_like = isinstance(value, Tensor) and (value.shape, value.dtype) == (expected.shape, expected.dtype)
        if not is_like:
            found = _describe(value) if isinstance(value, Tensor) else shorten(value)
            raise Mismatch(where, found, _describe(expected))

    return check


def _describe(tensor: Tensor) -> str:
    return f"a tensor of shape {tuple(tensor.shape)}, {str(tensor.dtype).removeprefix('torch.')}"
