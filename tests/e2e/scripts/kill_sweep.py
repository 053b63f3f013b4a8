"""Kill writers before every event that changes a file; started as a script, so that torch is imported once.

For every scenario and every k, a forked process writes and is killed with SIGKILL before its k-th event, until one is not
killed because it has fewer events. After each kill another process writes again. The report, in the folder given as the
argument, says for every kill what was found afterwards, what the next write left, and which hidden files.
"""

import json
import os
import shutil
import signal
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import torch
from helpers.csv_files import write_csv

import scarce
import scarce._io.atomic as atomic
from scarce import ScarceClassifier
from scarce.cli.main import main as scarce_command
from scarce.errors import FileError
from scarce.simulate import uniform
from scarce.testing import three_blobs

CHANGES = (
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.mkdir",
    "os.chmod",
    "os.truncate",
    "os.link",
    "os.symlink",
)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def kill_before_event(number, root):
    """Make this process kill itself before its event of that number that changes a file in `root`."""
    seen = 0

    def hook(event, arguments):
        nonlocal seen
        is_change = event in CHANGES or (event == "open" and arguments[2] and arguments[2] & WRITING)
        if is_change and is_inside(arguments, root):
            seen += 1
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def is_inside(arguments, root):
    path = arguments[0]
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    path = os.fsdecode(path)  # a name relative to an open folder, as `shutil.rmtree` deletes them, counts too
    return not Path(path).is_absolute() or path.startswith(f"{root}{os.sep}")


# What is written, and how to recognize it ----------------------------------------------------------------------


def fitted(seed):
    X, _, labels = three_blobs()
    return ScarceClassifier("scarce", "linear", "uniform", epochs=1, random_state=seed).fit(X, labels)


def write_text(text, folder):
    with atomic.atomic_write(folder / "a.txt", force=True) as temporary:
        temporary.write_text(text)


def save(classifier, folder):
    classifier.save(folder / "model", force=True)


def save_without_exchange(classifier, folder):
    """As on a file system that cannot swap two folders in one step."""
    atomic.exchange = lambda one, other: False
    save(classifier, folder)


def command(*arguments, folder):
    os.chdir(folder)
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    assert scarce_command([*arguments]) == 0


def content(name, folder):
    path = folder / name
    return path.read_bytes().hex() if path.exists() else None


def weights(folder):
    try:
        model = scarce.load(folder / "model").model_
    except FileError as error:
        return None if str(error).endswith("does not exist; check the path.") else str(error)
    return str([value.tolist() for value in model.state_dict().values()])


def train(seed):
    network = (
        "--method",
        "scarce",
        "--module",
        "linear",
        "--priors",
        "uniform",
        "--epochs",
        "2",
        "--seed",
        seed,
    )
    files = ("X.npy", "--labels", "labels.npz", "--out", "model")
    return partial(command, "train", *files, *network, "--no-estimate", "--force")


CONVERT = partial(command, "labels", "convert")
PREDICT = partial(command, "predict", "model", "X.npy", "--force", "--out", "out.csv")


def make_scenarios():
    """By name: what writes the old output, if any; what writes the new one; what recognizes an output."""
    old, new = fitted(0), fitted(1)
    return {
        "text": (partial(write_text, "old"), partial(write_text, "new"), partial(content, "a.txt")),
        "first text": (None, partial(write_text, "new"), partial(content, "a.txt")),
        "save": (partial(save, old), partial(save, new), weights),
        "first save": (None, partial(save, new), weights),
        "save without exchange": (partial(save, old), partial(save_without_exchange, new), weights),
        "train": (train("0"), train("1"), weights),
        "convert": (
            partial(CONVERT, "labels.npz", "out.csv", "--force"),
            partial(CONVERT, "other.npz", "out.csv", "--force"),
            partial(content, "out.csv"),
        ),
        "predict": (
            lambda folder: write_csv(folder / "out.csv", ["row"], [[0]]),
            lambda folder: (save(old, folder), PREDICT(folder=folder)),
            partial(content, "out.csv"),
        ),
    }


# The sweep ------------------------------------------------------------------------------------------------------


def in_process(write, folder, number=None):
    """Write in a forked process, killed before the event of that number; return how the process ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    torch.set_num_threads(1)
    try:
        if number is not None:
            kill_before_event(number, folder)
        write(folder=folder)
        os._exit(0)
    except BaseException as error:
        print(repr(error), file=sys.__stderr__)
        os._exit(1)


def sweep(root, write_old, write_new, recognize):
    """Kill before every event; return a record of each kill."""
    template, whole = root / "template", root / "whole"
    make_inputs(template)
    if write_old is not None:
        assert in_process(write_old, template) == 0
    shutil.copytree(template, whole)
    assert in_process(write_new, whole) == 0
    outputs = {recognize(template): "old", recognize(whole): "new"}
    assert len(outputs) == 2
    expected = names(whole)
    records, number = [], 0
    while not records or records[-1]["signal"] == signal.SIGKILL:
        number += 1
        folder = root / str(number)
        shutil.copytree(template, folder)
        code = in_process(write_new, folder, number)
        found = outputs.get(recognize(folder), "damaged")
        again = in_process(write_new, folder)
        records.append(
            {
                "signal": -code,
                "found": found,
                "again": [again, outputs.get(recognize(folder), "damaged")],
                "unexpected": sorted(names(folder) ^ expected),
            }
        )
        shutil.rmtree(folder)
    return records


def names(folder):
    return {path.name for path in folder.iterdir()}


def make_inputs(folder):
    X, y, labels = three_blobs()
    folder.mkdir(parents=True)
    np.save(folder / "X.npy", X)
    labels.save(folder / "labels.npz")
    uniform(y, seed=5).save(folder / "other.npz")


def main(root):
    warnings.simplefilter("ignore")
    report = {
        name: sweep(root / name, *scenario)
        for name, scenario in make_scenarios().items()
        if name in sys.argv[2:]
    }
    (root / f"{sys.argv[2]}.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
