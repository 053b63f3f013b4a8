"""Training in stages: initial state of a stage, what a method sees between stages, and resuming."""

import io
from copy import deepcopy

import pytest
import torch
from helpers.training import (
    PRIORS,
    Interrupt,
    Staged,
    Tempered,
    make_data,
    make_linear,
    make_net,
    same_state,
    without_seconds,
)
from rich.console import Console

from scarce.methods import make_method
from scarce.training import Callback, EarlyStopping, ProgressBar, Recipe, predict_logits, train
from scarce.training._checkpoint import load_state

INPUTS, LABELS = make_data()
RECIPE = Recipe(epochs=4, batch_size=16, learning_rate=0.01)
STEPS = 4  # of an epoch: 50 rows, 16 at a time


class ThreeStages(Staged):
    lengths = (2, 3, 1)


def refine():
    """Short stages of two epochs, and a last one of four: ten epochs."""
    return make_method("refine", tol=0.0, rounds=3)


def fit(method, model=None, recipe=RECIPE, **options):
    """Train, and return the weights of model and method and the history."""
    model = model or make_net()
    history = train(model, method, INPUTS, LABELS, recipe, priors=PRIORS, **options)
    return model.state_dict(), method.state_dict(), without_seconds(history)


def assert_same(one, other):
    assert same_state(one[0], other[0])
    assert same_state(one[1], other[1])
    assert one[2] == other[2]


# Initial state of a stage ------------------------------------------------------------------------------------


def states_before_steps(method):
    """The state of the network before every training step, including batch norm statistics."""
    states, model = [], make_net()

    def keep(module, _):
        if module.training:
            states.append(deepcopy(module.state_dict()))

    model.register_forward_pre_hook(keep)
    train(model, method, INPUTS, LABELS, RECIPE, priors=PRIORS)
    return states


@pytest.mark.parametrize(
    ("make", "starts", "epochs"), [(ThreeStages, [0, 2, 5], 6), (refine, [0, 2, 4, 6], 10)]
)
def test_stages_start_from_initial_network(make, starts, epochs):
    states = states_before_steps(make())
    assert len(states) == epochs * STEPS
    same = [step for step, state in enumerate(states) if same_state(state, make_net().state_dict())]
    assert same == [STEPS * start for start in starts]


def test_stages_reset_batch_norm_statistics():
    states = states_before_steps(ThreeStages())
    moved = states[2 * STEPS - 1]
    assert moved["1.running_mean"].abs().max() > 0
    assert moved["1.num_batches_tracked"] == 2 * STEPS - 1
    assert states[2 * STEPS]["1.num_batches_tracked"] == 0


class OptimizerLog(Callback):
    """Stores the optimiser state and gradient of the first weights after every epoch."""

    def __init__(self):
        self.steps = []

    def on_epoch_end(self, run, record):
        weight = next(run.model.parameters())
        self.steps.append((deepcopy(run.optimizer.state[weight]), weight.grad.clone()))


def test_stages_have_new_optimizers():
    """With one step per epoch, Adam counts the steps of its stage, and the first momentum of SGD is its gradient."""
    recipe = Recipe(epochs=4, batch_size=len(INPUTS), weight_decay=0.0)
    adam, sgd = OptimizerLog(), OptimizerLog()
    fit(ThreeStages(), make_linear(), recipe, callbacks=[adam])
    assert [int(state["step"]) for state, _ in adam.steps] == [1, 2, 1, 2, 3, 1]
    fit(ThreeStages(), make_linear(), Recipe(4, len(INPUTS), "sgd", 0.1, 0.0), callbacks=[sgd])
    fresh = [torch.equal(state["momentum_buffer"], gradient) for state, gradient in sgd.steps]
    assert fresh == [True, False, True, False, False, True]


def test_stages_restart_learning_rate_and_continue_epoch_numbers():
    recipe = Recipe(epochs=4, batch_size=len(INPUTS), learning_rate=0.1)
    _, _, history = fit(ThreeStages(), recipe=recipe)
    rates = [record["learning_rate"] for record in history]
    assert rates == [recipe.rate_at(progress) for progress in (0, 1 / 2, 0, 1 / 3, 2 / 3, 0)]
    assert rates[0] == rates[2] == rates[5] == 0.1
    assert [record["epoch"] for record in history] == [1, 2, 3, 4, 5, 6]


def test_epochs_of_stages_have_different_orders_of_rows():
    orders = []

    class Ordered(ThreeStages):
        def after_step(self, model, batch):
            super().after_step(model, batch)
            orders.append(tuple(batch.index.tolist()))

    fit(Ordered())
    assert len(set(orders[::STEPS])) == 6


# What a method sees between stages -----------------------------------------------------------------------------


class RecordingStages(ThreeStages):
    """Stores the rows it sees."""

    def __init__(self):
        super().__init__()
        self.asked, self.shown_rows = [], []

    def next_stage(self, stage, epochs, rows):
        self.asked.append((stage, epochs))
        self.shown_rows.append(list(rows()))
        return super().next_stage(stage, epochs, rows)  # which may iterate over the rows again


def test_next_stage_sees_every_row_once_in_evaluation_mode():
    """More rows than are read at once; dropout and batch norm would differ in training mode."""
    inputs, labels = make_data(1300)
    model, method = make_net(), RecordingStages()
    train(model, method, inputs, labels, RECIPE, priors=PRIORS)
    assert method.asked == [(1, 4), (2, 4), (3, 4)]
    for rows in method.shown_rows:
        assert len(rows) == 2
        assert torch.cat([batch.index for _, batch in rows]).tolist() == list(range(1300))
        excluded = torch.cat([batch.excluded for _, batch in rows])
        assert torch.equal(excluded, torch.from_numpy(labels.indicator(dtype="float32")))
        assert not any(logits.requires_grad for logits, _ in rows)
    seen = [torch.cat([logits for logits, _ in rows]) for rows in method.shown_rows]
    assert torch.allclose(seen[-1], predict_logits(model, inputs), atol=1e-5)
    assert not torch.allclose(seen[0], seen[-1], atol=1e-2)


def test_next_stage_leaves_batch_norm_statistics_unchanged():
    """The last stage has one epoch; in training mode the pass after it would count as further batches."""
    assert fit(ThreeStages())[0]["1.num_batches_tracked"] == STEPS


# Interrupted runs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [ThreeStages, refine])
def test_staged_run_resumes_after_interrupt_at_every_epoch(tmp_path, make):
    """The epochs before, at and after each boundary among them; `Interrupt` raises before its epoch is saved."""
    undisturbed = fit(make())
    for stop in range(1, len(undisturbed[2]) + 1):
        path = tmp_path / str(stop)
        with pytest.raises(KeyboardInterrupt):
            fit(make(), callbacks=[Interrupt(stop)], checkpoint=path)
        if stop > 1:
            assert load_state(path)["epoch"] == stop - 1
        assert_same(fit(make(), checkpoint=path), undisturbed)


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_staged_run_resumes_after_interrupt_in_next_stage(tmp_path, stage):
    class Stopped(ThreeStages):
        def next_stage(self, number, epochs, rows):
            chosen = super().next_stage(number, epochs, rows)
            if number == stage:
                raise KeyboardInterrupt
            return chosen

    with pytest.raises(KeyboardInterrupt):
        fit(Stopped(), checkpoint=tmp_path / "c")
    assert load_state(tmp_path / "c")["epoch"] == [2, 5, 6][stage - 1]
    assert_same(fit(ThreeStages(), checkpoint=tmp_path / "c"), fit(ThreeStages()))


@pytest.mark.parametrize("make", [ThreeStages, refine])
def test_finished_staged_run_is_not_repeated(tmp_path, make):
    finished = fit(make(), checkpoint=tmp_path / "c")
    before = (tmp_path / "c").stat().st_mtime_ns
    assert_same(fit(make(), make_net(seed=1), checkpoint=tmp_path / "c"), finished)
    assert (tmp_path / "c").stat().st_mtime_ns == before


# Callbacks, and methods without stages -------------------------------------------------------------------------


class FixedMetric(Callback):
    """Records a given metric for every epoch, and stores the weights of model and method."""

    def __init__(self, numbers):
        self.numbers, self.states = numbers, []

    def on_epoch_end(self, run, record):
        record["metric"] = self.numbers[run.epoch - 1]
        self.states.append(deepcopy(run.weights()))


def test_early_stopping_ends_every_stage_with_best_weights():
    """Of stages of 4, 4 and 3 epochs the first ends after two epochs without a better one, the last by itself.

    The second starts from scratch: its metrics are not compared with those of the first.
    """

    class Long(Staged):
        lengths = (4, 4, 3)

    metric = FixedMetric([5, 4, 3, 1, 2, 1, 0, 1, 3, 2])
    model, method = make_net(), Long()
    history = train(
        model, method, INPUTS, LABELS, RECIPE, priors=PRIORS, callbacks=[metric, EarlyStopping("metric", 2)]
    )
    assert history["metric"] == metric.numbers
    assert same_state(model.state_dict(), metric.states[8]["model"])
    seen = make_net()
    found = []
    for best in (0, 4, 8):  # what the next stage, or finally the caller, sees
        seen.load_state_dict(metric.states[best]["model"])
        found.append(predict_logits(seen, INPUTS).softmax(dim=1).amax(dim=1).mean().item())
    assert metric.states[3]["method"]["found"].item() == pytest.approx(found[0])
    assert metric.states[8]["method"]["found"].item() == pytest.approx(found[1])
    assert method.found.item() == pytest.approx(found[2])


@pytest.mark.parametrize("stop", range(1, 10))
def test_early_stopped_stages_resume_exactly(tmp_path, stop):
    """Three short stages of two epochs, and a last one of four that ends after three."""

    def callbacks():
        return [FixedMetric([5, 4, 3, 1, 2, 1, 3, 2, 1]), EarlyStopping("metric", 2)]

    whole = fit(refine(), callbacks=callbacks())
    assert len(whole[2]) == 9
    with pytest.raises(KeyboardInterrupt):
        fit(refine(), callbacks=[*callbacks(), Interrupt(stop)], checkpoint=tmp_path / "c")
    resumed = fit(refine(), callbacks=callbacks(), checkpoint=tmp_path / "c")
    assert same_state(resumed[0], whole[0])
    assert same_state(resumed[1], whole[1])
    assert resumed[2] == whole[2]


class Stop(Callback):
    def __init__(self, epoch):
        self.epoch = epoch

    def on_epoch_end(self, run, record):
        run.stop = run.epoch == self.epoch


def test_progress_bar_grows_with_every_stage():
    for epoch, count in enumerate(["1/2", "2/2", "3/5", "4/5", "5/5", "6/6"], start=1):
        console = Console(record=True, force_terminal=True, width=120, file=io.StringIO())
        assert len(fit(ThreeStages(), callbacks=[ProgressBar(console), Stop(epoch)])[2]) == epoch
        assert count in console.export_text().splitlines()[-1]


def test_method_without_stages_trains_for_epochs_of_recipe(tmp_path):
    class Plain(Tempered):
        def next_stage(self, stage, epochs, rows):
            raise AssertionError

    model = make_net()
    assert len(fit(Plain(), model, checkpoint=tmp_path / "c")[2]) == RECIPE.epochs
    stored = load_state(tmp_path / "c")
    assert (stored["stages"], stored["initial_weights"]) == ([4], {})
    assert not model.training


def test_stages_of_lazy_layers_start_from_same_network():
    def make():
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return torch.nn.Sequential(torch.nn.LazyLinear(8), torch.nn.ReLU(), torch.nn.Linear(8, 3))

    models = [make(), make()]
    histories = [train(model, refine(), INPUTS, LABELS, RECIPE) for model in models]
    assert histories[0]["loss"] == histories[1]["loss"]
    assert len(histories[0]) == 10
    assert same_state(models[0].state_dict(), models[1].state_dict())
