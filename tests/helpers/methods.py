"""Names of methods by kind, small random problems, methods prepared for them, and slow formulas."""

import warnings
from math import exp

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st
from torch import nn

from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Problem, available_methods, make_method
from scarce.methods.partial_label import ConfidenceMethod
from scarce.methods.single_label import PairMethod
from scarce.models import make_model
from scarce.testing import three_blobs
from scarce.training import Callback, Recipe, train

METHODS = available_methods()
SINGLE_LABEL_METHODS = [name for name, facts in METHODS.items() if facts.accepts == ("single",)]
PAIR_METHODS = [name for name in SINGLE_LABEL_METHODS if isinstance(make_method(name), PairMethod)]
MULTIPLE_LABEL_METHODS = [name for name, facts in METHODS.items() if facts.accepts == ("single", "multiple")]
CONFIDENCE_METHODS = [name for name in METHODS if isinstance(make_method(name), ConfidenceMethod)]
PARTIAL_LABEL_METHODS = ["cc", *CONFIDENCE_METHODS]
META_METHODS = [name for name in METHODS if name.startswith("meta-")]
HOLD_OUT_METHODS = [name for name in META_METHODS if "hold_out" in make_method(name).params]

UNIFORM_PRIORS = torch.full((3,), 1 / 3, dtype=torch.float64)
RECIPE = Recipe(epochs=11, batch_size=16, learning_rate=0.1)
CLOSE = {"rel": 1e-9, "abs": 1e-9}

quick = settings(max_examples=20, deadline=None)


def double(values):
    return torch.tensor(values, dtype=torch.float64)


# Slow formulas -------------------------------------------------------------------------------------------------


def sigmoid(z):
    return 1 / (1 + exp(-z))


def softmax(f):
    e = [exp(v - max(f)) for v in f]
    return [v / sum(e) for v in e]


def mean(values):
    return sum(values) / len(values)


def candidates_of(ks, q):
    return [j for j in range(q) if j not in ks]


def slow_candidate_softmax(f, S):
    """Softmax over the candidates S alone."""
    p = softmax(f)
    return [p[j] / sum(p[i] for i in S) if j in S else 0.0 for j in range(len(f))]


# Random problems -----------------------------------------------------------------------------------------------


@st.composite
def random_problems(draw, sizes="single"):
    """Random logits (n × q), lists of excluded classes per row, and a transition matrix with a zero diagonal.

    `sizes`: "single" label, "some" (1 to q − 1 of them), or "any" (0 to q − 1, with at least one label in all).
    """
    q, n = draw(st.integers(2, 5)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lowest, highest = {"single": (1, 1), "some": (1, q - 1), "any": (0, q - 1)}[sizes]
    excluded = [sorted(rng.permutation(q)[: rng.integers(lowest, highest + 1)].tolist()) for _ in range(n)]
    excluded[0] = excluded[0] or [0]
    transition = rng.uniform(0.1, 1, (q, q)) * (1 - np.eye(q))
    transition /= transition.sum(axis=1, keepdims=True)
    return rng.uniform(-4, 4, (n, q)).tolist(), excluded, transition.tolist()


def random_labels(n, q=3, seed=0):
    """Random scores (n × q), and labels that exclude each class with probability 0.4."""
    rng = np.random.default_rng(seed)
    excluded = rng.random((n, q)) < 0.4
    excluded[excluded.all(axis=1)] = False
    return torch.from_numpy(rng.normal(size=(n, q))), ComplementaryLabels.from_indicator(excluded)


def mixed_labels():
    """Three blobs with all kinds of rows: no answer, one "no", two "no", only "yes", and "yes" with a "no"."""
    X, y, _ = three_blobs(60)
    codes = np.unique(y, return_inverse=True)[1]
    answers = np.full((60, 3), np.nan)
    for i, true in enumerate(codes):
        wrong = [(true + 1 + i // 3 % 2) % 3, (true + 2 - i // 3 % 2) % 3]
        no, yes = {0: (0, 0), 1: (1, 0), 2: (2, 0), 3: (0, 1), 4: (1, 1)}[i % 5]
        answers[i, wrong[:no]] = 0
        if yes:
            answers[i, true] = 1
    return X, ComplementaryLabels.from_answer_matrix(answers)


def arbitrary_confidence(logits, excluded):
    """A confidence over the candidates that differs from the initial one of every method."""
    rows = []
    for f, ks in zip(logits, excluded, strict=True):
        weight = [abs(f[j]) + 0.1 if j not in ks else 0.0 for j in range(len(f))]
        rows.append([w / sum(weight) for w in weight])
    return rows


def labels_of(excluded, logits):
    return ComplementaryLabels.from_lists(excluded, classes=len(logits[0]))


def uniform_transition(q):
    """Every wrong class equally likely to be excluded."""
    return (1 - torch.eye(q, dtype=torch.float64)) / (q - 1)


# Prepared methods ----------------------------------------------------------------------------------------------


def prepared_method(name, labels, transition=None, **params):
    """The method, prepared in float64; the warning about rows it cannot use is tested elsewhere."""
    q = labels.n_classes
    transition = uniform_transition(q) if transition is None else double(transition)
    method = make_method(name, **params)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*exclude no class")
        method.prepare(Problem(labels, None, transition, lambda: make_model("linear", (q,), q)))
    return method.double()


def prepared_with_priors(name, labels, priors=None, **params):
    """The method, prepared in float64 with these priors, or with uniform ones."""
    method = make_method(name, **params)
    q = labels.n_classes
    method.prepare(
        Problem(labels, torch.full((q,), 1 / q, dtype=torch.float64) if priors is None else priors)
    )
    return method.double()


def batch_of(labels, rows=None, inputs=None):
    """These rows of the labels as one batch."""
    index = torch.arange(len(labels)) if rows is None else torch.tensor(rows)
    excluded = torch.from_numpy(labels.indicator(index.numpy(), float))
    known = torch.from_numpy(labels.confirmed.astype(np.int64))[index]
    inputs = torch.zeros(len(index), labels.n_classes, dtype=torch.float64) if inputs is None else inputs
    return Batch(inputs, excluded, index, known if (labels.confirmed >= 0).any() else None)


def loss_of(method, logits, labels, **kwargs):
    return method.loss(double(logits), batch_of(labels, **kwargs)).item()


# Training ------------------------------------------------------------------------------------------------------


def linear_model(seed=0):
    """A linear model of two inputs and three classes, with weights drawn from the seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Linear(2, 3)


def run_epoch(method, g, labels, epoch=0):
    """Run an epoch of one step in which the model scores all rows by −g."""
    batch = batch_of(labels)
    loss = method.loss(-g, batch)
    method.after_step(nn.Identity(), batch)
    method.after_epoch(epoch)
    return loss


class StateRecorder(Callback):
    """Copy the state of model and method before the run and after every epoch."""

    def __init__(self):
        self.states = []

    def on_train_begin(self, run):
        self._copy(run)

    def on_epoch_end(self, run, record):
        self._copy(run)

    def _copy(self, run):
        copies = {name: value.clone() for name, value in run.method.state_dict().items()}
        copies |= {f"model.{name}": value.clone() for name, value in run.model.state_dict().items()}
        self.states.append(copies)


def recorded_states(method, inputs, labels, recipe=RECIPE, model=None):
    """Train, and return the states of model and method before the run and after every epoch."""
    recorder = StateRecorder()
    train(
        model or linear_model(),
        method,
        inputs,
        labels,
        recipe,
        callbacks=[recorder],
        make_model=lambda: linear_model(1),
    )
    return recorder.states
