"""Regularization of networks that learn from few labels: input noise and dropout."""

from scarce.labels import ComplementaryLabels
from scarce.labels.answers import SKIP
from scarce.methods import Method

__all__ = ["choose_regularization", "labels_per_class"]

_MAX_LABELS_PER_CLASS = 5_000  # exclusions or answers; more than these a network cannot memorize
_NOISE, _IMAGE_NOISE, _STRONG_NOISE, _DROPOUT = 0.5, 0.6, 1.0, 0.5


def labels_per_class(labels: ComplementaryLabels) -> float:
    """Return how many exclusions there are per class, or answers, where these are recorded.

    Examples
    --------
    >>> labels_per_class(ComplementaryLabels.from_single([0, 1, 2, 0], classes=4))
    1.0
    """
    n_labels = len(labels.indices)
    if labels.answers is not None:
        n_labels = int((labels.answers.answer != SKIP).sum())
    return n_labels / labels.n_classes


def choose_regularization(
    method: Method, labels: ComplementaryLabels, *, is_image: bool = False, strong: bool = False
) -> dict[str, float]:
    """Return the input noise and dropout of an MLP that learns by a likelihood from few labels.

    Such a network begins to memorize its examples, and then gains by predicting, of the classes that are left, the one with
    the highest rate. Noise and dropout prevent that. Methods that learn no priors get none, nor do labels of which there are
    5,000 per class.

    Parameters
    ----------
    method : Method
        The method.
    labels : ComplementaryLabels
        What is known.
    is_image : bool
        Whether inputs are images, whose pixels are not standardised.
    strong : bool
        Use more noise, as for a fit that has collapsed.

    Examples
    --------
    >>> from scarce.methods import make_method
    >>> labels = ComplementaryLabels.from_single([0, 1, 2, 0], classes=4)
    >>> choose_regularization(make_method("refine"), labels)
    {'input_noise': 0.5, 'dropout': 0.5}
    >>> choose_regularization(make_method("cc"), labels)
    {}
    """
    if not method.facts.learns_priors or labels_per_class(labels) >= _MAX_LABELS_PER_CLASS:
        return {}
    noise = _IMAGE_NOISE if is_image else _NOISE
    return {"input_noise": _STRONG_NOISE if strong else noise, "dropout": _DROPOUT}
