"""The Elkan-Noto estimate of a class prior."""

import numpy as np
import pytest

from scarce.errors import PriorError
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
        ([0.5], 0.0, "rate=0.0"),
        ([0.5], float("nan"), "rate=nan"),
    ],
)
def test_elkan_noto_rejects_invalid_input(probabilities, rate, message):
    with pytest.raises(PriorError, match=message):
        elkan_noto(probabilities, rate)
