"""The state of a training run: model, method, optimizer, progress and history."""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from scarce._validation import check_integer, shorten
from scarce.errors import FileError
from scarce.methods import Method
from scarce.training._checkpoint import check_same_run, load_state, save_state
from scarce.training._checkpoint_schema import check_checkpoint
from scarce.training._runtime import SINGLE_PROCESS, DistributedContext
from scarce.training._wrappers import wrap_model
from scarce.training.callbacks import Callback
from scarce.training.recipe import Recipe


@dataclass
class History:
    """The metrics of a training run, one record per epoch.

    ``history["loss"]`` is a list with one value per epoch; iterating yields the records.

    Parameters
    ----------
    records : list of dict
        One record per epoch: numbers, or lists of numbers, by the names of the metrics.

    See Also
    --------
    train : Returns the history of a run.
    EpochMetric : Adds a metric to it.

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
    """The state of a training run, which callbacks can read and change.

    Attributes
    ----------
    model : nn.Module
        The model being trained.
    method : Method
        The prepared method.
    recipe : Recipe
        The hyperparameters.
    optimizer : torch.optim.Optimizer
        The optimizer of the current stage.
    epoch : int
        The number of finished epochs.
    stop : bool
        A callback sets it to True to stop after this epoch.
    history : History
        The records of the finished epochs.
    stages : list of int
        The number of epochs of each stage started so far; most methods have one stage.
    callbacks : sequence of Callback
        The callbacks of the run.
    initial_weights : dict
        The state of the model before the first epoch, for methods that train in stages.
    context : DistributedContext
        The processes that train together.
    wrapped_model : nn.Module
        The model as a training step calls it: compiled, with autocast, micro-batches or in parallel, as the recipe says.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.training import Callback, train
    >>> class StopAfterTwo(Callback):
    ...     def on_epoch_end(self, state, record):
    ...         state.stop = state.epoch == 2
    >>> from scarce.labels import ComplementaryLabels
    >>> X, labels = np.eye(3, dtype=np.float32), ComplementaryLabels.from_single([1, 2, 0], classes=3)
    >>> len(train(nn.Linear(3, 3), "cc", X, labels, callbacks=[StopAfterTwo()]).records)
    2
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
        """Return the state before the first epoch, for a prepared method."""
        stages = [method.first_stage(recipe.epochs)]
        optimizer = _make_optimizer(model, method, recipe)
        state = cls(model, method, recipe, optimizer, stages, callbacks, context=context)
        if method.multi_stage:
            state.initial_weights = deepcopy(model.state_dict())
        return state

    @property
    def is_distributed(self) -> bool:
        """Whether several processes train together."""
        return self.context.world_size > 1

    def start_stage(self, epochs: int) -> bool:
        """Start a stage of `epochs` epochs from the initial weights, with a new optimizer; return False for 0 epochs.

        The number of epochs and the buffers of the method are those of the first process.
        """
        epochs = self.context.call_on_rank_zero(lambda: epochs)
        check_integer("the epochs of the next stage", epochs)
        self.context.broadcast_tensors(self.method.buffers())
        if epochs == 0:
            return False
        self.stages.append(epochs)
        self.model.load_state_dict(self.initial_weights)
        self.optimizer = _make_optimizer(self.model, self.method, self.recipe)
        return True

    def end_stage(self) -> None:
        """End the current stage after this epoch; if it is the last stage, the run ends too."""
        self.stages[-1] = self.epoch - sum(self.stages[:-1])

    def agree_on_end(self) -> None:
        """Copy `stop` and `stages`, which callbacks may have changed, from the first process."""
        self.stop, self.stages = self.context.call_on_rank_zero(lambda: (self.stop, self.stages))

    def weights(self) -> dict[str, dict[str, Tensor]]:
        """Return the state dicts of model and method."""
        return {"model": self.model.state_dict(), "method": self.method.state_dict()}

    def load_weights(self, weights: dict[str, dict[str, Tensor]]) -> None:
        """Restore what `weights` returned."""
        self.model.load_state_dict(weights["model"])
        self.method.load_state_dict(weights["method"])

    def normalize_layout(self) -> None:
        """Store all buffers in row-major order, as a run that resumes from a checkpoint has them."""
        make_buffers_row_major((self.model, self.method))

    def stateful_callbacks(self) -> list[Callback]:
        """Return the callbacks that have a state to save; others, such as a progress bar, may differ in a resumed run."""
        return [
            callback for callback in self.callbacks if type(callback).state_dict is not Callback.state_dict
        ]

    def save(self, path: Path, identity: dict[str, Any]) -> None:
        """Write a checkpoint; in distributed training only the first process writes."""
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
        """Restore the state from a checkpoint of the same run, if there is one."""
        if not self.context.call_on_rank_zero(path.exists):
            return
        state = self.context.call_on_rank_zero(lambda: load_state(path))
        check_same_run(path, state.get("identity"), identity)
        check_checkpoint(path, state, self)
        self.epoch, self.stop, self.history = state["epoch"], state["stop"], History(state["history"])
        self.load_weights(state["weights"])
        self.stages, self.initial_weights = state["stages"], state["initial_weights"]
        self.optimizer.load_state_dict(state["optimizer"])
        lay_out_like_weights(self.optimizer)
        for callback, stored in zip(self.stateful_callbacks(), state["callbacks"], strict=True):
            try:
                callback.load_state_dict(stored)
            except Exception as error:  # whatever a user's program may raise
                raise FileError(
                    f"{path}: {type(callback).__name__} cannot restore its state ({type(error).__name__}: {shorten(str(error))}); "
                    "delete it (--restart) to train from the start."
                ) from error


# The last bits of sums and products depend on the layout of tensors in memory. A checkpoint stores values in row-major order,
# without their layout, so a run that continues and one that resumes must have the same layout.


def make_buffers_row_major(modules: Iterable[nn.Module]) -> None:
    """Copy every buffer that is transposed, expanded or part of a larger tensor into its own memory, in row-major order.

    A method may store the result of any computation in a buffer; parameters keep the layout they were made with.

    Examples
    --------
    >>> layer = nn.Module()
    >>> layer.register_buffer("matrix", torch.arange(6.0).reshape(2, 3).T)
    >>> make_buffers_row_major([layer])
    >>> layer.matrix.tolist(), layer.matrix.stride()
    ([[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], (2, 1))
    """
    for module in modules:
        for buffer in module.buffers():
            if not buffer.is_contiguous() or buffer.storage_offset():
                buffer.data = buffer.detach().clone(memory_format=torch.contiguous_format)


def lay_out_like_weights(optimizer: torch.optim.Optimizer) -> None:
    """Lay out the loaded moments of an optimizer like their weights, as the optimizer itself does.

    Examples
    --------
    >>> weight = nn.Parameter(torch.zeros(2, 3).T)
    >>> optimizer = torch.optim.SGD([weight], momentum=0.9)
    >>> optimizer.state[weight] = {"momentum_buffer": torch.ones(3, 2)}
    >>> lay_out_like_weights(optimizer)
    >>> optimizer.state[weight]["momentum_buffer"].stride() == weight.stride()
    True
    """
    for weight, state in optimizer.state.items():
        for name, value in state.items():
            if isinstance(value, torch.Tensor) and value.shape == weight.shape:
                state[name] = torch.empty_like(weight, dtype=value.dtype).copy_(value).detach()


def _make_optimizer(model: nn.Module, method: Method, recipe: Recipe) -> torch.optim.Optimizer:
    return recipe.make_optimizer([*model.parameters(), *method.parameters()])
