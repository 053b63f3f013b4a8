"""The one training loop."""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from scarce.errors import DivergedError, FeatureError
from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Method, Problem
from scarce.training.callbacks import Callback
from scarce.training.history import History
from scarce.training.recipe import ANNEALED, Recipe
from scarce.training.run import Run
from scarce.training.sources import Source, as_source

__all__ = ["train"]


def train(
    model: nn.Module,
    method: Method,
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
) -> History:
    """Train a model in place.

    Parameters
    ----------
    model : nn.Module
        Maps a batch of inputs to logits of shape (B, q).
    method : Method
        How labels become a loss; see `scarce.methods.make_method`.
    inputs : array, tensor, sparse matrix or Dataset
        One row per example; arrays of bytes with more than two axes are images and are scaled to [0, 1].
    labels : ComplementaryLabels
        What is known, in the same order.
    recipe : Recipe
        Epochs, optimiser and seed.
    priors, transition : array-like, optional
        π of shape (q,) and p(ȳ | y) of shape (q, q), for methods that need them.
    make_model : callable, optional
        Makes another model of the same kind, for methods that train two.
    callbacks : sequence of Callback
        Called after every epoch, in order.
    checkpoint : path, optional
        Written after every epoch. If the file is there, training goes on from it and ends with the very weights of a
        run that was never interrupted.
    device : str or torch.device
        Where to compute.

    Returns
    -------
    History
        One record per epoch: epoch, loss (mean over steps), learning_rate, seconds, and what callbacks add.

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
    source = as_source(inputs)
    if len(source) != labels.n_examples:
        raise FeatureError(
            f"there are {len(source)} rows of inputs and {labels.n_examples} of labels; expected one each."
        )
    method.prepare(Problem(labels, _tensor(priors), _tensor(transition), make_model))
    model.to(device)
    method.to(device, next((weight.dtype for weight in model.parameters()), torch.get_default_dtype()))
    optimizer = recipe.make_optimizer([*model.parameters(), *method.parameters()])
    run = Run(model, method, recipe, optimizer, callbacks)
    identity = _identity(run, source, labels, priors)
    if checkpoint is not None and Path(checkpoint).exists():
        run.resume(Path(checkpoint), identity)

    for callback in callbacks:
        callback.on_start(run)
    try:
        while run.epoch < recipe.epochs and not run.stop:
            started = time.perf_counter()
            loss = _train_epoch(run, source, labels, torch.device(device))
            run.epoch += 1
            rate = optimizer.param_groups[0]["lr"]
            record = {
                "epoch": run.epoch,
                "loss": loss,
                "learning_rate": rate,
                "seconds": time.perf_counter() - started,
            }
            for callback in callbacks:
                callback.on_epoch(run, record)
            run.history.records.append(record)
            if checkpoint is not None:
                run.save(Path(checkpoint), identity)
    finally:
        for callback in callbacks:
            callback.on_end(run)
        model.eval()
    return run.history


def _train_epoch(run: Run, source: Source, labels: ComplementaryLabels, device: torch.device) -> float:
    """Go through the data once; all randomness is a function of the seed and the number of the epoch."""
    recipe, optimizer = run.recipe, run.optimizer
    order_seed, model_seed = np.random.SeedSequence((recipe.seed, run.epoch)).generate_state(2).tolist()
    indices = _batches(len(source), recipe.batch_size, order_seed)
    confirmed = torch.from_numpy(labels.confirmed.astype(np.int64)) if labels.confirmed.max() >= 0 else None
    losses = torch.empty(len(indices))
    run.model.train()
    with torch.random.fork_rng():
        torch.manual_seed(model_seed)
        for step, (index, inputs) in enumerate(zip(indices, source.batches(indices), strict=True)):
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate_at((run.epoch + step / len(indices)) / recipe.epochs)
            inputs = inputs.to(device)
            logits = run.model(inputs)
            excluded = torch.from_numpy(labels.indicator(index.numpy(), np.float32)).to(logits)
            known = None if confirmed is None else confirmed[index].to(device)
            batch = Batch(inputs, excluded, index, known)
            loss = run.method.loss(logits, batch)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            run.method.after_step(run.model, batch)
            losses[step] = loss.detach()
    run.method.after_epoch(run.epoch)
    _refuse_divergence(losses, run)
    return losses.mean().item()


def _batches(n_rows: int, batch_size: int, seed: int) -> list[Tensor]:
    """Split a random order of the rows; a last row alone joins the batch before it (batch norm needs two)."""
    order = torch.randperm(n_rows, generator=torch.Generator().manual_seed(seed))
    batches = list(order.split(batch_size))  # type: ignore[no-untyped-call]
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [torch.cat(batches[-2:])]
    return batches


def _refuse_divergence(losses: Tensor, run: Run) -> None:
    if not losses.isfinite().all():
        step = int((~losses.isfinite()).nonzero()[0])
        raise DivergedError(
            f"the loss became {losses[step].item()} at step {step + 1} of epoch {run.epoch + 1}; try a smaller learning "
            f"rate than {run.recipe.learning_rate:g} (--learning-rate), scaled features, or a bounded loss such as "
            "loss='sigmoid'. The last checkpoint, if one was asked for, is kept."
        )


def _identity(run: Run, source: Source, labels: ComplementaryLabels, priors: Any) -> dict[str, Any]:
    """Return what two runs must share for one to go on where the other stopped."""
    said = hashlib.sha256(labels.indptr.tobytes() + labels.indices.tobytes() + labels.confirmed.tobytes())
    return {
        "recipe": asdict(run.recipe),
        "method": [run.method.facts.name, {name: str(value) for name, value in run.method.params.items()}],
        "model": [[name, list(value.shape)] for name, value in run.model.state_dict().items()],
        "inputs": source.fingerprint(),
        "labels": said.hexdigest()[:16],
        "priors": None if priors is None else np.asarray(priors, float).tolist(),
    }


def _tensor(values: Any) -> Tensor | None:
    return None if values is None else torch.as_tensor(np.asarray(values, float))
