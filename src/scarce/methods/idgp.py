"""IDGP: a second network models how the candidates are generated."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy, log_softmax, logsigmoid

from scarce._validation import check_integer, check_number
from scarce.errors import MethodError
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.partial_label import ConfidenceMethod, softmax_over_candidates
from scarce.methods.registry import register

_EPS = 1e-7


class IDGPTerms(NamedTuple):
    """The six terms of the two objectives, each a mean over the rows."""

    f: Tensor
    """L_f = −mean Σ d log f."""
    f_given_g: Tensor
    """L_{f|g} = −mean Σ w log f."""
    kl_f: Tensor
    """KL_f = mean Σ d (log d − log softmax(F_f))."""
    g: Tensor
    """L_g = mean Σ BCE(g, b)."""
    g_given_f: Tensor
    """L_{g|f} = −mean Σ v log(1 − g) + mean Σ BCE(g, S)."""
    kl_g: Tensor
    """KL_g = mean Σ b (log b − log σ(F_g))."""


def idgp_terms(
    logits_f: Tensor,
    logits_g: Tensor,
    d: Tensor,
    b: Tensor,
    candidates: Tensor,
    t_f: float = 1.0,
    t_g: float = 1.0,
) -> IDGPTerms:
    """Return L_f, L_{f|g}, KL_f, L_g, L_{g|f} and KL_g; see `IDGPTerms` for their equations.

    f = softmax(F_f / T₁) predicts the class, and g = σ(F_g / T₂) predicts which classes become candidates. Let
    ŷ = argmax_{j ∈ S} d_j, and let g̃ equal g except for g̃_ŷ = 1 − g_ŷ. The weights are w ∝ S (1 − g̃)/g̃ and v ∝ S f; no gradient
    flows through them.

    Parameters
    ----------
    logits_f, logits_g : Tensor of shape (n, q)
        F_f and F_g, the outputs of the classifier and of the second network.
    d : Tensor of shape (n, q)
        The confidence of each row in its candidates.
    b : Tensor of shape (n, q)
        The target of g: the probability that each class is a candidate.
    candidates : Tensor of bool, shape (n, q)
        S, the classes that are not excluded.
    t_f, t_g : float
        Temperatures T₁ and T₂.

    Returns
    -------
    IDGPTerms
    """
    S = candidates.to(logits_f)
    log_f = log_softmax(logits_f / t_f, dim=1)
    g = torch.sigmoid(logits_g / t_g).clamp(_EPS, 1 - _EPS)
    with torch.no_grad():
        guess = d.masked_fill(~candidates, -1.0).argmax(dim=1, keepdim=True)
        flipped = g.scatter(1, guess, 1 - g.gather(1, guess))
        w = S * (1 - flipped) / flipped
        w = w / w.sum(dim=1, keepdim=True)
        v = softmax_over_candidates(logits_f / t_f, candidates)

    def rows(terms: Tensor) -> Tensor:
        return terms.sum(dim=1).mean()

    return IDGPTerms(
        f=-rows(d * log_f),
        f_given_g=-rows(w * log_f),
        kl_f=rows(torch.xlogy(d, d) - d * log_softmax(logits_f, dim=1)),
        g=rows(binary_cross_entropy(g, b, reduction="none")),
        g_given_f=rows(binary_cross_entropy(g, S, reduction="none") - v * (1 - g).log()),
        kl_g=rows(torch.xlogy(b, b) - b * logsigmoid(logits_g)),
    )


@register
class IDGP(ConfidenceMethod):
    """α L_f + β L_{f|g} + λ KL_f for the classifier and θ L_g + γ L_{g|f} + λ KL_g for the second network, trained together.

    The second network models how the candidates of an example depend on the example, and reweights the candidates for the
    classifier [1]_. The terms are those of `idgp_terms`. The first `warm_up` epochs train the classifier alone with L_f,
    the next `warm_up` epochs the second network alone with L_g; then λ rises from 0 to 1 over 100 epochs. The authors sum
    every term over three augmented views; this implementation uses one.

    Parameters
    ----------
    warm_up : int
        Epochs of each of the two warm-ups.
    alpha, beta, theta, gamma : float
        Weights α, β, θ and γ of the terms.
    t_f, t_g : float
        Temperatures T₁ of the classifier and T₂ of the second network.

    Attributes
    ----------
    generator : nn.Module
        The second network.
    candidates : Tensor of bool, shape (n, q)
        The candidate classes of each training example.
    confidence, belief : Tensor of shape (n, q)
        The targets d of the classifier and b of the second network.

    See Also
    --------
    POP : Another method for candidates that depend on the example.
    PRODEN : The same classifier loss without the second network.

    References
    ----------
    .. [1] C. Qiao, N. Xu and X. Geng, "Decompositional Generation Process for Instance-Dependent Partial Label Learning",
       ICLR 2023. https://arxiv.org/abs/2204.03845

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("idgp", warm_up=5).params["warm_up"]
    5
    """

    facts = MethodFacts(
        "idgp",
        "generation process",
        "Qiao et al., ICLR 2023",
        "candidates depend on x",
        url="https://arxiv.org/abs/2204.03845",
    )

    belief: Tensor
    epoch: Tensor
    generator: nn.Module

    def __init__(
        self, warm_up: int = 3, alpha: float = 1.0, beta: float = 1.0, theta: float = 1.0, gamma: float = 1.0,
        t_f: float = 1.0, t_g: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(warm_up=warm_up, alpha=alpha, beta=beta, theta=theta, gamma=gamma, t_f=t_f, t_g=t_g)
        check_integer("warm_up", warm_up)
        for name, weight in {"alpha": alpha, "beta": beta, "theta": theta, "gamma": gamma}.items():
            check_number(name, weight)
        for name, temperature in {"t_f": t_f, "t_g": t_g}.items():
            check_number(name, temperature, open_low=True)
        self.warm_up, self.alpha, self.beta, self.theta, self.gamma = warm_up, alpha, beta, theta, gamma
        self.t_f, self.t_g = t_f, t_g
        self._step_logits: tuple[Tensor, Tensor] = torch.empty(0), torch.empty(0)
        self.register_buffer("belief", torch.empty(0))
        self.register_buffer("epoch", torch.tensor(0))

    def prepare(self, problem: Problem) -> None:
        """Build the second network; start with equal confidence in all candidates, and a belief of 1 in each."""
        super().prepare(problem)
        if problem.make_model is None:
            raise MethodError(
                "idgp trains a second network; pass make_model=..., a function that builds another like the first."
            )
        self.generator = problem.make_model()
        self.belief = self.candidates.to(self.confidence)
        self.epoch.zero_()

    def loss(self, logits: Tensor, batch: Batch) -> Tensor:
        """Sum of both objectives; their gradients reach different networks."""
        rows = self.rows(batch)
        logits_g = self.generator(batch.inputs)
        self._step_logits = logits.detach(), logits_g.detach()
        terms = idgp_terms(
            logits,
            logits_g,
            self.confidence[rows],
            self.belief[rows],
            self.candidates[rows],
            self.t_f,
            self.t_g,
        )
        if self.epoch < self.warm_up:
            return terms.f
        if self.epoch < 2 * self.warm_up:
            return terms.g
        weight = min(float(self.epoch - 2 * self.warm_up) / 100, 1.0)
        classifier = self.alpha * terms.f + self.beta * terms.f_given_g + weight * terms.kl_f
        return classifier + self.theta * terms.g + self.gamma * terms.g_given_f + weight * terms.kl_g

    def updated_confidence(self, logits: Tensor, candidates: Tensor) -> Tensor:
        """Return f over the candidates."""
        return softmax_over_candidates(logits / self.t_f, candidates)

    def after_step(self, model: nn.Module, batch: Batch) -> None:
        """Update d from f and b from g, from the forward pass of the step."""
        rows = self.rows(batch)
        logits_f, logits_g = self._step_logits
        self.confidence[rows] = self.updated_confidence(logits_f, self.candidates[rows])
        self.belief[rows] = torch.sigmoid(logits_g / self.t_g) * self.candidates[rows]

    def after_epoch(self, epoch: int) -> None:
        """Count the epochs; after the first warm-up, reset b, as the second network is still untrained."""
        self.epoch.fill_(epoch + 1)
        if epoch + 1 == self.warm_up:
            self.belief = self.candidates.to(self.confidence)
