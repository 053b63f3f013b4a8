"""Train with a checkpoint, and resume from the checkpoint of every epoch."""

import shutil

from helpers.training import same_state, without_seconds

from scarce.training import Callback, train


class KeepCheckpoints(Callback):
    """Keeps a copy of the checkpoint of every epoch; the last one is copied by `resume_after_every_epoch`."""

    def __init__(self, path):
        self.path, self.copies = path, []

    def on_epoch_end(self, state, record):
        if self.path.exists():
            self.copy()

    def copy(self):
        target = self.path.with_name(f"{len(self.copies) + 1}.safetensors")
        self.copies.append(shutil.copy(self.path, target))


def resume_after_every_epoch(make_model, make_method, inputs, labels, recipe, folder, **options):
    """Return the epochs after which a run that stops there and is resumed ends differently, and the number of stops.

    A run without a checkpoint, one that writes checkpoints, and every resumed run must end with the same weights of
    model and method, and the same history, bit for bit. The run without a checkpoint has the number 0.
    """

    def run(**checkpointing):
        model, method = make_model(), make_method()
        history = train(
            model, method, inputs, labels, recipe, make_model=make_model, **options, **checkpointing
        )
        return model.state_dict(), method.state_dict(), without_seconds(history)

    keep = KeepCheckpoints(folder / "checkpoint.safetensors")
    whole = run(checkpoint=keep.path, callbacks=[keep])
    keep.copy()
    ends = [run(), *(run(checkpoint=copy) for copy in keep.copies)]
    different = [stop for stop, end in enumerate(ends) if not _same_end(end, whole)]
    return different, len(keep.copies)


def _same_end(one, other):
    return same_state(one[0], other[0]) and same_state(one[1], other[1]) and repr(one[2]) == repr(other[2])
