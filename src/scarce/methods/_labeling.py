"""Which examples were labeled, that is, shown to an annotator who could have excluded a class."""

import torch
from torch import Tensor

from scarce.labels import ComplementaryLabels


def was_labeled(excluded: Tensor, confirmed: Tensor | None, single_label: bool) -> Tensor:
    """Return which rows of a batch were labeled; the others carry no information about how exclusions arise.

    With one label per example by design (`single_label`), rows without an exclusion were not labeled. Otherwise a labeled
    row may have no exclusions by chance, and only rows with a confirmed class and no exclusions (ordinary labels) were not
    labeled.

    Parameters
    ----------
    excluded : Tensor of shape (n, q)
        ȳ, 1 where a class is excluded.
    confirmed : Tensor of int, shape (n,), or None
        The confirmed class of each row, −1 where it is unknown.
    single_label : bool
        Whether every labeled example has exactly one label by design.

    Returns
    -------
    Tensor of bool, shape (n,)

    Examples
    --------
    >>> excluded = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    >>> [was_labeled(excluded, None, single_label).tolist() for single_label in (True, False)]
    [[True, False], [True, True]]
    """
    has_exclusion = (excluded > 0).any(dim=1)
    if single_label:
        return has_exclusion
    if confirmed is None:
        return torch.ones_like(has_exclusion)
    return has_exclusion | (confirmed < 0)


def labeled_rates(labels: ComplementaryLabels, single_label: bool) -> Tensor:
    """Return π̄ of shape (q,): of the labeled examples (`was_labeled`), the fraction that excludes each class.

    Examples
    --------
    >>> labels = ComplementaryLabels.from_lists([[0], [1], []], classes=2)
    >>> labeled_rates(labels, single_label=True).tolist()
    [0.5, 0.5]
    """
    has_exclusion = labels.per_example > 0
    labeled = has_exclusion if single_label else has_exclusion | (labels.confirmed < 0)
    return torch.from_numpy(labels.rates * (labels.n_examples / max(1, int(labeled.sum()))))
