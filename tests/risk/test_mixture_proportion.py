"""Mixture proportions by exact enumeration of every outcome and its probability."""

import pytest
import torch
from helpers.scar_population import PRIORS, RATES, Q, every_outcome
from hypothesis import given
from hypothesis import strategies as st

from scarce.errors import MethodError
from scarce.risk._mixture_proportion import mixture_proportion, priors_from_mixture


@pytest.mark.parametrize("k", range(Q))
def test_mixture_proportion_matches_enumerated_population(k):
    rate = sum(p for _, _, excluded, p in every_outcome() if excluded[k])
    assert rate == pytest.approx(RATES[k].item())
    not_k = sum(p for _, y, _, p in every_outcome() if y != k)
    not_k_of_rest = sum(p for _, y, excluded, p in every_outcome() if y != k and not excluded[k])
    assert mixture_proportion(PRIORS, RATES, "all")[k].item() == pytest.approx(not_k)
    assert mixture_proportion(PRIORS, RATES, "rest")[k].item() == pytest.approx(not_k_of_rest / (1 - rate))


@given(st.lists(st.tuples(st.floats(0.01, 0.98), st.floats(0, 1)), min_size=1, max_size=5))
def test_priors_from_mixture_inverts_mixture_proportion(pairs):
    priors, part = torch.tensor(pairs, dtype=torch.float64).unbind(dim=1)
    rates = part * (1 - priors)  # what SCAR allows
    for unlabeled in ("all", "rest"):
        proportion = mixture_proportion(priors, rates, unlabeled)
        assert ((proportion >= 0) & (proportion <= 1)).all()
        torch.testing.assert_close(priors_from_mixture(proportion, rates, unlabeled), priors)


def test_mixture_proportion_is_zero_where_rates_exceed_priors():
    priors, rates = torch.tensor([0.5, 0.5]), torch.tensor([0.6, 1.0])
    assert mixture_proportion(priors, rates, "rest").tolist() == [0, 0]


@pytest.mark.parametrize("call", [lambda: mixture_proportion(PRIORS, RATES, "most"),
                                  lambda: priors_from_mixture(PRIORS, RATES, "most")])  # fmt: skip
def test_unlabeled_option_rejects_unknown_value(call):
    with pytest.raises(MethodError, match="unlabeled='most' is unknown; expected 'all' or 'rest'"):
        call()
