"""Train with little memory, in forked processes; a script, so that torch is imported once.

Every process may allocate no more than a number of bytes beside what its imports took. A mapped file does not count: the
system may drop its pages at any time. How each process ended is written to `report.json` in the folder that is given as the
argument, whose folder `data` holds the data sets.
"""

import json
import os
import resource
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet  # noqa: F401, so that it is among what the imports took
import torch
from torch import nn

from scarce import ScarceClassifier
from scarce.features import read_features
from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.metrics import complementary_accuracy, make_complementary_scorer
from scarce.models import make_model
from scarce.simulate import scar
from scarce.training import Recipe, train

MEGABYTE = 2**20
CLASSES = 3


def make_labels(n_rows):
    return ComplementaryLabels.from_single(np.arange(n_rows) % CLASSES, classes=CLASSES)


# Data sets several times larger than the memory.

DATA_ROOM = 100 * MEGABYTE
RECIPE = Recipe(epochs=1, batch_size=1024)


def train_on(X):
    model = make_model("linear", X.shape[1:], CLASSES)
    train(model, make_method("scarce"), X, make_labels(len(X)), RECIPE, priors=[1 / CLASSES] * CLASSES)


def fit_and_predict(X):
    classifier = ScarceClassifier("scarce", "linear", "uniform", recipe=RECIPE).fit(X, make_labels(len(X)))
    assert classifier.predict(X).shape == (len(X),)


def train_on_array(X):
    train_on(np.array(X) if isinstance(X, np.ndarray) else X.take(np.arange(len(X))))


def train_on_file(way, path):
    way(read_features(path).values)


WAYS = {"train": train_on, "fit": fit_and_predict, "array": train_on_array}


# A batch whose activations are larger than the memory: 8 MB a layer, 320 MB in all.

WIDTH, BATCH, LAYERS = 512, 4096, 40
BATCH_ROOM = 160 * MEGABYTE


class Scale(nn.Module):
    """A weight at the bottom, without which autograd would keep nothing of the layers above."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(()))

    def forward(self, rows):
        return rows * self.factor


def train_deep(n_rows, micro_batch):
    layers = [nn.Tanh() for _ in range(LAYERS)]
    model = nn.Sequential(Scale(), *layers, nn.Linear(WIDTH, CLASSES))
    inputs = np.zeros((n_rows, WIDTH), np.float32)
    recipe = Recipe(epochs=1, batch_size=n_rows, micro_batch=micro_batch)
    train(model, make_method("scarce"), inputs, make_labels(n_rows), recipe, priors=[1 / CLASSES] * CLASSES)


# More rows times classes than the memory holds.

ROWS, MANY_CLASSES, MANY_CLASSES_ROOM = 40_000, 1000, 115_000_000


def learn_many_classes(n, q):
    X, y = np.random.default_rng(0).normal(size=(n, 4)).astype(np.float32), np.arange(n) % q
    labels = scar(y, rates=3 / q, classes=q)
    assert labels.summary().n_exclusions == len(labels.indices)
    classifier = ScarceClassifier(
        module="linear", priors="uniform", epochs=1, early_stopping=True, validation_fraction=0.2
    ).fit(X, labels)
    estimate = complementary_accuracy(classifier.predict(X), labels, classifier.priors_)
    assert classifier.score(X, labels) == estimate.value
    assert np.isfinite(make_complementary_scorer("risk")(classifier, X, labels))


def allocated():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmData"))


def run_with(room, function, *arguments):
    """Fork, call the function with so much memory, and return how it ended."""
    child = os.fork()
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return {0: "well", 1: "out of memory"}.get(status, "badly")
    try:
        limit = allocated() + room
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        function(*arguments)
        os._exit(0)
    except MemoryError:
        os._exit(1)
    except BaseException as error:
        if "allocate memory" in str(error):  # by torch
            os._exit(1)
        print(function.__name__, arguments, repr(error), file=sys.stderr)
        os._exit(2)


def main(root):
    torch.set_num_threads(1)
    # What is imported late is there before the first fork.
    fit_and_predict(np.eye(12, 4, dtype=np.float32))
    train_deep(8, 4)
    learn_many_classes(300, MANY_CLASSES)
    report = {
        path.name: {name: run_with(DATA_ROOM, train_on_file, way, path) for name, way in WAYS.items()}
        for path in sorted((root / "data").iterdir())
    }
    report["batch"] = {
        "whole": run_with(BATCH_ROOM, train_deep, BATCH, None),
        "micro-batches": run_with(BATCH_ROOM, train_deep, BATCH, 256),
    }
    report["many classes"] = {
        "learn": run_with(MANY_CLASSES_ROOM, learn_many_classes, ROWS, MANY_CLASSES),
        "logits of all rows": run_with(MANY_CLASSES_ROOM, np.zeros, (ROWS, MANY_CLASSES), np.float32),
    }
    (root / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
