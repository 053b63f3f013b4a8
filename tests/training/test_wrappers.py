"""Short numbers and compiled networks: the same training, in another form."""

import shutil

import numpy as np
import pytest
import torch
from helpers.training import PRIORS, D, Q, make_data, make_net
from torch import nn

from scarce.errors import MethodError
from scarce.methods import Method, make_method
from scarce.simulate import uniform
from scarce.training import Recipe, predict_logits, train
from scarce.training.distributed import ALONE
from scarce.training.wrappers import working_form

# What torch says of itself when it imports its compiler.
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


class Watch(nn.Module):
    """Notes the types of what goes through."""

    def __init__(self):
        super().__init__()
        self.types = set()

    def forward(self, rows):
        self.types.add(rows.dtype)
        return rows


def test_short_numbers_are_inside_only(monkeypatch):
    of_loss = set()
    method = make_method("scarce")
    loss = type(method).loss

    def watched(self: Method, logits, batch):
        of_loss.add(logits.dtype)
        return loss(self, logits, batch)

    monkeypatch.setattr(type(method), "loss", watched)
    watch = Watch()
    model, _ = trained(
        nn.Sequential(nn.Linear(D, 8), watch, nn.ReLU(), nn.Linear(8, Q)), method, precision="bf16"
    )
    assert watch.types == {torch.bfloat16}
    assert of_loss == {torch.float32}
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    assert predict_logits(model, make_data()[0]).dtype == torch.float32


@pytest.mark.parametrize("settings", [{}, {"micro_batch": 5}])
def test_short_numbers_learn_nearly_the_same(settings):
    full = trained(make_mlp())[1]
    short = trained(make_mlp(), precision="bf16", **settings)[1]
    assert (full != short).all()
    np.testing.assert_allclose(short, full, rtol=0.03)


def test_short_numbers_learn_three_blobs():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, Q, 300)
    inputs = (rng.normal(size=(300, D)) + 6 * np.eye(Q, D)[truth]).astype(np.float32)
    model, _ = trained(make_mlp(), data=(inputs, uniform(truth, seed=0)), precision="bf16", epochs=20)
    assert (predict_logits(model, inputs).argmax(dim=1).numpy() == truth).mean() > 0.95


@needs_compiler
def test_a_compiled_network_learns_the_same():
    """Also in parts; all of them have the same size, because to compile for another takes seconds."""
    settings = {"data": make_data(48), "epochs": 2, "micro_batch": 8}
    eager = trained(make_mlp(), **settings)
    compiled = trained(make_mlp(), **settings, compile=True)
    np.testing.assert_allclose(compiled[1], eager[1], rtol=1e-5)
    for one, other in zip(compiled[0].parameters(), eager[0].parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)
    assert list(compiled[0].state_dict()) == list(eager[0].state_dict())


def test_without_a_compiler_one_line_says_so(no_compiler):
    with pytest.raises(
        MethodError, match=r"torch cannot compile the network \(.*\); install .*compile=True"
    ) as e:
        trained(make_mlp(), compile=True)
    assert "\n" not in str(e.value)


def test_errors_of_the_network_itself_stay_what_they_are():
    class Broken(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(D, Q)

        @torch.compiler.disable
        def forward(self, rows):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        trained(Broken(), compile=True)


def test_all_forms_share_the_weights_of_the_model():
    model = make_net()
    network = working_form(model, Recipe(micro_batch=4, precision="bf16", compile=True), ALONE)
    mine, its = list(model.parameters()), list(network.parameters())
    assert len(mine) == len(its)
    assert all(one is other for one, other in zip(mine, its, strict=True))


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"micro_batch": 0}, r"micro_batch=0; expected a whole number of at least 1"),
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
def test_odd_settings_are_refused(settings, line):
    with pytest.raises(MethodError, match=line):
        Recipe(**settings)
