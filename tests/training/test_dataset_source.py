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
from scarce.training.batches import as_source

INPUTS, LABELS = make_data()
RECIPE = Recipe(epochs=2, batch_size=16)


def trained(inputs, **options):
    model = make_net()
    train(model, make_method("scarce"), inputs, LABELS, RECIPE, priors=PRIORS, **options)
    return model


class NoisyRows(Dataset):
    """Rows with noise drawn from every source of randomness that items commonly use."""

    def __len__(self):
        return N

    def __getitem__(self, row):
        noise = torch.rand(()) + np.random.random() + random.random()
        return torch.from_numpy(INPUTS[row]) + noise.float(), "what follows is not looked at"


class NoisyRowsInBatches(NoisyRows):
    def __getitems__(self, rows):
        return [self[row] for row in rows]


class Failing(NoisyRows):
    def __init__(self, fail):
        self.fail = fail

    def __getitem__(self, row):
        return self.fail() if row == 21 else super().__getitem__(row)


def return_other_shape():
    return torch.zeros(2)


def raise_key_error():
    raise KeyError("no such\nfile")


def kill_process():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("dataset", [NoisyRows(), NoisyRowsInBatches(), Subset(NoisyRows(), range(N))])
def test_workers_do_not_change_weights(dataset):
    alone = trained(dataset).state_dict()
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()
    assert same_state(trained(dataset, workers=2).state_dict(), alone)
    assert random.getstate() == states[0]
    assert np.random.get_state()[1].tolist() == states[1]
    assert torch.equal(torch.get_rng_state(), states[2])
    assert not same_state(trained(INPUTS).state_dict(), alone)  # the noise has an effect


def test_dataset_item_randomness_depends_on_epoch_not_batch():
    source = as_source(NoisyRows())
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
        (raise_key_error, r"Failing failed at item 21 \(KeyError: 'no such"),
        (
            return_other_shape,
            r"the items of Failing do not fit into one batch: there are .*Tensor of shape \(2,\)",
        ),
        (dict, r"the items of Failing do not fit into one batch: there are .*dict of shape"),
    ],
)
def test_dataset_error_names_item(workers, fail, message):
    with pytest.raises(FeatureError, match=message) as caught:
        trained(Failing(fail), workers=workers)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_worker_raises_feature_error():
    handler = signal.getsignal(signal.SIGCHLD)
    with pytest.raises(FeatureError, match=r"the 2 processes that read Failing failed .* pass workers=0"):
        trained(Failing(kill_process), workers=2)
    assert signal.getsignal(signal.SIGCHLD) == handler


@pytest.mark.parametrize("workers", [-1, 1.5, "two"])
def test_as_source_rejects_invalid_workers(workers):
    with pytest.raises(MethodError, match="workers"):
        as_source(NoisyRows(), workers)
