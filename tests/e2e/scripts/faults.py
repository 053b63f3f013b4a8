"""Trainings that are killed, stopped, or find the disk full; started as a script, so that torch is imported once.

The argument is a folder. What the processes said and how they ended is written to `report.json` in it; the models that
came out of it in the end lie beside it.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from e2e.scripts.forking import end_of, ends_of, start_alone, start_together
from helpers.training import PRIORS, make_data, make_linear

from scarce.cli.main import main as scarce
from scarce.errors import ProcessError
from scarce.methods import make_method
from scarce.training import Callback, Recipe, train
from scarce.training.checkpoint import load_state

EPOCHS = 60
PATIENCE = 3  # seconds


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


def wait_for(condition, seconds=90):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def epochs_in(path):
    return load_state(path)["epoch"] if path.exists() else 0


def child_of_rank(parent, rank):
    """Return the process of this rank that torchrun has started."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            if (
                f"PPid:\t{parent}\n" in status.read_text()
                and f"\0RANK={rank}\0" in (status.parent / "environ").read_text()
            ):
                return int(status.parent.name)
        except OSError:  # it has ended meanwhile
            continue
    raise AssertionError(f"no process of rank {rank}")


def speak_into(path):
    sys.stdout.flush()
    for stream in (1, 2):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)


# With torchrun and the command line.


def start_torchrun(root):
    (root / "killed").mkdir()
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        "-m",
        "scarce",
    ]
    return subprocess.Popen(
        [*torchrun, *command(root, root / "killed" / "model")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def kill_rank_1(root, torchrun):
    path = root / "killed" / "model.checkpoint"
    try:
        wait_for(lambda: torchrun.poll() is not None or epochs_in(path) >= 2)
        os.kill(child_of_rank(torchrun.pid, 1), signal.SIGKILL)
    finally:
        if torchrun.poll() is not None:
            print(torchrun.communicate()[0], file=sys.stderr)
    said, _ = torchrun.communicate(timeout=60)
    return {
        "code": torchrun.returncode,
        "said": said,
        "epochs": epochs_in(path),
        "model": (root / "killed" / "model").exists(),
    }


def go_on(root, name, *, elastic=False, room=None):
    """Go on from what the killed processes left."""
    speak_into(root / name / f"said {os.environ.get('RANK', 0)}")
    if elastic:
        os.environ["TORCHELASTIC_RUN_ID"] = "test"
    if room is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    return scarce(command(root, root / name / "model"))


def said_in(folder):
    return {path.name: path.read_text() for path in sorted(folder.glob("said *"))}


def resumed(root, name, count):
    prepare(root, name)
    if count == 1:
        ends = [end_of(start_alone(go_on, root, name))]
    else:
        ends = ends_of(start_together(count, lambda: go_on(root, name, elastic=True)))
    left = sorted(path.name for path in (root / name).iterdir())
    return {"codes": ends, "left": left, "said": said_in(root / name)}


def prepare(root, name):
    (root / name).mkdir()
    shutil.copy(root / "killed" / "model.checkpoint", root / name)


def full_disk(root):
    """The next checkpoint is longer than this one, which is all that there is room for."""
    prepare(root, "full")
    path = root / "full" / "model.checkpoint"
    before = path.read_bytes()
    code = end_of(start_alone(lambda: go_on(root, "full", room=len(before))))
    left, said = sorted(part.name for part in (root / "full").iterdir()), said_in(root / "full")
    kept = path.read_bytes() == before
    return {
        "code": code,
        "left": left,
        "said": said,
        "kept": kept,
        "again": end_of(start_alone(go_on, root, "full")),
    }


# With processes that nobody watches.


class Mark(Callback):
    def __init__(self, path):
        self.path = path

    def on_epoch(self, run, record):
        if run.epoch == 2:
            self.path.touch()


def train_for_ever(folder, patience):
    """Return 7 after an error of ours about another process, whose line is written to a file."""
    rank = os.environ["RANK"]
    if patience is not None:
        dist.init_process_group("gloo", timeout=timedelta(seconds=patience))
    inputs, labels = make_data()
    recipe = Recipe(epochs=100_000, batch_size=16)
    try:
        train(
            make_linear(), make_method("scarce"), inputs, labels, recipe, priors=PRIORS, distributed=True,
            callbacks=[Mark(folder / f"begun {rank}")],
        )  # fmt: skip
    except ProcessError as error:
        (folder / f"error {rank}").write_text(str(error))
        dist.destroy_process_group()  # as at the end of every process
        return 7


def struck(root, name, signal_, victim=1, patience=None):
    folder = root / name
    folder.mkdir()
    children = start_together(2, train_for_ever, folder, patience)
    try:
        wait_for(lambda: len(list(folder.glob("begun *"))) == 2)
    finally:
        os.kill(children[victim], signal_)
    code = end_of(children[1 - victim], 40)
    os.kill(children[victim], signal.SIGKILL)
    end_of(children[victim])
    return {"code": code, "said": [path.read_text() for path in folder.glob("error *")]}


def main(root):
    inputs, labels = make_data()
    np.save(root / "features.npy", inputs)
    np.save(root / "not.npy", labels.indicator())
    torchrun = start_torchrun(root)
    try:
        assert scarce(command(root, root / "undisturbed")) == 0
        report = {"torchrun": kill_rank_1(root, torchrun)}
    finally:
        torchrun.kill()
    report |= {f"resumed by {count}": resumed(root, f"resumed by {count}", count) for count in (1, 3)}
    report["full disk"] = full_disk(root)
    report["killed"] = struck(root, "lonely", signal.SIGKILL)
    report["stopped"] = struck(root, "stopped", signal.SIGSTOP, patience=PATIENCE)
    report["first stopped"] = struck(root, "first stopped", signal.SIGSTOP, victim=0, patience=PATIENCE)
    (root / "report.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
