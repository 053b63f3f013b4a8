"""Time of the default, `ScarceClassifier().fit`, on a table of normal clusters, one thread.

    python benchmarks/default_cost.py [--rows 2000] [--columns 100] [--rounds 3]

Ten and seventy classes, each with one uniform label per row, exclusions under SCAR (zero or more), and three answers per
row of which 5 % are wrong. The time includes everything: mechanisms, cross-fitting, stacking and the final fits. Also
printed are the number of candidates and, to show that the model has learned, the accuracy on an equal number of new rows.
"""

import time
from statistics import median

import numpy as np
import torch

from _common import make_parser
from scarce import ScarceClassifier
from scarce.simulate import simulate

LABELS = {
    "uniform": ("uniform", {}),
    "SCAR": ("scar-unequal", {"low": 0.1, "high": 0.5}),
    "answers": ("ask", {"questions": 3, "false_negative_rate": 0.05, "false_positive_rate": 0.05}),
}


def clusters(rows: int, columns: int, n_classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw two normal clusters per class around random centers."""
    centers = np.random.default_rng(7).normal(0, 0.6, (n_classes, 2, columns))
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=rows)
    return centers[y, rng.integers(2, size=rows)] + rng.normal(size=(rows, columns)), y


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{options.rows} rows, {options.columns} columns, medians of {options.rounds} rounds, one thread")
    print("classes  labels   wall s   CPU s  candidates  accuracy")
    for n_classes in (10, 70):
        X, y = clusters(options.rows, options.columns, n_classes, seed=0)
        X_test, y_test = clusters(options.rows, options.columns, n_classes, seed=1)
        for name, (process, params) in LABELS.items():
            labels = simulate(process, y, classes=n_classes, seed=0, **params)
            times = []
            for _ in range(options.rounds):
                wall, cpu = time.perf_counter(), time.process_time()
                classifier = ScarceClassifier().fit(X, labels)
                times.append((time.perf_counter() - wall, time.process_time() - cpu))
            wall, cpu = (median(column) for column in zip(*times, strict=True))
            n = len(classifier.choice_.candidates)
            accuracy = classifier.score(X_test, y_test)
            print(f"{n_classes:7}  {name:7}  {wall:6.1f}  {cpu:6.1f}  {n:10}  {accuracy:7.1%}")


if __name__ == "__main__":
    main()
