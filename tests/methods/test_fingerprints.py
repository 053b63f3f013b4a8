"""The numbers of every method and its main variants: a loss, its gradient, and the result of a short training."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from helpers.fingerprints import TEN_DIGITS, summary, uncovered, waves
from torch import nn

from scarce.labels import Answers, ComplementaryLabels
from scarce.methods import Batch, Method, Problem, available_methods, make_method
from scarce.methods.registry import external_method_class
from scarce.training import Recipe, train
from scarce.training._runtime import seeded

WHERE = "`revision` of {name!r} to {revision} in its MethodFacts"

N, D, Q = 48, 3, 4
TRUTH = np.arange(N) * 5 // 3 % Q
INPUTS = (1.5 * torch.eye(Q, D, dtype=torch.float64)[TRUTH] + waves(N, D)).numpy()
PRIORS = [0.4, 0.3, 0.2, 0.1]
TRANSITION = np.array([[0, 0.5, 0.3, 0.2], [0.4, 0.1, 0.2, 0.3], [0.2, 0.3, 0, 0.5], [0.1, 0.3, 0.6, 0]])


def _labels(lists: list[list[int]], confirmed: Any = None) -> ComplementaryLabels:
    plain = ComplementaryLabels.from_lists(lists, classes=Q)
    return ComplementaryLabels(plain.indptr, plain.indices, plain.classes, confirmed=confirmed)


def _wrong(row: int, number: int) -> int:
    """One of the wrong classes of a row; low numbers occur more often."""
    return int(TRUTH[row] + 1 + (row * row + number) % 5 * 3 // 5) % Q


def single() -> ComplementaryLabels:
    return _labels([[_wrong(row, 0)] for row in range(N)])


def single_or_none() -> ComplementaryLabels:
    return _labels([[] if row % 7 == 3 else [_wrong(row, 0)] for row in range(N)])


def multiple() -> ComplementaryLabels:
    """One or two classes of every row."""
    return _labels([sorted({_wrong(row, 0), _wrong(row, row % 3)}) for row in range(N)])


def any_number() -> ComplementaryLabels:
    """Zero or more labels, a few of them wrong."""
    rows = [sorted({_wrong(row, number) for number in range(row % 4)}) for row in range(N)]
    rows[8] = sorted({*rows[8], int(TRUTH[8])})
    rows[21] = sorted({*rows[21][:1], int(TRUTH[21])})
    return _labels(rows)


def rare() -> ComplementaryLabels:
    """Single labels, with one class so rarely excluded that most batches lack it."""
    rows = [_wrong(row, 0) for row in range(N)]
    return _labels([[k if k != 3 or row % 12 == 2 else (k + 1) % Q] for row, k in enumerate(rows)])


def confirmed() -> ComplementaryLabels:
    """Every fifth row has a confirmed class; half of these rows exclude nothing."""
    known = np.where(np.arange(N) % 5 == 0, TRUTH, -1)
    return _labels([[] if row % 10 == 0 else [_wrong(row, 0)] for row in range(N)], known)


def answers() -> ComplementaryLabels:
    """Two questions about every row, answered by one annotator; a few are skipped."""
    rows = np.repeat(np.arange(N), 2)
    asked = (rows + np.tile([0, 1], N) * (1 + rows % 3)) % Q
    said = np.where(np.arange(2 * N) % 11 == 7, -1, asked == TRUTH[rows])
    return ComplementaryLabels._from_resolved(Answers.from_columns(rows, asked, said), N, np.arange(Q))


def answers_of_three() -> ComplementaryLabels:
    """Three annotators answer the same questions; the third makes errors."""
    rows, who = np.repeat(np.arange(N), 3), np.tile(["ann", "bob", "cat"], N)
    asked = (rows * 3 // 2) % Q
    is_it = asked == TRUTH[rows]
    errs = (who == "cat") & (rows % 4 == 1)
    table = Answers.from_columns(rows, asked, (is_it ^ errs).astype(int), who)
    return ComplementaryLabels._from_resolved(table, N, np.arange(Q), conflict="majority")


@dataclass
class Case:
    """A method and the labels it learns from."""

    make: Callable[[], Method]
    labels: Callable[[], ComplementaryLabels] = single
    epochs: int = 2
    priors: list[float] | None = None
    tolerance: float = TEN_DIGITS

    @property
    def name(self) -> str:
        return self.make().facts.name


def case(name: str, labels: Any = single, epochs: int = 2, priors: Any = None, **params: Any) -> Case:
    return Case(lambda: make_method(name, **params), labels, epochs, priors)


def mixed(case: Case) -> Case:
    """Mixup weights are drawn in float32, which other machines round differently."""
    return replace(case, tolerance=1e-6)


def given(name: str, labels: Any = any_number, epochs: int = 2, **params: Any) -> Case:
    return case(name, labels, epochs, PRIORS, **params)


OF_SINGLE_LABELS = (
    "pc", "free", "nn", "ga", "l-uw", "l-w", "op", "op-w", "forward", "scl-nl", "scl-exp", "cpe-i", "cpe-f", "cpe-t",
)  # fmt: skip

CASES: dict[str, Case] = {
    # SCARCE
    "scarce": given("scarce"),
    "scarce, single labels": given("scarce", single),
    "scarce, absent classes left out": given("scarce", rare),
    "scarce, confirmed classes": given("scarce", confirmed),
    "scarce, confirmed classes count more": given("scarce", confirmed, alpha=0.2),
    **{
        f"scarce, loss {loss}": given("scarce", loss=loss)
        for loss in ("sigmoid", "square", "exponential", "hinge", "double-hinge", "ramp", "savage", "tangent")
    },
    "scarce, correction relu": given("scarce", correction="relu"),
    "scarce, correction leaky": given("scarce", correction="leaky", slope=-0.3),
    "scarce, correction nnpu": given("scarce", correction="nnpu", beta=0.01, gamma=0.5),
    "scarce, correction none": given("scarce", correction="none"),
    "scarce, dataset form": given("scarce", form="dataset"),
    "scarce, Horvitz-Thompson form": given("scarce", form="ht"),
    "scarce, absent classes kept": given("scarce", rare, absent="keep"),
    "scarce-ure": given("scarce-ure"),
    "scarce-ure, dataset form": given("scarce-ure", form="dataset"),
    "scarce-ure, confirmed classes": given("scarce-ure", confirmed),
    "scarce-cce": given("scarce-cce"),
    **{f"scarce-cce, loss {loss}": given("scarce-cce", loss=loss) for loss in ("mae", "mse", "gce", "phuber")},
    "scarce-cce, correction none": given("scarce-cce", correction="none"),
    "scarce-cce, Horvitz-Thompson form": given("scarce-cce", form="ht"),
    "scarce-cce, confirmed classes": given("scarce-cce", confirmed),
    # one label per example
    **{name: case(name) for name in OF_SINGLE_LABELS},
    **{f"{name}, several labels as pairs": case(name, multiple, pairs=True) for name in OF_SINGLE_LABELS},
    "pc, official": case("pc", variant="official"),
    "pc, plain": case("pc", variant="plain"),
    "nn, below zero": case("nn", beta=0.2),
    "ga, plain ascent": case("ga", ascent="plain"),
    "ga, threshold and weight": case("ga", beta=0.1, gamma=0.5),
    "scl-nl, rows without labels": case("scl-nl", single_or_none),
    # several labels
    **{name: case(name, multiple) for name in ("mae", "mse", "gce", "phuber-ce", "exp", "log")},
    **{f"{name}, single labels": case(name) for name in ("mae", "mse", "gce", "phuber-ce", "exp", "log")},
    # candidates
    **{name: case(name, any_number) for name in ("cc", "rc", "proden", "lws", "cavl")},
    **{f"{name}, confirmed classes": case(name, confirmed) for name in ("cc", "rc", "proden", "lws", "cavl")},
    "lws, cross-entropy": case("lws", any_number, psi="cross-entropy"),
    "lws, weight of the excluded": case("lws", any_number, beta=2.0),
    "pop": case("pop", any_number),
    "pop, purified": case("pop", any_number, epochs=11, warm_up=1, theta=0.3, growth=0.1),
    "pop, purified without effect": case("pop", any_number, epochs=11, warm_up=1, theta=0.001, growth=0.1),
    "idgp, warm-up": case("idgp", any_number, epochs=2),
    "idgp, all stages": case("idgp", any_number, epochs=5, warm_up=1),
    "idgp, weights and temperatures": case(
        "idgp", any_number, epochs=4, warm_up=1, alpha=0.5, beta=2.0, theta=0.7, gamma=1.3, t_f=2.0, t_g=0.5
    ),
    # SCARCE-Meta
    "meta-upu": given("meta-upu"),
    "meta-upu, rest": given("meta-upu", unlabeled="rest"),
    "meta-upu, loss sigmoid": given("meta-upu", loss="sigmoid"),
    "meta-nnpu": given("meta-nnpu"),
    "meta-nnpu, rest": given("meta-nnpu", unlabeled="rest"),
    "meta-nnpu, loss, threshold and weight": given("meta-nnpu", loss="sigmoid", beta=0.05, gamma=0.5),
    "meta-vpu": case("meta-vpu", any_number),
    "meta-vpu, rest": case("meta-vpu", any_number, unlabeled="rest"),
    "meta-vpu, mixup": mixed(case("meta-vpu", any_number, mixup=True)),
    "meta-vpu, rest, mixup": mixed(case("meta-vpu", any_number, unlabeled="rest", mixup=True)),
    "meta-dist-pu": given("meta-dist-pu"),
    "meta-dist-pu, rest": given("meta-dist-pu", unlabeled="rest"),
    "meta-dist-pu, published weight": given("meta-dist-pu", weight=None, mu=0.1),
    "meta-dist-pu, after the warm-up": mixed(given("meta-dist-pu", epochs=4, warm_up=1, period=2)),
    "meta-cvir": given("meta-cvir", epochs=3),
    "meta-cvir, rest": given("meta-cvir", epochs=3, unlabeled="rest"),
    "meta-tedn": case("meta-tedn", any_number, epochs=5),
    "meta-tedn, rest": case("meta-tedn", any_number, epochs=3, unlabeled="rest", warm_up=1, hold_out=0.3),
    "meta-tedn, none held out": case("meta-tedn", any_number, epochs=3, warm_up=1, hold_out=0.0),
    "meta-pusb": given("meta-pusb"),
    "meta-pusb, rest": given("meta-pusb", unlabeled="rest", hold_out=0.3),
    "meta-pusb, none held out": given("meta-pusb", hold_out=0.0),
    "meta-elkan-noto": case("meta-elkan-noto", any_number),
    "meta-elkan-noto, none held out": case("meta-elkan-noto", any_number, hold_out=0.0),
    "meta-elkan-noto, from priors": given("meta-elkan-noto", frequency="priors"),
    # likelihoods
    "scar-likelihood": case("scar-likelihood", any_number),
    "scar-likelihood, given priors": given("scar-likelihood"),
    "scar-likelihood, single labels": case("scar-likelihood"),
    "scar-likelihood, single labels or none": case("scar-likelihood", single_or_none),
    "scar-likelihood, confirmed classes": case("scar-likelihood", confirmed),
    "scar-likelihood, known error rate": case("scar-likelihood", any_number, error_rate=0.05),
    "scar-likelihood, known error rate of every class": case(
        "scar-likelihood", any_number, error_rate=[0.02, 0.1, 0.05, 0.0]
    ),
    "scar-likelihood, learned error rate": case("scar-likelihood", any_number, error_rate="learn"),
    "scar-likelihood, learned error rate, single labels": case("scar-likelihood", error_rate="learn"),
    "least-excluded": case("least-excluded", any_number),
    "least-excluded, single labels": case("least-excluded"),
    "least-excluded, confirmed classes": case("least-excluded", confirmed),
    "refine": case("refine", any_number, epochs=4),
    "refine, single labels": case("refine", epochs=4),
    "refine, single labels or none": case("refine", single_or_none, epochs=4),
    "refine, confirmed classes": case("refine", confirmed, epochs=4),
    "refine, first stage scarce": given("refine", epochs=4, base_method="scarce"),
    "refine, first stage proden": case("refine", any_number, epochs=4, base_method="proden", rounds=1),
    "refine, one round": case("refine", any_number, epochs=4, rounds=1),
    "refine, many short rounds": case("refine", any_number, epochs=4, rounds=5, short_fraction=0.25, tol=0.0),
    "refine, settled at once": case("refine", any_number, epochs=4, tol=1.0),
    "refine, all rows counted": case("refine", any_number, epochs=4, confident_fraction=1.0),
    "refine, known error rate": case("refine", any_number, epochs=4, error_rate=0.05),
    "refine, given strength of SCAR": case("refine", any_number, epochs=4, scar_strength=10.0),
    "answers": case("answers", answers),
    "answers, known error rates": case("answers", answers, false_negative_rate=0.1, false_positive_rate=0.05),
    "answers, learned error rates": case("answers", answers_of_three, epochs=3),
    "answers, one of the error rates learned": case("answers", answers_of_three, epochs=3, false_positive_rate=0.02),
    "answers, confirmed classes": case("answers", lambda: _answers_and_classes()),
}  # fmt: skip


def _answers_and_classes() -> ComplementaryLabels:
    """Answers about the first half of the rows, ordinary labels of some of the others."""
    asked = answers()
    table = asked.answers
    about = table.example < N // 2
    half = Answers(
        *(column[about] for column in (table.example, table.class_index, table.answer, table.annotator))
    )
    resolved = ComplementaryLabels._from_resolved(half, N, np.arange(Q))
    known = np.where((np.arange(N) >= N // 2) & (np.arange(N) % 3 == 0), TRUTH, resolved.confirmed)
    return ComplementaryLabels(
        resolved.indptr, resolved.indices, resolved.classes, confirmed=known, answers=half
    )


def _network() -> nn.Module:
    """A network with hidden units and fixed weights."""
    network = nn.Sequential(nn.Linear(D, 5), nn.Tanh(), nn.Linear(5, Q)).double()
    with torch.no_grad():
        for phase, weights in enumerate(network.parameters()):
            weights.copy_(0.7 * waves(*weights.shape, phase=phase))
    return network


def _first_loss(method: Method, labels: ComplementaryLabels, priors: Any) -> dict[str, Any]:
    """The loss of all rows before any training, and its gradient."""
    with seeded(3), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unlabeled rows are left out
        method.prepare(
            Problem(
                labels,
                None if priors is None else torch.tensor(priors, dtype=torch.float64),
                torch.from_numpy(TRANSITION),
                _network,
            )
        )
        method.double()
        known = torch.from_numpy(labels.confirmed.astype(np.int64)) if (labels.confirmed >= 0).any() else None
        batch = Batch(
            torch.from_numpy(INPUTS), torch.from_numpy(labels.indicator(dtype=float)), torch.arange(N), known
        )
        logits = (method.model_inputs(batch) @ (2 * waves(D, Q, phase=2.0))).requires_grad_(True)
        loss = method.loss(logits, batch)
    loss.backward()
    return {"loss": loss.item(), "gradient": summary(logits.grad)}


def _trained(case: Case, labels: ComplementaryLabels) -> dict[str, Any]:
    """The weights after training, the predictions, and the learned priors."""
    network, method = _network(), case.make()
    recipe = Recipe(epochs=case.epochs, batch_size=8, optimizer="sgd", learning_rate=0.05, weight_decay=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        history = train(
            network, method, INPUTS, labels, recipe, priors=case.priors, transition=TRANSITION, make_model=_network
        )  # fmt: skip
    with torch.no_grad():
        predicted = method.probabilities(network(torch.from_numpy(INPUTS)))
    learned = method.learned_priors()
    return {
        "epochs": len(history),
        "last_loss": history["loss"][-1],
        "weights": summary(network.parameters()),
        "probabilities": summary(predicted)[1:],
        **({} if learned is None else {"priors": learned}),
    }


@pytest.mark.parametrize("label", CASES)
def test_method_matches_fingerprint(label, fingerprints):
    case, labels = CASES[label], CASES[label].labels()
    numbers = _first_loss(case.make(), labels, case.priors) | _trained(case, labels)
    fingerprints.check(label, case.name, case.make().facts.revision, numbers, tolerance=case.tolerance)


def test_every_method_has_fingerprint():
    ours = [name for name in available_methods() if external_method_class(name) is None]
    assert not uncovered(ours, CASES, lambda case: case.name)


def test_fingerprints_reach_every_training_stage():
    """Stages that start after some epochs start in these trainings."""
    for label, stages in (("refine", 2), ("refine, many short rounds", 5), ("refine, one round", 1)):
        method = CASES[label].make()
        train(_network(), method, INPUTS, any_number(), Recipe(epochs=4, batch_size=8, learning_rate=0.05))
        assert int(method.stage) >= stages, label
    purified = CASES["pop, purified"].make()
    before = int((any_number().indicator() == 0).sum())
    train(
        _network(),
        purified,
        INPUTS,
        any_number(),
        Recipe(epochs=11, batch_size=8, optimizer="sgd", learning_rate=0.05),
    )
    assert int(purified.candidates.sum()) < before
