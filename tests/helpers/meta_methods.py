"""Small problems for the methods of SCARCE-Meta."""

import numpy as np
import torch
from helpers.methods import batch_of
from torch import nn

from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, available_methods, make_method

META = [name for name in available_methods() if name.startswith("meta-")]
HOLDING_OUT = ["meta-tedn", "meta-pusb", "meta-elkan-noto"]
THIRDS = torch.full((3,), 1 / 3, dtype=torch.float64)


def prepared(name, labels, priors=None, **params):
    method = make_method(name, **params)
    q = labels.n_classes
    method.prepare(
        Problem(labels, torch.full((q,), 1 / q, dtype=torch.float64) if priors is None else priors)
    )
    return method.double()


def one_epoch(method, g, labels, epoch=0):
    """Show the method these scores of all rows, as an epoch of one step."""
    batch = batch_of(labels)
    loss = method.loss(-g, batch)
    method.after_step(nn.Identity(), batch)
    method.after_epoch(epoch)
    return loss


def random_labels(n, q=3, seed=0):
    rng = np.random.default_rng(seed)
    excluded = rng.random((n, q)) < 0.4
    excluded[excluded.all(axis=1)] = False
    return torch.from_numpy(rng.normal(size=(n, q))), ComplementaryLabels.from_indicator(excluded)


def linear():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Linear(2, 3)
