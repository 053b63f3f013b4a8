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
from scarce.estimators.auto._network_store import NetworkStore
from scarce.features._arrays import input_shape, take_rows
from scarce.labels import ComplementaryLabels
from scarce.labels._candidate_shares import candidate_shares
from scarce.methods import Batch, Method, MethodFacts, Problem
from scarce.models import ScalePixels, make_model
from scarce.risk import marginal_nll
from scarce.training import Callback, Recipe, TrainingState, map_logits
from scarce.training._batches import as_source
from scarce.training._runtime import seeded
from scarce.training.loop import train_checked

MODULES = ("mlp", "lenet", "resnet", "densenet")
BATCH_SIZE = 128
_LEARNING_RATE = 3e-3
_MIN_LENET_SIDE = 12
_NOISE = 0.3
_BALANCE_LABELS, _MAX_BALANCE = (
    15.0,
    0.3,
)  # the balance is 0.3 with up to 50 exclusions per class, then decreases
_MIN_PRIOR = 1e-3
_MIN_STEPS = 20  # of a network that a time limit shortens
_STEP_FRACTIONS = {"resnet": 1 / 3, "densenet": 1 / 3}  # a step takes twenty times as long, and fewer suffice


@dataclass(frozen=True)
class ImageLearner:
    """A network by name, and how the images that it is trained on are changed at random; noise is for pixels from 0 to 1.

    Copies 1, 2, … are trained in the same way, but from other random numbers.
    """

    module: str
    augmentation: tuple[str, ...]
    noise: float = 0.0
    copy: int = 0

    @property
    def name(self) -> str:
        """The module, the augmentations, the noise and the copy, such as ``"lenet flip+shift copy 1"``."""
        noise = f" noise={self.noise:g}" * bool(self.noise)
        augmentation = "+".join(self.augmentation) or "plain"
        return f"{self.module} {augmentation}{noise}" + f" copy {self.copy}" * bool(self.copy)


Jobs = Sequence[tuple[ImageLearner, Tensor]]
"""Learners, each with the log-likelihoods (n, q) of the labels to train it with."""


def default_modules(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the networks to compare on images of this shape, the one that compares augmentations first.

    Examples
    --------
    >>> default_modules((28, 28)), default_modules((3, 32, 32)), default_modules((8, 8))
    (('lenet', 'mlp'), ('lenet', 'resnet'), ('mlp',))
    """
    if min(shape[-2:]) < _MIN_LENET_SIDE:
        return ("mlp",)
    return ("lenet", "mlp") if is_gray(shape) else ("lenet", "resnet")


def usual_augmentation(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return the augmentation that is usual for images of this shape.

    Examples
    --------
    >>> usual_augmentation((28, 28)), usual_augmentation((3, 32, 32))
    (('affine',), ('flip', 'shift'))
    """
    return ("affine",) if is_gray(shape) else ("flip", "shift")


def with_other_motion(augmentation: tuple[str, ...]) -> tuple[str, ...]:
    """Replace ``affine`` by ``shift``, or the reverse.

    Examples
    --------
    >>> with_other_motion(("flip", "shift"))
    ('flip', 'affine')
    """
    other = {"affine": "shift", "shift": "affine"}
    return tuple(other.get(name, name) for name in augmentation)


def without_motion(augmentation: tuple[str, ...]) -> tuple[str, ...]:
    """Remove ``affine`` and ``shift``.

    Examples
    --------
    >>> without_motion(("flip", "shift"))
    ('flip',)
    """
    return tuple(name for name in augmentation if name == "flip")


def with_other_flip(augmentation: tuple[str, ...]) -> tuple[str, ...]:
    """Add ``flip``, or remove it.

    Examples
    --------
    >>> with_other_flip(("affine",)), with_other_flip(("flip", "affine"))
    (('flip', 'affine'), ('affine',))
    """
    return augmentation[1:] if "flip" in augmentation else ("flip", *augmentation)


def is_gray(shape: tuple[int, ...]) -> bool:
    """Return whether images of shape (h, w) or (c, h, w) are gray."""
    return len(shape) == 2 or shape[0] == 1


def other_learners(modules: Sequence[str], augmentation: tuple[str, ...]) -> list[ImageLearner]:
    """Return the learners to compare once the best augmentation is known: the other modules, and ``mlp`` with noise.

    Examples
    --------
    >>> [learner.name for learner in other_learners(("lenet", "mlp"), ("shift",))]
    ['mlp shift', 'mlp shift noise=0.3']
    """
    learners = [ImageLearner(module, augmentation) for module in modules[1:]]
    return learners + [ImageLearner("mlp", augmentation, _NOISE)] * ("mlp" in modules)


class KnownLikelihood(Method):
    """−mean log Σ_y p_y e^{E_y} + λ Σ_y π_y log(π_y / p̄_y), with the log-likelihoods E of the labels of all rows given.

    p̄ is the mean of p over a batch. The second term, λ KL(π ‖ p̄), draws the predicted class frequencies towards π. Without it,
    a network that memorizes few labels gains by predicting, of the classes that a row does not exclude, the same one everywhere.

    Parameters
    ----------
    log_likelihood : Tensor of shape (n, q)
        E_iy = log P(labels of row i | class y), up to a constant per row.
    priors : Tensor of shape (q,)
        π > 0.
    balance : float
        λ.

    Examples
    --------
    >>> method = KnownLikelihood(torch.tensor([[0.0, -30.0], [0.0, 0.0]]), torch.tensor([0.5, 0.5]), balance=1.0)
    >>> batch = Batch(torch.zeros(1, 3), torch.zeros(1, 2), torch.tensor([0]))
    >>> round(method.loss(torch.zeros(1, 2), batch).item(), 4)  # −log ½
    0.6931
    """

    facts = MethodFacts("known-likelihood", "known likelihood", "this project", "a known mechanism")
    loss_is_likelihood = True

    log_likelihood: Tensor
    priors: Tensor

    def __init__(self, log_likelihood: Tensor, priors: Tensor, balance: float) -> None:
        super().__init__(balance=balance)
        self.register_buffer("log_likelihood", log_likelihood.float())
        self.register_buffer("priors", priors.float())
        self.balance = balance

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """−mean log Σ_y p_y e^{E_y} + λ Σ_y π_y log(π_y / p̄_y)."""
        rows = batch.index.to(self.log_likelihood.device)
        log_mean = torch.log_softmax(logits, dim=1).logsumexp(dim=0) - math.log(len(logits))
        divergence = (self.priors * (self.priors.log() - log_mean)).sum()
        return marginal_nll(logits, self.log_likelihood[rows]).mean() + self.balance * divergence


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
    store : NetworkStore
        Where finished networks are kept, and taken from if the fit was interrupted.
    priors : Tensor of shape (q,)
        The class frequencies that predictions are drawn towards; first the candidate shares.
    balance : float
        How strongly; it decreases with the number of labels. See `KnownLikelihood`.
    step_seconds : dict
        The duration of a step of each kind of network, as last measured.
    """

    images: Any
    labels: ComplementaryLabels
    seed: int
    device: torch.device
    advance: Callable[[int], None]
    store: NetworkStore = field(default_factory=lambda: NetworkStore(None))
    step_seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.set_priors(torch.from_numpy(candidate_shares(self.labels)))
        n_confirmed = int((self.labels.confirmed >= 0).sum())
        n_exclusions = len(self.labels.indices) + (self.labels.n_classes - 1) * n_confirmed
        self.balance = min(_MAX_BALANCE, _BALANCE_LABELS * self.labels.n_classes / max(1, n_exclusions))
        is_bytes = self.images.dtype == np.uint8
        self._range = (0.0, 1.0) if is_bytes else (float(self.images.min()), float(self.images.max()))
        self._trained: dict[str, nn.Sequential] = {}
        self._fingerprint = as_source(self.images).fingerprint()

    def set_priors(self, priors: Tensor) -> None:
        """Draw predictions towards these class frequencies from now on."""
        self.priors = priors.clamp(min=_MIN_PRIOR)

    def fit(
        self, learner: ImageLearner, log_likelihood: Tensor, rows: NDArray[np.int64], n_steps: int
    ) -> nn.Sequential:
        """Return a network trained on these rows, with the log-likelihoods (n, q) of all rows; no network is trained twice."""
        started = time.monotonic()
        shape = input_shape(self.images)
        seed = self.seed + learner.copy
        with seeded(seed):
            network = make_model(learner.module, shape, self.labels.n_classes)
        model = nn.Sequential(ScalePixels(*self._range), network)
        n_steps = round(n_steps * _STEP_FRACTIONS.get(learner.module, 1))
        steps_per_epoch = math.ceil(len(rows) / BATCH_SIZE)
        recipe = Recipe(
            epochs=max(1, round(n_steps / steps_per_epoch)),
            batch_size=BATCH_SIZE,
            learning_rate=_LEARNING_RATE,
            weight_decay=0.0,
            augmentation=learner.augmentation,
            input_noise=learner.noise,
            seed=seed,
        )
        method = KnownLikelihood(log_likelihood[torch.from_numpy(rows)], self.priors, self.balance)
        key = self._key(learner, rows, recipe, method)
        if key in self._trained:
            return self._trained[key]
        if self.store.load(key, model):
            self.advance(recipe.epochs * steps_per_epoch)
            self._trained[key] = model.requires_grad_(False)
            return model
        train_checked(
            model,
            method,
            as_source(take_rows(self.images, rows)),
            Problem(self.labels[rows]),
            recipe,
            callbacks=[_Advance(self.advance, steps_per_epoch)],
            device=self.device,
        )
        self.step_seconds[learner.module] = (time.monotonic() - started) / (recipe.epochs * steps_per_epoch)
        self.store.save(key, model.cpu())
        self._trained[key] = model.requires_grad_(False)
        return model

    def _key(
        self, learner: ImageLearner, rows: NDArray[np.int64], recipe: Recipe, method: KnownLikelihood
    ) -> str:
        """Return the key of a network in the store: everything that it depends on."""
        settings = f"{self._fingerprint} {learner} {recipe} {self.balance} {self._range}"
        arrays = rows, method.log_likelihood.numpy(), method.priors.numpy()
        return NetworkStore.key([settings.encode(), *(array.tobytes() for array in arrays)])

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
