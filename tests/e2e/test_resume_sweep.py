"""Every method, stopped after every epoch and resumed, ends with the bits of an uninterrupted run."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from helpers.resuming import resume_after_every_epoch

from scarce.labels import ComplementaryLabels
from scarce.methods import available_methods, make_method
from scarce.models import make_model
from scarce.training import Recipe
from scarce.training._runtime import seeded

N, D, Q = 60, 5, 5
PRIORS = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
TRANSITION = np.full((Q, Q), 1 / (Q - 1)) * (1 - np.eye(Q))
# Parameters for which stages or filters start within six epochs.
VARIANTS = {
    "pop, purified": ("pop", {"warm_up": 1, "theta": 0.3, "growth": 0.1}),
    "idgp, all stages": ("idgp", {"warm_up": 1}),
    "meta-tedn, early": ("meta-tedn", {"warm_up": 1, "hold_out": 0.3}),
    "meta-vpu, mixup": ("meta-vpu", {"mixup": True}),
    "meta-dist-pu, early": ("meta-dist-pu", {"warm_up": 1, "period": 2}),
    "scar-likelihood, learned error rate": ("scar-likelihood", {"error_rate": "learn"}),
    "refine, short rounds": ("refine", {"rounds": 4, "short_fraction": 0.3, "tol": 0.0}),
    "refine, known error rate": ("refine", {"error_rate": 0.05}),
    "refine, all rows counted": ("refine", {"confident_fraction": 1.0, "base_method": "proden"}),
}
RECIPE = Recipe(epochs=4, batch_size=16, learning_rate=0.02, input_noise=0.1, dropout=0.2)


def make_inputs_and_labels(facts):
    """Points around the centers of the classes, with as many excluded classes per row as the method accepts."""
    rng = np.random.default_rng(3)
    truth = np.arange(N) % Q
    inputs = (rng.normal(size=(N, D)) + 2 * np.eye(Q, D)[truth]).astype(np.float32)
    wrong = [rng.permutation(np.delete(np.arange(Q), y)).tolist() for y in truth]
    if facts.needs_answers:
        answers = np.full((N, Q), np.nan)
        for row, classes in enumerate(wrong):
            answers[row, classes[:2]], answers[row, truth[row]] = 0, 1 if row % 3 == 0 else np.nan
        return inputs, ComplementaryLabels.from_answer_matrix(answers, np.arange(Q))
    most = 3 if "multiple" in facts.accepts else 1
    lists = [sorted(classes[: 1 + row % most]) for row, classes in enumerate(wrong)]
    return inputs, ComplementaryLabels.from_lists(lists, classes=Q)


def make_mlp():
    with seeded(0):
        return make_model("mlp", (D,), Q)


def make_linear():
    with seeded(0):
        return make_model("linear", (D,), Q)


def assert_resumes(folder, name, recipe, make_network=make_mlp, **params):
    facts = make_method(name, **params).facts
    inputs, labels = make_inputs_and_labels(facts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        different, n_stops = resume_after_every_epoch(
            make_network,
            lambda: make_method(name, **params),
            inputs,
            labels,
            recipe,
            folder,
            priors=PRIORS if facts.needs_priors else None,
            transition=TRANSITION if facts.needs_transition else None,
        )
    assert n_stops >= recipe.epochs
    assert different == []


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("name", available_methods())
def test_every_method_resumes_after_every_epoch(tmp_path, name, optimizer):
    assert_resumes(tmp_path, name, replace(RECIPE, optimizer=optimizer))


@pytest.mark.parametrize("label", VARIANTS)
def test_variant_resumes_after_every_epoch(tmp_path, label):
    name, params = VARIANTS[label]
    assert_resumes(tmp_path, name, replace(RECIPE, epochs=6), **params)


@pytest.mark.parametrize("name", ["cc", "scar-likelihood", "least-excluded"])
def test_full_batch_resumes_after_every_epoch(tmp_path, name):
    recipe = Recipe(epochs=12, optimizer="lbfgs", learning_rate=1.0)
    assert_resumes(tmp_path, name, recipe, make_network=make_linear)
