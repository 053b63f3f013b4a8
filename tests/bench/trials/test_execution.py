"""The record of a trial, against the same training done by hand."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.bench import ONE_METHOD_FAILS, TINY, plan_trials, tiny_experiment, tiny_trials, with_checksum

from scarce.bench.runners.local import execute
from scarce.bench.trials import execution as trial_module
from scarce.bench.trials._data import load_data, sample_rows
from scarce.bench.trials.execution import is_environment_failure, run_trial
from scarce.bench.trials.plan import Trial
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store
from scarce.datasets import ImageDataset
from scarce.datasets.image_dataset import labels_from_annotations
from scarce.errors import DivergedError, FetchError, FileError, LabelError, ProcessError
from scarce.labels import ComplementaryLabels
from scarce.methods import make_method
from scarce.models import make_model
from scarce.priors import perturb_priors
from scarce.simulate import simulate
from scarce.training import ANNEALED, EpochMetric, predict_logits, train
from scarce.training._checkpoint import save_state
from scarce.training._runtime import seeded


def run(trial: Trial, folder: Path) -> TrialRecord:
    record = run_trial(trial, folder / "checkpoint.safetensors")
    json.dumps(record.to_dict(), allow_nan=False)
    return record


def test_run_trial_equals_training_by_hand(tmp_path: Path) -> None:
    trial = tiny_trials(tmp_path, TINY.replace("epochs = 3", "epochs = 13"))[2]
    assert str(trial) == "digits, uniform, scarce, linear, seed 1"
    record = run(trial, tmp_path)

    data = load_data("digits", None)
    labels = simulate("uniform", data.y_train, classes=10, seed=1)
    priors = np.bincount(data.y_train) / len(data.y_train)
    with seeded(1):
        model = make_model("linear", (8, 8), 10)
    accuracy = EpochMetric(
        "accuracy",
        lambda now: (predict_logits(now.model, data.X_test).argmax(dim=1).numpy() == data.y_test).mean(),
    )
    recipe = replace(ANNEALED, epochs=13, seed=1)
    history = train(
        model, make_method("scarce"), data.X_train, labels, recipe, priors=priors, callbacks=[accuracy]
    )

    assert record.status == "done"
    assert record.error is None
    assert record.curves["loss"] == history["loss"]
    assert record.curves["test_accuracy"] == history["accuracy"]
    assert record.accuracy == pytest.approx(sum(history["accuracy"][3:]) / 10)
    assert record.priors.values == priors.tolist()
    assert record.seconds > 0
    assert record.peak_memory_mb > 10
    assert record.machine["threads"] == 1
    assert set(record.versions) == {"scarce", "torch", "numpy", "python"}


def test_run_trial_records_criteria_near_true_accuracy(tmp_path: Path) -> None:
    text = TINY.replace("epochs = 3", "epochs = 40\nlearning_rate = 0.02").replace(
        'settings = "uniform"', 'settings = [{ name = "half", process = "scar", params = { rates = 0.4 } }]'
    )
    record = run(tiny_trials(tmp_path, text)[0], tmp_path)
    assert set(record.selection) == {
        "scar_accuracy",
        "scar_risk",
        "covering_rate",
        "approximated_accuracy",
        "scel",
    }
    assert {len(values) for values in record.selection.values()} == {40}
    assert record.curves["test_accuracy"][-1] > 0.8
    assert record.selection["scar_accuracy"][-1] == pytest.approx(
        record.curves["test_accuracy"][-1], abs=0.06
    )
    assert record.selection["covering_rate"][-1] > record.selection["covering_rate"][0]


def test_run_trial_draws_other_images_for_each_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}

    def spy(
        model: object,
        method: object,
        X: np.ndarray,
        labels: ComplementaryLabels,
        recipe: object,
        **rest: object,
    ):
        seen[recipe.seed] = X
        return train(model, method, X, labels, recipe, **rest)

    monkeypatch.setattr(trial_module, "train", spy)
    for trial in tiny_trials(tmp_path, TINY + "n_train = 100")[::2]:
        assert run_trial(trial, tmp_path / trial.key).status == "done"
    assert len(seen[0]) == len(seen[1]) == 100
    assert not np.array_equal(seen[0], seen[1])
    rows = {image.tobytes() for image in load_data("digits", None).X_train}
    assert {image.tobytes() for image in seen[0]} <= rows


@pytest.mark.parametrize("priors", ['"uniform"', '"estimate"', "{ perturb = 0.5 }"])
def test_run_trial_uses_priors_of_the_spec(tmp_path: Path, priors: str) -> None:
    trial = tiny_trials(tmp_path, TINY.replace('"uniform"', '"scar-a"') + f"priors = {priors}")[2]
    record = run(trial, tmp_path)
    assert record.status == "done", record.error
    true = np.bincount(load_data("digits", None).y_train) / 1198
    expected = {
        '"uniform"': ("uniform", np.full(10, 0.1)),
        "{ perturb = 0.5 }": ("frequencies, corrupted by 0.5", perturb_priors(true, 0.5, 1)),
    }
    if priors == '"estimate"':
        assert record.priors.source.startswith("best-bin")
        assert sum(record.priors.values) == pytest.approx(1)
        assert record.priors.values != true.tolist()
    else:
        assert (record.priors.source, record.priors.values) == (
            expected[priors][0],
            expected[priors][1].tolist(),
        )


def test_sample_rows_are_drawn_by_seed_and_sorted() -> None:
    y = np.repeat([2, 0, 1], [40, 60, 20])
    rows = sample_rows(y, 50, None, seed=3)
    assert len(rows) == 50
    assert (np.diff(rows) > 0).all()
    assert np.array_equal(rows, sample_rows(y, 50, None, seed=3))
    assert not np.array_equal(rows, sample_rows(y, 50, None, seed=4))
    assert sample_rows(y, 120, None, seed=3).tolist() == list(range(120))


@pytest.mark.parametrize(("imbalance", "sizes"), [(4, [60, 10, 10]), (100, [60, 2, 0]), (1.5, [60, 16, 27])])
def test_sample_rows_subsample_each_further_class(imbalance: float, sizes: list[int]) -> None:
    """The last of three classes keeps 1/imbalance of its rows, and the second the square root of that fraction."""
    y = np.repeat([2, 0, 1], [40, 60, 20])
    rows = sample_rows(y, 120, imbalance, seed=3)
    assert np.bincount(y[rows], minlength=3).tolist() == sizes
    assert (np.diff(rows) > 0).all()
    other = sample_rows(y, 120, imbalance, seed=4)
    assert np.bincount(y[other], minlength=3).tolist() == sizes
    assert not np.array_equal(rows, other)
    of_some = np.bincount(y[sample_rows(y, 60, None, seed=3)])  # drawn first, then subsampled
    kept = np.bincount(y[sample_rows(y, 60, imbalance, seed=3)], minlength=3)
    assert kept.tolist() == [round(n * imbalance ** (-k / 2)) for k, n in enumerate(of_some)]


def test_run_trial_records_learned_and_true_priors(tmp_path: Path) -> None:
    """The last class of the digits keeps a quarter; a linear model after 40 epochs is only roughly right."""
    text = TINY.replace("epochs = 3", "epochs = 40\nlearning_rate = 0.02").replace(
        '["scarce", "nn"]', '"scar-likelihood"'
    )
    text = text.replace(
        'settings = "uniform"', 'settings = [{ name = "half", process = "scar", params = { c = 0.4 } }]'
    )
    trial = tiny_trials(tmp_path, text + 'priors = "learn"\nimbalance = 4')[1]
    assert (trial.spec.priors, trial.spec.imbalance, trial.spec.seed) == ("learn", 4, 1)
    record = run(trial, tmp_path)
    assert record.status == "done", record.error
    y = load_data("digits", None).y_train
    counts = np.bincount(y[sample_rows(y, len(y), 4, seed=1)])
    assert record.priors.true == pytest.approx((counts / counts.sum()).tolist())
    assert record.priors.source == "learned by scar-likelihood"
    assert sum(record.priors.values) == pytest.approx(1)
    wrong = np.abs(np.array(record.priors.values) - record.priors.true).sum()
    assert wrong < 0.5 * np.abs(0.1 - np.array(record.priors.true)).sum()


def test_run_trial_estimates_priors(tmp_path: Path) -> None:
    text = """
    name = "p"
    title = "Priors"
    protocol = "shortened"
    kind = "priors"
    data = "digits"
    settings = [{ name = "half", process = "scar", params = { rates = 0.4 } }]
    methods = [{ method = "best-bin", params = { bootstrap = 0 } }]
    models = "mlp"
    seeds = 1
    recipe = "annealed"
    epochs = 20
    batch_size = 64
    """
    record = run(tiny_trials(tmp_path, text)[0], tmp_path)
    assert record.status == "done", record.error
    assert record.accuracy is None
    assert record.priors.source == "best-bin"
    assert np.abs(np.array(record.priors.values) - 0.1).max() < 0.06


def test_run_trial_uses_human_labels_of_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    images, y = random.integers(0, 256, (60, 3, 8, 8), np.uint8), random.integers(0, 10, 60)
    annotations = (y[:, None] + [1, 2, 2]) % 10
    labels = labels_from_annotations(annotations, 10, "union")
    data = ImageDataset("human-cifar10", images, y, images, y, tuple("abcdefghij"), labels, annotations)
    monkeypatch.setattr(trial_module, "load_data", lambda *_: data)
    seen = []

    def spy(
        model: object,
        method: object,
        X: np.ndarray,
        labels: ComplementaryLabels,
        *rest: object,
        **more: object,
    ):
        seen.append((X, labels))
        return train(model, method, X, labels, *rest, **more)

    monkeypatch.setattr(trial_module, "train", spy)
    text = TINY.replace('"digits"', '"human-cifar10"').replace('"uniform"', '"human"')
    experiment = tiny_experiment(tmp_path, text.replace('"nn"', '"cc"') + "n_train = 30")
    trial = with_checksum(plan_trials(experiment)[1], data.checksum)
    record = run(trial, tmp_path)
    assert record.status == "done", record.error
    (X, used), rows = (
        seen[0],
        [next(i for i in range(60) if (images[i] == image).all()) for image in seen[0][0]],
    )
    assert len(X) == 30
    assert (used.indicator() == labels.indicator()[rows]).all()
    assert len(record.selection["covering_rate"]) == 3


def test_run_trial_records_failure(tmp_path: Path) -> None:
    scarce, nn, *_ = tiny_trials(tmp_path, ONE_METHOD_FAILS)
    assert run(scarce, tmp_path).status == "done"
    failed = run_trial(nn, tmp_path / "other")
    assert failed.status == "failed"
    assert failed.error.startswith("nn takes one excluded class per example")
    assert failed.accuracy is None
    diverged = tiny_trials(tmp_path, TINY + "learning_rate = 1e30")[0]
    assert "try a smaller learning rate" in run_trial(diverged, tmp_path / "third").error


def test_run_trial_records_any_error_but_not_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = tiny_trials(tmp_path)[0]

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(trial_module, "train", broken)
    assert run(trial, tmp_path).error == "ZeroDivisionError: division by zero"
    monkeypatch.setattr(trial_module, "train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(trial, tmp_path)


def test_checkpoint_that_cannot_be_written_is_not_the_failure_of_a_trial(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        run_trial(tiny_trials(tmp_path)[0], tmp_path / "file" / "checkpoint.safetensors")


def test_environment_failures_are_those_that_another_run_may_not_have() -> None:
    unwritten = FileError("a.json cannot be written.")
    unwritten.__cause__ = OSError(28, "No space left on device")
    environment = [unwritten, unwritten.__cause__, FetchError("no network"), ProcessError("rank 1 ended")]
    method = [
        DivergedError("loss is nan"),
        FileError("the files differ"),
        LabelError("no labels"),
        SystemExit(3),
    ]
    assert all(map(is_environment_failure, environment))
    assert not any(map(is_environment_failure, method))


def test_run_trial_rejects_other_data_and_ignores_damaged_checkpoint(tmp_path: Path) -> None:
    good = tiny_trials(tmp_path)[0]
    assert "the files of digits differ from those" in run(with_checksum(good, "0" * 64), tmp_path).error
    without = plan_trials(tiny_experiment(tmp_path))[0]
    assert (
        "planned without a checksum of digits; plan it with Plan.with_data()" in run(without, tmp_path).error
    )
    checkpoint = tmp_path / "checkpoint.safetensors"
    checkpoint.write_bytes(b"damaged")
    assert run(good, tmp_path).status == "done"
    save_state(
        checkpoint, {"identity": {"method": "scarce"}, "epoch": 1}
    )  # as an earlier version may have written
    assert run(good, tmp_path).status == "done"


def test_execute_records_end_time_and_number_of_examples(tmp_path: Path) -> None:
    text = TINY.replace("epochs = 3", "epochs = 1") + "n_train = 500\nimbalance = 4"
    trial = tiny_trials(tmp_path, text)[-1]
    store = Store(tmp_path / "store")
    execute(trial, str(store.path), None)
    record = store.record(trial.key)
    y = load_data("digits", None).y_train
    thinned = np.bincount(y[sample_rows(y, 500, 4.0, trial.spec.seed)])
    assert record.n_examples == thinned.sum() < 400
    assert record.priors.true == pytest.approx(thinned / thinned.sum())
    assert record.finished[:2] == "20"
    assert record.finished.endswith("+00:00")


def test_run_trial_records_true_priors_and_estimates(tmp_path: Path) -> None:
    text = TINY.replace('["scarce", "nn"]', '"best-bin"').replace("epochs = 3", "epochs = 1")
    text = 'kind = "priors"\n' + text.replace('"uniform"', '"scar-a"') + "n_train = 300"
    trial = tiny_trials(tmp_path, text)[0]
    record = run_trial(trial, tmp_path / "checkpoint")
    assert record.status == "done", record.error
    y = load_data("digits", None).y_train
    counts = np.bincount(y[sample_rows(y, 300, None, trial.spec.seed)])
    assert record.priors.true == pytest.approx(counts / 300)
    assert record.n_examples == 300
    assert len(record.priors.values) == 10
