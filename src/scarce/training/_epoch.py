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
from scarce.training.batches import Reader, epoch_order, split_order
from scarce.training.distributed import ALONE, Processes
from scarce.training.runtime import seeded
from scarce.training.state import Run
from scarce.training.wrappers import has_batch_norm

__all__ = ["refuse_divergence", "refuse_few_rows", "train_epoch"]


def train_epoch(run: Run, reader: Reader) -> float:
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
            _refuse_idle_weights(run)
            optimizer.step()
            run.method.after_step(run.model, batch)
            losses[step] = loss.detach()
    run.method.after_epoch(run.epoch)
    run.processes.copy_first(run.model.buffers())  # batch norm has seen other rows in every process
    refuse_divergence(losses, run)
    return losses.mean().item()


def refuse_few_rows(run: Run, n_rows: int) -> None:
    """Say so if a batch cannot be shared out."""
    smallest = min(n_rows, run.recipe.batch_size)
    if run.processes.count > 1 and has_batch_norm(run.model) and smallest < _least_rows(run):
        raise MethodError(
            f"a batch has {smallest} rows for {run.processes.count} processes, and batch norm needs two for each; set a larger "
            "batch_size (--batch-size), or start fewer processes."
        )


def _least_rows(run: Run) -> int:
    """Return how many rows a last batch needs to stand alone: two, and for batch norm two in every process."""
    return 2 * run.processes.count if has_batch_norm(run.model) else 2


def _readers(run: Run) -> Processes:
    """Return who shares the reading of inputs: the processes of the run, or none if each must see all inputs."""
    return ALONE if run.method.looks_at_inputs else run.processes


def _augmented(run: Run, batch: Batch, seed: tuple[int, int]) -> Batch:
    with _readers(run).apart(*seed, 0):
        inputs = augment(batch.inputs, run.recipe.augmentation)
    if run.recipe.input_noise:
        n_rows = len(batch.index)
        own = _readers(run).computed(n_rows)
        inputs = add_noise(inputs, run.recipe.input_noise, input_scale(run.model), n_rows, own, (*seed, 2))
    return replace(batch, inputs=inputs)


def _logits(run: Run, batch: Batch, seed: tuple[int, int]) -> Tensor:
    """Return the logits of all rows that are shown in a step; each process computes its share of them."""
    shown = run.method.shown(batch)
    if run.method.looks_at_inputs:
        n_rows, own = len(shown), shown[run.processes.computed(len(shown))]
    else:
        n_rows, own = len(batch.index), shown
    with run.processes.apart(*seed, 1):
        logits = run.network(own)
    _refuse_other_shape(logits, (len(own), batch.excluded.shape[1]))
    return run.processes.join(logits, n_rows)


def _refuse_other_shape(logits: Any, expected: tuple[int, int]) -> None:
    """A single column would be broadcast over the classes without a word."""
    got = getattr(logits, "shape", type(logits).__name__)
    if got != expected:
        raise MethodError(
            f"the model returns {tuple(got) if isinstance(got, torch.Size) else got} for {expected[0]} rows; "
            f"expected a tensor of shape {expected}, one logit per class."
        )


def _refuse_idle_weights(run: Run) -> None:
    """Processes wait for the gradients of each other's weights, and would wait for these for ever."""
    if run.processes.count == 1:
        return
    idle = [
        name for name, weight in run.model.named_parameters() if weight.requires_grad and weight.grad is None
    ]
    if idle:
        raise MethodError(
            f"{', '.join(idle[:3])}{' and others' * (len(idle) > 3)} took no part in a step, which several processes cannot "
            "share then; freeze such weights with requires_grad_(False), or train in one process."
        )


def refuse_divergence(losses: Tensor, run: Run) -> None:
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
