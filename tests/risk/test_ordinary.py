"""Weights of examples whose class is confirmed."""

import numpy as np
import pytest

from scarce.labels import ComplementaryLabels
from scarce.risk import confirmation_weights


def test_confirmation_weights_count_questions_not_answers():
    labels = ComplementaryLabels.from_answers(
        {
            "example_id": [0, 0, 0, 1, 1, 2, 3],
            "class_name": list("aabbcab"),
            "answer": ["no", "no", "no", "yes", "no", "skip", "no"],
        },
        conflict="majority",
        classes=["a", "b", "c"],
        ids=[0, 1, 2, 3],
    )
    assert confirmation_weights(labels).tolist() == pytest.approx([4.0, 4 / 3, 4.0])


def test_confirmation_weights_invert_fraction_of_ordinary_labels():
    labels = ComplementaryLabels.from_single([0, 1, 0, 1], classes=3)
    labels = ComplementaryLabels(
        labels.indptr, labels.indices, labels.classes, confirmed=np.array([2, -1, -1, -1])
    )
    assert confirmation_weights(labels).tolist() == [4.0, 4.0, 4.0]
