"""SCARCE: an unbiased risk from complementary labels, with a correction for negative terms."""

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

_PAPER = "Wang et al., ICML 2024"
_URL = "https://arxiv.org/abs/2311.15502"
_ASSUMES = "SCAR"


class _ScarceFamily(Method):
    """Base of the SCARCE methods: checks the parameters, stores priors and rates, and mixes in ordinary labels."""

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
        loss = self.default_loss if loss is None else loss
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
        """Return the loss of that name, or raise an error that lists the names."""

    @abstractmethod
    def risk(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """R̂, the risk from the exclusions."""

    @abstractmethod
    def ordinary_losses(self, logits: Tensor, confirmed: Tensor) -> Tensor:
        """Return the ordinary loss of every row at its confirmed class, of shape (n,)."""

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        risk = self.risk(logits, batch.excluded)
        if batch.confirmed is None:
            return risk
        ordinary = self.ordinary_losses(logits, batch.confirmed)
        return mix_with_ordinary(risk, ordinary, batch.confirmed, self.confirmation, self.alpha)


@register
class Scarce(_ScarceFamily):
    """Σ_k (|P_k| + Q_k), with P_k = mean ℓ(f_k) − (1 − π_k) mean_{N_k} ℓ(f_k) and Q_k = (1 − π_k) mean_{N_k} ℓ(−f_k).

    One-versus-rest learning with a binary loss ℓ [1]_: N_k are the rows that exclude class k, and π_k is its prior. Σ_k (P_k + Q_k)
    is an unbiased risk under SCAR. P_k estimates π_k E[ℓ(f_k) | y = k], which is never negative; the absolute value corrects
    estimates that are.

    Parameters
    ----------
    loss : str, optional
        The binary loss ℓ, one of `scarce.risk.BINARY_LOSSES`; ``"logistic"`` by default.
    correction : {"abs", "relu", "leaky", "nnpu", "none"}
        The correction of a negative P_k; see `scarce.risk.make_correction`.
    form : {"batch", "dataset", "ht"}
        How P_k is estimated from a batch; see `scarce.risk.class_risks`.
    absent : {"skip", "keep"}
        Whether a class that no row of the batch excludes is skipped in that step.
    alpha : float
        Weight of the risk from exclusions, from 0 to 1, if some examples have a confirmed class ("yes" answers, ordinary
        labels). The ordinary risk of these examples has weight 1 − alpha.
    slope : float
        Slope λ ≤ 0 of the correction ``"leaky"``.
    beta, gamma : float
        Threshold and ascent rate of the correction ``"nnpu"``.

    See Also
    --------
    ScarceURE : The same risk without correction.
    ScarceCCE : The same idea with a multi-class loss.
    ScarLikelihood : Maximum likelihood under the same assumption; learns the priors if they are unknown.
    scarce.functional.scarce_risk : The risk as a function, for your own training loop.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("scarce", correction="leaky", slope=-0.5).params["slope"]
    -0.5
    """

    facts = MethodFacts("scarce", "SCARCE", _PAPER, _ASSUMES, needs_priors=True, url=_URL)
    default_loss = "logistic"

    def get_loss(self, name: str) -> BinaryLoss:
        """Return ℓ by its name."""
        return binary_loss(name)

    def risk(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """Σ_k (g(P_k) + Q_k), where g is the correction."""
        return scarce_risk(logits, excluded, self.priors, rates=self.rates, **self.risk_params)

    def ordinary_losses(self, logits: Tensor, confirmed: Tensor) -> Tensor:
        """ℓ(f_y) + Σ_{k ≠ y} ℓ(−f_k)."""
        return ovr_ordinary_losses(*signed_losses(self.risk_params["loss"], logits), confirmed)

    def probabilities(self, logits: Tensor) -> Tensor:
        """σ(f_k) / Σ_j σ(f_j)."""
        return break_ties_by_score(logits, torch.softmax(logsigmoid(logits), dim=1))


@register
class ScarceURE(Scarce):
    """Σ_k (P_k + Q_k), with P_k and Q_k of `Scarce`.

    The unbiased SCARCE risk without a correction [1]_. It can become negative, and flexible models then overfit.

    Parameters
    ----------
    loss, form, absent, alpha
        See `Scarce`.

    See Also
    --------
    Scarce : The same risk with a correction.
    MetaUPU : The same risk, written as one positive-unlabeled problem per class.
    scarce.functional.scarce_risk : The risk as a function; pass ``correction="none"``.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("scarce-ure")
    ScarceURE(loss='logistic', form='batch', absent='skip', alpha=0.5)
    """

    facts = MethodFacts("scarce-ure", "SCARCE, uncorrected", _PAPER, _ASSUMES, needs_priors=True, url=_URL)

    def __init__(
        self, loss: str | None = None, form: Form = "batch", absent: Absent = "skip", alpha: float = 0.5
    ) -> None:
        super().__init__(loss, "none", form, absent, alpha)
        self.params = {name: self.params[name] for name in ("loss", "form", "absent", "alpha")}


@register
class ScarceCCE(_ScarceFamily):
    """Σ_k g( mean L(f, k) − (1 − π_k) mean_{N_k} L(f, k) ).

    SCARCE with a multi-class loss L instead of one-versus-rest [1]_; g is the correction, and N_k are the rows that exclude k.

    Parameters
    ----------
    loss : str, optional
        The multi-class loss L, one of `scarce.risk.MULTICLASS_LOSSES`; ``"cce"``, the cross-entropy, by default.
    correction, form, absent, alpha, slope, beta, gamma
        See `Scarce`.

    See Also
    --------
    Scarce : One-versus-rest, with a binary loss.
    scarce.functional.multiclass_scarce_risk : The risk as a function.

    References
    ----------
    .. [1] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("scarce-cce", loss="mae").params["loss"]
    'mae'
    """

    facts = MethodFacts(
        "scarce-cce", "SCARCE, multi-class loss", _PAPER, _ASSUMES, needs_priors=True, url=_URL
    )
    default_loss = "cce"

    def get_loss(self, name: str) -> MulticlassLoss:
        """Return L by its name."""
        return multiclass_loss(name)

    def risk(self, logits: Tensor, excluded: Tensor) -> Tensor:
        """Σ_k g(P_k)."""
        return multiclass_scarce_risk(logits, excluded, self.priors, rates=self.rates, **self.risk_params)

    def ordinary_losses(self, logits: Tensor, confirmed: Tensor) -> Tensor:
        """L(f, y)."""
        return multiclass_ordinary_losses(self.get_loss(self.risk_params["loss"])(logits), confirmed)
