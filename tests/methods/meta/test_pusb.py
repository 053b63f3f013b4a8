"""PUSB per class: its thresholds."""

import pytest
import torch
from helpers.methods import double, prepared_with_priors, random_labels, run_epoch

from scarce.methods.meta.pusb import pusb_thresholds


@pytest.mark.parametrize("hold_out", [0.0, 0.3])
def test_pusb_thresholds_are_quantiles_of_held_out_scores(hold_out):
    g, labels = random_labels(40)
    priors = double([0.5, 0.3, 0.2])
    method = prepared_with_priors("meta-pusb", labels, priors, hold_out=hold_out)
    torch.testing.assert_close(method.scores(-g), -g)
    run_epoch(method, g, labels)
    rows = method.validation_mask if hold_out else torch.ones(40, dtype=torch.bool)
    thresholds = pusb_thresholds(g[rows], priors)
    torch.testing.assert_close(method.scores(-g), -(g - thresholds))
