"""One epoch: every batch becomes logits, a loss and a step."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from scarce.errors import DivergedError, MethodError
from scarce.methods import Batch
from scarce.training._noise import add_noise, input_scale
from scarce.training.augmentation import augment
from scarce.training.batches import BatchReader, epoch_order, split_order
from scarce.training.distributed import SINGLE_PROCESS, DistributedContext
from scarce.training.runtime import seeded
from scarce.training.state import TrainingState
from scarce.training.wrappers import has_batch_norm

__all__ = ["check_finite_loss", "check_batch_size", "train_epoch"]


def train_epoch(state: TrainingState, reader: BatchReader) -> float:
    """Go through the data once and return the mean loss; all randomness is a function of the seed and the epoch.

    The loss is that of the whole batch, also where several processes compute the logits of their shares of it: losses
    that are no mean over rows, and methods that keep a state of every row, stay exact.
    """
    recipe, optimizer = state.recipe, state.optimizer
    order_seed, model_seed = np.random.SeedSequence((recipe.seed, state.epoch)).generate_state(2).tolist()
    order = epoch_order(reader.source.blocks, torch.Generator().manual_seed(order_seed))
    indices = split_order(order, recipe.batch_size, _least_rows(state))
    length = state.stages[-1]
    done = state.epoch - sum(state.stages[:-1])
    losses = torch.empty(len(indices))
    state.model.train()
    with seeded(model_seed):
        for step, rows in enumerate(reader.read(indices, _readers(state))):
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate_at((done + step / len(indices)) / length)
            batch = _augmented(state, rows, (model_seed, step))
            logits = _logits(state, batch, (model_seed, step))
            loss = state.method.loss(logits, batch)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            _check_all_gradients(state)
            optimizer.step()
            state.method.after_step(state.model, batch)
            losses[step] = loss.detach()
    state.method.after_epoch(state.epoch)
    state.context.broadcast_tensors(state.model.buffers())  # batch norm has seen other rows in every process
    check_finite_loss(losses, state)
    return losses.mean().item()


def check_batch_size(state: TrainingState, n_rows: int) -> None:
    """Say so if a batch cannot be shared out."""
    smallest = min(n_rows, state.recipe.batch_size)
    if state.context.world_size > 1 and has_batch_norm(state.model) and smallest < _least_rows(state):
        raise MethodError(
            f"a batch has {smallest} rows for {state.context.world_size} processes, and batch norm needs two for each; set a "
            "larger batch_size (--batch-size), or start fewer processes."
        )


def _least_rows(state: TrainingState) -> int:
    """Return how many rows a last batch needs to stand alone: two, and for batch norm two in every process."""
    return 2 * state.context.world_size if has_batch_norm(state.model) else 2


def _readers(state: TrainingState) -> DistributedContext:
    """Return who shares the reading of inputs: the processes of the run, or none if each must see all inputs."""
    return SINGLE_PROCESS if state.method.uses_inputs else state.context


def _augmented(state: TrainingState, batch: Batch, seed: tuple[int, int]) -> Batch:
    with _readers(state).rank_seeded(*seed, 0):
        inputs = augment(batch.inputs, state.recipe.augmentation)
    if state.recipe.input_noise:
        n_rows = len(batch.index)
        own = _readers(state).local_rows(n_rows)
        inputs = add_noise(
            inputs, state.recipe.input_noise, input_scale(state.model), n_rows, own, (*seed, 2)
        )
    return replace(batch, inputs=inputs)


def _logits(state: TrainingState, batch: Batch, seed: tuple[int, int]) -> Tensor:
    """Return the logits of all rows that are shown in a step; each process computes its share of them."""
    shown = state.method.model_inputs(batch)
    if state.method.uses_inputs:
        n_rows, own = len(shown), shown[state.context.local_rows(len(shown))]
    else:
        n_rows, own = len(batch.index), shown
    with state.context.rank_seeded(*seed, 1):
        logits = state.wrapped_model(own)
    _refuse_other_shape(logits, (len(own), batch.excluded.shape[1]))
    return state.context.all_gather_rows(logits, n_rows)


def _refuse_other_shape(logits: Any, expected: tuple[int, int]) -> None:
    """A single column would be broadcast over the classes without a word."""
    got = getattr(logits, "shape", type(logits).__name__)
    if got != expected:
        raise MethodError(
            f"the model returns {tuple(got) if isinstance(got, torch.Size) else got} for {expected[0]} rows; "
            f"expected a tensor of shape {expected}, one logit per class."
        )


def _check_all_gradients(state: TrainingState) -> None:
    """DistributedContext wait for the gradients of each other's weights, and would wait for these for ever."""
    if state.context.world_size == 1:
        return
    idle = [
        name
        for name, weight in state.model.named_parameters()
        if weight.requires_grad and weight.grad is None
    ]
    if idle:
        raise MethodError(
            f"{', '.join(idle[:3])}{' and others' * (len(idle) > 3)} took no part in a step, which several processes cannot "
            "share then; freeze such weights with requires_grad_(False), or train in one process."
        )


def check_finite_loss(losses: Tensor, state: TrainingState) -> None:
    """Raise `DivergedError` if losses or weights are no longer finite numbers."""
    if not losses.isfinite().all():
        step = int((~losses.isfinite()).nonzero()[0])
        what = f"the loss became {losses[step].item()} at step {step + 1} of epoch {state.epoch + 1}"
    elif not all(weight.isfinite().all() for weight in state.model.parameters()):
        what = f"weights became infinite or NaN in the last step of epoch {state.epoch + 1}"
    else:
        return
    raise DivergedError(
        f"{what}; try a smaller learning rate than {state.recipe.learning_rate:g} (--learning-rate), scaled features, "
        "or a bounded loss such as loss='sigmoid'. The last checkpoint, if one was asked for, is kept."
    )
