"""Recipes, the hyperparameters of a training run, and three named ones."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from scarce._validation import check_flag, check_integer, check_number, check_option, shorten
from scarce.errors import MethodError
from scarce.training._augmentation import AUGMENTATIONS

_MAX_INTEGER = 2**32 - 1  # of a seed, as in numpy
# Settings that are part of the identity of a run only if they differ from these.
_OPTIONAL_DEFAULTS = {
    "micro_batch": None,
    "precision": "full",
    "compile": False,
    "input_noise": 0.0,
    "dropout": 0.0,
}


@dataclass(frozen=True)
class Recipe:
    """Hyperparameters of a training run.

    ``ANNEALED`` is the default. ``FAST`` trains for 10 epochs in smaller batches, with a learning rate that falls from 3e-3 to
    zero. ``PAPER`` trains for 200 epochs at a constant learning rate, as the SCARCE paper does.

    Parameters
    ----------
    epochs : int
        The number of passes over the data.
    batch_size : int
        The number of rows per step.
    optimizer : {"adam", "sgd", "lbfgs"}
        Adam with L2 weight decay, SGD with momentum 0.9, or L-BFGS. With L-BFGS, an epoch is one iteration over all rows, the L2
        penalty is weight_decay / 2 times the squared weights without biases, and learning rate, schedule and batch size are
        ignored. It requires a linear model and a method whose loss is a likelihood, and stops at convergence.
    learning_rate, weight_decay : float
        Learning rate and weight decay of the optimizer.
    schedule : {"cosine", "constant"}
        Whether the learning rate falls to zero along half a cosine, or stays constant.
    augmentation : tuple of {"crop", "flip", "shift", "affine"}
        Random augmentations of the images of every training batch, in the order of the names. ``"crop"`` shifts by up to four
        pixels and fills with black. ``"flip"`` mirrors left to right with probability 1/2. ``"shift"`` shifts by whole pixels,
        up to 7.5 % of each side. ``"affine"`` rotates by up to 14°, scales by up to 10 %, shears by up to 0.15, and shifts by
        up to 10 % of each side, with bilinear interpolation. The last two repeat the border.
    input_noise : float
        The standard deviation of Gaussian noise added to the inputs of every training batch: in standard deviations of each
        column if the model standardizes its inputs, else absolute.
    dropout : float
        The dropout probability of the hidden units of ``mlp``.
    seed : int
        Fixes the order of the rows and all other randomness.
    micro_batch : int, optional
        Process each batch in pieces of this many rows: the same step with less memory, at the cost of a second forward pass.
    precision : {"full", "bf16"}
        ``bf16`` runs the network under bfloat16 autocast; the loss is always computed in full precision.
    compile : bool
        Compile the network with `torch.compile`, which needs a C++ compiler.

    See Also
    --------
    train : Train a model by a recipe.

    References
    ----------
    W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
    Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from dataclasses import replace
    >>> replace(PAPER, weight_decay=1e-3).epochs
    200
    """

    epochs: int = 40
    batch_size: int = 256
    optimizer: Literal["adam", "sgd", "lbfgs"] = "adam"
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    schedule: Literal["cosine", "constant"] = "cosine"
    augmentation: tuple[str, ...] = ()
    seed: int = 0
    micro_batch: int | None = None
    precision: Literal["full", "bf16"] = "full"
    compile: bool = False
    input_noise: float = 0.0
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for name, low in {"epochs": 1, "batch_size": 1, "seed": 0, "micro_batch": 1}.items():
            value = getattr(self, name)
            if isinstance(value, float | np.floating) and value.is_integer():
                value = int(value)
            if name != "micro_batch" or value is not None:
                object.__setattr__(self, name, check_integer(name, value, low, _MAX_INTEGER))
        object.__setattr__(
            self, "learning_rate", check_number("learning_rate", self.learning_rate, open_low=True)
        )
        object.__setattr__(self, "weight_decay", check_number("weight_decay", self.weight_decay))
        object.__setattr__(self, "input_noise", check_number("input_noise", self.input_noise))
        object.__setattr__(self, "dropout", check_number("dropout", self.dropout, high=1, open_high=True))
        check_option("optimizer", self.optimizer, ("adam", "sgd", "lbfgs"))
        check_option("schedule", self.schedule, ("cosine", "constant"))
        check_option("precision", self.precision, ("full", "bf16"))
        check_flag("compile", self.compile)
        if not isinstance(self.augmentation, (tuple, list)):
            raise MethodError(
                f"augmentation={shorten(self.augmentation)}; expected a tuple of names such as ('crop', 'flip')."
            )
        object.__setattr__(self, "augmentation", tuple(self.augmentation))
        for name in self.augmentation:
            check_option("augmentation", name, AUGMENTATIONS)
        if self.optimizer == "lbfgs":
            defaults = {"augmentation": (), **_OPTIONAL_DEFAULTS}
            changed = [name for name, value in defaults.items() if getattr(self, name) != value]
            if changed:
                raise MethodError(
                    f"optimizer='lbfgs' does not support {', '.join(changed)}; leave out these settings, or choose 'adam'."
                )

    def settings(self) -> dict[str, Any]:
        """Return the settings that identify a run, as plain data for JSON; some only if they differ from their defaults.

        Examples
        --------
        >>> "micro_batch" in Recipe().settings(), Recipe(micro_batch=64).settings()["micro_batch"]
        (False, 64)
        """
        settings = asdict(self) | {"augmentation": list(self.augmentation)}
        return {
            name: value
            for name, value in settings.items()
            if name not in _OPTIONAL_DEFAULTS or value != _OPTIONAL_DEFAULTS[name]
        }

    def make_optimizer(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        """Return an optimizer for these parameters."""
        if self.optimizer == "lbfgs":
            return torch.optim.LBFGS(
                parameters, 1.0, max_iter=1, max_eval=26, history_size=10, line_search_fn="strong_wolfe"
            )
        if self.optimizer == "sgd":
            return torch.optim.SGD(
                parameters, self.learning_rate, momentum=0.9, weight_decay=self.weight_decay
            )
        return torch.optim.Adam(parameters, self.learning_rate, weight_decay=self.weight_decay, fused=True)

    def rate_at(self, progress: float) -> float:
        """Return the learning rate after the fraction `progress` of all steps, from 0 to 1.

        Examples
        --------
        >>> ANNEALED.rate_at(0.5), PAPER.rate_at(0.5)
        (0.0005, 0.001)
        """
        if self.schedule == "constant":
            return self.learning_rate
        return self.learning_rate * (1 + math.cos(math.pi * progress)) / 2


PAPER = Recipe(epochs=200, schedule="constant")
ANNEALED = Recipe()
FAST = Recipe(epochs=10, batch_size=128, learning_rate=3e-3)
RECIPES = {"annealed": ANNEALED, "fast": FAST, "paper": PAPER}
