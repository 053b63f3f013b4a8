"""Identities between the compared methods, and the bounds of their losses."""

from math import e, exp, log

import pytest
import torch
from helpers.methods import (
    CLOSE,
    MULTIPLE_LABEL_METHODS,
    SINGLE_LABEL_METHODS,
    batch_of,
    double,
    labels_of,
    loss_of,
    prepared_method,
    quick,
    random_problems,
    uniform_transition,
)
from hypothesis import given
from torch.nn.functional import log_softmax

from scarce.labels import ComplementaryLabels
from scarce.methods.multiple_labels import multiple_label_losses


def loss_value(name, problem, transition=None, **params):
    logits, excluded, _ = problem
    labels = labels_of(excluded, logits)
    return loss_of(prepared_method(name, labels, transition, **params), logits, labels)


# Methods that coincide ---------------------------------------------------------------------------------------


@quick
@given(random_problems("some"))
def test_forward_with_uniform_matrix_equals_scl_nl_plus_constant(problem):
    q = len(problem[0][0])
    assert loss_value("forward", problem, pairs=True) == pytest.approx(
        loss_value("scl-nl", problem, pairs=True) + log(q - 1), **CLOSE
    )


@quick
@given(random_problems("some"))
def test_cpe_f_loss_equals_forward(problem):
    assert loss_value("cpe-f", problem, problem[2], pairs=True) == pytest.approx(
        loss_value("forward", problem, problem[2], pairs=True), **CLOSE
    )


@quick
@given(random_problems("single"))
def test_cc_and_log_of_single_labels_are_multiples_of_scl_nl(problem):
    q = len(problem[0][0])
    assert loss_value("cc", problem) == pytest.approx(loss_value("scl-nl", problem), **CLOSE)
    assert loss_value("log", problem) == pytest.approx((q - 1) * loss_value("scl-nl", problem), **CLOSE)


def test_scl_nl_averages_pairs_and_cc_sums_sets():
    logits, excluded = [[0.3, -1.0, 0.8, 0.1]], [[0, 2]]
    p = torch.softmax(double(logits), dim=1)[0]
    problem = (logits, excluded, None)
    mean_of_pairs = -((1 - p[0]).log() + (1 - p[2]).log()).item() / 2
    loss_of_set = -(1 - p[0] - p[2]).log().item()
    assert loss_value("scl-nl", problem, pairs=True) == pytest.approx(mean_of_pairs)
    assert loss_value("cc", problem) == pytest.approx(loss_of_set)


@quick
@given(random_problems("single"))
def test_multiple_label_risk_of_single_labels_equals_free_risk(problem):
    logits, excluded, _ = problem
    batch = batch_of(labels_of(excluded, logits))
    risk = multiple_label_losses(-log_softmax(double(logits), dim=1), batch.excluded).mean().item()
    assert loss_value("free", problem) == pytest.approx(risk, **CLOSE)


@pytest.mark.parametrize(
    "name", ["cc", "scl-nl", "forward", "cpe-f", "log", "free", "rc", "proden", "cavl", "pop"]
)
def test_losses_of_two_classes_equal_cross_entropy(name):
    """The "no" to one of two classes is a "yes" to the other."""
    logits, excluded = [[0.4, -1.0], [2.0, 0.5], [-0.3, 0.9]], [[0], [1], [0]]
    p = torch.softmax(double(logits), dim=1)
    ordinary = -(p[0, 1].log() + p[1, 0].log() + p[2, 1].log()).item() / 3
    assert loss_value(name, (logits, excluded, None)) == pytest.approx(ordinary)


@pytest.mark.parametrize("name", ["cc", "log", "rc", "proden", "cavl", "pop"])
def test_losses_of_full_exclusion_equal_cross_entropy(name):
    logits, excluded = [[0.4, -1.0, 0.2, 1.0], [2.0, 0.5, -0.1, 0.3]], [[0, 1, 3], [1, 2, 3]]
    p = torch.softmax(double(logits), dim=1)
    ordinary = -(p[0, 2].log() + p[1, 0].log()).item() / 2
    assert loss_value(name, (logits, excluded, None)) == pytest.approx(ordinary)


@quick
@given(random_problems("some"))
def test_pc_variants_share_gradient(problem):
    logits, excluded, _ = problem
    labels, q = labels_of(excluded, logits), len(logits[0])

    def gradient(variant):
        f = double(logits).requires_grad_(True)
        prepared_method("pc", labels, variant=variant, pairs=True).loss(f, batch_of(labels)).backward()
        return f.grad

    torch.testing.assert_close(gradient("official"), gradient("unbiased"))
    torch.testing.assert_close((q - 1) * gradient("plain"), gradient("unbiased"))
    official, unbiased = (loss_value("pc", problem, variant=v, pairs=True) for v in ("official", "unbiased"))
    assert official - unbiased == pytest.approx((q - 1) / 2)


# Bounds --------------------------------------------------------------------------------------------------------


@quick
@given(random_problems("some"))
def test_exp_and_log_bound_half_of_mae(problem):
    logits, excluded, _ = problem
    q = len(logits[0])
    for f, ks in zip(logits, excluded, strict=True):
        row = ([f], [ks], None)
        p = torch.softmax(double([f]), dim=1)[0]
        possible = sum(p[j].item() for j in range(q) if j not in ks)
        mae = loss_value("mae", row)
        assert mae == pytest.approx((2 * q - 2) / len(ks) * (1 - possible), **CLOSE)
        assert loss_value("log", row) >= mae / 2 - 1e-12
        assert loss_value("exp", row) >= mae / 2 - 1e-12


def l_uw_bounds(q):
    """Σ_j e^{p_k − p_j} is convex: largest at p_k = 1, smallest where the others share everything equally."""
    return log(1 + (q - 1) * exp(-1 / (q - 1))), log(1 + (q - 1) * e)


@quick
@given(random_problems("single"))
def test_l_uw_stays_within_bounds(problem):
    low, high = l_uw_bounds(len(problem[0][0]))
    assert low <= loss_value("l-uw", problem) <= high


@pytest.mark.parametrize("q", [2, 3, 10])
def test_l_uw_reaches_bounds(q):
    low, high = l_uw_bounds(q)
    assert loss_value("l-uw", ([[-60.0] + [0.0] * (q - 1)], [[0]], None)) == pytest.approx(low)
    assert loss_value("l-uw", ([[60.0] + [0.0] * (q - 1)], [[0]], None)) == pytest.approx(high)
    assert loss_value("l-uw", ([[0.0] * q], [[0]], None)) == pytest.approx(log(q))


def test_op_w_downweights_rows_whose_excluded_class_is_not_predicted():
    logits = [[4.0, 0.0, -1.0]]
    r = torch.softmax(-double(logits), dim=1)[0]
    assert loss_value("op-w", (logits, [[1]], None)) == pytest.approx(-1e-6 * r[1].log().item(), rel=1e-6)
    p = torch.softmax(double(logits), dim=1)[0, 0].item()
    assert loss_value("op-w", (logits, [[0]], None)) == pytest.approx(-p * r[0].log().item(), rel=1e-5)


@quick
@given(random_problems("some"))
def test_nn_is_at_least_free_and_zero(problem):
    free, nn = loss_value("free", problem, pairs=True), loss_value("nn", problem, pairs=True)
    assert nn >= free - 1e-12
    assert nn >= 0
    assert loss_value("nn", problem, pairs=True, beta=1e3) == pytest.approx(free, abs=1e-9)


# Decoding ------------------------------------------------------------------------------------------------------


@quick
@given(random_problems("single"))
def test_cpe_with_uniform_matrix_decodes_least_excluded_class(problem):
    logits, excluded, _ = problem
    labels, f = labels_of(excluded, logits), double(logits)
    q = f.shape[1]
    assert torch.equal(prepared_method("cpe-i", labels).scores(f).argmax(dim=1), f.argmin(dim=1))
    bar = torch.softmax(f, dim=1) @ uniform_transition(q)
    for name in ("cpe-f", "cpe-t"):
        decoded = prepared_method(name, labels).scores(f).argmax(dim=1)
        assert torch.equal(decoded, bar.argmin(dim=1))
        assert torch.equal(decoded, f.argmax(dim=1))


# Rows without labels -------------------------------------------------------------------------------------------

UNLABELED_ROW = [0.7, -0.4, 1.2, 0.1]
ROWS = [[0.3, -1.2, 2.0, 0.4], [1.1, 0.4, -0.6, 0.0], [-0.5, 0.8, 0.1, -1.5], [0.2, 0.3, -0.9, 1.4]]
EXCLUDED = [[0], [3], [2], [1]]


@pytest.mark.parametrize("name", [*SINGLE_LABEL_METHODS, *MULTIPLE_LABEL_METHODS])
def test_unlabeled_row_does_not_change_loss(name):
    alone = loss_value(name, (ROWS, EXCLUDED, None))
    assert loss_value(name, ([*ROWS, UNLABELED_ROW], [*EXCLUDED, []], None)) == pytest.approx(
        alone, abs=1e-12
    )


def test_unlabeled_row_has_zero_loss_in_cc():
    alone = loss_value("cc", (ROWS, EXCLUDED, None))
    assert loss_value("cc", ([*ROWS, UNLABELED_ROW], [*EXCLUDED, []], None)) == pytest.approx(alone * 4 / 5)


@pytest.mark.parametrize("name", ["rc", "proden", "cavl", "pop", "lws"])
def test_unlabeled_row_trains_on_own_confidence(name):
    f = double(UNLABELED_ROW)
    own = torch.sigmoid(-f).mean() if name == "lws" else -log_softmax(f, dim=0).mean()
    alone = loss_value(name, (ROWS, EXCLUDED, None))
    expected = (4 * alone + own.item()) / 5
    assert loss_value(name, ([*ROWS, UNLABELED_ROW], [*EXCLUDED, []], None)) == pytest.approx(
        expected, abs=1e-7
    )


@pytest.mark.parametrize("name", [*SINGLE_LABEL_METHODS, *MULTIPLE_LABEL_METHODS])
def test_batch_without_labels_has_zero_loss_and_gradient(name):
    """Such batches occur where most rows have no label."""
    labels = ComplementaryLabels.from_lists([[0], [1], [], []], classes=3)
    logits = torch.randn(2, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    logits.requires_grad_(True)
    loss = prepared_method(name, labels).loss(logits, batch_of(labels, [2, 3]))
    loss.backward()
    assert loss.item() == 0
    assert logits.grad.tolist() == [[0, 0, 0]] * 2


# GA ------------------------------------------------------------------------------------------------------------

WITHOUT_VIOLATION = [
    [0.1, 0.0, -0.1],
    [0.0, 0.1, 0.0],
    [0.05, -0.1, 0.1],
]  # nearly equal logits: every V_j is about (log 3) / 3
WITH_VIOLATION = [[-5.0, 2.0, 0.0], [3.0, -4.0, 0.5], [1.0, 0.5, 0.9], [0.2, -3.0, 0.1]]


def gradients(name, logits, labels, **params):
    f = double(logits).requires_grad_(True)
    method = prepared_method(name, labels, **params)
    risks = method.class_risks(f, batch_of(labels))
    loss = method.loss(f, batch_of(labels))
    (gradient,) = torch.autograd.grad(loss, f)
    return loss.item(), gradient, risks


@pytest.mark.parametrize("ascent", ["counted", "plain"])
def test_ga_equals_free_without_violation(ascent):
    labels = ComplementaryLabels.from_single([0, 1, 2], classes=3)
    loss, gradient, risks = gradients("ga", WITHOUT_VIOLATION, labels, ascent=ascent)
    free, free_gradient, _ = gradients("free", WITHOUT_VIOLATION, labels)
    assert risks.min() > 0
    assert loss == pytest.approx(free)
    torch.testing.assert_close(gradient, free_gradient)


@pytest.mark.parametrize("ascent", ["counted", "plain"])
def test_ga_ascends_on_violated_classes_only(ascent):
    """A step along the gradient of GA raises the violated risks, whose sum it is up to the sign."""
    labels = ComplementaryLabels.from_single([0, 1, 2, 1], classes=3)
    loss, gradient, _ = gradients("ga", WITH_VIOLATION, labels, ascent=ascent, gamma=0.5)
    f = double(WITH_VIOLATION).requires_grad_(True)
    risks = prepared_method("ga", labels).class_risks(f, batch_of(labels))
    negative = [j for j in range(3) if risks[j] < 0]
    assert negative == [0, 1]
    counts = [1, 2, 1] if ascent == "counted" else [1, 1, 1]
    total = sum(counts[j] * risks[j] for j in negative)
    assert loss == pytest.approx(-0.5 * total.item())
    torch.testing.assert_close(gradient, -0.5 * torch.autograd.grad(total, f)[0])


def test_ga_ignores_class_absent_from_batch():
    """V_2 has no −(q − 1) π̄ m part then, so it is not negative; and n_2 = 0."""
    labels = ComplementaryLabels.from_single([0, 1, 0, 1, 2], classes=3)
    rows, logits = [0, 1, 2, 3], double([[0.1, 0.0, -0.1], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1], [0.1, 0.1, 0.0]])
    batch = batch_of(labels, rows)
    risks = prepared_method("ga", labels).class_risks(logits, batch)
    assert risks[2] > 0
    assert prepared_method("ga", labels).loss(logits, batch).item() == pytest.approx(risks.sum().item())


def test_grouping_by_excluded_class_changes_parts_but_not_total():
    """A form found in other code: U_g = π̄_g (Σ_j m_gj − (q − 1) m_gg)."""
    labels = ComplementaryLabels.from_single([0, 1, 2, 1], classes=3)
    risks = prepared_method("nn", labels).class_risks(double(WITH_VIOLATION), batch_of(labels))
    losses = -log_softmax(double(WITH_VIOLATION), dim=1)
    groups = {0: [0], 1: [1, 3], 2: [2]}
    wrong_parts = []
    for g, rows in groups.items():
        m = losses[rows].mean(dim=0)
        wrong_parts.append((len(rows) / 4 * (m.sum() - 2 * m[g])).item())
    assert sum(wrong_parts) == pytest.approx(risks.sum().item())
    assert all(abs(a - b) > 0.05 for a, b in zip(wrong_parts, risks.tolist(), strict=True))
    right = loss_value("nn", (WITH_VIOLATION, [[0], [1], [2], [1]], None))
    assert right == pytest.approx(risks.clamp(min=0).sum().item())
    assert right != pytest.approx(sum(max(u, 0) for u in wrong_parts), abs=0.05)
