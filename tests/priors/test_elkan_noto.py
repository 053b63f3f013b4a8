"""The Elkan-Noto estimate of a class prior."""

import numpy as np
import pytest

from scarce.errors import MethodError, PriorError
from scarce.priors.elkan_noto import elkan_noto


def test_elkan_noto_matches_values_by_hand():
    assert elkan_noto([0.3, 0.5], rate=0.2) == pytest.approx(0.5)
    assert elkan_noto([1.0], rate=1.0) == 1.0
    assert elkan_noto([0.1, 0.1], rate=0.2) == 1.0  # less confident than chance
    assert elkan_noto([0.0], rate=0.2) == 1.0


@pytest.mark.parametrize(
    ("probabilities", "rate", "message"),
    [
        ([], 0.5, r"shape \(0,\)"),
        ([0.5, np.nan], 0.5, "hold nan"),
        ([0.5, 3.0], 0.5, "from 0.5 to 3; expected 0 to 1"),
    ],
)
def test_elkan_noto_rejects_invalid_probabilities(probabilities, rate, message):
    with pytest.raises(PriorError, match=message):
        elkan_noto(probabilities, rate)


@pytest.mark.parametrize("rate", [0.0, float("nan")])
def test_elkan_noto_rejects_invalid_rate(rate):
    with pytest.raises(MethodError, match=f"rate={rate}; expected a number above 0 and at most 1"):
        elkan_noto([0.5], rate)
