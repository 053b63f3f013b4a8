"""Time to estimate all class priors, compared with training the same network for the same number of epochs.

    python benchmarks/prior_cost.py [--rows 60000] [--epochs 3] [--rounds 3]

(a) `scarce.training.train` with the method `scarce` on all rows;
(b) `BestBin().estimate`: one network with ten outputs on four fifths of the rows, scores of the other rows after every
    epoch, Best Bin Estimation of ten priors, and 100 bootstrap resamples.

Both use the MLP, batches of 256 and one thread, and take turns within one process. The data are MNIST if the folder
SCARCE_DATA contains `mnist/`, otherwise random bytes of the same shape.
"""

import time
import warnings
from collections.abc import Callable
from statistics import median

import torch

from _common import make_parser
from _data import load
from scarce.methods import make_method
from scarce.models import make_model
from scarce.priors import BestBin
from scarce.simulate import scar
from scarce.training import Recipe, train


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # random bytes have no sensible priors, which would warn
    data = load(options.rows)
    labels = scar(data.y, rates=0.5, classes=10)
    recipe = Recipe(epochs=options.epochs)

    def plain() -> None:
        model = make_model("mlp", data.images.shape[1:], 10)
        train(model, make_method("scarce"), data.images, labels, recipe, priors=[0.1] * 10)

    def estimated() -> None:
        BestBin(recipe=recipe, folds=1).estimate(data.images, labels)

    times = [(seconds(plain), seconds(estimated)) for _ in range(options.rounds)]
    print(
        f"{options.rows} rows, {data.source}, MLP, {options.epochs} epochs, medians of {options.rounds} rounds"
    )
    print(f"(a) plain training      {median(a for a, _ in times):6.2f} s")
    print(f"(b) all ten priors      {median(b for _, b in times):6.2f} s")
    print(f"(b) / (a)               {median(b / a for a, b in times):6.2f}")


if __name__ == "__main__":
    main()
