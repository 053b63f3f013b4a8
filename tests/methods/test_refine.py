"""Learn, count, learn again: what comes out of labels that depend on the class, and how the stages follow each other."""

from functools import cache
from math import ceil

import numpy as np
import pytest
import torch
from helpers.methods import batch_of, double
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Problem, make_method
from scarce.methods.refine import most_confident
from scarce.simulate import from_transition
from scarce.training import Recipe, train

Q = 5
EQUAL, UNEQUAL = [0.2] * Q, [0.3, 0.25, 0.2, 0.15, 0.1]
RECIPE = Recipe(epochs=20, batch_size=100, learning_rate=0.02)


def around(*values):
    """A matrix whose rows are the same, counted from the class itself."""
    return np.array([np.roll(values, y) for y in range(Q)])


ONE_MARK = around(0, 0.5, 0.3, 0.1, 0.1)
ANY_MARKS = around(0, 0.7, 0.1, 0.5, 0.2)


@cache
def clouds(shares=tuple(EQUAL), radius=2.0, n=3000):
    """Points of five classes around a circle, and how often the best of all classifiers is right."""
    rng = np.random.default_rng(0)
    y = rng.choice(Q, n, p=shares)
    angle = 2 * np.pi * np.arange(Q) / Q
    centres = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X = (centres[y] + rng.normal(size=(n, 2))).astype(np.float32)
    best = (np.log(shares) - ((X[:, None] - centres) ** 2).sum(axis=2) / 2).argmax(axis=1)
    return X, y, (best == y).mean()


def one_mark(y, transition=ONE_MARK):
    return from_transition(y, transition, classes=Q, seed=1)


def any_marks(y):
    """Marked with chances that depend on the class, independently; a tenth of all rows has no mark."""
    return ComplementaryLabels.from_indicator(np.random.default_rng(1).random((len(y), Q)) < ANY_MARKS[y], Q)


def make_mlp():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, Q))


def fitted(name, X, labels, recipe=RECIPE, priors=None, **params):
    model, method = make_mlp(), make_method(name, **params)
    history = train(model, method, X, labels, recipe, priors=priors)
    with torch.no_grad():
        predicted = method.scores(model(torch.from_numpy(X))).argmax(dim=1).numpy()
    return method, history, predicted


# Accuracy and estimates --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("simulate", "shares", "ahead"), [(one_mark, EQUAL, 0.05), (any_marks, UNEQUAL, 0.015)]
)
def test_where_classes_overlap_it_pays_to_know_how_they_are_excluded(simulate, shares, ahead):
    """With these labels the others stay behind by 0.10, and by 0.05 with several marks; half of it at most is asked for."""
    X, y, best = clouds(tuple(shares))
    labels = simulate(y)
    assert (labels.per_example == 0).mean() == pytest.approx(0 if simulate is one_mark else 0.11, abs=0.02)
    method, _, predicted = fitted("refine", X, labels)
    accuracy = (predicted == y).mean()
    assert accuracy > best - 0.02
    for other in ("scar-likelihood", "cc"):
        assert (fitted(other, X, labels)[2] == y).mean() < accuracy - ahead
    assert method.learned_priors().tolist() == pytest.approx(shares, abs=0.04)


@pytest.mark.parametrize(("simulate", "wanted"), [(one_mark, ONE_MARK), (any_marks, ANY_MARKS)])
def test_of_clouds_apart_the_chances_and_shares_are_found(simulate, wanted):
    """The smallest class has about 300 rows: a standard error of at most 0.029, a tolerance of three and a half.

    Against what the true classes would count only the 2 % of rows differ that lie closer to another cloud.
    """
    X, y, best = clouds(tuple(UNEQUAL), radius=4.0)
    assert best > 0.97
    labels = simulate(y)
    method, _, _ = fitted("refine", X, labels, confident_fraction=1.0, scar_strength=0.0)
    assert method.chances.numpy() == pytest.approx(wanted, abs=0.1)
    counted = np.array([labels.indicator()[y == k].mean(axis=0) for k in range(Q)])
    assert method.chances.numpy() == pytest.approx(counted, abs=0.04)
    assert method.named.sum() == len(y)
    assert method.counts.sum() == labels.counts.sum()
    assert method.learned_priors().tolist() == pytest.approx((np.bincount(y) / len(y)).tolist(), abs=0.01)


def test_half_of_the_rows_are_counted_and_drawn_towards_scar():
    """About 300 rows and the weight of 50: the standard error is 0.029, the tolerance three and a half."""
    X, y, _ = clouds(radius=4.0)
    method, _, _ = fitted("refine", X, one_mark(y), scar_strength=50.0)
    n = len(y) / Q / 2
    assert method.named.tolist() == pytest.approx([n] * Q, rel=0.1)
    scar = (1 - np.eye(Q)) / (Q - 1)
    assert method.chances.numpy() == pytest.approx((n * ONE_MARK + 50 * scar) / (n + 50), abs=0.1)


@pytest.mark.parametrize("error_rate", [0.0, "count"])
def test_wrong_labels_are_counted_if_wanted(error_rate):
    """As many of 3000 rows as are wrong, up to the 2 % of them that lie closer to another cloud."""
    X, y, _ = clouds(radius=4.0)
    labels = one_mark(y, around(0.05, 0.5, 0.2, 0.15, 0.1))
    method, _, _ = fitted("refine", X, labels, error_rate=error_rate, confident_fraction=1.0)
    own = method.chances.diagonal()
    if error_rate == "count":
        wrong = labels.indicator()[np.arange(len(y)), y].mean()
        assert own.mean().item() == pytest.approx(wrong, abs=0.015)
        assert own.min() > 0.02
    else:
        assert own.tolist() == [0] * Q


# Counting ------------------------------------------------------------------------------------------------------

NAMES = [0, 0, 1, 1, 2, 2]
MARGINS = [50.0, 1.0, 50.0, 1.0, 50.0, 1.0]
MARKS = [[1], [2], [0, 2], [], [1], [0]]


def counted(confirmed=None, **params):
    """Refine after a look at six rows; half of every name is counted."""
    plain = ComplementaryLabels.from_lists(MARKS, classes=3)
    labels = ComplementaryLabels(plain.indptr, plain.indices, plain.classes, confirmed=confirmed)
    method = make_method("refine", scar_strength=0.0, **params)
    method.prepare(Problem(labels, double([0.5, 0.25, 0.25])))
    method.stage.fill_(1)  # so that the logits themselves are the scores
    logits = torch.zeros(6, 3, dtype=torch.float64)
    logits[range(6), NAMES] = double(MARGINS)
    parts = [(logits[rows], batch_of(labels, rows=rows)) for rows in ([0, 1, 2, 3], [4, 5])]
    assert method.double().next_stage(2, 10, lambda: iter(parts)) == 5
    return method


def test_only_rows_of_a_sure_name_are_counted():
    method = counted()
    assert method.named.tolist() == [1, 1, 1]
    assert method.counts.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert method.chances.numpy() == pytest.approx(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))


def test_rows_of_known_class_are_counted_by_it_and_before_others():
    """Row 5 is known to be of class 2 and ousts row 4. Row 3 is an ordinary example of class 0: it tells nothing of marks."""
    method = counted(np.array([-1, -1, -1, 0, -1, 2]), confident_fraction=0.3)
    assert method.named.tolist() == [1, 1, 1]
    assert method.counts.tolist() == [[0, 1, 0], [1, 0, 1], [1, 0, 0]]
    all_rows = counted(np.array([-1, -1, -1, 0, -1, 2]), confident_fraction=1.0)
    assert all_rows.named.tolist() == [2, 1, 2]
    assert all_rows.counts.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


def test_a_known_class_is_learned_as_such():
    """Also with rows that exclude nothing: three quarters of the classes are known, and nothing else."""
    X, y, _ = clouds(radius=4.0)
    known = np.where(np.arange(len(y)) % 4, y, -1)
    empty = ComplementaryLabels.from_lists([[]] * len(y), classes=Q)
    labels = ComplementaryLabels(empty.indptr, empty.indices, empty.classes, confirmed=known)
    method, _, predicted = fitted("refine", X, labels)
    assert (predicted == y)[known < 0].mean() > 0.95
    assert method.counts.sum() == 0


# Stages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "lengths"),
    [
        ({"rounds": 1}, [2, 4]),
        ({"tol": 0.0}, [2, 2, 2, 4]),
        ({"tol": 0.0, "rounds": 4}, [2, 2, 2, 2, 4]),
        (
            {"tol": 1.0, "scar_strength": 50.0},
            [2, 2, 4],
        ),  # the first count moves by all there is, the second by less
        ({"tol": 0.0, "rounds": 2, "short_fraction": 1.0}, [4, 4, 4]),
        ({"rounds": 1, "short_fraction": 0.0}, [1, 4]),
    ],
)
def test_stages_are_short_but_for_the_last(params, lengths):
    X, y, _ = clouds()
    method, history, _ = fitted("refine", X[:200], one_mark(y)[:200], Recipe(epochs=4), **params)
    assert history["stage"] == [float(stage) for stage, length in enumerate(lengths) for _ in range(length)]
    assert history["epoch"] == list(range(1, sum(lengths) + 1))
    assert history["moved"][lengths[0]] == 1
    assert bool(method.is_last)


def test_another_method_may_come_first():
    X, y, _ = clouds(radius=4.0)
    labels = one_mark(y)
    with pytest.raises(MethodError) as error:
        fitted("refine", X, labels, base_method="scarce")
    assert str(error.value) == "scarce needs class priors; pass priors=[...] with 5 numbers."
    _, history, predicted = fitted("refine", X, labels, priors=EQUAL, base_method="scarce", rounds=1)
    assert (predicted == y).mean() > 0.95
    alone = fitted("scarce", X, labels, Recipe(epochs=10, batch_size=100, learning_rate=0.02), priors=EQUAL)
    assert history["loss"][:10] == alone[1]["loss"]


def test_what_the_first_method_cannot_use_is_refused_before_anything_is_done():
    method = make_method("refine", base_method="forward")
    with pytest.raises(MethodError, match=r"^forward needs a transition matrix"):
        method.refuse_no_matrix(None)
    with pytest.raises(MethodError, match=r"^forward takes one excluded class per example"):
        method.refuse_unfit(ComplementaryLabels.from_lists([[0, 1]], classes=3))
    assert not make_method("refine", base_method="scarce").can_learn_priors()


def test_a_method_that_is_used_again_begins_anew():
    X, y, _ = clouds(n=200)
    method, labels = make_method("refine"), one_mark(y)
    histories = [train(make_mlp(), method, X, labels, Recipe(epochs=2, seed=1)) for _ in range(2)]
    assert histories[0]["moved"] == histories[1]["moved"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"base_method": "refine"},
            "base_method='refine' itself trains in stages; choose another, such as 'scarce'.",
        ),
        ({"rounds": 0}, "rounds=0; expected a whole number of at least 1."),
        ({"rounds": 1.5}, "rounds=1.5; expected a whole number of at least 1."),
        ({"short_fraction": 1.1}, "short_fraction=1.1; expected a number from 0 to 1."),
        ({"confident_fraction": -0.1}, "confident_fraction=-0.1; expected a number from 0 to 1."),
        ({"tol": "never"}, "tol='never'; expected a number from 0 to 1."),
        ({"scar_strength": -1}, "scar_strength=-1; expected a number of at least 0."),
        ({"scar_strength": float("nan")}, "scar_strength=nan; expected a number of at least 0."),
        ({"error_rate": 2}, "error_rate=2; expected a number from 0 to 1."),
        ({"error_rate": "learn"}, "error_rate='learn'; expected a number from 0 to 1."),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params, message):
    with pytest.raises(MethodError) as error:
        make_method("refine", **params)
    assert str(error.value) == message


def test_an_unknown_first_method_is_refused():
    with pytest.raises(MethodError, match="there is no method 'magic'; expected one of scarce"):
        make_method("refine", base_method="magic")


# The most confident rows of every predicted class ------------------------------------------------------------


# Eighths are exact in binary, so that a share of a number of rows is what it is on paper.
shares = st.integers(1, 8).map(lambda eighths: eighths / 8)
named_rows = st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2)), min_size=1, max_size=40)


def part_of(rows, number):
    return [row[number] for row in rows]


def surest(names, margins, share):
    """Of each name take the row of the largest margin, of equals the first, until there are enough."""
    chosen = set()
    for name in set(names):
        left = [row for row, other in enumerate(names) if other == name]
        for _ in range(ceil(share * len(left))):
            best = max(left, key=lambda row: (margins[row], -row))
            left.remove(best)
            chosen.add(best)
    return [row in chosen for row in range(len(names))]


@given(named_rows, shares)
def test_the_surest_rows_are_those_that_a_loop_finds(rows, share):
    """Margins of five values, so that most have equals; names that may be missing."""
    names, margins = part_of(rows, 0), part_of(rows, 1)
    found = most_confident(torch.tensor(names), double(margins), share).tolist()
    assert found == surest(names, margins, share)


@given(named_rows)
def test_no_name_is_left_out_and_the_whole_share_is_everything(rows):
    names, margins = torch.tensor(part_of(rows, 0)), double(part_of(rows, 1))
    few = most_confident(names, margins, 0.0)
    assert names[few].bincount(minlength=5).tolist() == names.bincount(minlength=5).clamp(max=1).tolist()
    assert most_confident(names, margins, 1.0).all()


def test_rows_of_known_class_are_surer_than_any_other():
    margins = double([float("inf"), 3.0, float("inf"), 1e300])
    assert most_confident(torch.zeros(4, dtype=torch.long), margins, 0.5).tolist() == [
        True,
        False,
        True,
        False,
    ]


def test_a_share_is_not_rounded_up_by_the_errors_of_single_precision():
    names = torch.zeros(50, dtype=torch.long)
    assert int(most_confident(names, torch.arange(50.0), 0.3).sum()) == 15


@pytest.mark.parametrize("error_rate", [np.array([0.1, 0.0, 0.2]), [0.1, 0.0], "learn", -0.1])
def test_errors_that_are_no_rate_are_refused(error_rate):
    with pytest.raises(MethodError, match=r"error_rate=.*; expected a number from 0 to 1\."):
        make_method("refine", error_rate=error_rate)
