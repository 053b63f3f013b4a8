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


def train_epoch(run: TrainingState, reader: BatchReader) -> float:
    """Go through the data once and return the mean loss; all randomness is a function of the seed and the epoch.

    The loss is that of the whole batch, also where several processes compute the logits of their shares of it: losses
    that are no mean over rows, and methods that keep a state of every row, stay exact.
    """
    recipe, optimizer = run.recipe, run.optimizer
    order_seed, model_seed = np.random.SeedSequence((recipe.seed, run.epoch)).generate_state(2).tolist()
    order = epoch_order(reader.source.blocks, torch.Generator().manual_seed(order_seed))
    indices = split_order(order, recipe.batch_size, _least_rows(run))
    length = run.stages[-1]
    done = run.epoch - sum(run.stages[:-1])
    losses = torch.empty(len(indices))
    run.model.train()
    with seeded(model_seed):
        for step, rows in enumerate(reader.read(indices, _readers(run))):
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate_at((done + step / len(indices)) / length)
            batch = _augmented(run, rows, (model_seed, step))
            logits = _logits(run, batch, (model_seed, step))
            loss = run.method.loss(logits, batch)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            _check_all_gradients(run)
            optimizer.step()
            run.method.after_step(run.model, batch)
            losses[step] = loss.detach()
    run.method.after_epoch(run.epoch)
    run.processes.broadcast_tensors(run.model.buffers())  # batch norm has seen other rows in every process
    check_finite_loss(losses, run)
    return losses.mean().item()


def check_batch_size(run: TrainingState, n_rows: int) -> None:
    """Say so if a batch cannot be shared out."""
    smallest = min(n_rows, run.recipe.batch_size)
    if run.processes.world_size > 1 and has_batch_norm(run.model) and smallest < _least_rows(run):
        raise MethodError(
            f"a batch has {smallest} rows for {run.processes.world_size} processes, and batch norm needs two for each; set a "
            "larger batch_size (--batch-size), or start fewer processes."
        )


def _least_rows(run: TrainingState) -> int:
    """Return how many rows a last batch needs to stand alone: two, and for batch norm two in every process."""
    return 2 * run.processes.world_size if has_batch_norm(run.model) else 2


def _readers(run: TrainingState) -> DistributedContext:
    """Return who shares the reading of inputs: the processes of the run, or none if each must see all inputs."""
    return SINGLE_PROCESS if run.method.uses_inputs else run.processes


def _augmented(run: TrainingState, batch: Batch, seed: tuple[int, int]) -> Batch:
    with _readers(run).rank_seeded(*seed, 0):
        inputs = augment(batch.inputs, run.recipe.augmentation)
    if run.recipe.input_noise:
        n_rows = len(batch.index)
        own = _readers(run).local_rows(n_rows)
        inputs = add_noise(inputs, run.recipe.input_noise, input_scale(run.model), n_rows, own, (*seed, 2))
    return replace(batch, inputs=inputs)


def _logits(run: TrainingState, batch: Batch, seed: tuple[int, int]) -> Tensor:
    """Return the logits of all rows that are shown in a step; each process computes its share of them."""
    shown = run.method.model_inputs(batch)
    if run.method.uses_inputs:
        n_rows, own = len(shown), shown[run.processes.local_rows(len(shown))]
    else:
        n_rows, own = len(batch.index), shown
    with run.processes.rank_seeded(*seed, 1):
        logits = run.network(own)
    _refuse_other_shape(logits, (len(own), batch.excluded.shape[1]))
    return run.processes.all_gather_rows(logits, n_rows)


def _refuse_other_shape(logits: Any, expected: tuple[int, int]) -> None:
    """A single column would be broadcast over the classes without a word."""
    got = getattr(logits, "shape", type(logits).__name__)
    if got != expected:
        raise MethodError(
            f"the model returns {tuple(got) if isinstance(got, torch.Size) else got} for {expected[0]} rows; "
            f"expected a tensor of shape {expected}, one logit per class."
        )


def _check_all_gradients(run: TrainingState) -> None:
    """DistributedContext wait for the gradients of each other's weights, and would wait for these for ever."""
    if run.processes.world_size == 1:
        return
    idle = [
        name for name, weight in run.model.named_parameters() if weight.requires_grad and weight.grad is None
    ]
    if idle:
        raise MethodError(
            f"{', '.join(idle[:3])}{' and others' * (len(idle) > 3)} took no part in a step, which several processes cannot "
            "share then; freeze such weights with requires_grad_(False), or train in one process."
        )


def check_finite_loss(losses: Tensor, run: TrainingState) -> None:
    """Raise `DivergedError` if losses or weights are no longer finite numbers."""
    if not losses.isfinite().all():
        step = int((~losses.isfinite()).nonzero()[0])
        what = f"the loss became {losses[step].item()} at step {step + 1} of epoch {run.epoch + 1}"
    elif not all(weight.isfinite().all() for weight in run.model.parameters()):
        what = f"weights became infinite or NaN in the last step of epoch {run.epoch + 1}"
    else:
        return
    raise DivergedError(
        f"{what}; try a smaller learning rate than {run.recipe.learning_rate:g} (--learning-rate), scaled features, "
        "or a bounded loss such as loss='sigmoid'. The last checkpoint, if one was asked for, is kept."
    )
