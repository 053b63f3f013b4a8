"""SCARCE-Meta with the method of Elkan and Noto: predict what is excluded, and divide by the label frequency."""

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid

from scarce._validation import check_number, check_option
from scarce.errors import MethodError
from scarce.methods.base import Batch, MethodFacts, Problem
from scarce.methods.meta._recording import RecordingMethod, held_out_or_all
from scarce.methods.meta.base import class_probabilities
from scarce.methods.registry import register
from scarce.risk.binary_losses import class_means

_EPS = 1e-12


def elkan_noto_losses(g: Tensor, excluded: Tensor) -> Tensor:
    """mean BCE(σ(g), ȳ) of every class; σ(g) estimates p(k is excluded | x) = c_k p(y ≠ k | x).

    Parameters
    ----------
    g : Tensor of shape (n, q)
        Scores, high for "not k".
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a row excludes a class, in the dtype of the scores.

    Returns
    -------
    Tensor of shape (q,)

    Examples
    --------
    >>> elkan_noto_losses(torch.zeros(2, 1), torch.tensor([[1.0], [0.0]])).tolist()
    [0.69314...]
    """
    losses = binary_cross_entropy_with_logits(g, excluded, reduction="none")
    return class_means(losses, torch.ones_like(excluded))


def label_frequency(g: Tensor, rows: Tensor) -> Tensor:
    """ĉ_k, the mean of σ(g_k) over held-out rows that exclude k.

    Estimates c_k = p(k is excluded | y ≠ k). With known priors, c_k = π̄_k / (1 − π_k) is exact.

    Parameters
    ----------
    g : Tensor of shape (n, q)
        Scores, high for "not k".
    rows : Tensor of shape (n, q)
        1 for the held-out rows that exclude k, 0 elsewhere.

    Returns
    -------
    Tensor of shape (q,)

    Examples
    --------
    >>> label_frequency(torch.tensor([[0.0], [5.0]]), torch.tensor([[1.0], [0.0]])).tolist()
    [0.5]
    """
    return class_means(torch.sigmoid(g), rows)


@register
class MetaElkanNoto(RecordingMethod):
    """Σ_k mean BCE(σ(g_k), ȳ_k); the prediction is argmin_k σ(g_k) / c_k.

    One Elkan-Noto learner [1]_ per class [2]_: the network learns which rows exclude k, and dividing by the label frequency
    c_k gives p(y ≠ k | x).

    Parameters
    ----------
    frequency : {"held-out", "priors"}
        How c_k = p(k is excluded | y ≠ k) is computed. ``"held-out"``: after every epoch, as the mean of σ(g_k) over the held-out
        rows that exclude k, or over all rows that exclude k if none of them is held out. ``"priors"``: π̄_k / (1 − π_k), with no
        rows held out.
    hold_out : float
        The fraction of the rows that are left out of the loss and used to estimate c.

    Attributes
    ----------
    c : Tensor of shape (q,)
        The label frequencies.

    See Also
    --------
    MetaVPU : Another PU learner that needs no priors.
    LeastExcluded : Compares the same probabilities with the rates π̄ instead of c.
    scarce.functional.elkan_noto_loss : The loss as a function.

    References
    ----------
    .. [1] C. Elkan and K. Noto, "Learning Classifiers from Only Positive and Unlabeled Data", KDD 2008.
       https://doi.org/10.1145/1401890.1401920
    .. [2] W. Wang, T. Ishida, Y.-J. Zhang, G. Niu and M. Sugiyama, "Learning with Complementary Labels Revisited: The
       Selected-Completely-at-Random Setting Is More Practical", ICML 2024. https://arxiv.org/abs/2311.15502

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> make_method("meta-elkan-noto", frequency="priors")
    MetaElkanNoto(frequency='priors', hold_out=0.1)
    """

    facts = MethodFacts(
        "meta-elkan-noto",
        "Elkan-Noto per class",
        "Elkan and Noto, KDD 2008",
        "SCAR",
        url="https://doi.org/10.1145/1401890.1401920",
    )
    predicts_with = ("c",)
    needs_every_class = True

    c: Tensor
    excluded: Tensor

    def __init__(self, frequency: str = "held-out", hold_out: float = 0.1) -> None:
        super().__init__(frequency=frequency, hold_out=hold_out)
        check_option("frequency", frequency, ("held-out", "priors"))
        check_number("hold_out", hold_out, high=0.9)
        self.estimates_c = frequency == "held-out"
        self.hold_out = hold_out if self.estimates_c else 0.0
        self.register_buffer("c", torch.empty(0))
        self.register_buffer("excluded", torch.empty(0, dtype=torch.bool))

    def prepare(self, problem: Problem) -> None:
        """Compute c from the priors, or start with c = 1."""
        super().prepare(problem)
        self.excluded = torch.from_numpy(problem.labels.indicator())
        self.c = torch.ones(problem.n_classes)
        if not self.estimates_c:
            if problem.priors is None:
                raise MethodError(
                    f"meta-elkan-noto with frequency='priors' needs class priors; pass priors=[...] with "
                    f"{problem.n_classes} numbers, or frequency='held-out'."
                )
            not_k_priors = (1 - problem.priors).clamp(min=_EPS)
            self.c = (problem.rates.to(not_k_priors) / not_k_priors).clamp(min=_EPS)

    def has_loss(self, batch: Batch) -> Tensor:
        """Return all classes: a batch in which no row excludes a class is evidence that it is rarely excluded."""
        return batch.excluded.new_ones(batch.excluded.shape[1])

    def class_losses(self, g: Tensor, batch: Batch) -> Tensor:
        """The cross-entropy of every class."""
        return elkan_noto_losses(g, batch.excluded)

    def after_epoch(self, epoch: int) -> None:
        """Estimate c from the held-out rows; for a class that none of them excludes, from all rows that exclude it."""
        if self.estimates_c:
            rows = self.excluded & held_out_or_all(self.excluded, self.validation_mask)
            self.c = label_frequency(self.scores_seen, rows.to(self.scores_seen)).clamp(min=_EPS)

    def scores(self, logits: Tensor) -> Tensor:
        """−log(σ(g_k) / c_k), which does not saturate."""
        return self.c.log() - logsigmoid(-logits)

    def probabilities(self, logits: Tensor) -> Tensor:
        """1 − σ(g_k) / c_k, normalized to sum to one."""
        return class_probabilities(self.scores(logits))
