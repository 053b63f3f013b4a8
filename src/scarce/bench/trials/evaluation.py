"""Evaluation after every epoch of a trial: the true accuracy, and criteria that need no true labels."""

import time
from typing import Any

from numpy.typing import NDArray

from scarce.labels import ComplementaryLabels
from scarce.metrics import (
    approximated_accuracy,
    complementary_accuracy,
    complementary_risk,
    covering_rate,
    reliability,
    scel,
)
from scarce.priors import PriorEstimate, learned_priors
from scarce.simulate import uniform_transition
from scarce.training import Callback, TrainingState, predict_logits

__all__ = ["CRITERIA", "EpochEvaluator"]

CRITERIA = ("scar_accuracy", "scar_risk", "covering_rate", "approximated_accuracy", "scel")
"""Criteria that need no true label; of ``scar_risk`` and ``scel`` the lowest is best, of the others the highest."""


class EpochEvaluator(Callback):
    """Records accuracy, calibration and criteria of the test images, from one pass over them.

    ``scel`` assumes uniform labels, since no other transition matrix would be known.

    Parameters
    ----------
    X, y : arrays
        Test images and their true classes.
    labels : ComplementaryLabels
        What the test images are not.
    priors : PriorEstimate or None
        π, as the training uses it; None if the method learns it.
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
        labels = self.labels
        priors = (self.priors or learned_priors(state.method, labels.classes)).values
        values = (
            complementary_accuracy(predicted, labels, priors).value,
            complementary_risk(scores, labels, priors),
            covering_rate(predicted, labels),
            approximated_accuracy(probabilities, labels),
            scel(probabilities, labels, self.transition),
        )
        record.update(zip(CRITERIA, values, strict=True))
        now = time.perf_counter()
        record["session_seconds"], self.last_time = now - self.last_time, now
