"""CPE: estimate the distribution p̄ of the excluded class, then predict the class whose transition row is nearest to it."""

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from scarce.methods.base import MethodFacts, Problem
from scarce.methods.forward import forward_losses
from scarce.methods.registry import register
from scarce.methods.single_label import PairMethod

__all__ = [
    "CPEFixedTransition",
    "CPEIdentity",
    "CPETrainedTransition",
    "excluded_class_losses",
    "nearest_row_scores",
]

_PAPER = "Lin and Lin, PAKDD 2023"
_URL = "https://arxiv.org/abs/2209.09500"
_ASSUMES = "known matrix"


def nearest_row_scores(excluded: Tensor, transition: Tensor) -> Tensor:
    """−‖p̄ − T_y‖₁ of every class y.

    Parameters
    ----------
    excluded : Tensor of shape (n, q)
        p̄, the estimated distribution of the excluded class.
    transition : Tensor of shape (q, q)
        T, one row per true class.

    Returns
    -------
    Tensor of shape (n, q)

    Examples
    --------
    >>> uniform = (1 - torch.eye(3)) / 2
    >>> nearest_row_scores(torch.tensor([[0.1, 0.5, 0.4]]), uniform).argmax(dim=1).item()
    0
    """
    return -torch.cdist(excluded, transition, p=1)


def excluded_class_losses(logits: Tensor, k: Tensor) -> Tensor:
    """−log p_k of every pair.

    Examples
    --------
    >>> round(excluded_class_losses(torch.zeros(1, 4), torch.tensor([1])).item(), 4)
    1.3863
    """
    return -log_softmax(logits, dim=1).gather(1, k[:, None]).squeeze(1)


class _CPE(PairMethod):
    """Base of the three methods: stores the transition matrix and predicts the class with the nearest row."""

    transition: Tensor

    def __init__(self, pairs: bool = False) -> None:
        super().__init__(pairs)
        self.register_buffer("transition", torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Check and store the transition matrix."""
        super().prepare(problem)
        assert problem.transition is not None
        self.transition = problem.transition.clone()

    def log_rows(self) -> Tensor:
        """Return the logarithm of the transition matrix in use, of shape (q, q)."""
        return self.transition.clamp(min=1e-12).log()

    def excluded_probabilities(self, logits: Tensor) -> Tensor:
        """p̄ = p T."""
        return torch.softmax(logits, dim=1) @ self.log_rows().exp().to(logits)

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log p̄_k."""
        return forward_losses(logits, k, self.log_rows())

    @torch.no_grad()  # predictions must not carry a gradient of the trained matrix
    def scores(self, logits: Tensor) -> Tensor:
        """−‖p̄ − T_y‖₁."""
        return nearest_row_scores(self.excluded_probabilities(logits), self.log_rows().exp().to(logits))


@register
class CPEIdentity(_CPE):
    """Mean −log p_k over the pairs, p = softmax(f) and k the excluded class.

    The network predicts the *excluded* class, and the prediction is the class whose row of the transition matrix is nearest to
    its output [1]_ (CPE-I).

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    CPEFixedTransition, CPETrainedTransition : The network predicts the true class, and a matrix maps it to the excluded class.
    LeastExcluded : Predicts the least excluded class without a transition matrix.
    scarce.functional.cpe_loss : The loss as a function.

    References
    ----------
    .. [1] W.-I. Lin, H.-T. Lin, "Reduction from Complementary-Label Learning to Probability Estimates", PAKDD, 2023.
       https://arxiv.org/abs/2209.09500

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("cpe-i")
    CPEIdentity(pairs=False)
    """

    facts = MethodFacts(
        "cpe-i",
        "excluded class, identity",
        _PAPER,
        _ASSUMES,
        needs_transition=True,
        accepts=("single",),
        url=_URL,
    )

    def excluded_probabilities(self, logits: Tensor) -> Tensor:
        """p̄ = softmax(f)."""
        return torch.softmax(logits, dim=1)

    def pair_losses(self, logits: Tensor, k: Tensor) -> Tensor:
        """−log p_k."""
        return excluded_class_losses(logits, k)


@register
class CPEFixedTransition(_CPE):
    """Mean −log (p T)_k over the pairs, p = softmax(f) and k the excluded class.

    Trains with the loss of `Forward` and predicts the class whose row of the transition matrix T is nearest to p T [1]_ (CPE-F).

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    See Also
    --------
    Forward : The same loss; predicts the class with the largest logit.
    CPETrainedTransition : The matrix is trained too.
    scarce.functional.cpe_loss : The loss as a function.

    References
    ----------
    .. [1] W.-I. Lin, H.-T. Lin, "Reduction from Complementary-Label Learning to Probability Estimates", PAKDD, 2023.
       https://arxiv.org/abs/2209.09500

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("cpe-f")
    CPEFixedTransition(pairs=False)
    """

    facts = MethodFacts(
        "cpe-f",
        "excluded class, fixed matrix",
        _PAPER,
        _ASSUMES,
        needs_transition=True,
        accepts=("single",),
        url=_URL,
    )


@register
class CPETrainedTransition(_CPE):
    """Mean −log (p softmax(W))_k over the pairs, p = softmax(f) and k the excluded class.

    CPE-F with a transition matrix that is trained together with the network, starting from W = log(T + 10⁻³) [1]_ (CPE-T).

    Parameters
    ----------
    pairs : bool
        Accept several labels per example and treat each as a separate example.

    Attributes
    ----------
    weights : Parameter of shape (q, q)
        W; the matrix in use is its row-wise softmax.

    See Also
    --------
    CPEFixedTransition : The matrix stays as given.
    Refine : Estimates the matrix from the labels alone.
    scarce.functional.cpe_loss : The loss as a function.

    References
    ----------
    .. [1] W.-I. Lin, H.-T. Lin, "Reduction from Complementary-Label Learning to Probability Estimates", PAKDD, 2023.
       https://arxiv.org/abs/2209.09500

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("cpe-t")
    CPETrainedTransition(pairs=False)
    """

    facts = MethodFacts(
        "cpe-t",
        "excluded class, trained matrix",
        _PAPER,
        _ASSUMES,
        needs_transition=True,
        accepts=("single",),
        url=_URL,
    )

    def __init__(self, pairs: bool = False) -> None:
        super().__init__(pairs)
        self.weights = nn.Parameter(torch.empty(0))

    def prepare(self, problem: Problem) -> None:
        """Start from the given matrix, with zeros made positive so that they can grow."""
        super().prepare(problem)
        self.weights = nn.Parameter((self.transition + 1e-3).log())

    def log_rows(self) -> Tensor:
        """log softmax(W), row by row."""
        return log_softmax(self.weights, dim=1)
