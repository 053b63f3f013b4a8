"""Trainings that are killed, stopped, or find the disk full; a script, so that torch is imported once.

The argument is a folder. What the processes printed and how they ended is written to `report.json` in it, beside the models
that they trained.
"""

import json
import os
import resource
import runpy
import shutil
import signal
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from e2e.scripts.forking import exit_code, exit_codes, start_alone, start_group
from helpers.processes import TIMEOUT, process_state, wait_for
from helpers.training import PRIORS, make_data, make_linear

from scarce.cli.main import main as scarce
from scarce.errors import ProcessError
from scarce.methods import make_method
from scarce.training import Callback, Recipe, train
from scarce.training._checkpoint import load_state

EPOCHS = 60
STEPS_PER_EPOCH = 5
SILENCE = timedelta(seconds=3)  # after which a process that does not answer is given up


def command(root, out):
    features = ["train", root / "features.npy", "--labels", root / "not.npy", "--form", "indicator"]
    settings = [
        "--classes",
        "a,b,c",
        "--module",
        "linear",
        "--epochs",
        EPOCHS,
        "--batch-size",
        10,
        "--priors",
        "uniform",
        "--out",
        out,
    ]
    return [str(part) for part in features + settings]


def child_of_rank(parent, rank):
    """Return the process of this rank that torchrun has started, or None."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            if (
                f"PPid:\t{parent}\n" in status.read_text()
                and f"\0RANK={rank}\0" in (status.parent / "environ").read_text()
            ):
                return int(status.parent.name)
        except OSError:  # the process has ended
            continue
    return None


def redirect_streams(path):
    sys.stdout.flush()
    for stream in (1, 2):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)


# With torchrun and the command line.


def torchrun(root):
    redirect_streams(root / "killed" / "output")
    options = ["--standalone", "--nproc-per-node", "2", "-m", "e2e.scripts.halting"]
    # The process of rank 1 halts in the third epoch.
    sys.argv[1:] = [*options, str(2 * STEPS_PER_EPOCH + 2), *command(root, root / "killed" / "model")]
    runpy.run_module("torch.distributed.run", run_name="__main__", alter_sys=True)


def kill_rank_1(root, torchrun):
    rank_1 = wait_for(lambda: child_of_rank(torchrun, 1), "the process of rank 1")
    wait_for(lambda: process_state(rank_1) == "T", "the process of rank 1 to halt")
    os.kill(rank_1, signal.SIGKILL)
    return {
        "code": exit_code(torchrun),
        "output": (root / "killed" / "output").read_text(),
        "epochs": load_state(root / "killed" / "model.checkpoint")["epoch"],
        "model": (root / "killed" / "model").exists(),
    }


def resume(root, name, *, elastic=False, room=None):
    """Resume from what the killed processes left."""
    redirect_streams(root / name / f"output {os.environ.get('RANK', 0)}")
    if elastic:
        os.environ["TORCHELASTIC_RUN_ID"] = "test"
    if room is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    return scarce(command(root, root / name / "model"))


def outputs_in(folder):
    return {path.name: path.read_text() for path in sorted(folder.glob("output *"))}


def resumed(root, name, count):
    prepare(root, name)
    if count == 1:
        codes = [exit_code(start_alone(resume, root, name))]
    else:
        codes = exit_codes(start_group(count, lambda: resume(root, name, elastic=True)))
    left = sorted(path.name for path in (root / name).iterdir())
    return {"codes": codes, "left": left, "outputs": outputs_in(root / name)}


def prepare(root, name):
    (root / name).mkdir()
    shutil.copy(root / "killed" / "model.checkpoint", root / name)


def full_disk(root):
    """There is only room for a file as long as this checkpoint, and the next one is longer."""
    prepare(root, "full")
    path = root / "full" / "model.checkpoint"
    before = path.read_bytes()
    code = exit_code(start_alone(lambda: resume(root, "full", room=len(before))))
    left, outputs = sorted(part.name for part in (root / "full").iterdir()), outputs_in(root / "full")
    kept = path.read_bytes() == before
    return {
        "code": code,
        "left": left,
        "outputs": outputs,
        "kept": kept,
        "again": exit_code(start_alone(resume, root, "full")),
    }


# Without torchrun, which would end the processes that are left.


class MarkBegun(Callback):
    """Leave a file after the second epoch, and from then on do not wait long for the other process."""

    def __init__(self, path, silence):
        self.path, self.silence = path, silence

    def on_epoch_end(self, run, record):
        if run.epoch == 2:
            if self.silence is not None:
                dist.distributed_c10d._set_pg_timeout(self.silence)
            self.path.touch()


def train_for_ever(folder, silence):
    """Return 7 after an error about another process, whose message is written to a file."""
    rank = os.environ["RANK"]
    if silence is not None:
        dist.init_process_group("gloo", timeout=timedelta(seconds=TIMEOUT))
    inputs, labels = make_data()
    recipe = Recipe(epochs=100_000, batch_size=16)
    try:
        train(
            make_linear(), make_method("scarce"), inputs, labels, recipe, priors=PRIORS, distributed=True,
            callbacks=[MarkBegun(folder / f"begun {rank}", silence)],
        )  # fmt: skip
    except ProcessError as error:
        (folder / f"error {rank}").write_text(str(error))
        dist.destroy_process_group()  # as at the end of every process
        return 7


def strike(root, name, signal_, victim=1, silence=None):
    """Send a signal to one of two processes that train together; return a function that waits for the other."""
    folder = root / name
    folder.mkdir()
    children = start_group(2, train_for_ever, folder, silence)
    try:
        wait_for(lambda: len(list(folder.glob("begun *"))) == 2, "both processes to train")
    finally:
        os.kill(children[victim], signal_)

    def outcome():
        code = exit_code(children[1 - victim])
        os.kill(children[victim], signal.SIGKILL)
        exit_code(children[victim])
        return {"code": code, "errors": [path.read_text() for path in folder.glob("error *")]}

    return outcome


def main(root):
    inputs, labels = make_data()
    np.save(root / "features.npy", inputs)
    np.save(root / "not.npy", labels.indicator())
    (root / "killed").mkdir()
    # The time-outs of these pass while the others run.
    silent = {
        "stopped": strike(root, "stopped", signal.SIGSTOP, silence=SILENCE),
        "first stopped": strike(root, "first stopped", signal.SIGSTOP, victim=0, silence=SILENCE),
    }
    process = start_alone(torchrun, root)
    assert scarce(command(root, root / "undisturbed")) == 0
    report = {"torchrun": kill_rank_1(root, process)}
    report |= {f"resumed by {count}": resumed(root, f"resumed by {count}", count) for count in (1, 3)}
    report["full disk"] = full_disk(root)
    report["killed"] = strike(root, "lonely", signal.SIGKILL)()
    report |= {name: outcome() for name, outcome in silent.items()}
    (root / "report.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
