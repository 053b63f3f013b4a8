"""Small data, networks, methods and callbacks for tests of training."""

import numpy as np
import torch
from torch import nn

from scarce.methods import Batch, Method, MethodFacts, Problem
from scarce.risk import scarce_risk
from scarce.simulate import uniform
from scarce.training import Callback, EarlyStopping, EpochMetric, predict_logits

N, D, Q = 50, 5, 3
PRIORS = [0.3, 0.3, 0.4]


def make_data(n=N, seed=0):
    """Points around three centres, with one complementary label each."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, Q, n)
    truth[:Q] = range(Q)
    inputs = (rng.normal(size=(n, D)) + 2 * np.eye(Q, D)[truth]).astype(np.float32)
    return inputs, uniform(truth, seed=seed)


def make_net(seed=0, dtype=torch.float32):
    """A network with dropout, which is random, and batch norm, which has running statistics."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = nn.Sequential(nn.Linear(D, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, Q))
    return net.to(dtype)


def make_linear(seed=0, dtype=torch.float32):
    """A model without randomness."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Linear(D, Q).to(dtype)


class Tempered(Method):
    """A method with a parameter and buffers that all affect the loss: temperature, memory of each row, number of visits."""

    facts = MethodFacts("tempered", "for tests", "none", "nothing", needs_priors=True)

    def __init__(self):
        super().__init__()
        self.log_temperature = nn.Parameter(torch.zeros(()))
        self.register_buffer("visits", torch.zeros(0, dtype=torch.long))
        self.register_buffer("memory", torch.zeros(0))
        self.register_buffer("priors", torch.zeros(0))

    def prepare(self, problem: Problem):
        super().prepare(problem)
        self.priors = problem.priors.clone()
        self.visits = torch.zeros(problem.n_examples, dtype=torch.long)
        self.memory = torch.rand(problem.n_examples)  # random, so it must be seeded

    def loss(self, logits, batch: Batch):
        scaled = logits * self.log_temperature.exp()
        weight = 1 + (self.visits[batch.index] * self.memory[batch.index]).mean()
        return weight * scarce_risk(scaled, batch.excluded, self.priors)

    def after_step(self, model, batch):
        self.visits[batch.index] += 1
        self.memory[batch.index] = 0.9 * self.memory[batch.index] + 0.1 * batch.inputs.flatten(1).mean(dim=1)


class Staged(Tempered):
    """Trains in stages of these lengths; the loss depends on the predictions of the model before each stage."""

    facts = MethodFacts("staged", "for tests", "none", "nothing", needs_priors=True)
    multi_stage = True
    lengths = (2, 3)

    def __init__(self):
        super().__init__()
        self.register_buffer("found", torch.tensor(0.0))

    def loss(self, logits, batch: Batch):
        return (1 + self.found) * super().loss(logits, batch)

    def first_stage(self, epochs):
        return self.lengths[0]

    def next_stage(self, stage, epochs, rows):
        self.found = torch.cat([logits.softmax(dim=1).amax(dim=1) for logits, _ in rows()]).mean()
        return self.lengths[stage] if stage < len(self.lengths) else 0


def peaked_metric(state):
    """A metric of the model that is best in epoch 3."""
    spread = predict_logits(state.model, make_data(12, seed=9)[0]).std().item()
    return spread - (state.epoch - 3) ** 2


def make_early_stopping(patience=2):
    return [EpochMetric("peaked", peaked_metric), EarlyStopping("peaked", patience)]


class Interrupt(Callback):
    """Raise in the middle of an epoch's callbacks, so that the epoch is never saved."""

    def __init__(self, epoch):
        self.epoch = epoch

    def on_epoch_end(self, state, record):
        if state.epoch == self.epoch:
            raise KeyboardInterrupt


def same_state(one, other):
    """Whether two state dicts are equal bit for bit."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def without_seconds(history):
    return [{name: value for name, value in record.items() if name != "seconds"} for record in history]
