"""Resuming runs interrupted at any epoch, and checkpoints that are rejected."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.training import (
    PRIORS,
    Interrupt,
    Tempered,
    make_data,
    make_early_stopping,
    make_linear,
    make_net,
    same_state,
    without_seconds,
)
from scipy import sparse
from torch import nn

from scarce.errors import FileError
from scarce.methods import make_method
from scarce.training import EpochMetric, Recipe, train
from scarce.training._checkpoint import load_state

RECIPE = Recipe(epochs=5, batch_size=16, learning_rate=0.01)
INPUTS, LABELS = make_data()


def fit(method=None, model=None, inputs=INPUTS, labels=LABELS, recipe=RECIPE, priors=PRIORS, **options):
    """Train, and return the weights of model and method and the history."""
    method, model = method or make_method("scarce"), model or make_net()
    history = train(model, method, inputs, labels, recipe, priors=priors, **options)
    return model.state_dict(), method.state_dict(), without_seconds(history)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("stop", range(1, 6))
def test_train_resumes_after_interrupt_at_every_epoch(tmp_path, optimizer, stop):
    recipe = replace(RECIPE, optimizer=optimizer)
    undisturbed = fit(Tempered(), recipe=recipe, callbacks=make_early_stopping())
    with pytest.raises(KeyboardInterrupt):
        fit(
            Tempered(),
            recipe=recipe,
            callbacks=[*make_early_stopping(), Interrupt(stop)],
            checkpoint=tmp_path / "c",
        )
    if stop > 1:
        assert load_state(tmp_path / "c")["epoch"] == stop - 1
    resumed = fit(Tempered(), recipe=recipe, callbacks=make_early_stopping(), checkpoint=tmp_path / "c")
    assert same_state(resumed[0], undisturbed[0])
    assert same_state(resumed[1], undisturbed[1])
    assert resumed[2] == undisturbed[2]


@pytest.mark.parametrize("names", [("affine", "flip"), ("shift", "crop")])
def test_train_on_augmented_images_resumes_exactly(tmp_path, names):
    recipe = replace(RECIPE, augmentation=names)
    images = np.random.default_rng(0).integers(0, 256, (len(INPUTS), 1, 6, 5), dtype=np.uint8)

    def fit_images(**options):
        torch.manual_seed(0)
        model = nn.Sequential(
            nn.Flatten(), nn.Linear(30, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 3)
        )
        return fit(model=model, inputs=images, recipe=recipe, **options)

    undisturbed = fit_images()
    with pytest.raises(KeyboardInterrupt):
        fit_images(callbacks=[Interrupt(3)], checkpoint=tmp_path / "c")
    resumed = fit_images(checkpoint=tmp_path / "c")
    assert same_state(resumed[0], undisturbed[0])
    assert resumed[2] == undisturbed[2]


@pytest.mark.parametrize("callbacks", [list, make_early_stopping])
def test_finished_run_is_not_repeated(tmp_path, callbacks):
    finished = fit(callbacks=callbacks(), checkpoint=tmp_path / "c")
    before = (tmp_path / "c").stat().st_mtime_ns
    again = fit(model=make_net(seed=1), callbacks=callbacks(), checkpoint=tmp_path / "c")
    assert same_state(again[0], finished[0])
    assert again[2] == finished[2]
    assert (tmp_path / "c").stat().st_mtime_ns == before


def test_early_stopped_run_is_not_continued(tmp_path):
    first = fit(callbacks=make_early_stopping(patience=1), checkpoint=tmp_path / "c")
    assert len(first[2]) == 4  # the best is epoch 3
    again = fit(callbacks=make_early_stopping(patience=1), checkpoint=tmp_path / "c")
    assert again[2] == first[2]
    assert same_state(again[0], first[0])


def test_resume_allows_other_callbacks_without_state(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fit(
            callbacks=[EpochMetric("one", lambda run: np.float32(1)), Interrupt(3)], checkpoint=tmp_path / "c"
        )
    assert same_state(fit(checkpoint=tmp_path / "c")[0], fit()[0])


def test_checkpoint_folder_is_created(tmp_path):
    fit(checkpoint=str(tmp_path / "new" / "folder" / "c.safetensors"))
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == ["c.safetensors"]


SPARSE = sparse.csr_matrix(np.eye(50, 5, dtype=np.float32))
OTHER_RUNS = {
    "epochs": {"recipe": replace(RECIPE, epochs=6)},
    "batch_size": {"recipe": replace(RECIPE, batch_size=17)},
    "optimizer": {"recipe": replace(RECIPE, optimizer="sgd")},
    "learning_rate": {"recipe": replace(RECIPE, learning_rate=0.02)},
    "weight_decay": {"recipe": replace(RECIPE, weight_decay=0.0)},
    "schedule": {"recipe": replace(RECIPE, schedule="constant")},
    "seed": {"recipe": replace(RECIPE, seed=1)},
    "method": {"method": make_method("scarce-ure")},
    "method_params": {"method": make_method("scarce", loss="sigmoid")},
    "model": {"model": make_linear()},
    "inputs": {"inputs": INPUTS + 1},
    "labels": {"labels": make_data(seed=1)[1]},
    "priors": {"priors": [0.3, 0.4, 0.3]},
    "transition": {"transition": (1 - np.eye(3)) / 2},
    "callbacks": {"callbacks": make_early_stopping()},
}


@pytest.mark.parametrize("what", OTHER_RUNS)
def test_resume_rejects_checkpoint_of_another_run(tmp_path, what):
    fit(checkpoint=tmp_path / "c")
    with pytest.raises(FileError, match=rf"c belongs to another run: its {what} is .*to start over") as e:
        fit(checkpoint=tmp_path / "c", **OTHER_RUNS[what])
    assert "\n" not in str(e.value)


def test_resume_rejects_model_of_other_precision(tmp_path):
    fit(checkpoint=tmp_path / "c")
    with pytest.raises(FileError, match="its model is Sequential"):
        fit(model=make_net(dtype=torch.float64), checkpoint=tmp_path / "c")


def test_resume_rejects_sparse_inputs_with_moved_values(tmp_path):
    fit(inputs=SPARSE, checkpoint=tmp_path / "c")
    with pytest.raises(FileError, match="its inputs is"):
        fit(inputs=SPARSE[:, ::-1], checkpoint=tmp_path / "c")


def test_resume_rejects_labels_with_other_confirmed_classes(tmp_path):
    fit(checkpoint=tmp_path / "c")
    confirmed = np.full(LABELS.n_examples, -1)
    confirmed[0] = (LABELS.indices[0] + 1) % 3
    other_labels = type(LABELS)(LABELS.indptr, LABELS.indices, LABELS.classes, confirmed=confirmed)
    with pytest.raises(FileError, match="its labels is"):
        fit(labels=other_labels, checkpoint=tmp_path / "c")


@pytest.mark.parametrize("found", [None, 4, 6])
def test_resume_rejects_checkpoint_of_another_format(tmp_path, found):
    from scarce.training._checkpoint import load_state, save_state

    fit(checkpoint=tmp_path / "c")
    state = load_state(tmp_path / "c")
    state["identity"]["checkpoint_format"] = found
    save_state(tmp_path / "c", state)
    with pytest.raises(FileError) as caught:
        fit(checkpoint=tmp_path / "c")
    assert str(caught.value) == (
        f"{tmp_path / 'c'} is a checkpoint of another version of scarce (its format is {found}, expected 5); "
        "delete it (--restart) to train from the start, or choose another checkpoint."
    )


def test_resume_rejects_state_that_is_not_a_run(tmp_path):
    from scarce.training._checkpoint import save_state

    save_state(tmp_path / "c", {"weights": torch.ones(2)})
    with pytest.raises(FileError, match="its format is None, expected 5"):
        fit(checkpoint=tmp_path / "c")


def test_checkpoint_rejects_folder_as_path(tmp_path):
    with pytest.raises(FileError, match="is a folder"):
        fit(checkpoint=tmp_path)


def test_resume_takes_all_weights_from_checkpoint(tmp_path):
    """The model may be new: all weights, including batch norm statistics, come from the file."""
    with pytest.raises(KeyboardInterrupt):
        fit(callbacks=[Interrupt(3)], checkpoint=tmp_path / "c")
    other = make_net(seed=5)
    with torch.no_grad():
        for module in other.modules():
            if isinstance(module, nn.BatchNorm1d):
                module.running_mean.fill_(7)
    assert same_state(fit(model=other, checkpoint=tmp_path / "c")[0], fit()[0])
