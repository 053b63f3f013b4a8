"""The one training loop."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from scarce.errors import DivergedError, FeatureError, MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Method, Problem
from scarce.methods.transition import resolve_transition
from scarce.training.augment import augment
from scarce.training.callbacks import Callback
from scarce.training.devices import usable_device
from scarce.training.history import History
from scarce.training.identity import identity_of
from scarce.training.recipe import ANNEALED, Recipe
from scarce.training.run import Run
from scarce.training.seeding import seeded
from scarce.training.sources import Source, as_source, float_dtype

__all__ = ["train"]

_ROWS_AT_ONCE = 1024  # when nothing is trained


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
    priors : array-like, optional
        π of shape (q,), for methods that need it.
    transition : {"uniform", "confirmed"} or array-like, optional
        p(ȳ | y) of shape (q, q), for methods that need it; see `scarce.methods.transition.resolve_transition`.
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
        One record per epoch: epoch, loss (mean over steps), learning_rate, seconds, and what method and callbacks add.
        Methods that train in stages have more epochs than the recipe.

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
    known = resolve_transition(transition, labels)
    problem = Problem(
        labels, _tensor(priors, "priors"), None if known is None else torch.from_numpy(known), make_model
    )
    with seeded(recipe.seed):
        method.prepare(problem)
    place = usable_device(device)
    model.to(place)
    method.to(place, float_dtype(model))
    parameters = [*model.parameters(), *method.parameters()]
    if not any(weight.requires_grad for weight in parameters):
        raise MethodError("the model has no weights to train; unfreeze some, or choose another module.")
    run = Run.of(model, method, recipe, callbacks)
    identity = {} if checkpoint is None else identity_of(run, source, problem)
    if checkpoint is not None and Path(checkpoint).exists():
        run.resume(Path(checkpoint), identity)

    for callback in callbacks:
        callback.on_start(run)
    try:
        while not run.stop:
            started = time.perf_counter()
            if run.epoch == sum(run.stages) and not _begin_stage(run, source, labels, place):
                break
            loss = _train_epoch(run, source, labels, place)
            run.epoch += 1
            record = {
                "epoch": run.epoch,
                "loss": loss,
                "learning_rate": run.optimizer.param_groups[0]["lr"],
                "seconds": time.perf_counter() - started,
                **run.method.report(),
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
    length = run.stages[-1]
    done = run.epoch - sum(run.stages[:-1])
    losses = torch.empty(len(indices))
    run.model.train()
    with seeded(model_seed):
        for step, rows in enumerate(_read(run, source, labels, indices, device)):
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate_at((done + step / len(indices)) / length)
            batch = replace(rows, inputs=augment(rows.inputs, recipe.augmentation))
            shown = run.method.shown(batch)
            logits = run.model(shown)
            _refuse_other_shape(logits, (len(shown), labels.n_classes))
            loss = run.method.loss(logits, batch)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            run.method.after_step(run.model, batch)
            losses[step] = loss.detach()
    run.method.after_epoch(run.epoch)
    _refuse_divergence(losses, run)
    return losses.mean().item()


def _begin_stage(run: Run, source: Source, labels: ComplementaryLabels, device: torch.device) -> bool:
    """Begin another stage, if the method wants one after a look at what the network has learned."""
    if not run.method.in_stages:
        return False
    indices = list(torch.arange(len(source)).split(_ROWS_AT_ONCE))  # type: ignore[no-untyped-call]

    def rows() -> Iterator[tuple[Tensor, Batch]]:
        for batch in _read(run, source, labels, indices, device):
            yield run.model(batch.inputs), batch

    run.model.eval()
    with torch.no_grad():
        epochs = run.method.next_stage(len(run.stages), run.recipe.epochs, rows)
    if epochs:
        run.start_stage(epochs)
    return epochs > 0


def _read(
    run: Run, source: Source, labels: ComplementaryLabels, indices: list[Tensor], device: torch.device
) -> Iterator[Batch]:
    """Yield the batches of these row numbers."""
    dtype = float_dtype(run.model)
    confirmed = torch.from_numpy(labels.confirmed.astype(np.int64)) if labels.confirmed.max() >= 0 else None
    for index, inputs in zip(indices, source.batches(indices, dtype), strict=True):
        excluded = torch.from_numpy(labels.indicator(index.numpy(), np.float32)).to(device, dtype)
        known = None if confirmed is None else confirmed[index].to(device)
        yield Batch(inputs.to(device), excluded, index, known)


def _batches(n_rows: int, batch_size: int, seed: int) -> list[Tensor]:
    """Split a random order of the rows; a last row alone joins the batch before it (batch norm needs two)."""
    order = torch.randperm(n_rows, generator=torch.Generator().manual_seed(seed))
    batches = list(order.split(batch_size))  # type: ignore[no-untyped-call]
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [torch.cat(batches[-2:])]
    return batches


def _refuse_other_shape(logits: Any, expected: tuple[int, int]) -> None:
    """A single column would be broadcast over the classes without a word."""
    got = getattr(logits, "shape", type(logits).__name__)
    if got != expected:
        raise MethodError(
            f"the model returns {tuple(got) if isinstance(got, torch.Size) else got} for {expected[0]} rows; "
            f"expected a tensor of shape {expected}, one logit per class."
        )


def _refuse_divergence(losses: Tensor, run: Run) -> None:
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


def _tensor(values: Any, name: str) -> Tensor | None:
    try:
        return None if values is None else torch.as_tensor(np.asarray(values, float))
    except (TypeError, ValueError):
        raise MethodError(f"{name} is {values!r}; expected an array of numbers.") from None
