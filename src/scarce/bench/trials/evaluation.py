"""Evaluation after every epoch of a trial: the true accuracy, and criteria that need no true labels."""

import time
from typing import Any

from numpy.typing import NDArray

from scarce.labels import ComplementaryLabels
from scarce.metrics import reliability
from scarce.metrics.criteria import RECORDED_CRITERIA, ModelOutputs
from scarce.metrics.label_model import as_label_model
from scarce.priors import PriorEstimate, learned_priors
from scarce.simulate import uniform_transition
from scarce.training import Callback, TrainingState, predict_logits

__all__ = ["EpochEvaluator"]


class EpochEvaluator(Callback):
    """Record accuracy, calibration and criteria on the test images after every epoch, from one pass over them.

    ``scel`` assumes uniform labels, since no other transition matrix is known in practice.

    Parameters
    ----------
    X, y : arrays
        Test images of shape (n, …) and their true classes of shape (n,).
    labels : ComplementaryLabels
        Complementary labels of the test images.
    priors : PriorEstimate or None
        π, as used in training; None if the method learns it.
    started : float
        When the trial began, by ``time.perf_counter``: the time before the first epoch counts as part of it.
    """

    def __init__(
        self,
        X: Any,
        y: NDArray[Any],
        labels: ComplementaryLabels,
        priors: PriorEstimate | None,
        started: float,
    ) -> None:
        self.X, self.y, self.labels, self.priors = X, y, labels, priors
        self.transition = uniform_transition(labels.n_classes)
        self.last_time = started

    def on_epoch_end(self, state: TrainingState, record: dict[str, float]) -> None:
        """Evaluate the model on the test images."""
        logits = predict_logits(state.model, self.X)
        scores = state.method.scores(logits)
        probabilities = state.method.probabilities(logits.double()).numpy()
        predicted = scores.argmax(dim=1).numpy()
        record["test_accuracy"] = float((predicted == self.y).mean())
        record["confidence"] = float(probabilities.max(axis=1).mean())
        record["calibration_error"] = reliability(probabilities, self.y).expected_error
        priors = (self.priors or learned_priors(state.method, self.labels.classes)).values
        model = as_label_model(self.labels, priors)
        outputs = ModelOutputs(lambda: predicted, lambda: scores, lambda: probabilities)
        for key, criterion in RECORDED_CRITERIA.items():
            record[key] = criterion.function(outputs, self.labels, model, self.transition)
        now = time.perf_counter()
        record["session_seconds"], self.last_time = now - self.last_time, now
