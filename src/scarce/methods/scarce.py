"""SCARCE: the unbiased risk from complementary labels, with its negative parts corrected."""

import math
from abc import abstractmethod
from numbers import Real
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from scarce.errors import MethodError
from scarce.methods.base import Batch, Method, MethodFacts, Problem, agree_with
from scarce.methods.registry import register
from scarce.risk import (
    binary_loss,
    both_sides,
    confirmation_weights,
    make_correction,
    mix_with_ordinary,
    multiclass_loss,
    multiclass_ordinary_losses,
    multiclass_scarce_risk,
    ovr_ordinary_losses,
    scarce_risk,
)
from scarce.risk.parts import Absent, Form

__all__ = ["Scarce", "ScarceCCE", "ScarceURE"]

_PAPER = "Wang et al., ICML 2024"
_ASSUMES = "SCAR"


class _ScarceFamily(Method):
    """What the members share: priors and rates as buffers, and the place of ordinary labels."""

    priors: Tensor
    rates: Tensor
    confirmation: Tensor

    def __init__(self, form: Form, absent: Absent, alpha: float, **params: Any) -> None:
        super().__init__(form=form, absent=absent, alpha=alpha, **params)
        for name in ("alpha", "slope", "beta", "gamma"):
            value = self.params.get(name, 0.0)
            if not isinstance(value, Real) or not math.isfinite(value):
                raise MethodError(f"{name}={value!r}; expected a number.")
        if not 0 <= alpha <= 1:
            raise MethodError(
                f"alpha={alpha} is no weight; expected 0 (ordinary labels alone) to 1 (without them)."
            )
        if form not in ("batch", "dataset", "ht"):
            raise MethodError(f"form={form!r} is unknown; expected 'batch', 'dataset' or 'ht'.")
        if absent not in ("skip", "keep"):
            raise MethodError(f"absent={absent!r} is unknown; expected 'skip' or 'keep'.")
        self.alpha = alpha
        self.choices: dict[str, Any] = {"form": form, "absent": absent}
        for name in ("priors", "rates", "confirmation"):
            self.register_buffer(name, torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        super().prepare(problem)
        assert problem.priors is not None
        self.priors = problem.priors.clone()
        self.rates = problem.rates.to(self.priors)
        self.confirmation = torch.as_tensor(confirmation_weights(problem.labels)).to(self.priors)

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
    """Σ_k |P_k| + N_k part, one-versus-rest: the paper's method.

    Parameters
    ----------
    loss : str
        A binary loss of `scarce.risk.BINARY_LOSSES`.
    correction : {"abs", "relu", "leaky", "nnpu", "none"}
        What becomes of a negative P_k; see `scarce.risk.CORRECTIONS`.
    form : {"batch", "dataset", "ht"}
        Which empirical form; see `scarce.risk.risk_parts`.
    absent : {"skip", "keep"}
        What becomes of a class that no row of the batch excludes.
    alpha : float
        Weight of the complementary part where some examples are confirmed ("yes" answers, ordinary labels).
    slope, beta, gamma : float
        Parameters of the corrections ``leaky`` (slope) and ``nnpu`` (beta, gamma).

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("scarce", correction="leaky", slope=-0.5).params["slope"]
    -0.5
    """

    facts = MethodFacts("scarce", "SCARCE", _PAPER, _ASSUMES, needs_priors=True)

    def __init__(
        self,
        loss: str = "logistic",
        correction: str = "abs",
        form: Form = "batch",
        absent: Absent = "skip",
        alpha: float = 0.5,
        slope: float = -0.1,
        beta: float = 0.0,
        gamma: float = 1.0,
    ) -> None:
        extra = {"slope": slope, "beta": beta, "gamma": gamma}
        super().__init__(form, absent, alpha, loss=loss, correction=correction, **extra)
        binary_loss(loss)  # refuses an unknown name now rather than at the first step
        self.choices |= {"loss": loss, "correction": make_correction(correction, **extra)}

    def risk(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """Σ_k g(P_k) + N_k part."""
        return scarce_risk(logits, excluded, self.priors, rates=self.rates, **self.choices)

    def ordinary_losses(self, logits: Tensor, confirmed: Tensor) -> Tensor:
        """ℓ(f_y) + Σ_{k ≠ y} ℓ(−f_k)."""
        return ovr_ordinary_losses(*both_sides(self.choices["loss"], logits), confirmed)

    def probabilities(self, logits: Tensor) -> Tensor:
        """σ(f_k) / Σ_j σ(f_j)."""
        return agree_with(logits, torch.softmax(logsigmoid(logits), dim=1))


@register
class ScarceURE(Scarce):
    """Σ_k P_k + N_k part: the unbiased risk without correction, which overfits (the paper's Figure 1).

    The parameters are those of `Scarce`, without the correction.
    """

    facts = MethodFacts("scarce-ure", "SCARCE, uncorrected", _PAPER, _ASSUMES, needs_priors=True)

    def __init__(
        self, loss: str = "logistic", form: Form = "batch", absent: Absent = "skip", alpha: float = 0.5
    ) -> None:
        super().__init__(loss, "none", form, absent, alpha)
        self.params = {"loss": loss, "form": form, "absent": absent, "alpha": alpha}


@register
class ScarceCCE(_ScarceFamily):
    """Σ_k g( E_X[L(f, k)] − (1 − π_k) E_{N_k}[L(f, k)] ) with a multi-class loss L, by default cross-entropy.

    Parameters
    ----------
    loss : str
        A multi-class loss of `scarce.risk.MULTICLASS_LOSSES`.
    correction, form, absent, alpha, slope, beta, gamma
        As in `Scarce`.
    """

    facts = MethodFacts("scarce-cce", "SCARCE, multi-class loss", _PAPER, _ASSUMES, needs_priors=True)

    def __init__(
        self,
        loss: str = "cce",
        correction: str = "abs",
        form: Form = "batch",
        absent: Absent = "skip",
        alpha: float = 0.5,
        slope: float = -0.1,
        beta: float = 0.0,
        gamma: float = 1.0,
    ) -> None:
        extra = {"slope": slope, "beta": beta, "gamma": gamma}
        super().__init__(form, absent, alpha, loss=loss, correction=correction, **extra)
        self._losses = multiclass_loss(loss)
        self.choices |= {"loss": loss, "correction": make_correction(correction, **extra)}

    def risk(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """Σ_k g(P_k)."""
        return multiclass_scarce_risk(logits, excluded, self.priors, rates=self.rates, **self.choices)

    def ordinary_losses(self, logits: Tensor, confirmed: Tensor) -> Tensor:
        """L(f, y)."""
        return multiclass_ordinary_losses(self._losses(logits), confirmed)
