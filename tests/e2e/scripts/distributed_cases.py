"""Special cases of training in two processes; a script.

The argument is a folder. Every scenario is a function of it; each rank writes its result to
`NAME RANK.safetensors`, as a tree of tensors, numbers and text.
"""

import os
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from e2e.scripts.forking import exit_codes, start_group
from helpers.training import PRIORS, D, Interrupt, Q, Tempered, make_data, make_net
from torch import nn

from scarce import ScarceClassifier
from scarce.errors import ScarceError
from scarce.methods import make_method
from scarce.training import Recipe, train
from scarce.training._checkpoint import save_state

EPOCHS = 2
RECIPE = Recipe(epochs=EPOCHS, batch_size=16, learning_rate=0.01)


def rank():
    return int(os.environ.get("RANK", 0))


def run(model, recipe=RECIPE, data=None, method=None, **options):
    """Train, in a process group if there is one; return the final state of the model and the losses."""
    inputs, labels = data or make_data()
    options = {"distributed": "RANK" in os.environ} | options
    history = train(model, method or make_method("scarce"), inputs, labels, recipe, priors=PRIORS, **options)
    return {"model": dict(model.state_dict()), "loss": history["loss"]}


def error_of(function, *arguments, **options):
    """Return the message of an error of the library."""
    try:
        function(*arguments, **options)
    except ScarceError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"error": "none"}


def make_plain():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(D, 6), nn.Tanh(), nn.Linear(6, Q)).double()


class Unused(nn.Module):
    """A layer that the output does not depend on."""

    def __init__(self, frozen=False):
        super().__init__()
        self.used, self.spare = make_plain(), make_plain().requires_grad_(not frozen)

    def forward(self, rows):
        return self.used(rows)


def make_images():
    rng = np.random.default_rng(0)
    _, labels = make_data()
    return rng.integers(0, 256, (len(labels.indicator()), 1, 8, 8), dtype=np.uint8), labels


def with_batch_norm_and_dropout(folder):
    return run(make_net(seed=rank()))  # the initial weights of rank 0 are used everywhere


def in_parts(folder):
    return run(make_plain(), Recipe(epochs=EPOCHS, batch_size=16, micro_batch=3))


def in_parts_with_batch_norm(folder):
    return run(make_net(), Recipe(epochs=EPOCHS, batch_size=16, micro_batch=3))


def whole(folder):
    return run(make_plain(), Recipe(epochs=EPOCHS, batch_size=16))


def augmented(*names, method=None):
    """Train on augmented images; 15 rows are shared unequally, and so are the 5 of the last batch."""
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, Q)).double()
    with torch.no_grad():
        for weight in model.parameters():
            weight.fill_(0.01)
    recipe = Recipe(epochs=EPOCHS, batch_size=15, augmentation=names)
    return run(model, recipe, data=make_images(), method=method)


def with_crop_and_shift(folder):
    return augmented("crop", "shift")


def with_affine_and_flip(folder):
    return augmented("affine", "flip")


def with_affine_and_flip_of_all_inputs(folder):
    method = Tempered()
    method.uses_inputs = True
    return augmented("affine", "flip", method=method)


def with_unused_weights(folder):
    return error_of(run, Unused())


def with_frozen_weights(folder):
    return run(Unused(frozen=True))


def with_nothing_to_train_but_the_method(folder):
    method = Tempered()
    method.uses_inputs = True
    run(make_plain().requires_grad_(False), method=method)
    return {"model": dict(method.state_dict())}


def with_small_batches_and_batch_norm(folder):
    return error_of(run, make_net(), Recipe(epochs=1, batch_size=3))


def with_a_damaged_checkpoint_on_the_first(folder):
    """Rank 0 reads the checkpoint for all; the others have no file."""
    path = folder / f"checkpoint of {rank()}"
    if rank() == 0:
        path.write_bytes(b"damaged")
    return error_of(run, make_plain(), checkpoint=path)


def with_a_checkpoint_of_the_first(folder):
    """Resume a run of one process; only rank 0 has its checkpoint."""
    path = folder / f"begun by one {rank()}"
    if rank() == 0:
        make_early_stopping(path)
    return run(make_plain(), checkpoint=path) | {"left": str(path.exists())}


def make_early_stopping(path):
    try:
        run(make_plain(), callbacks=[Interrupt(2)], checkpoint=path, distributed=False)
    except KeyboardInterrupt:
        return


def with_an_estimator_without_a_seed(folder):
    inputs, labels = make_data()
    fitted = ScarceClassifier(
        priors="uniform", epochs=EPOCHS, batch_size=16, random_state=None, distributed="RANK" in os.environ
    ).fit(inputs, labels)
    return {"model": dict(fitted.model_.state_dict()), "loss": fitted.history_["loss"]}


def with_refine(folder):
    inputs, labels = make_data()
    fitted = ScarceClassifier(
        "refine", "linear", "uniform", recipe=RECIPE, distributed="RANK" in os.environ
    ).fit(inputs, labels)
    counts = torch.from_numpy(fitted.exclusion_counts_)
    return {"model": dict(fitted.model_.state_dict()) | {"counts": counts}, "epochs": len(fitted.history_)}


def with_early_stopping(folder):
    inputs, labels = make_data(200)
    fitted = ScarceClassifier(
        module="linear",
        epochs=30,
        batch_size=50,
        early_stopping=True,
        patience=2,
        distributed="RANK" in os.environ,
    ).fit(inputs, labels)
    return {"model": dict(fitted.model_.state_dict()), "epochs": len(fitted.history_)}


SCENARIOS = {
    function.__name__: function
    for function in (
        with_batch_norm_and_dropout, in_parts, in_parts_with_batch_norm, whole, with_crop_and_shift, with_affine_and_flip,
        with_affine_and_flip_of_all_inputs, with_unused_weights, with_frozen_weights,
        with_nothing_to_train_but_the_method, with_small_batches_and_batch_norm,
        with_a_damaged_checkpoint_on_the_first, with_a_checkpoint_of_the_first, with_an_estimator_without_a_seed,
        with_refine, with_early_stopping,
    )
}  # fmt: skip


def run_all(folder):
    for name, scenario in SCENARIOS.items():
        save_state(folder / f"{name} {rank()}.safetensors", scenario(folder))


def with_a_group_of_the_user(folder):
    """The group exists before and after the training."""
    dist.init_process_group("gloo")
    mine = dist.group.WORLD
    result = run(make_plain(), Recipe(epochs=EPOCHS, batch_size=16))
    result["kept"] = str(dist.group.WORLD is mine)
    dist.barrier()
    dist.destroy_process_group()
    save_state(folder / f"with_a_group_of_the_user {rank()}.safetensors", result)


def main(root):
    for part in ("1", "2"):
        (root / part).mkdir()
    run_all(root / "1")
    ends = [
        exit_codes(start_group(2, function, root / "2")) for function in (run_all, with_a_group_of_the_user)
    ]
    assert ends == [[0, 0], [0, 0]], ends


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
