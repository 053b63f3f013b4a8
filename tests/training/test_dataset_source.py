"""Training on a torch Dataset, with and without worker processes."""

import os
import random
import signal
import sys

import numpy as np
import pytest
import torch
from helpers.training import PRIORS, N, make_data, make_net, same_state
from torch.utils.data import Dataset, Subset

from scarce.errors import FeatureError, MethodError
from scarce.methods import make_method
from scarce.training import Recipe, train
from scarce.training.sources import as_source

INPUTS, LABELS = make_data()
RECIPE = Recipe(epochs=2, batch_size=16)


def trained(inputs, **options):
    model = make_net()
    train(model, make_method("scarce"), inputs, LABELS, RECIPE, priors=PRIORS, **options)
    return model


class Rows(Dataset):
    """Rows with noise drawn from every source of randomness that items commonly use."""

    def __len__(self):
        return N

    def __getitem__(self, row):
        noise = torch.rand(()) + np.random.random() + random.random()
        return torch.from_numpy(INPUTS[row]) + noise.float(), "what follows is not looked at"


class RowsAtOnce(Rows):
    def __getitems__(self, rows):
        return [self[row] for row in rows]


class Failing(Rows):
    def __init__(self, fail):
        self.fail = fail

    def __getitem__(self, row):
        return self.fail() if row == 21 else super().__getitem__(row)


def unequal():
    return torch.zeros(2)


def broken():
    raise KeyError("no such\nfile")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("dataset", [Rows(), RowsAtOnce(), Subset(Rows(), range(N))])
def test_workers_do_not_change_the_result(dataset):
    alone = trained(dataset).state_dict()
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()
    assert same_state(trained(dataset, workers=2).state_dict(), alone)
    assert random.getstate() == states[0]
    assert np.random.get_state()[1].tolist() == states[1]
    assert torch.equal(torch.get_rng_state(), states[2])
    assert not same_state(trained(INPUTS).state_dict(), alone)  # else there is no noise


def test_an_item_draws_anew_in_every_epoch_whatever_its_batch():
    source = as_source(Rows())
    rows = []
    for seed, index in ((1, [3, 4]), (1, [9, 3]), (2, [3, 4])):
        torch.manual_seed(seed)
        (batch,) = source.batches([torch.tensor(index)], torch.float64)
        rows.append(batch[index.index(3)])
    assert torch.equal(rows[0], rows[1])
    assert not torch.equal(rows[0], rows[2])


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    ("fail", "message"),
    [
        (broken, r"Failing failed at item 21 \(KeyError: 'no such"),
        (unequal, r"the items of Failing do not fit into one batch: there are .*Tensor of shape \(2,\)"),
        (dict, r"the items of Failing do not fit into one batch: there are .*dict of shape"),
    ],
)
def test_a_dataset_that_fails(workers, fail, message):
    with pytest.raises(FeatureError, match=message) as caught:
        trained(Failing(fail), workers=workers)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_worker_that_dies():
    handler = signal.getsignal(signal.SIGCHLD)
    with pytest.raises(FeatureError, match=r"the 2 processes that read Failing failed .* pass workers=0"):
        trained(Failing(die), workers=2)
    assert signal.getsignal(signal.SIGCHLD) == handler


@pytest.mark.parametrize("workers", [-1, 1.5, "two"])
def test_workers_must_be_a_number(workers):
    with pytest.raises(MethodError, match="workers"):
        as_source(Rows(), workers)
