"""One epoch of minibatch training."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scarce.errors import DivergedError, MethodError
from scarce.methods import Batch
from scarce.training._augmentation import augment
from scarce.training._batches import BatchReader, epoch_order, split_order
from scarce.training._noise import add_noise, input_scale
from scarce.training._runtime import SINGLE_PROCESS, DistributedContext, seeded
from scarce.training._wrappers import has_batch_norm
from scarce.training.state import TrainingState


def train_epoch(state: TrainingState, reader: BatchReader) -> float:
    """Train for one epoch and return the mean loss over its steps; all randomness is a function of seed and epoch.

    Even if several processes compute the logits of one shard each, the loss is that of the whole batch. Losses that are not a
    mean over rows, and methods that keep a state for every row, therefore stay exact.
    """
    recipe, optimizer = state.recipe, state.optimizer
    order_seed, model_seed = np.random.SeedSequence((recipe.seed, state.epoch)).generate_state(2).tolist()
    order = epoch_order(reader.source.blocks, torch.Generator().manual_seed(order_seed))
    indices = split_order(order, recipe.batch_size, _min_batch_rows(state))
    reading = _reading_context(state)
    input_indices = [index[reading.local_rows(len(index))] for index in indices]
    stage_epochs = state.stages[-1]
    epochs_done = state.epoch - sum(state.stages[:-1])
    losses = torch.empty(len(indices))
    state.model.train()
    with seeded(model_seed):
        for step, rows in enumerate(reader.read(indices, input_indices)):
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate_at((epochs_done + step / len(indices)) / stage_epochs)
            batch = _augment(state, rows, (model_seed, step))
            logits = _logits(state, batch, (model_seed, step))
            loss = state.method.loss(logits, batch)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            _check_all_gradients(state)
            optimizer.step()
            state.method.after_step(state.model, batch)
            losses[step] = loss.detach()
    state.method.after_epoch(state.epoch)
    state.context.broadcast_tensors(state.model.buffers())  # batch norm statistics differ between processes
    check_finite_loss(losses, state)
    return losses.mean().item()


def check_batch_size(state: TrainingState, n_rows: int) -> None:
    """Raise a `MethodError` if a batch has too few rows for all processes."""
    min_batch = min(n_rows, state.recipe.batch_size)
    if state.is_distributed and has_batch_norm(state.model) and min_batch < _min_batch_rows(state):
        raise MethodError(
            f"a batch has {min_batch} rows for {state.context.world_size} processes, but batch norm needs two per process; set a "
            "larger batch_size (--batch-size), or start fewer processes."
        )


def _min_batch_rows(state: TrainingState) -> int:
    """Return the minimum size of the last batch: two rows, or two per process with batch norm."""
    return 2 * state.context.world_size if has_batch_norm(state.model) else 2


def _reading_context(state: TrainingState) -> DistributedContext:
    """Return the context that inputs are sharded by: that of the run, or a single process if the method needs all inputs."""
    return SINGLE_PROCESS if state.method.uses_inputs else state.context


def _augment(state: TrainingState, batch: Batch, seed: tuple[int, int]) -> Batch:
    inputs, n_rows = batch.inputs, len(batch.index)
    local_rows = _reading_context(state).local_rows(n_rows)
    # Both draw for the whole batch; augmentations from the generator whose state all processes share.
    if state.recipe.augmentation:
        inputs = augment(inputs, state.recipe.augmentation, n_rows, local_rows)
    if state.recipe.input_noise:
        inputs = add_noise(
            inputs, state.recipe.input_noise, input_scale(state.model), n_rows, local_rows, (*seed, 2)
        )
    return replace(batch, inputs=inputs)


def _logits(state: TrainingState, batch: Batch, seed: tuple[int, int]) -> Tensor:
    """Return the logits of a batch, of shape (B, q); each process computes those of its shard."""
    inputs = state.method.model_inputs(batch)
    if state.method.uses_inputs:
        n_rows, local_inputs = len(inputs), inputs[state.context.local_rows(len(inputs))]
    else:
        n_rows, local_inputs = len(batch.index), inputs
    with state.context.rank_seeded(*seed, 1):
        logits = state.wrapped_model(local_inputs)
    _check_logits_shape(logits, (len(local_inputs), batch.excluded.shape[1]))
    return state.context.all_gather_rows(logits, n_rows)


def _check_logits_shape(logits: Any, expected: tuple[int, int]) -> None:
    """Raise a `MethodError` if the logits have the wrong shape; a single column would be broadcast over the classes."""
    shape = getattr(logits, "shape", type(logits).__name__)
    if shape != expected:
        raise MethodError(
            f"the model returns {tuple(shape) if isinstance(shape, torch.Size) else shape} for {expected[0]} rows; "
            f"expected a tensor of shape {expected}: return one logit per class."
        )


def _check_all_gradients(state: TrainingState) -> None:
    """Raise a `MethodError` if a weight has no gradient; other processes would wait for it forever."""
    if not state.is_distributed:
        return
    without_gradient = [
        name
        for name, weight in state.model.named_parameters()
        if weight.requires_grad and weight.grad is None
    ]
    if without_gradient:
        raise MethodError(
            f"{', '.join(without_gradient[:3])}{' and others' * (len(without_gradient) > 3)} received no gradient; distributed "
            "training needs every trainable weight: freeze such weights with requires_grad_(False), or train in one process."
        )


def check_finite_loss(losses: Tensor, state: TrainingState) -> None:
    """Raise a `DivergedError` if a loss or a weight is no longer finite."""
    if not losses.isfinite().all():
        step = int((~losses.isfinite()).nonzero()[0])
        problem = f"the loss became {losses[step].item()} at step {step + 1} of epoch {state.epoch + 1}"
    elif not all(weight.isfinite().all() for weight in state.model.parameters()):
        problem = f"weights became infinite or NaN in the last step of epoch {state.epoch + 1}"
    else:
        return
    raise DivergedError(
        f"{problem}; try a smaller learning rate than {state.recipe.learning_rate:g} (--learning-rate), scaled features, "
        "or a bounded loss such as loss='sigmoid'. If there is a checkpoint, it is kept."
    )
