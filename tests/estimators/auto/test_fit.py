"""`fit_stack`: accurate on easy problems, reproducible, and robust to unusual data."""

import json

import numpy as np
import pytest
import torch
from scipy import sparse

from scarce import ComplementaryLabels
from scarce.errors import FeatureError, LabelError, MethodError
from scarce.estimators.auto import Choice, fit_stack
from scarce.estimators.auto import fit as fit_module
from scarce.models import stack_from_description
from scarce.simulate import ask, scar, uniform


def blobs(n=300, q=4, d=5, seed=0):
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n) % q)
    return random.normal(size=(q, d))[y] * 4 + random.normal(size=(n, d)), y


def bag_of_words(n=120, q=3):
    y = np.arange(n) % q
    probabilities = np.kron(np.eye(q), np.full(10, 0.4))[y]
    return sparse.csr_matrix(
        (np.random.default_rng(0).random(probabilities.shape) < probabilities).astype(float)
    ), y


def predicted(result, X):
    return result.model(torch.from_numpy(np.asarray(X, float))).argmax(dim=1).numpy()


@pytest.mark.parametrize(
    ("draw", "learners"),
    [
        (uniform, None),
        (lambda y: scar(y, c=[0.2, 0.5, 0.3, 0.4]), ["linear", "nystroem"]),
        (lambda y: ask(y, questions=2), ["linear"]),
    ],
)
def test_fit_stack_learns_separable_classes(draw, learners):
    X, y = blobs(200)
    result = fit_stack(X[:120], draw(y[:120]), learners=learners)
    assert (predicted(result, X[120:]) == y[120:]).mean() > 0.95
    choice = result.choice
    assert sum(one.weight for one in choice.candidates) == pytest.approx(1)
    assert not any(one.error for one in choice.candidates)
    assert sum(choice.priors) == pytest.approx(1)
    assert choice.candidates[0].name in choice.reason
    assert f"under {choice.criterion}, because " in choice.reason
    assert "\n" not in choice.reason
    assert str(choice).startswith(f"{choice.reason}\nlearner")
    assert Choice.from_dict(json.loads(json.dumps(choice.as_dict()))) == choice


def test_fit_stack_is_reproducible_and_can_be_rebuilt():
    X, y = bag_of_words()
    one, two = (fit_stack(X, uniform(y), seed=3) for _ in range(2))
    inputs = torch.from_numpy(X.toarray())
    assert torch.equal(one.model(inputs), two.model(inputs))
    again = stack_from_description(json.loads(json.dumps(one.model.description())))
    again.load_state_dict(one.model.state_dict())
    assert torch.equal(again(inputs), one.model(inputs))
    assert (predicted(one, X.toarray()) == y).mean() > 0.9


def test_fit_stack_ignores_large_offset_and_constant_column():
    X, y = blobs(60)
    moved = np.column_stack([X + np.array([1.7e9, 0, 0, 0, 0]), np.full(60, 1e8)])
    results = [
        predicted(fit_stack(features, uniform(y), learners=["linear"]), features) for features in (X, moved)
    ]
    assert (results[0] == results[1]).mean() > 0.97


def test_fit_stack_rejects_nystroem_for_sparse_features():
    X, y = bag_of_words()
    with pytest.raises(MethodError, match="expected 'linear' or 'mlp'"):
        fit_stack(X, uniform(y), learners=["nystroem"])


@pytest.mark.parametrize("draw", [uniform, lambda y, classes: scar(y, c=0.3, classes=classes), ask])
@pytest.mark.parametrize(("n", "q"), [(20, 2), (20, 12), (40, 101)])
def test_fit_stack_handles_few_rows_and_many_classes(n, q, draw):
    X, y = blobs(n, q)
    result = fit_stack(X, draw(y, classes=q), learners=["linear"], time_limit=0.0)
    log_p = result.model(torch.from_numpy(X))
    assert log_p.shape == (n, q)
    assert torch.allclose(log_p.exp().sum(dim=1), torch.ones(n).double())


def test_fit_stack_handles_confirmed_rows_and_rows_without_labels():
    X, y = blobs(120)
    excluded = [[(label + 1) % 3] if label < 2 else [] for label in y]
    excluded[0] = [k for k in range(4) if k != y[0]]  # all but one
    plain = ComplementaryLabels.from_lists(excluded, classes=4)
    confirmed = np.where(np.arange(120) % 10 == 1, y, -1).astype(np.int32)
    labels = ComplementaryLabels(plain.indptr, plain.indices, plain.classes, None, confirmed)
    result = fit_stack(X, labels, learners=["linear"])
    assert torch.isfinite(result.model(torch.from_numpy(X))).all()


def test_fit_stack_handles_several_annotators_and_skipped_questions():
    X, y = blobs(150)
    random = np.random.default_rng(0)
    rows, asked = np.repeat(np.arange(150), 2), random.integers(4, size=300)
    words = np.where(asked == y[rows], "yes", "no").astype(object)
    words[random.random(300) < 0.1] = "skip"
    table = {
        "example_id": rows,
        "class_name": asked,
        "answer": words,
        "annotator": random.choice(["a", "b"], 300),
    }
    labels = ComplementaryLabels.from_answers(table, classes=4, ids=np.arange(150), conflict="drop")
    result = fit_stack(X, labels, learners=["linear"])
    assert (predicted(result, X) == y).mean() > 0.9
    assert result.choice.criterion == "answers"


def test_fit_stack_learns_from_ordinary_labels_only():
    X, y = blobs(60)
    labels = ComplementaryLabels(np.zeros(61, int), np.array([]), np.arange(4), None, y)
    assert (predicted(fit_stack(X, labels, learners=["linear"]), X) == y).mean() > 0.95


def test_fit_stack_reports_failed_candidates(monkeypatch):
    X, y = blobs(80)
    cross_fit = fit_module.cross_fit

    def fails_for_kernels(features, jobs, *rest):
        if jobs[0][0].name == "nystroem C=100":
            raise RuntimeError("no convergence")
        return cross_fit(features, jobs, *rest)

    monkeypatch.setattr(fit_module, "cross_fit", fails_for_kernels)
    choice = fit_stack(X, uniform(y), learners=["linear", "nystroem"]).choice
    failed = [one for one in choice.candidates if one.error]
    assert {one.learner for one in failed} == {"nystroem C=100"}
    assert failed[0].error == "RuntimeError: no convergence"
    assert "2 failed" in choice.reason
    assert f"failed: {failed[0].name}: RuntimeError: no convergence" in str(choice).splitlines()


def test_fit_stack_without_time_fits_one_learner():
    X, y = blobs(80)
    fractions = []
    result = fit_stack(
        X, uniform(y), time_limit=0.0, progress=lambda fraction, step: fractions.append(fraction)
    )
    assert {one.learner for one in result.choice.candidates} == {"linear C=1"}
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_fit_stack_evaluates_large_data_on_sample(monkeypatch):
    monkeypatch.setattr(fit_module, "_MAX_EVALUATION_ROWS", 60)
    X, y = blobs(200)
    assert (predicted(fit_stack(X, uniform(y), learners=["nystroem"]), X) == y).mean() > 0.9


def test_fit_stack_rejects_invalid_input():
    X, y = blobs(20)
    with pytest.raises(LabelError, match="all 20 examples are empty"):
        fit_stack(X, ComplementaryLabels.from_lists([[]] * 20, classes=4))
    with pytest.raises(FeatureError, match="20 rows and there are 10 labels"):
        fit_stack(X, uniform(y[:10], classes=4))
    with pytest.raises(MethodError, match="learner='forest' is unknown"):
        fit_stack(X, uniform(y), learners=["forest"])
