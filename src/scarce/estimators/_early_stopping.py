"""Early stopping without true labels, by the complementary labels of held-out examples."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from scarce._validation import check_number
from scarce.errors import MethodError
from scarce.features._arrays import take_rows
from scarce.labels import ComplementaryLabels
from scarce.methods import Method
from scarce.metrics import complementary_accuracy, fit_label_model
from scarce.priors import PriorEstimate
from scarce.training import Callback, EarlyStopping, EpochMetric, TrainingState, map_logits, mean_loss

Rows = NDArray[np.int64]


def split_rows(n_examples: int, fraction: Any, seed: int) -> tuple[Rows, Rows]:
    """Return the sorted indices of the held-out examples (their number rounded up) and of the training examples.

    Examples
    --------
    >>> held_out, rows = split_rows(5, 0.3, seed=0)
    >>> held_out.tolist(), rows.tolist()
    ([2, 4], [0, 1, 3])
    """
    fraction = check_number("validation_fraction", fraction, high=1, open_low=True, open_high=True)
    order = np.random.default_rng(seed).permutation(n_examples)
    n_held_out = int(np.ceil(float(fraction) * n_examples))
    if n_held_out == n_examples:
        raise MethodError(
            f"with validation_fraction={fraction:g}, all {n_examples} examples are held out for early stopping; lower it, or set "
            "early_stopping=False."
        )
    return np.sort(order[:n_held_out]), np.sort(order[n_held_out:])


def make_early_stopping(
    X: Any,
    labels: ComplementaryLabels,
    held_out: Rows,
    method: Method,
    estimate: PriorEstimate | None,
    patience: int,
    device: str,
) -> list[Callback]:
    """Return callbacks that evaluate on held-out rows after every epoch, and stop when the metric no longer improves.

    The metric is the likelihood of the held-out labels if the loss of the method is a likelihood, else the accuracy estimated
    from them. Priors and error rates that are not given are estimated from the labels once (`fit_label_model`), for all epochs;
    what the method has learned is not used to evaluate it. A multi-stage method may have another metric in each stage; epochs
    of different stages are never compared.

    Parameters
    ----------
    X : array, sparse matrix or Shards
        Features of all n examples.
    labels : ComplementaryLabels
        Their labels.
    held_out : array of int
        Indices of the held-out examples.
    method : Method
        The method to train with.
    estimate : PriorEstimate or None
        The priors, if known.
    patience : int
        Epochs without improvement before training stops.
    device : str
        Device to evaluate on.

    Returns
    -------
    list of Callback
        An `EpochMetric` and `EarlyStopping`.
    """
    inputs, known = take_rows(X, held_out), labels[held_out]
    label_model = fit_label_model(labels, None if estimate is None else estimate.values)

    def likelihood(state: TrainingState) -> float:
        errors = label_model.errors
        fixed = state.method.with_error_rates(labels, errors.false_negative, errors.false_positive)
        return -mean_loss(state.model, fixed, inputs, known, device=device)

    def accuracy(state: TrainingState) -> float:
        def best(logits: Tensor) -> Tensor:
            return state.method.scores(logits).argmax(dim=1)

        predicted = labels.classes[map_logits(state.model, inputs, best, device=device).numpy()]
        return complementary_accuracy(predicted, known, label_model).value

    def value(state: TrainingState) -> float:
        return likelihood(state) if state.method.loss_is_likelihood else accuracy(state)

    kind = "likelihood" if method.loss_is_likelihood else "score" if method.multi_stage else "accuracy"
    metric = EpochMetric(f"validation_{kind}", value)
    return [metric, EarlyStopping(metric.name, patience)]
