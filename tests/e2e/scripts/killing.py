"""Run trainings in processes that are killed with SIGKILL; started as a script, so that torch is imported once.

For every scenario: one undisturbed run, then for every moment a run that is killed there and a second one that resumes
from the checkpoint; last, a run that is killed from outside again and again until it is done. What each leaves behind is
written to the folder given as the argument.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import torch
from helpers.training import PRIORS, Staged, Tempered, make_data, make_early_stopping, make_net

import scarce.training._checkpoint as checkpoint_module
from scarce.methods import make_method
from scarce.training import Callback, Recipe, train
from scarce.training._checkpoint import load_state, save_state

EPOCHS = 5
SCENARIOS = {
    "adam": (lambda: make_method("scarce"), "adam", list),
    "sgd-with-a-method-that-has-state": (Tempered, "sgd", list),
    "adam-with-early-stopping": (Tempered, "adam", make_early_stopping),
    "sgd-in-stages-of-two-and-three-epochs": (Staged, "sgd", list),
}
RESTLESS = "adam-with-early-stopping"
# Where it is killed, and how many epochs the checkpoint then holds.
MOMENTS = {
    "first-step": 0,
    "step-2-of-epoch-3": 2,
    "before-saving-epoch-2": 1,
    "while-writing-epoch-1": 0,
    "while-writing-epoch-3": 2,
    "before-renaming-epoch-2": 1,
    "after-renaming-epoch-2": 2,
    "after-the-last-epoch": EPOCHS,
}


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class DieAtEnd(Callback):
    def on_train_end(self, run):
        die()


class DieBeforeSaving(Callback):
    def on_epoch_end(self, run, record):
        if run.epoch == 2:
            die()


def arrange_death(moment, model, callbacks):
    """Make this process die at the moment, if one is given."""
    if moment is None:
        return
    if moment in ("first-step", "step-2-of-epoch-3"):
        left = [1 if moment == "first-step" else 10]  # 50 rows in batches of 16: 4 steps an epoch

        def count(module, *_):
            left[0] -= module.training
            if left[0] == 0 and module.training:
                die()

        model.register_forward_hook(count)
    elif moment == "before-saving-epoch-2":
        callbacks.append(DieBeforeSaving())
    elif moment == "after-the-last-epoch":
        callbacks.insert(0, DieAtEnd())
    elif moment.startswith("while-writing"):
        whole, left = checkpoint_module.save_file, [int(moment[-1])]

        def half(tensors, path, metadata):
            whole(tensors, path, metadata=metadata)
            left[0] -= 1
            if left[0] == 0:
                Path(path).write_bytes(Path(path).read_bytes()[:-1000])
                die()

        checkpoint_module.save_file = half
    else:
        rename, left = Path.replace, [2]

        def renamed(path, target):
            left[0] -= 1
            if left[0] == 0 and moment.startswith("before"):
                die()
            rename(path, target)
            if left[0] == 0:
                die()

        Path.replace = renamed


def run(scenario, folder, moment=None):
    """Train, resuming if there is a checkpoint, and write down how it ended."""
    make, optimizer, make_callbacks = SCENARIOS[scenario]
    inputs, labels = make_data()
    model, method, callbacks = make_net(), make(), make_callbacks()
    arrange_death(moment, model, callbacks)
    recipe = Recipe(epochs=EPOCHS, batch_size=16, learning_rate=0.01, optimizer=optimizer)
    history = train(
        model,
        method,
        inputs,
        labels,
        recipe,
        priors=PRIORS,
        callbacks=callbacks,
        checkpoint=folder / "checkpoint.safetensors",
    )
    end = {"model": model.state_dict(), "method": method.state_dict(), "history": history.records}
    save_state(folder / "end.safetensors", end)


def in_process(*arguments):
    """Fork, run, and return the number of the new process."""
    child = os.fork()
    if child:
        return child
    torch.set_num_threads(1)
    try:
        run(*arguments)
        os._exit(0)
    except BaseException as error:
        print(repr(error), file=sys.stderr)
        os._exit(1)


def killed_by(child):
    """Wait for a process; return the signal that ended it, 0 for a good end, −1 for an error."""
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status)
    return -1 if os.WEXITSTATUS(status) else 0


def epochs_in(folder):
    path = folder / "checkpoint.safetensors"
    return load_state(path)["epoch"] if path.exists() else 0


def main(root):
    run(RESTLESS, root)  # so that what torch imports late is there before the first fork
    report = {}
    for scenario in SCENARIOS:
        folder = root / scenario / "undisturbed"
        folder.mkdir(parents=True)
        report[f"{scenario}/undisturbed"] = killed_by(in_process(scenario, folder))
        for moment in MOMENTS:
            folder = root / scenario / moment
            folder.mkdir()
            first = killed_by(in_process(scenario, folder, moment))
            saved = epochs_in(folder)
            report[f"{scenario}/{moment}"] = [first, saved, killed_by(in_process(scenario, folder))]
    folder = root / RESTLESS / "again-and-again"
    folder.mkdir()
    signals, delay = [], 0.0
    while not signals or signals[-1] == signal.SIGKILL:
        child = in_process(RESTLESS, folder)
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        signals.append(killed_by(child))
        delay += 0.01
    report["again-and-again"] = signals
    (root / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
