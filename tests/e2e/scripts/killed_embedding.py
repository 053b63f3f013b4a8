"""Embed photos in processes that are killed with SIGKILL at a given moment, each followed by one that is not.

Arguments: the folder of a model, a folder of photos, and a folder to write to. What is left behind after each death, and how
many batches the next process computed, is written to ``left.json``.
"""

import json
import os
import signal
import sys
from pathlib import Path

import scarce.embeddings.files as files_module
from scarce.embeddings import Embedder, embed_images
from scarce.embeddings._batches import PartialArray

BATCH_SIZE = 5
MOMENTS = ("before-batch-1", "after-array-of-batch-2", "after-batch-3", "after-ids", "after-renaming")


def die(*_args, **_kwargs):
    os.kill(os.getpid(), signal.SIGKILL)


def arrange_death(moment):
    write, write_sidecar = PartialArray.write, files_module.write_sidecar
    n_written = 0

    def write_or_die(self, rows, values):
        nonlocal n_written
        n_written += 1
        if moment == "before-batch-1" or (moment == "after-batch-3" and n_written == 4):
            die()
        if moment == "after-array-of-batch-2" and n_written == 2:
            self.array[rows] = values
            self.array.flush()
            die()
        write(self, rows, values)

    def write_sidecar_and_die(*arguments):
        write_sidecar(*arguments)
        die()

    PartialArray.write = write_or_die
    if moment == "after-ids":
        files_module.write_sidecar = write_sidecar_and_die
    if moment == "after-renaming":
        unlink = Path.unlink
        Path.unlink = lambda self, **options: (
            die() if self.name.endswith(".partial.json") and n_written == 5 else unlink(self, **options)
        )


def main():
    model, photos, folder = map(Path, sys.argv[1:])
    embedder = Embedder(model, "image")
    embed_images(photos, embedder, folder / "whole.npy", batch_size=BATCH_SIZE)
    embed, n_batches, left = embedder.embed, 0, {}

    def counted(items):
        nonlocal n_batches
        n_batches += 1
        return embed(items)

    embedder.embed = counted
    for moment in MOMENTS:
        out = folder / f"{moment}.npy"
        child = os.fork()
        if not child:
            arrange_death(moment)
            embed_images(photos, embedder, out, batch_size=BATCH_SIZE)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, moment
        names = sorted(path.name for path in folder.iterdir() if path.name.startswith(moment))
        n_batches = 0
        embed_images(photos, embedder, out, batch_size=BATCH_SIZE)
        left[moment] = names, n_batches
    (folder / "left.json").write_text(json.dumps(left))


if __name__ == "__main__":
    main()
