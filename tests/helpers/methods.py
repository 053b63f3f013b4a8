"""Small random problems for the compared methods, and methods made ready for them."""

import warnings
from math import exp

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st

from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Problem, make_method
from scarce.models import make_model

PAIR_METHODS = [
    "pc", "l-uw", "l-w", "op", "op-w", "forward", "scl-nl", "scl-exp", "cpe-i", "cpe-f", "cpe-t",
]  # fmt: skip
URE_METHODS = ["free", "nn", "ga"]
SINGLE_LABEL_METHODS = PAIR_METHODS + URE_METHODS
LMCL_METHODS = ["mae", "mse", "gce", "phuber-ce", "exp", "log"]
CONFIDENCE_METHODS = ["rc", "proden", "lws", "cavl", "pop", "idgp"]
PARTIAL_LABEL_METHODS = ["cc", *CONFIDENCE_METHODS]


quick = settings(max_examples=20, deadline=None)
close = {"rel": 1e-9, "abs": 1e-9}


def sigmoid(z):
    return 1 / (1 + exp(-z))


def softmax(f):
    e = [exp(v - max(f)) for v in f]
    return [v / sum(e) for v in e]


def mean(values):
    return sum(values) / len(values)


def double(values):
    return torch.tensor(values, dtype=torch.float64)


def uniform(q):
    """Every wrong class equally likely to be excluded."""
    return (1 - torch.eye(q, dtype=torch.float64)) / (q - 1)


def ready(name, labels, transition=None, **params):
    """The method, prepared in float64; the warning about rows it cannot use has a test of its own."""
    q = labels.n_classes
    transition = uniform(q) if transition is None else double(transition)
    method = make_method(name, **params)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*exclude no class")
        method.prepare(Problem(labels, None, transition, lambda: make_model("linear", (q,), q)))
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


@st.composite
def worlds(draw, sizes="single"):
    """Random logits (n × q), lists of excluded classes per row, and a transition matrix with empty diagonal.

    `sizes`: "single" label, "some" (1 to q − 1 of them), or "any" (0 to q − 1, but not nowhere).
    """
    q, n = draw(st.integers(2, 5)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lowest, highest = {"single": (1, 1), "some": (1, q - 1), "any": (0, q - 1)}[sizes]
    excluded = [sorted(rng.permutation(q)[: rng.integers(lowest, highest + 1)].tolist()) for _ in range(n)]
    excluded[0] = excluded[0] or [0]
    transition = rng.uniform(0.1, 1, (q, q)) * (1 - np.eye(q))
    transition /= transition.sum(axis=1, keepdims=True)
    return rng.uniform(-4, 4, (n, q)).tolist(), excluded, transition.tolist()


def labels_of(excluded, logits):
    return ComplementaryLabels.from_lists(excluded, classes=len(logits[0]))
