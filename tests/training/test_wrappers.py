"""Model wrappers: bf16 autocast, compiled networks and micro-batches."""

import shutil

import numpy as np
import pytest
import torch
from helpers.training import PRIORS, D, Interrupt, Q, make_data, make_net, same_state, without_seconds
from torch import nn

from scarce.errors import MethodError
from scarce.methods import Method, make_method
from scarce.risk import scarce_risk
from scarce.simulate import uniform
from scarce.training import Recipe, predict_logits, train
from scarce.training.wrappers import MicroBatched, wrap_model

# Warnings of torch when it imports its compiler.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:dynamo_pgo force disabled:UserWarning"),
]
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")


def make_mlp():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(D, 16), nn.ReLU(), nn.Linear(16, Q))


def trained(model, method=None, data=None, **settings):
    inputs, labels = data or make_data()
    recipe = Recipe(**{"epochs": 5, "batch_size": 16, "learning_rate": 0.01} | settings)
    history = train(model, method or make_method("scarce"), inputs, labels, recipe, priors=PRIORS)
    return model, np.array(history["loss"])


class DtypeLog(nn.Module):
    """Records the dtypes of its inputs."""

    def __init__(self):
        super().__init__()
        self.types = set()

    def forward(self, rows):
        self.types.add(rows.dtype)
        return rows


def test_bf16_is_used_inside_network_only(monkeypatch):
    loss_dtypes = set()
    method = make_method("scarce")
    loss = type(method).loss

    def watched(self: Method, logits, batch):
        loss_dtypes.add(logits.dtype)
        return loss(self, logits, batch)

    monkeypatch.setattr(type(method), "loss", watched)
    watch = DtypeLog()
    model, _ = trained(
        nn.Sequential(nn.Linear(D, 8), watch, nn.ReLU(), nn.Linear(8, Q)), method, precision="bf16"
    )
    assert watch.types == {torch.bfloat16}
    assert loss_dtypes == {torch.float32}
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    assert predict_logits(model, make_data()[0]).dtype == torch.float32


@pytest.mark.parametrize("settings", [{}, {"micro_batch": 5}])
def test_bf16_training_is_close_to_full_precision(settings):
    full = trained(make_mlp())[1]
    short = trained(make_mlp(), precision="bf16", **settings)[1]
    assert (full != short).all()
    np.testing.assert_allclose(short, full, rtol=0.03)


def test_bf16_training_learns_three_blobs():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, Q, 300)
    inputs = (rng.normal(size=(300, D)) + 6 * np.eye(Q, D)[truth]).astype(np.float32)
    model, _ = trained(make_mlp(), data=(inputs, uniform(truth, seed=0)), precision="bf16", epochs=20)
    assert (predict_logits(model, inputs).argmax(dim=1).numpy() == truth).mean() > 0.95


@pytest.mark.slow
@needs_compiler
def test_compiled_training_equals_eager_training():
    """With micro-batches of equal size, because compiling for another size takes seconds."""
    settings = {"data": make_data(48), "epochs": 2, "micro_batch": 8}
    eager = trained(make_mlp(), **settings)
    compiled = trained(make_mlp(), **settings, compile=True)
    np.testing.assert_allclose(compiled[1], eager[1], rtol=1e-5)
    for one, other in zip(compiled[0].parameters(), eager[0].parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)
    assert list(compiled[0].state_dict()) == list(eager[0].state_dict())


def test_compile_without_compiler_raises_method_error(no_compiler):
    with pytest.raises(
        MethodError, match=r"torch cannot compile the network \(.*\); install .*compile=True"
    ) as e:
        trained(make_mlp(), compile=True)
    assert "\n" not in str(e.value)


def test_compile_does_not_hide_errors_of_network():
    class Broken(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(D, Q)

        @torch.compiler.disable
        def forward(self, rows):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        trained(Broken(), compile=True)


def test_working_form_shares_weights_of_model():
    model = make_net()
    network = wrap_model(model, Recipe(micro_batch=4, precision="bf16", compile=True))
    mine, its = list(model.parameters()), list(network.parameters())
    assert len(mine) == len(its)
    assert all(one is other for one, other in zip(mine, its, strict=True))


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"micro_batch": 0}, r"micro_batch=0; expected a whole number from 1 to 4294967295"),
        ({"micro_batch": -3}, r"micro_batch=-3; expected a whole number"),
        ({"micro_batch": 2.5}, r"micro_batch=2.5; expected a whole number"),
        ({"micro_batch": "8"}, r"micro_batch='8'; expected a whole number"),
        ({"micro_batch": float("nan")}, r"micro_batch=nan; expected a whole number"),
        ({"precision": "fp16"}, r"precision='fp16' is unknown; expected 'full' or 'bf16'"),
        ({"precision": None}, r"precision=None is unknown"),
        ({"precision": torch.bfloat16}, r"precision=torch.bfloat16 is unknown"),
        ({"compile": 1}, r"compile=1; expected True or False"),
        ({"compile": "yes"}, r"compile='yes'; expected True or False"),
        ({"compile": None}, r"compile=None; expected True or False"),
    ],
)
def test_recipe_rejects_invalid_wrapper_settings(settings, line):
    with pytest.raises(MethodError, match=line):
        Recipe(**settings)


N, SIZE = 64, 10
ONE_STEP = Recipe(epochs=1, batch_size=N, optimizer="sgd", learning_rate=1.0, weight_decay=0.0)


def make_deep(seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(D, 7), nn.Tanh(), nn.Linear(7, Q)).double()


def gradient_of_step(method, **settings):
    """The gradient: the change of weights in one SGD step with learning rate 1."""
    inputs, labels = make_data(N)
    model = make_deep()
    before = [weight.detach().clone() for weight in model.parameters()]
    recipe = Recipe(**(vars(ONE_STEP) | settings))
    train(model, method, inputs.astype(float), labels, recipe, priors=PRIORS, make_model=lambda: make_deep(1))
    return [was - is_ for was, is_ in zip(before, model.parameters(), strict=True)]


@pytest.mark.parametrize(
    "name", ["scarce", "scarce-ure", "nn", "ga", "meta-nnpu", "meta-vpu", "scl-nl", "proden"]
)
@pytest.mark.parametrize("size", [1, SIZE, 63])
def test_micro_batches_give_gradient_of_whole_batch(name, size):
    whole = gradient_of_step(make_method(name))
    parts = gradient_of_step(make_method(name), micro_batch=size)
    assert max(value.abs().max() for value in whole) > 1e-3
    for one, other in zip(parts, whole, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_gradient_accumulation_differs_from_whole_batch():
    """Ordinary gradient accumulation minimises another loss: the mean of |mean of a part| is not |mean of all|."""
    inputs, labels = make_data(N)
    model, priors = make_deep(), torch.tensor(PRIORS).double()
    rows = torch.from_numpy(inputs).double()
    excluded = torch.from_numpy(labels.indicator()).double()
    parts = list(zip(rows.split(SIZE), excluded.split(SIZE), strict=True))
    mean = sum(scarce_risk(model(part), known, priors) * len(part) / N for part, known in parts)
    ordinary = torch.autograd.grad(mean, model.parameters())
    exact = gradient_of_step(make_method("scarce"), micro_batch=SIZE)
    assert max((one - other).abs().max() for one, other in zip(ordinary, exact, strict=True)) > 1e-2


def make_dropout():
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return nn.Sequential(nn.Linear(D, 50), nn.Dropout(0.5), nn.Linear(50, Q)).double()


def test_micro_batches_repeat_dropout_in_backward_pass():
    """Against an explicit computation in which the masks are drawn once and kept."""
    rows = torch.from_numpy(make_data(N)[0]).double()
    model = make_dropout()
    torch.manual_seed(5)
    logits = MicroBatched(model, SIZE)(rows)
    loss = logits.square().mean().sqrt() + logits.mean().abs()
    torch.rand(7)  # random numbers drawn in between must not matter
    after = torch.get_rng_state()
    got = torch.autograd.grad(loss, model.parameters())
    assert torch.equal(torch.get_rng_state(), after)

    torch.manual_seed(5)
    masks = [nn.functional.dropout(torch.ones(len(part), 50).double(), 0.5) for part in rows.tensor_split(7)]
    slow = model[2](model[0](rows) * torch.cat(masks))
    expected = torch.autograd.grad(slow.square().mean().sqrt() + slow.mean().abs(), model.parameters())
    torch.testing.assert_close(logits, slow, rtol=0, atol=1e-12)
    for one, other in zip(got, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


class CountRows(nn.Module):
    """Records the number of rows per call."""

    def __init__(self):
        super().__init__()
        self.row_counts = []

    def forward(self, rows):
        self.row_counts.append(len(rows))
        return rows


@pytest.mark.parametrize("n_rows", range(2, 14))
@pytest.mark.parametrize("size", range(1, 6))
def test_micro_batches_update_batch_norm_once_without_single_rows(n_rows, size):
    model = make_net(dtype=torch.float64)
    twin, counter = make_net(dtype=torch.float64), CountRows()
    rows = torch.randn(n_rows, D, dtype=torch.float64)
    MicroBatched(nn.Sequential(counter, model), size)(rows).sum().backward()
    first, second = (
        counter.row_counts[: len(counter.row_counts) // 2],
        counter.row_counts[len(counter.row_counts) // 2 :],
    )
    assert sorted(first) == sorted(second)
    assert sum(first) == n_rows
    assert min(first) >= 2
    assert max(first) <= max(size, 3)
    assert model[1].num_batches_tracked == len(first)
    for part in rows.tensor_split(len(first)):
        twin(part)
    assert same_state(model.state_dict(), twin.state_dict())


def test_micro_batches_may_have_one_row_without_batch_norm():
    counter = CountRows()
    MicroBatched(nn.Sequential(counter, nn.Linear(D, Q)), 1)(torch.zeros(3, D))
    assert counter.row_counts == [1, 1, 1]


RECIPE = Recipe(epochs=4, batch_size=16, micro_batch=6, learning_rate=0.01)


def run_with_micro_batches(**options):
    model = make_net()
    inputs, labels = make_data()
    history = train(model, make_method("scarce"), inputs, labels, RECIPE, priors=PRIORS, **options)
    return model.state_dict(), without_seconds(history.records)


def test_micro_batch_training_resumes_after_interrupt(tmp_path):
    """With dropout and batch norm."""
    expected = run_with_micro_batches()
    with pytest.raises(KeyboardInterrupt):
        run_with_micro_batches(checkpoint=tmp_path / "c", callbacks=[Interrupt(3)])
    weights, history = run_with_micro_batches(checkpoint=tmp_path / "c")
    assert same_state(weights, expected[0])
    assert history == expected[1]
