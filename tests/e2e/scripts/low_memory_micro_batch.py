"""Train with a large batch and little memory, whole and in parts; a script, so that torch is imported once.

How each ended is printed as JSON.
"""

import json
import os
import resource
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.training import Recipe, train

WIDTH, ROWS, LAYERS = 512, 4096, 40  # activations of 8 MB a layer, 320 MB in all
ROOM = 160 * 2**20
CLASSES = 3


class Scale(nn.Module):
    """A weight at the bottom, without which autograd would keep nothing of the layers above."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(()))

    def forward(self, rows):
        return rows * self.factor


def train_once(n_rows, micro_batch):
    layers = [nn.Tanh() for _ in range(LAYERS)]
    model = nn.Sequential(Scale(), *layers, nn.Linear(WIDTH, CLASSES))
    inputs = np.zeros((n_rows, WIDTH), np.float32)
    labels = ComplementaryLabels.from_single(np.arange(n_rows) % CLASSES, classes=CLASSES)
    recipe = Recipe(epochs=1, batch_size=n_rows, micro_batch=micro_batch)
    train(model, make_method("scarce"), inputs, labels, recipe, priors=[1 / CLASSES] * CLASSES)


def allocated():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmData"))


def ended(micro_batch):
    """Fork, train, and tell how it ended."""
    child = os.fork()
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return {0: "well", 1: "out of memory"}.get(status, "badly")
    try:
        limit = allocated() + ROOM
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        train_once(ROWS, micro_batch)
        os._exit(0)
    except RuntimeError as error:
        os._exit(1 if "allocate memory" in str(error) else 2)
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        os._exit(2)


if __name__ == "__main__":
    torch.set_num_threads(1)
    train_once(8, 4)  # so that what is imported late is there before the first fork
    print(json.dumps({"whole": ended(None), "in parts": ended(256)}))
