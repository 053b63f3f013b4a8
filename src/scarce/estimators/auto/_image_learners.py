"""Networks for images as learners of a stack: which to compare, and how to train and cross-fit them."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from scarce._validation import check_option
from scarce.errors import DivergedError
from scarce.features._arrays import column_statistics, input_shape, take_rows
from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Method, MethodFacts, Problem
from scarce.models import ScaleChannels, make_model
from scarce.risk import marginal_nll
from scarce.training import Callback, Recipe, TrainingState, map_logits
from scarce.training._batches import as_source
from scarce.training._runtime import seeded
from scarce.training.loop import train_checked

MODULES = ("mlp", "lenet", "resnet", "densenet")
AUGMENTATIONS = (("shift",), ("affine",), ("flip", "shift"), ("flip", "affine"))
"""How images may be changed; whether their class survives a rotation or a mirror image is not known beforehand."""
BATCH_SIZE = 128
_LEARNING_RATE = 3e-3
_MIN_LENET_SIDE = 12
_MAX_SMALL_SIDE = 64
_MIN_STEPS = 20  # of a network that a time limit shortens


@dataclass(frozen=True)
class ImageLearner:
    """A network by name, and the random changes of the images that it is trained on."""

    module: str
    augmentation: tuple[str, ...]

    @property
    def name(self) -> str:
        """The module and the augmentations, such as ``"lenet flip+shift"``."""
        return f"{self.module} {'+'.join(self.augmentation)}"


def default_modules(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the networks to compare on images of this shape, the one that compares augmentations first.

    Examples
    --------
    >>> default_modules((28, 28)), default_modules((3, 32, 32)), default_modules((8, 8))
    (('lenet', 'mlp'), ('lenet', 'resnet'), ('mlp',))
    """
    is_gray = len(shape) == 2 or shape[0] == 1
    if min(shape[-2:]) < _MIN_LENET_SIDE:
        return ("mlp",)
    return ("lenet", "mlp") if is_gray else ("lenet", "resnet")


class KnownLikelihood(Method):
    """−mean log Σ_y p_y e^{E_y}, with the log-likelihoods E of the labels of all rows given.

    Parameters
    ----------
    log_likelihood : Tensor of shape (n, q)
        E_iy = log P(labels of row i | class y), up to a constant per row.

    Examples
    --------
    >>> method = KnownLikelihood(torch.tensor([[0.0, -30.0], [0.0, 0.0]]))
    >>> batch = Batch(torch.zeros(1, 3), torch.zeros(1, 2), torch.tensor([0]))
    >>> round(method.loss(torch.zeros(1, 2), batch).item(), 4)  # −log ½
    0.6931
    """

    facts = MethodFacts("known-likelihood", "known likelihood", "this project", "a known mechanism")
    loss_is_likelihood = True

    log_likelihood: Tensor

    def __init__(self, log_likelihood: Tensor) -> None:
        super().__init__()
        self.register_buffer("log_likelihood", log_likelihood.float())

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean log Σ_y p_y e^{E_y}."""
        rows = batch.index.to(self.log_likelihood.device)
        return marginal_nll(logits, self.log_likelihood[rows]).mean()


@dataclass(eq=False)
class NetworkTrainer:
    """Train networks on rows of one array of images, each in the same way but for its learner, rows and number of steps.

    Attributes
    ----------
    images : array of shape (n, h, w) or (n, c, h, w)
        The images; uint8 values are scaled to [0, 1].
    labels : ComplementaryLabels
        Their labels.
    seed : int
        Random seed of every network.
    device : torch.device
        The device to train on.
    advance : callable
        Called after every epoch with the number of its steps.
    step_seconds : dict
        The duration of a step of each kind of network, as last measured.
    """

    images: Any
    labels: ComplementaryLabels
    seed: int
    device: torch.device
    advance: Callable[[int], None]
    step_seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        mean, deviation = column_statistics(self.images)
        axes = tuple(range(mean.ndim - 2, mean.ndim))
        scale = 255.0 if self.images.dtype == np.uint8 else 1.0
        channel_mean = mean.mean(axis=axes)
        variance = (deviation**2 + mean**2).mean(axis=axes) - channel_mean**2
        self._mean, self._deviation = (
            torch.from_numpy(np.atleast_1d(values) / scale)
            for values in (channel_mean, np.sqrt(np.maximum(variance, 0)))
        )

    def fit(
        self, learner: ImageLearner, log_likelihood: Tensor, rows: NDArray[np.int64], n_steps: int
    ) -> nn.Sequential:
        """Return a network trained on these rows, with the log-likelihoods (n, q) of all rows."""
        started = time.monotonic()
        shape = input_shape(self.images)
        with seeded(self.seed):
            network = make_model(learner.module, shape, self.labels.n_classes)
        model = nn.Sequential(ScaleChannels(self._mean, self._deviation), network)
        steps_per_epoch = math.ceil(len(rows) / BATCH_SIZE)
        recipe = Recipe(
            epochs=max(1, round(n_steps / steps_per_epoch)),
            batch_size=BATCH_SIZE,
            learning_rate=_LEARNING_RATE,
            weight_decay=0.0,
            augmentation=learner.augmentation,
            seed=self.seed,
        )
        train_checked(
            model,
            KnownLikelihood(log_likelihood[torch.from_numpy(rows)]),
            as_source(take_rows(self.images, rows)),
            Problem(self.labels[rows]),
            recipe,
            callbacks=[_Advance(self.advance, steps_per_epoch)],
            device=self.device,
        )
        self.step_seconds[learner.module] = (time.monotonic() - started) / (recipe.epochs * steps_per_epoch)
        return model.cpu().requires_grad_(False)

    def predict(self, model: nn.Module, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the class probabilities of these rows."""
        images = take_rows(self.images, rows)
        p = map_logits(
            model.to(self.device),
            images,
            lambda logits: torch.softmax(logits.double(), dim=1),
            device=self.device,
        )
        model.cpu()
        if not p.isfinite().all():
            raise DivergedError("a network predicts numbers that are not finite, because training diverged.")
        return p.cpu().numpy()

    def cross_fit(
        self,
        jobs: Sequence[tuple[ImageLearner, Tensor]],
        folds: Sequence[NDArray[np.int64]],
        numbers: Sequence[int],
        n_steps: int,
        rows: NDArray[np.int64] | None = None,
    ) -> list[list[NDArray[np.float64]]]:
        """Return the class probabilities of the rows of these folds, by networks trained on the other `rows` (default: all)."""
        rows = np.arange(len(self.labels)) if rows is None else rows
        return [
            [
                self.predict(
                    self.fit(learner, log_likelihood, np.setdiff1d(rows, folds[number]), n_steps),
                    folds[number],
                )
                for number in numbers
            ]
            for learner, log_likelihood in jobs
        ]

    def affordable_steps(self, module: str, n_steps: int, seconds: float) -> int:
        """Return the number of steps that such a network can make in this time, at most `n_steps`."""
        if math.isinf(seconds) or module not in self.step_seconds:
            return n_steps
        return min(n_steps, max(_MIN_STEPS, int(seconds / self.step_seconds[module])))


class _Advance(Callback):
    def __init__(self, advance: Callable[[int], None], n_steps: int) -> None:
        self._advance, self._n_steps = advance, n_steps

    def on_epoch_end(self, state: TrainingState, record: dict[str, Any]) -> None:
        self._advance(self._n_steps)


def check_modules(modules: Sequence[str]) -> None:
    """Raise `MethodError` if a network is unknown."""
    for module in modules:
        check_option("module", module, MODULES)
