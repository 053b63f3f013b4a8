"""The SCAR likelihood as a method: its loss, and the priors and error rates it estimates."""

from contextlib import suppress
from math import log

import numpy as np
import pytest
import torch
from helpers.methods import batch_of, double, linear_model, loss_of, mean, softmax
from torch import nn

from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, make_method
from scarce.simulate import scar, scar_single
from scarce.testing import check_method, three_blobs
from scarce.training import Callback, Recipe, train

LOGITS = [[0.3, 1.0, -0.5], [0.2, -0.1, 0.9], [1.5, 0.0, 0.4], [-0.3, 0.8, 0.1]]
PRIORS, ERRORS = [0.5, 0.3, 0.2], [0.1, 0.0, 0.05]
RECIPE = Recipe(epochs=30, batch_size=100, learning_rate=0.05)


def prepared_scar(labels, priors=PRIORS, **params):
    method = make_method("scar-likelihood", **params)
    method.prepare(Problem(labels, None if priors is None else double(priors)))
    return method.double()


def unbalanced_blobs():
    """1500 linearly separable points of three classes with priors of 60, 30 and 10 %."""
    X, y, _ = three_blobs(3000)
    rows = np.concatenate(
        [np.nonzero(y == name)[0][:n] for name, n in (("ant", 900), ("bee", 450), ("cat", 150))]
    )
    return X[rows], y[rows]


# The loss ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error_rate", [ERRORS, 0.05, 0])
def test_loss_of_several_labels_matches_hand_computed_value(error_rate):
    excluded_sets = [[0, 1], [2], [], [1]]
    labels = ComplementaryLabels.from_lists(excluded_sets, classes=3)
    rates = [1 / 4, 2 / 4, 1 / 4]
    rho = error_rate if isinstance(error_rate, list) else [error_rate] * 3
    c = [(rates[k] - rho[k] * PRIORS[k]) / (1 - PRIORS[k]) for k in range(3)]
    losses = []
    for f, excluded in zip(LOGITS, excluded_sets, strict=True):
        ratios = [rho[y] / c[y] if y in excluded else (1 - rho[y]) / (1 - c[y]) for y in range(3)]
        losses.append(-log(sum(p * r for p, r in zip(softmax(f), ratios, strict=True))))
    assert loss_of(prepared_scar(labels, error_rate=error_rate), LOGITS, labels) == pytest.approx(
        mean(losses), abs=1e-9
    )


@pytest.mark.parametrize("error_rate", [[0.1, 0.0, 0.05], 0])
def test_loss_of_single_labels_equals_loss_of_matrix(error_rate):
    """T[y, k] ∝ w_k off the diagonal gives the observed rates; the loss differs from −log (p T)_k by log w_k."""
    excluded_sets = [0, 1, 2, 1]
    labels = ComplementaryLabels.from_single(excluded_sets, classes=3)
    method = prepared_scar(labels, error_rate=error_rate)
    rho = error_rate if isinstance(error_rate, list) else [error_rate] * 3
    w = method.exclusion_probabilities.tolist()
    T = [[rho[y] if k == y else (1 - rho[y]) * w[k] / (sum(w) - w[y]) for k in range(3)] for y in range(3)]
    rates = [sum(PRIORS[y] * T[y][k] for y in range(3)) for k in range(3)]
    assert rates == pytest.approx([1 / 4, 2 / 4, 1 / 4], abs=1e-6)
    losses = [
        -log(sum(p * T[y][k] for y, p in enumerate(softmax(f)))) + log(w[k])
        for f, k in zip(LOGITS, excluded_sets, strict=True)
    ]
    assert loss_of(method, LOGITS, labels) == pytest.approx(mean(losses), abs=1e-9)


def test_loss_of_confirmed_rows_equals_cross_entropy():
    labels = ComplementaryLabels.from_answer_matrix(
        [[1, np.nan, np.nan], [0, np.nan, 1], [np.nan, 0, np.nan], [0, np.nan, np.nan]]
    )
    method, logits = prepared_scar(labels), double(LOGITS)
    known = method.loss(logits[:2], batch_of(labels, rows=[0, 1]))
    assert known.item() == pytest.approx(nn.functional.cross_entropy(logits[:2], torch.tensor([0, 2])).item())
    others = method.loss(logits[2:], batch_of(labels, rows=[2, 3]))
    assert method.loss(logits, batch_of(labels)).item() == pytest.approx((known + others).item() / 2)


# Learned priors and error rates ------------------------------------------------------------------------------

SHARES = np.array([0.6, 0.3, 0.1])


@pytest.mark.parametrize("simulate", [scar, scar_single])
@pytest.mark.parametrize("c", [[0.3, 0.5, 0.2], [0.2, 0.5, 0.8]])
def test_training_estimates_priors_and_exclusion_probabilities(simulate, c):
    """Covers priors that cannot be equal: a class that three of four rows exclude has a prior of at most 1 / 4.

    The blobs hardly overlap, so priors are known up to the averaging over an epoch, far below 0.02. An exclusion
    probability is estimated from at least 600 rows: its standard error is 0.02, its tolerance three of them.
    """
    X, y = unbalanced_blobs()
    labels = simulate(y, c=c, seed=5)
    method = make_method("scar-likelihood")
    history = train(linear_model(), method, X, labels, RECIPE)
    learned = history["priors"][-1]
    assert isinstance(learned, list)
    assert learned == pytest.approx(SHARES.tolist(), abs=0.02)
    assert np.abs(learned - SHARES).sum() < 0.1 * np.abs(1 / 3 - SHARES).sum()
    assert method.learned_priors().tolist() == learned
    expected = np.array(c) if simulate is scar else np.array(c) / (1 - np.array(c))
    expected = expected if simulate is scar else expected / expected.sum()
    assert history["exclusion_probabilities"][-1] == pytest.approx(expected.tolist(), abs=0.06)
    assert "error_rate" not in history.records[-1]


def test_given_priors_are_kept_and_not_reported():
    X, y = unbalanced_blobs()
    method = make_method("scar-likelihood")
    history = train(linear_model(), method, X, scar(y, c=0.4, seed=5), Recipe(epochs=2), priors=PRIORS)
    assert method.learned_priors().tolist() == pytest.approx(PRIORS)
    assert not {"priors", "exclusion_probabilities", "error_rate"} & history.records[-1].keys()


@pytest.mark.parametrize("error_rate", [0.05, 0.0])
def test_training_estimates_error_rate(error_rate):
    """Compared with the observed share of errors, not with 5 %: with 6000 rows the two differ by up to 0.01.

    Some rows fit the edge of another blob equally well; over seeds this adds up to 0.003.
    """
    X, y, _ = three_blobs(6000)
    labels = scar(y, c=[0.3, 0.4, 0.5], error_rate=error_rate, seed=5)
    wrong = (labels.indicator() & (y[:, None] == labels.classes)).any(axis=1).mean()
    recipe = Recipe(epochs=30, batch_size=500, learning_rate=0.1)
    history = train(linear_model(), make_method("scar-likelihood", error_rate="learn"), X, labels, recipe)
    assert history["error_rate"][-1] == pytest.approx(wrong, abs=0.01 if error_rate else 0.001)
    assert history["priors"][-1] == pytest.approx([1 / 3] * 3, abs=0.02)


def test_step_moves_priors_and_errors_by_share_of_rows():
    """Toward the means of q_y ∝ p_y r_y and of Σ_y q_y ȳ_y, from π ∝ 1 − π̄ and ρ = 0.05; π is shrunk toward the candidate shares.

    Two classes are left on average, so the shares count as five rows in addition to the four.
    """
    excluded_sets = [[0, 1], [2], [], [1]]
    labels = ComplementaryLabels.from_lists(excluded_sets, classes=3)
    rates, start, rho = [1 / 4, 2 / 4, 1 / 4], [3 / 8, 2 / 8, 3 / 8], 0.05
    c = [(rates[k] - rho * start[k]) / (1 - start[k]) for k in range(3)]
    beliefs, wrong = [], []
    for f, excluded in zip(LOGITS[:2], excluded_sets[:2], strict=True):
        q = [p * (rho / c[y] if y in excluded else (1 - rho) / (1 - c[y])) for y, p in enumerate(softmax(f))]
        beliefs.append([value / sum(q) for value in q])
        wrong.append(sum(beliefs[-1][y] for y in excluded))
    method, batch = prepared_scar(labels, None, error_rate="learn"), batch_of(labels, rows=[0, 1])
    method.loss(double(LOGITS[:2]), batch)
    method.after_step(nn.Identity(), batch)
    shares = [(0 + 1 / 2 + 1 / 3 + 1 / 2) / 4, (0 + 1 / 2 + 1 / 3 + 0) / 4, (1 + 0 + 1 / 3 + 1 / 2) / 4]
    found = [(4 * mean([q[k] for q in beliefs]) + 5 * shares[k]) / 9 for k in range(3)]
    halfway = [(start[k] + found[k]) / 2 for k in range(3)]
    assert method.priors.tolist() == pytest.approx(halfway)
    assert method.error_rate.tolist() == pytest.approx([(rho + mean(wrong)) / 2] * 3)


def test_prepare_resets_learned_state():
    X, y = unbalanced_blobs()
    method = make_method("scar-likelihood", error_rate="learn")
    runs = []
    for _ in range(2):
        train(linear_model(), method, X, scar(y, c=0.4, seed=5), Recipe(epochs=2))
        runs.append({name: value.clone() for name, value in method.state_dict().items()})
    assert all(torch.equal(runs[0][name], runs[1][name]) for name in runs[0])


# Parameters and resuming -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error_rate", "message"),
    [
        (2, "error_rate=2; expected a number from 0 to 1."),
        (-0.1, "error_rate=-0.1; expected a number from 0 to 1."),
        ([0.1, 1.5, 0.0], "error_rate=1.5; expected a number from 0 to 1."),
        (None, "error_rate=None; expected a number from 0 to 1."),
        ("guess", "error_rate='guess'; expected a number from 0 to 1, one per class, or 'learn'."),
    ],
)
def test_scar_likelihood_rejects_invalid_error_rate(error_rate, message):
    with pytest.raises(MethodError) as error:
        make_method("scar-likelihood", error_rate=error_rate)
    assert str(error.value) == message


@pytest.mark.parametrize("error_rate", [[0.1], [0.1, 0.2], [0.0] * 4])
def test_scar_likelihood_rejects_error_rates_of_wrong_length(error_rate):
    _, _, labels = three_blobs(9)
    with pytest.raises(MethodError) as error:
        prepared_scar(labels, error_rate=error_rate)
    assert str(error.value) == f"error_rate has {len(error_rate)} numbers; expected one, or 3, one per class."


@pytest.mark.parametrize("error_rate", ["learn", [0.0, 0.1, 0.0, 0.05]])
def test_scar_likelihood_with_errors_passes_method_checks(error_rate):
    if error_rate == "learn":
        check_method(lambda: make_method("scar-likelihood", error_rate="learn"))
    else:
        labels = ComplementaryLabels.from_lists([[0, 3], [1], [2], [3], [1], []], classes=4)
        f = torch.randn(6, 4, generator=torch.Generator().manual_seed(7)).double().requires_grad_(True)
        method = prepared_scar(labels, [0.4, 0.3, 0.2, 0.1], error_rate=error_rate)
        assert torch.autograd.gradcheck(lambda f: method.loss(f, batch_of(labels)), (f,))


class Interrupt(Callback):
    def on_epoch_end(self, run, record):
        if run.epoch == 4:
            raise KeyboardInterrupt


@pytest.mark.parametrize("simulate", [scar, scar_single])
def test_resumed_training_reproduces_learned_state(tmp_path, simulate):
    """Five steps an epoch, so the interruption falls between two updates of the exclusion probabilities."""
    X, y, _ = three_blobs(60)
    labels, recipe = (
        simulate(y, c=[0.3, 0.4, 0.5], seed=5),
        Recipe(epochs=6, batch_size=12, learning_rate=0.05),
    )

    def state(checkpoint=None, callbacks=()):
        method = make_method("scar-likelihood", error_rate="learn")
        with suppress(KeyboardInterrupt):
            train(linear_model(), method, X, labels, recipe, checkpoint=checkpoint, callbacks=callbacks)
        return {name: value.clone() for name, value in method.state_dict().items()}

    uninterrupted = state()
    interrupted = state(tmp_path / "run.safetensors", [Interrupt()])
    resumed = state(tmp_path / "run.safetensors")
    assert uninterrupted["step"] == 30
    for name in ("priors", "exclusion_probabilities", "error_rate"):
        assert not torch.equal(interrupted[name], uninterrupted[name])
        assert torch.equal(resumed[name], uninterrupted[name])
