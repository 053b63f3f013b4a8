"""Losses, posteriors and confirmed classes from log-likelihoods."""

import numpy as np
import pytest
import torch
from helpers.label_likelihoods import double, random_logits

from scarce.risk import clamp_confirmed, marginal_nll, posterior, safe_log


def test_marginal_nll_passes_gradcheck():
    rng = np.random.default_rng(0)
    f, e = (random_logits(rng, 5).requires_grad_(True) for _ in range(2))
    assert torch.autograd.gradcheck(marginal_nll, (f, e))


def test_posterior_follows_bayes_rule():
    p, likelihood = double([[0.5, 0.2, 0.2, 0.1]]), double([[0.0, 0.5, 0.25, 1.0]])
    known = posterior(p.log() + 3, safe_log(likelihood))
    assert known.sum().item() == pytest.approx(1)
    assert known.tolist()[0] == pytest.approx([0, 0.4, 0.2, 0.4], abs=1e-10)


def test_clamp_confirmed_gives_cross_entropy_of_confirmed_rows_only():
    rng = np.random.default_rng(0)
    f, e, known = random_logits(rng, 4), random_logits(rng, 4), torch.tensor([-1, 2, 0, -1])
    got = marginal_nll(f, clamp_confirmed(e, known))
    torch.testing.assert_close(
        got[1:3], torch.nn.functional.cross_entropy(f[1:3], known[1:3], reduction="none")
    )
    torch.testing.assert_close(got[[0, 3]], marginal_nll(f, e)[[0, 3]])
    assert clamp_confirmed(e, None) is e
