"""Callbacks: order of calls, state, early stopping and the progress bar."""

import io
import math

import pytest
import torch
from helpers.training import PRIORS, Interrupt, Tempered, make_data, make_net, same_state
from rich.console import Console

from scarce.errors import MethodError
from scarce.methods import make_method
from scarce.training import Callback, EarlyStopping, EpochMetric, ProgressBar, Recipe, train

INPUTS, LABELS = make_data()


def fit(*callbacks, epochs=5, model=None, method=None, **options):
    return train(
        model or make_net(),
        method or make_method("scarce"),
        INPUTS,
        LABELS,
        Recipe(epochs=epochs, batch_size=25),
        priors=PRIORS,
        callbacks=callbacks,
        **options,
    )


class EventLog(Callback):
    def __init__(self, name, pages):
        self.name, self.pages = name, pages

    def on_train_begin(self, run):
        self.pages.append((self.name, "start", run.epoch))

    def on_epoch_end(self, run, record):
        self.pages.append((self.name, run.epoch, len(run.history)))

    def on_train_end(self, run):
        self.pages.append((self.name, "end", run.epoch))


def test_callbacks_are_called_in_order():
    pages = []
    fit(EventLog("a", pages), EventLog("b", pages), epochs=2)
    moments = [("start", 0), (1, 0), (2, 1), ("end", 2)]
    assert pages == [(name, *moment) for moment in moments for name in "ab"]


def test_on_end_is_called_after_interrupt():
    pages = []
    with pytest.raises(KeyboardInterrupt):
        fit(EventLog("a", pages), Interrupt(2))
    assert pages[-1] == ("a", "end", 2)


def test_on_start_of_resumed_run_sees_last_epoch(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fit(Interrupt(3), checkpoint=tmp_path / "c")
    pages = []
    fit(EventLog("a", pages), checkpoint=tmp_path / "c")
    assert pages[:2] == [("a", "start", 2), ("a", 3, 2)]


def test_measure_is_recorded_for_later_callbacks():
    seen = []

    class BatchReader(Callback):
        def on_epoch_end(self, run, record):
            seen.append(record["twice"])

    history = fit(EpochMetric("twice", lambda run: torch.tensor(2.0 * run.epoch)), BatchReader(), epochs=3)
    assert history["twice"] == seen == [2.0, 4.0, 6.0]
    assert all(type(value) is float for value in history["twice"])
    assert list(history.records[0]) == ["epoch", "loss", "learning_rate", "seconds", "twice"]


def test_callback_can_stop_run():
    class Stop(Callback):
        def on_epoch_end(self, run, record):
            run.stop = run.epoch == 2

    assert fit(Stop())["epoch"] == [1, 2]


def test_callback_state_is_restored_on_resume(tmp_path):
    class Total(Callback):
        def __init__(self):
            self.total = 0.0

        def on_epoch_end(self, run, record):
            self.total += record["loss"]
            record["total"] = self.total

        def state_dict(self):
            return {"total": self.total}

        def load_state_dict(self, state):
            self.total = state["total"]

    undisturbed = fit(Total())["total"]
    with pytest.raises(KeyboardInterrupt):
        fit(Total(), Interrupt(4), checkpoint=tmp_path / "c")
    assert fit(Total(), checkpoint=tmp_path / "c")["total"] == undisturbed


class WeightSnapshots(Callback):
    """Stores the weights after every epoch."""

    def __init__(self):
        self.models, self.methods = [], []

    def on_epoch_end(self, run, record):
        self.models.append({name: value.clone() for name, value in run.model.state_dict().items()})
        self.methods.append({name: value.clone() for name, value in run.method.state_dict().items()})


def values(*numbers):
    return EpochMetric("value", lambda run: numbers[run.epoch - 1])


@pytest.mark.parametrize(
    ("numbers", "patience", "epochs", "best"),
    [
        ((1, 2, 3, 2, 3, 1, 0, 0), 3, 6, 3),  # an equal value is no better
        ((1, 2, 3, 4, 5, 6, 7, 8), 1, 8, 8),
        ((5, 4, 3, 2, 1, 0, 9, 9), 6, 8, 7),
        ((5, 4, 3, 2, 1, 0, 9, 9), 2, 3, 1),
        ((-9, -8, -9, -9, -9, -9, -9, -9), 4, 6, 2),
        ((math.nan, 1, math.nan, math.nan, 0, 0, 0, 0), 2, 4, 2),
    ],
)
def test_early_stopping_restores_best_weights(numbers, patience, epochs, best):
    model, method, copies = make_net(), Tempered(), WeightSnapshots()
    history = fit(
        values(*numbers), copies, EarlyStopping("value", patience), epochs=8, model=model, method=method
    )
    assert len(history) == epochs
    assert same_state(model.state_dict(), copies.models[best - 1])
    assert same_state(method.state_dict(), copies.methods[best - 1])
    assert best == epochs or not same_state(model.state_dict(), copies.models[-1])


def test_early_stopping_restores_best_weights_after_last_epoch():
    model, copies = make_net(), WeightSnapshots()
    fit(values(1, 3, 2), copies, EarlyStopping("value", 9), epochs=3, model=model)
    assert same_state(model.state_dict(), copies.models[1])


def test_early_stopping_on_nan_keeps_last_weights():
    model, copies = make_net(), WeightSnapshots()
    history = fit(EpochMetric("value", lambda run: math.nan), EarlyStopping("value", 2), copies, model=model)
    assert len(history) == 2
    assert same_state(model.state_dict(), copies.models[-1])


def test_early_stopping_is_reset_by_new_run():
    stopping, copies, model = EarlyStopping("value", 2), WeightSnapshots(), make_net(seed=1)
    fit(values(*[9] * 5), stopping)
    history = fit(values(1, 2, 3, 0, 0), copies, stopping, model=model)
    assert len(history) == 5
    assert same_state(model.state_dict(), copies.models[2])


def test_early_stopping_rejects_unknown_metric_and_zero_patience():
    with pytest.raises(
        MethodError, match=r"looks for 'acc', but an epoch records epoch, loss, .*put EpochMetric\('acc'"
    ):
        fit(EarlyStopping("acc", 2))
    with pytest.raises(MethodError, match="patience=0; expected a whole number of at least 1"):
        EarlyStopping("acc", 0)


def test_progress_bar_shows_epochs_and_metrics():
    console = Console(record=True, force_terminal=True, width=120, file=io.StringIO())
    fit(EpochMetric("accuracy", lambda run: 0.123456), ProgressBar(console), epochs=3)
    last = console.export_text().splitlines()[-1]
    assert "scarce" in last
    assert "3/3" in last
    assert "accuracy 0.123" in last
    assert "seconds" not in last
