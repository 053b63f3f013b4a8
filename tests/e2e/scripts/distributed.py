"""Train with every method in one, two and three processes, whose results must agree; a script.

The argument is a folder; in its folders `1`, `2` and `3` every process writes its final weights.
"""

import os
import sys
from pathlib import Path

import numpy as np
import torch
from e2e.scripts.forking import exit_codes, start_group
from helpers.training import PRIORS, Q, Staged, Tempered, make_data
from safetensors.torch import save_file
from torch import nn

from scarce.labels import ComplementaryLabels
from scarce.methods import available_methods, make_method
from scarce.training import Recipe, train

COUNTS = (1, 2, 3)
N = 23  # batches and their shares differ in size, and the last batch has no rows for one of three processes
ONE_STEP = Recipe(epochs=1, batch_size=N, optimizer="sgd", learning_rate=1.0, weight_decay=0.0)
EPOCHS = Recipe(
    epochs=2, batch_size=7, input_noise=0.1
)  # the noise of a batch does not depend on the number of processes
SETTINGS = {
    **{name: (lambda name=name: make_method(name)) for name in available_methods()},
    "scarce-sigmoid": lambda: make_method("scarce", loss="sigmoid"),
    "meta-vpu-mixup": lambda: make_method("meta-vpu", mixup=True),
    "meta-dist-pu-mixed": lambda: make_method("meta-dist-pu", warm_up=1),
    "refine-proden": lambda: make_method("refine", base_method="proden"),
    "scar-likelihood-errors": lambda: make_method("scar-likelihood", error_rate="learn"),
    "tempered": Tempered,
    "staged": Staged,
}


def make_net(seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, Q)).double()


def train_one(make, recipe, distributed):
    inputs, labels = make_data(N)
    method = make()
    if isinstance(method, Tempered):
        method.uses_inputs = True
    if method.facts.needs_answers:
        labels = ComplementaryLabels.from_answer_matrix(
            np.where(labels.indicator(), 0.0, np.nan), labels.classes
        )
    model = make_net()
    train(
        model, method, inputs.astype(float), labels, recipe, priors=PRIORS, transition="uniform",
        make_model=lambda: make_net(1), distributed=distributed,
    )  # fmt: skip
    state = {f"method.{name}": value for name, value in method.state_dict().items()}
    return {name: value.contiguous().clone() for name, value in (model.state_dict() | state).items()}


def train_all(folder, distributed=True):
    rank = int(os.environ["RANK"]) if distributed else 0
    for name, make in SETTINGS.items():
        for kind, recipe in (("step", ONE_STEP), ("epochs", EPOCHS)):
            if kind == "step" and "stage" in name:
                continue
            weights = train_one(make, recipe, distributed)
            save_file(weights, folder / f"{name} {kind} {rank}.safetensors")


def main(root):
    for count in COUNTS:
        (root / str(count)).mkdir()
    train_all(root / "1", distributed=False)
    for count in COUNTS[1:]:
        ends = exit_codes(start_group(count, train_all, root / str(count)))
        assert ends == [0] * count, ends


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
