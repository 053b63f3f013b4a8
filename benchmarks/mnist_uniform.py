"""Train SCARCE on one uniform complementary label per MNIST image, and judge it with and without the truth.

    python benchmarks/mnist_uniform.py --data FOLDER [--module mlp] [--seed 0] [--out results/mnist-uniform.json]

FOLDER holds the four idx files of MNIST (or of a data set of its shape). The label-free estimate uses fresh uniform
complementary labels of the test images; the true test labels only serve to check it.
"""

import argparse
import json
import platform
import time
from pathlib import Path

import torch

from scarce import ScarceClassifier, __version__
from scarce.datasets.mnist import load_mnist_like
from scarce.files import written_aside
from scarce.metrics import complementary_accuracy
from scarce.simulate import uniform


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--module", default="mlp")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)

    images, y, test_images, test_y = load_mnist_like(options.data)
    classifier = ScarceClassifier(
        module=options.module, priors="uniform", random_state=options.seed, verbose=True
    )
    started = time.perf_counter()
    classifier.fit(images, uniform(y, classes=10, seed=options.seed))
    elapsed = time.perf_counter() - started

    predicted = classifier.predict(test_images)
    estimate = complementary_accuracy(
        predicted, uniform(test_y, classes=10, seed=options.seed + 1000), classifier.priors_
    )
    truth = float((predicted == test_y).mean())
    result = {
        "data": options.data.name,
        "labels": "one uniform complementary label per training image",
        "method": "scarce",
        "module": options.module,
        "recipe": f"annealed, {len(classifier.history_)} epochs",
        "seed": options.seed,
        "test_accuracy": truth,
        "label_free_estimate": estimate.value,
        "label_free_standard_error": estimate.standard_error,
        "estimate_minus_truth_in_standard_errors": (estimate.value - truth) / estimate.standard_error,
        "training_seconds": round(elapsed, 1),
        "versions": {"scarce": __version__, "torch": torch.__version__, "python": platform.python_version()},
    }
    print(json.dumps(result, indent=2))
    if options.out:
        with written_aside(options.out, force=True) as aside:
            aside.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
