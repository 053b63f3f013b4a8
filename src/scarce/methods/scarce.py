"""SCARCE: the unbiased risk from complementary labels, with a correction of negative terms."""

import math
from abc import abstractmethod
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from scarce._validation import check_number
from scarce.methods.base import Batch, Method, MethodFacts, Problem, break_ties_by_score
from scarce.methods.registry import register
from scarce.risk import (
    binary_loss,
    confirmation_weights,
    make_correction,
    mix_with_ordinary,
    multiclass_loss,
    multiclass_ordinary_losses,
    multiclass_scarce_risk,
    ovr_ordinary_losses,
    scarce_risk,
    signed_losses,
)
from scarce.risk.binary_losses import BinaryLoss
from scarce.risk.class_risks import Absent, Form, check_form
from scarce.risk.multiclass_losses import MulticlassLoss

__all__ = ["Scarce", "ScarceCCE", "ScarceURE"]

_PAPER = "Wang et al., ICML 2024"
_ASSUMES = "SCAR"


class _ScarceFamily(Method):
    """The base of the SCARCE methods: parameters, priors and rates as buffers, and ordinary labels.

    Parameters
    ----------
    loss : str, optional
        The loss the risk is built from.
    correction : {"abs", "relu", "leaky", "nnpu", "none"}
        The correction of a negative P_k; see `scarce.risk.CORRECTIONS`.
    form : {"batch", "dataset", "ht"}
        Which empirical form; see `scarce.risk.class_risks`.
    absent : {"skip", "keep"}
        How to treat a class that no row of the batch excludes.
    alpha : float
        Weight of the complementary part where some examples are confirmed ("yes" answers, ordinary labels).
    slope, beta, gamma : float
        Parameters of the corrections ``leaky`` (slope) and ``nnpu`` (beta, gamma).
    """

    default_loss: ClassVar[str]

    priors: Tensor
    rates: Tensor
    confirmation: Tensor

    def __init__(
        self,
        loss: str | None = None,
        correction: str = "abs",
        form: Form = "batch",
        absent: Absent = "skip",
        alpha: float = 0.5,
        slope: float = -0.1,
        beta: float = 0.0,
        gamma: float = 1.0,
    ) -> None:
        loss = loss or self.default_loss
        numbers = {"slope": slope, "beta": beta, "gamma": gamma}
        super().__init__(loss=loss, correction=correction, form=form, absent=absent, alpha=alpha, **numbers)
        check_number("alpha", alpha, high=1)
        for name, value in numbers.items():
            check_number(name, value, low=-math.inf)
        check_form(form, absent)  # this and the loss are checked now rather than at the first step
        self.get_loss(loss)
        correct = make_correction(correction, **numbers)
        self.alpha = alpha
        self.risk_params: dict[str, Any] = {
            "loss": loss,
            "correction": correct,
            "form": form,
            "absent": absent,
        }
        for name in ("priors", "rates", "confirmation"):
            self.register_buffer(name, torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        super().prepare(problem)
        assert problem.priors is not None
        self.priors = problem.priors.clone()
        self.rates = problem.rates.to(self.priors)
        self.confirmation = torch.as_tensor(confirmation_weights(problem.labels)).to(self.priors)

    @abstractmethod
    def get_loss(self, name: str) -> object:
        """The loss of that name, or an error that lists them."""

    @abstractmethod
    def risk(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """R̂, from the exclusions."""

    @abstractmethod
    def ordinary_losses(self, logits: Tensor, confirmed: Tensor) -> Tensor:
        """The ordinary loss of every row at its confirmed class."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        risk = self.risk(logits, batch.excluded)
        if batch.confirmed is None:
            return risk
        ordinary = self.ordinary_losses(logits, batch.confirmed)
        return mix_with_ordinary(risk, ordinary, batch.confirmed, self.confirmation, self.alpha)


@register
class Scarce(_ScarceFamily):
    """Σ_k |P_k| + N_k part, one-versus-rest with a loss of `scarce.risk.BINARY_LOSSES`: the paper's method.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("scarce", correction="leaky", slope=-0.5).params["slope"]
    -0.5
    """

    facts = MethodFacts("scarce", "SCARCE", _PAPER, _ASSUMES, needs_priors=True)
    default_loss = "logistic"

    def get_loss(self, name: str) -> BinaryLoss:
        """ℓ by its name."""
        return binary_loss(name)

    def risk(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """Σ_k g(P_k) + N_k part."""
        return scarce_risk(logits, excluded, self.priors, rates=self.rates, **self.risk_params)

    def ordinary_losses(self, logits: Tensor, confirmed: Tensor) -> Tensor:
        """ℓ(f_y) + Σ_{k ≠ y} ℓ(−f_k)."""
        return ovr_ordinary_losses(*signed_losses(self.risk_params["loss"], logits), confirmed)

    def probabilities(self, logits: Tensor) -> Tensor:
        """σ(f_k) / Σ_j σ(f_j)."""
        return break_ties_by_score(logits, torch.softmax(logsigmoid(logits), dim=1))


@register
class ScarceURE(Scarce):
    """Σ_k P_k + N_k part: the unbiased risk without correction, which overfits (the paper's Figure 1)."""

    facts = MethodFacts("scarce-ure", "SCARCE, uncorrected", _PAPER, _ASSUMES, needs_priors=True)

    def __init__(
        self, loss: str | None = None, form: Form = "batch", absent: Absent = "skip", alpha: float = 0.5
    ) -> None:
        super().__init__(loss, "none", form, absent, alpha)
        self.params = {name: self.params[name] for name in ("loss", "form", "absent", "alpha")}


@register
class ScarceCCE(_ScarceFamily):
    """Σ_k g( E_X[L(f, k)] − (1 − π_k) E_{N_k}[L(f, k)] ) with a loss L of `scarce.risk.MULTICLASS_LOSSES`."""

    facts = MethodFacts("scarce-cce", "SCARCE, multi-class loss", _PAPER, _ASSUMES, needs_priors=True)
    default_loss = "cce"

    def get_loss(self, name: str) -> MulticlassLoss:
        """L by its name."""
        return multiclass_loss(name)

    def risk(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """Σ_k g(P_k)."""
        return multiclass_scarce_risk(logits, excluded, self.priors, rates=self.rates, **self.risk_params)

    def ordinary_losses(self, logits: Tensor, confirmed: Tensor) -> Tensor:
        """L(f, y)."""
        return multiclass_ordinary_losses(self.get_loss(self.risk_params["loss"])(logits), confirmed)
