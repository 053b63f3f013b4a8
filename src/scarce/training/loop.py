"""The training loop: epochs, stages, callbacks and checkpoints."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from scarce.errors import FeatureError, MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Method, Problem, make_method
from scarce.methods._transition import resolve_transition
from scarce.models import MLP
from scarce.training._batches import BatchReader, Source, as_source, float_dtype, input_dtype
from scarce.training._checkpoint import run_fingerprint
from scarce.training._epoch import check_batch_size, train_epoch
from scarce.training._full_batch import check_full_batch, full_batch_epoch, has_converged
from scarce.training._runtime import (
    SINGLE_PROCESS,
    DistributedContext,
    check_device,
    distributed_context,
    seeded,
)
from scarce.training.callbacks import Callback
from scarce.training.recipe import ANNEALED, Recipe
from scarce.training.state import History, TrainingState

REVISION = 1
"""Raise when the same settings give other numbers; results of earlier revisions are then outdated."""

_CHUNK_ROWS = 1024  # rows per batch of a pass without training


def train(
    model: nn.Module,
    method: str | Method,
    inputs: Any,
    labels: ComplementaryLabels,
    recipe: Recipe = ANNEALED,
    *,
    priors: Any = None,
    transition: Any = None,
    make_model: Callable[[], nn.Module] | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: str | Path | None = None,
    device: str | torch.device = "cpu",
    workers: int = 0,
    distributed: bool = False,
) -> History:
    """Train a model in place.

    n is the number of examples, q the number of classes, and B the size of a batch.

    Parameters
    ----------
    model : nn.Module
        Maps a batch of inputs to logits of shape (B, q).
    method : Method or str
        Turns labels into a loss; a name is passed to `scarce.methods.make_method`.
    inputs : array, tensor, sparse matrix, Shards or Dataset
        The features, one row per example, of shape (n, ...). Arrays of bytes with more than two axes are images and are scaled to
        [0, 1].
    labels : ComplementaryLabels
        The labels of the n examples, in the same order.
    recipe : Recipe
        Epochs, optimizer, seed and other hyperparameters.
    priors : array-like of shape (q,), optional
        Class priors π, for methods that need them.
    transition : {"uniform", "confirmed"} or array-like of shape (q, q), optional
        p(ȳ | y), for methods that need it; ``"confirmed"`` counts it over examples whose class is known.
    make_model : callable, optional
        Makes another model of the same kind, for methods that train two.
    callbacks : sequence of Callback
        Called after every epoch, in order.
    checkpoint : path, optional
        Written after every epoch. If the file exists, training resumes from it and ends with exactly the weights
        of an uninterrupted run.
    device : str or torch.device
        The device to train on.
    workers : int
        The number of worker processes that read a `Dataset` ahead; other inputs need none.
    distributed : bool
        Train together with the other processes that torchrun has started; each calls `train` with the same arguments. Every
        batch is sharded. The result is the same as with one process, augmentations included, unless the network has dropout
        or batch norm. Only the first process writes the checkpoint.

    Returns
    -------
    History
        One record per epoch: epoch, loss (the mean over steps), learning_rate, seconds, and what the method and the callbacks
        add. Methods that train in stages have more epochs than the recipe.

    Raises
    ------
    MethodError
        If the method, model, labels and recipe do not suit each other.
    FeatureError
        If `inputs` and `labels` differ in length, or the inputs are not numbers.
    DivergedError
        If the loss or a weight is no longer finite.

    See Also
    --------
    Recipe : The hyperparameters.
    predict_logits, map_logits : Predict with the trained model.
    scarce.ScarceClassifier : Builds model, method and recipe, and trains them.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> from scarce.models import make_model
    >>> inputs = np.array([[0.0, 1.0], [1.0, 0.0]], np.float32)
    >>> labels = ComplementaryLabels.from_single([0, 1], classes=2)
    >>> history = train(make_model("linear", (2,), 2), make_method("scarce"), inputs, labels,
    ...                 Recipe(epochs=2), priors=[0.5, 0.5])
    >>> history["epoch"]
    [1, 2]
    """
    source = as_source(inputs, workers)
    if len(source) != labels.n_examples:
        raise FeatureError(
            f"there are {len(source)} rows of inputs and {labels.n_examples} of labels; pass both of the same examples."
        )
    transition_matrix = resolve_transition(transition, labels)
    problem = Problem(
        labels,
        _to_tensor(priors, "priors"),
        None if transition_matrix is None else torch.from_numpy(transition_matrix),
        make_model,
    )
    torch_device = check_device(device)
    with distributed_context(distributed, torch_device) as context:
        return train_checked(
            model,
            make_method(method) if isinstance(method, str) else method,
            source,
            problem,
            recipe,
            callbacks=callbacks,
            checkpoint=checkpoint,
            device=torch_device,
            context=context,
        )


def train_checked(
    model: nn.Module,
    method: Method,
    source: Source,
    problem: Problem,
    recipe: Recipe,
    *,
    callbacks: Sequence[Callback] = (),
    checkpoint: str | Path | None = None,
    device: torch.device,
    context: DistributedContext = SINGLE_PROCESS,
) -> History:
    """Train a model in place, like `train`, on arguments that have been checked.

    Parameters
    ----------
    model : nn.Module
        Maps a batch of inputs to logits of shape (B, q).
    method : Method
        Turns labels into a loss.
    source : Source
        The inputs of n examples.
    problem : Problem
        Their labels, in the same order, with priors and transition matrix.
    recipe : Recipe
        Epochs, optimizer, seed and other hyperparameters.
    callbacks : sequence of Callback
        Called after every epoch, in order.
    checkpoint : path, optional
        Written after every epoch; if it exists, training resumes from it.
    device : torch.device
        The device to train on.
    context : DistributedContext
        The processes that train together.
    """
    with seeded(recipe.seed):
        method.prepare(problem)
        _initialize_lazy_layers(model, source)
        _set_dropout(model, method, recipe.dropout)
    model.to(device)
    method.to(device, float_dtype(model))
    weights = [*model.parameters(), *method.parameters()]
    if not any(weight.requires_grad for weight in weights):
        raise MethodError("the model has no weights to train; unfreeze some, or choose another module.")
    state = TrainingState.of(model, method, recipe, callbacks, context)
    state.normalize_layout()
    check_batch_size(state, len(source))
    if recipe.optimizer == "lbfgs":
        check_full_batch(state)
    identity = {} if checkpoint is None else run_fingerprint(state, source, problem)
    if checkpoint is not None:
        state.resume(Path(checkpoint), identity)
    _train(state, BatchReader.of(model, source, problem.labels, device), checkpoint, identity)
    return state.history


def _initialize_lazy_layers(model: nn.Module, source: Source) -> None:
    """Run a model with lazy layers on one row, which sets their shapes."""
    if any(is_lazy(weight) for weight in model.parameters()):
        was_training = model.training
        (row,) = source.batches([torch.tensor([0])], input_dtype(model))
        with torch.no_grad():
            model.eval()(row)
        model.train(was_training)


def _set_dropout(model: nn.Module, method: Method, probability: float) -> None:
    """Set the dropout probability of the built-in networks, including one inside the method."""
    layers = [layer for layer in (*model.modules(), *method.modules()) if isinstance(layer, MLP)]
    if probability and not layers:
        raise MethodError(
            f"dropout={probability:g} is for module='mlp'; leave it out, or put nn.Dropout into your own network."
        )
    for layer in layers:
        layer.dropout = probability


def _train(
    state: TrainingState, reader: BatchReader, checkpoint: str | Path | None, identity: dict[str, Any]
) -> None:
    """Train from the current epoch to the last."""
    for callback in state.callbacks:
        callback.on_train_begin(state)
    try:
        while not state.stop:
            started = time.perf_counter()
            if state.epoch == sum(state.stages) and not _begin_stage(state, reader):
                break
            is_full = state.recipe.optimizer == "lbfgs"
            loss = full_batch_epoch(state, reader) if is_full else train_epoch(state, reader)
            state.epoch += 1
            if is_full and has_converged(state, loss):
                state.end_stage()
            record = {
                "epoch": state.epoch,
                "loss": loss,
                "learning_rate": state.optimizer.param_groups[0]["lr"],
                "seconds": time.perf_counter() - started,
                **state.method.epoch_log(),
            }
            for callback in state.callbacks:
                callback.on_epoch_end(state, record)
            state.agree_on_end()
            state.history.records.append(record)
            state.normalize_layout()  # whether or not a checkpoint is written
            if checkpoint is not None:
                state.save(Path(checkpoint), identity)
    finally:
        for callback in state.callbacks:
            callback.on_train_end(state)
        state.model.eval()


def _begin_stage(state: TrainingState, reader: BatchReader) -> bool:
    """Start another stage if the method asks for one, given the logits of all rows; return whether there is one."""
    if not state.method.multi_stage:
        return False
    indices = list(torch.arange(len(reader.source)).split(_CHUNK_ROWS))  # type: ignore[no-untyped-call]

    def rows() -> Iterator[tuple[Tensor, Batch]]:
        for batch in reader.read(indices):
            yield state.model(batch.inputs), batch

    state.model.eval()
    with torch.no_grad():
        epochs = state.method.next_stage(len(state.stages), state.recipe.epochs, rows)
    return state.start_stage(epochs)


def _to_tensor(values: Any, name: str) -> Tensor | None:
    try:
        return None if values is None else torch.as_tensor(np.asarray(values, float))
    except (TypeError, ValueError):
        raise MethodError(f"{name} is {values!r}; expected an array of numbers, one per class.") from None
