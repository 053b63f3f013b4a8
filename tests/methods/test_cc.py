"""The classifier-consistent loss against a slow loop."""

from math import log

import pytest
from helpers.methods import (
    CLOSE,
    candidates_of,
    labels_of,
    loss_of,
    mean,
    prepared_method,
    quick,
    random_problems,
    softmax,
)
from hypothesis import given


@quick
@given(random_problems("any"))
def test_cc_loss_equals_slow_loop(problem):
    logits, excluded, _ = problem
    labels, q = labels_of(excluded, logits), len(logits[0])
    expected = mean(
        [
            -log(sum(softmax(f)[j] for j in candidates_of(ks, q)))
            for f, ks in zip(logits, excluded, strict=True)
        ]
    )
    assert loss_of(prepared_method("cc", labels), logits, labels) == pytest.approx(expected, **CLOSE)
