"""Train with little memory, in processes of their own; started as a script, so that torch is imported once.

Every data set under the folder given as the first argument is trained on in every way, in a process that may allocate
no more than so many bytes, the second argument, beside what its imports took. A mapped file does not count: the system
may forget its pages at any time. How each process ended is written to report.json.
"""

import json
import os
import resource
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet  # noqa: F401, so that it is among what the imports took
import torch

from scarce import ScarceClassifier
from scarce.features import read_features
from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.models import make_model
from scarce.training import Recipe, train

RECIPE = Recipe(epochs=1, batch_size=1024)
CLASSES = 3


def labels_of(X):
    return ComplementaryLabels.from_single(np.arange(len(X)) % CLASSES, classes=CLASSES)


def just_train(X):
    model = make_model("linear", X.shape[1:], CLASSES)
    train(model, make_method("scarce"), X, labels_of(X), RECIPE, priors=[1 / CLASSES] * CLASSES)


def fit_and_predict(X):
    classifier = ScarceClassifier("scarce", "linear", "uniform", recipe=RECIPE).fit(X, labels_of(X))
    assert classifier.predict(X).shape == (len(X),)


def train_on_an_array(X):
    just_train(np.array(X) if isinstance(X, np.ndarray) else X.take(np.arange(len(X))))


WAYS = {"train": just_train, "fit": fit_and_predict, "array": train_on_an_array}


def allocated():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmData"))


def ended(way, path, room):
    """Fork, train, and tell how it ended."""
    child = os.fork()
    if child:
        return {0: "well", 1: "out of memory"}.get(
            os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), "badly"
        )
    try:
        limit = allocated() + room
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        WAYS[way](read_features(path).values)
        os._exit(0)
    except MemoryError:
        os._exit(1)
    except BaseException as error:
        print(way, path, repr(error), file=sys.stderr)
        os._exit(2)


def main(root, room):
    torch.set_num_threads(1)
    fit_and_predict(
        np.zeros((12, 4), np.float32)
    )  # so that what is imported late is there before the first fork
    report = {path.name: {way: ended(way, path, room) for way in WAYS} for path in sorted(root.iterdir())}
    (root / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
