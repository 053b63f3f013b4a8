"""Many rows and many classes: predicting by batches changes nothing, and nothing of n × q numbers is ever made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

IN_LITTLE_MEMORY = """
import resource, sys
from pathlib import Path

import numpy as np
from scarce import ScarceClassifier
from scarce.metrics import complementary_accuracy, make_complementary_scorer
from scarce.simulate import scar

def learn(n, q):
    X, y = np.random.default_rng(0).normal(size=(n, 4)).astype(np.float32), np.arange(n) % q
    labels = scar(y, rates=3 / q, classes=q)
    assert labels.summary().n_exclusions == len(labels.indices)
    classifier = ScarceClassifier(
        module="linear", priors="uniform", epochs=1, early_stopping=True, validation_fraction=0.2
    ).fit(X, labels)
    estimate = complementary_accuracy(classifier.predict(X), labels, classifier.priors_)
    assert classifier.score(X, labels) == estimate.value
    assert np.isfinite(make_complementary_scorer("risk")(classifier, X, labels))

n, q, spare = map(int, sys.argv[1:])
learn(300, q)  # what has to be loaded is there before the limit
used = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))
limit = 1024 * int(used.split()[1]) + spare
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
learn(n, q)
try:
    np.zeros((n, q), np.float32)
except MemoryError:
    print("learned without n x q")
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs Linux to measure and limit the memory"
)
def test_learns_and_judges_where_logits_of_all_rows_have_no_room():
    n, q, spare = 40_000, 1000, 115_000_000
    program = [sys.executable, "-c", IN_LITTLE_MEMORY, str(n), str(q), str(spare)]
    done = subprocess.run(
        program, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False
    )
    assert done.stdout == "learned without n x q\n", done.stderr
