"""The state of a training run: what it trains, its progress, and how it is saved and resumed."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from scarce.methods import Method
from scarce.training.callbacks import Callback
from scarce.training.checkpoint import check_same_run, load_state, save_state
from scarce.training.recipe import Recipe
from scarce.training.runtime import SINGLE_PROCESS, DistributedContext
from scarce.training.wrappers import wrap_model

__all__ = ["History", "TrainingState"]


@dataclass
class History:
    """One record of named numbers, or lists of numbers, per epoch.

    Examples
    --------
    >>> history = History([{"epoch": 1, "loss": 2.0}, {"epoch": 2, "loss": 1.5}])
    >>> history["loss"]
    [2.0, 1.5]
    """

    records: list[dict[str, Any]] = field(default_factory=list)

    def __getitem__(self, name: str) -> list[Any]:
        return [record[name] for record in self.records]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records)


@dataclass
class TrainingState:
    """A training run as callbacks see it.

    Attributes
    ----------
    epoch : int
        The number of epochs done.
    stop : bool
        Set by a callback to end the run after this epoch.
    history : History
        The records so far.
    stages : list of int
        The number of epochs of each stage that has begun; most methods have one.
    initial_weights : dict
        The state of the model before the first epoch, for methods that train in stages.
    context : DistributedContext
        The processes that train the model together; by default only this one.
    wrapped_model : nn.Module
        The model as a training step calls it; see `scarce.training.wrappers.wrap_model` and `DistributedContext.parallelize`.
    """

    model: nn.Module
    method: Method
    recipe: Recipe
    optimizer: torch.optim.Optimizer
    stages: list[int]
    callbacks: Sequence[Callback] = ()
    epoch: int = 0
    stop: bool = False
    history: History = field(default_factory=History)
    initial_weights: dict[str, Tensor] = field(default_factory=dict)
    context: DistributedContext = SINGLE_PROCESS

    def __post_init__(self) -> None:
        self.wrapped_model = self.context.parallelize(wrap_model(self.model, self.recipe))

    @classmethod
    def of(
        cls,
        model: nn.Module,
        method: Method,
        recipe: Recipe,
        callbacks: Sequence[Callback],
        context: DistributedContext = SINGLE_PROCESS,
    ) -> "TrainingState":
        """Return the run of a prepared method before its first epoch."""
        stages = [method.first_stage(recipe.epochs)]
        optimizer = _make_optimizer(model, method, recipe)
        state = cls(model, method, recipe, optimizer, stages, callbacks, context=context)
        if method.multi_stage:
            state.initial_weights = deepcopy(model.state_dict())
        return state

    def start_stage(self, epochs: int) -> bool:
        """Start another stage of that many epochs: from the initial weights, with a new optimizer; return whether there is one.

        The first process decides how many, and what the method has learned for the stage; 0 epochs are none.
        """
        epochs = self.context.call_on_rank_zero(lambda: epochs)
        self.context.broadcast_tensors(self.method.buffers())
        if epochs == 0:
            return False
        self.stages.append(epochs)
        self.model.load_state_dict(self.initial_weights)
        self.optimizer = _make_optimizer(self.model, self.method, self.recipe)
        return True

    def end_stage(self) -> None:
        """End the current stage after this epoch; without stages, the run."""
        self.stages[-1] = self.epoch - sum(self.stages[:-1])

    def agree_on_end(self) -> None:
        """Take from the first process when the stage and the run end, which callbacks may have changed."""
        self.stop, self.stages = self.context.call_on_rank_zero(lambda: (self.stop, self.stages))

    def weights(self) -> dict[str, dict[str, Tensor]]:
        """Return the state of model and method."""
        return {"model": self.model.state_dict(), "method": self.method.state_dict()}

    def load_weights(self, weights: dict[str, dict[str, Tensor]]) -> None:
        """Restore what `weights` returned."""
        self.model.load_state_dict(weights["model"])
        self.method.load_state_dict(weights["method"])

    def stateful_callbacks(self) -> list[Callback]:
        """Return the callbacks whose state a resumed run needs; others, such as a progress bar, may change."""
        return [
            callback for callback in self.callbacks if type(callback).state_dict is not Callback.state_dict
        ]

    def save(self, path: Path, identity: dict[str, Any]) -> None:
        """Write all that the run needs to resume; the first process does."""
        state = {
            "identity": identity,
            "epoch": self.epoch,
            "stages": self.stages,
            "stop": self.stop,
            "history": self.history.records,
            "weights": self.weights(),
            "initial_weights": self.initial_weights,
            "optimizer": self.optimizer.state_dict(),
            "callbacks": [callback.state_dict() for callback in self.stateful_callbacks()],
        }
        self.context.call_on_rank_zero(lambda: save_state(path, state))

    def resume(self, path: Path, identity: dict[str, Any]) -> None:
        """Restore the state of a run of the same identity when it was last saved, if it was."""
        if not self.context.call_on_rank_zero(path.exists):
            return
        state = self.context.call_on_rank_zero(lambda: load_state(path))
        check_same_run(path, state.get("identity", {}), identity)
        self.epoch, self.stop, self.history = state["epoch"], state["stop"], History(state["history"])
        self.load_weights(state["weights"])
        self.stages, self.initial_weights = state["stages"], state["initial_weights"]
        self.optimizer.load_state_dict(state["optimizer"])
        for callback, stored in zip(self.stateful_callbacks(), state["callbacks"], strict=True):
            callback.load_state_dict(stored)


def _make_optimizer(model: nn.Module, method: Method, recipe: Recipe) -> torch.optim.Optimizer:
    return recipe.make_optimizer([*model.parameters(), *method.parameters()])
