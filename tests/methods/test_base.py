"""What methods share: warnings, errors, parameters, transition matrices and state."""

import warnings

import numpy as np
import pytest
import torch
from helpers.methods import MULTIPLE_LABEL_METHODS, PARTIAL_LABEL_METHODS, SINGLE_LABEL_METHODS
from torch import nn

from scarce import ScarceClassifier
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.methods import Method, MethodFacts, Problem, available_methods, make_method
from scarce.testing import check_method, three_blobs
from scarce.training import Recipe, train

T = (1 - np.eye(3)) / 2


def linear_model():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Linear(2, 3).double()


def trained(method, inputs, labels, epochs=4, transition=T):
    """The weights after a few full-batch steps."""
    model = linear_model()
    recipe = Recipe(epochs=epochs, batch_size=len(labels), learning_rate=0.05)
    train(model, method, inputs, labels, recipe, transition=transition, make_model=linear_model)
    return model.weight.detach()


def test_method_lists_hold_registered_methods():
    known = {*SINGLE_LABEL_METHODS, *MULTIPLE_LABEL_METHODS, *PARTIAL_LABEL_METHODS}
    assert known <= set(available_methods())
    assert "multiple" not in {
        kind for name in SINGLE_LABEL_METHODS for kind in available_methods()[name].accepts
    }


# Rows without labels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SINGLE_LABEL_METHODS, *MULTIPLE_LABEL_METHODS])
def test_single_and_multiple_label_methods_warn_of_unlabeled_rows(name):
    X, _, labels = three_blobs(30)
    without = labels.indicator()
    without[::4] = False
    useful = np.nonzero(without.any(axis=1))[0]
    sparse = ComplementaryLabels.from_indicator(without, labels.classes)
    with pytest.warns(UserWarning, match="exclude no class") as caught:
        with_them = trained(make_method(name), X, sparse)
    assert [str(w.message) for w in caught] == [
        f"8 of 30 examples exclude no class; {name} cannot use them and leaves them out."
    ]
    torch.testing.assert_close(with_them, trained(make_method(name), X[useful], labels[useful]))


@pytest.mark.parametrize("name", PARTIAL_LABEL_METHODS)
def test_partial_label_methods_accept_unlabeled_rows_without_warning(name):
    X, _, labels = three_blobs(30)
    without = labels.indicator()
    without[::4] = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trained(make_method(name), X, ComplementaryLabels.from_indicator(without, labels.classes))
    assert [str(w.message) for w in caught] == []


# Several labels per row --------------------------------------------------------------------------------------

SEVERAL_LABELS = ComplementaryLabels.from_lists([[0], [1], [0, 2], [2]], classes=3, ids=["p", "q", "r", "s"])
POINTS = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5], [1.0, 1.0]], np.float32)


@pytest.mark.parametrize("name", SINGLE_LABEL_METHODS)
def test_single_label_methods_reject_several_labels_without_pairs(name):
    with pytest.raises(
        MethodError,
        match=rf"{name} takes one excluded class per example, but row 2 \(id r\) has 2; pass pairs=True",
    ):
        trained(make_method(name), POINTS, SEVERAL_LABELS)
    assert not torch.equal(
        trained(make_method(name, pairs=True), POINTS, SEVERAL_LABELS), linear_model().weight
    )


@pytest.mark.parametrize("name", [*MULTIPLE_LABEL_METHODS, *PARTIAL_LABEL_METHODS])
def test_multiple_label_methods_accept_several_labels(name):
    assert not torch.equal(trained(make_method(name), POINTS, SEVERAL_LABELS), linear_model().weight)


# Transition matrices -------------------------------------------------------------------------------------------

TRANSITION_METHODS = ["forward", "cpe-i", "cpe-f", "cpe-t"]


@pytest.mark.parametrize("name", TRANSITION_METHODS)
@pytest.mark.parametrize(
    ("transition", "message"),
    [
        (None, r"needs a transition matrix p\(excluded \| true class\); pass transition="),
        (np.eye(2), r"transition has shape \(2, 2\); expected 3 × 3, one row per true class"),
        (2 * T, "transition, row of true class ant, sums to 2; expected 1"),
        (
            [[0.0, 1.5, -0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]],
            "row of true class ant, contains a negative or missing number",
        ),
        (np.where(T > 0, T, np.nan), "row of true class ant, contains a negative or missing number"),
    ],
)
def test_transition_methods_reject_missing_or_invalid_matrix(name, transition, message):
    X, _, labels = three_blobs(9)
    with pytest.raises(MethodError, match=message) as error:
        trained(make_method(name), X, labels, transition=transition)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", TRANSITION_METHODS)
def test_train_accepts_transition_by_name(name):
    X, _, labels = three_blobs(9)
    by_name = trained(make_method(name), X, labels, transition="uniform")
    by_number = trained(make_method(name), X, labels, transition=T)
    assert torch.equal(by_name, by_number)


def test_label_of_zero_probability_has_finite_loss():
    """One improbable label must not make the loss infinite."""
    never_excludes_third = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    labels = ComplementaryLabels.from_single([2, 0], classes=3)
    for name in ("forward", "cpe-f", "cpe-t"):
        weights = trained(make_method(name), POINTS[:2], labels, transition=never_excludes_third)
        assert weights.isfinite().all()


@pytest.mark.parametrize("name", TRANSITION_METHODS)
def test_classifiers_with_transition_predict_probabilities(name):
    X, _, labels = three_blobs(30)
    fitted = ScarceClassifier(name, module="linear", priors="uniform", epochs=2, transition="uniform").fit(
        X, labels
    )
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1, rtol=1e-6)
    assert fitted.decision_function(X).shape == (30, 3)


# Parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        (
            "pc",
            {"variant": "biased"},
            "variant='biased' is unknown; expected 'unbiased', 'official' or 'plain'",
        ),
        ("pc", {"pairs": "no"}, "pairs='no'; expected True or False"),
        ("nn", {"beta": "x"}, "beta='x'; expected a number of at least 0"),
        ("nn", {"beta": -0.1}, "beta=-0.1; expected a number of at least 0"),
        ("nn", {"pairs": 1}, "pairs=1; expected True or False"),
        ("ga", {"ascent": "steep"}, "ascent='steep' is unknown; expected 'counted' or 'plain'"),
        ("ga", {"beta": float("nan")}, "beta=nan; expected a number of at least 0"),
        ("ga", {"gamma": None}, "gamma=None; expected a number of at least 0"),
        ("forward", {"pairs": None}, "pairs=None; expected True or False"),
        ("lws", {"beta": float("inf")}, "beta=inf; expected a number of at least 0"),
        ("lws", {"psi": "hinge"}, "psi='hinge' is unknown; expected 'sigmoid' or 'cross-entropy'"),
        ("pop", {"warm_up": 2.5}, "warm_up=2.5; expected a whole number of at least 0"),
        ("pop", {"warm_up": -1}, "warm_up=-1; expected a whole number of at least 0"),
        ("pop", {"theta": 1.5}, "theta=1.5; expected a number from 0 to 1"),
        ("pop", {"theta": "low"}, "theta='low'; expected a number from 0 to 1"),
        ("pop", {"growth": 2}, "growth=2; expected a number from 0 to 1"),
        ("idgp", {"warm_up": "long"}, "warm_up='long'; expected a whole number of at least 0"),
        ("idgp", {"alpha": -1.0}, "alpha=-1.0; expected a number of at least 0"),
        ("idgp", {"beta": None}, "beta=None; expected a number of at least 0"),
        ("idgp", {"theta": "x"}, "theta='x'; expected a number of at least 0"),
        ("idgp", {"gamma": float("nan")}, "gamma=nan; expected a number of at least 0"),
        ("idgp", {"t_f": 0}, r"t_f=0; expected a number above 0"),
        ("idgp", {"t_g": -2.0}, r"t_g=-2\.0; expected a number above 0"),
        ("cc", {"beta": 1}, "cc has no parameter 'beta'; it takes none"),
        ("rc", {"psi": 1}, "rc has no parameter 'psi'; it takes none"),
        ("mae", {"pairs": True}, "mae has no parameter 'pairs'; it takes none"),
    ],
)
def test_make_method_rejects_invalid_parameters(name, params, message):
    with pytest.raises(MethodError, match=message) as error:
        make_method(name, **params)
    assert "\n" not in str(error.value)


def test_idgp_requires_make_model():
    X, _, labels = three_blobs(9)
    with pytest.raises(MethodError, match=r"idgp trains a second network; pass make_model=\.\.\."):
        train(linear_model(), make_method("idgp"), X, labels)


NON_DEFAULT_PARAMS = [
    ("pc", {"variant": "official", "pairs": True}),
    ("pc", {"variant": "plain"}),
    ("nn", {"beta": 0.1, "pairs": True}),
    ("ga", {"ascent": "plain", "beta": 0.01, "gamma": 0.5}),
    ("lws", {"psi": "cross-entropy", "beta": 2.0}),
    ("pop", {"warm_up": 5, "theta": 0.01, "growth": 0.1}),
    ("idgp", {"warm_up": 1, "t_f": 1.5, "t_g": 2.0}),
]


@pytest.mark.parametrize(("name", "params"), NON_DEFAULT_PARAMS)
def test_methods_with_other_parameters_pass_method_checks(name, params):
    assert make_method(name, **params).params.items() >= params.items()
    check_method(lambda: make_method(name, **params))


@pytest.mark.parametrize("name", ["scarce", "cpe-t"])
def test_check_method_keeps_random_state_of_caller(name):
    before = torch.get_rng_state()
    check_method(name)
    assert torch.equal(torch.get_rng_state(), before)


# Problems and state ------------------------------------------------------------------------------------------


Q = 3
LABELS = ComplementaryLabels.from_lists([[0], [1, 2], [], [2], [0, 1], [1]], classes=Q)
PRIORS = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)


def test_restore_sets_nested_parameters_and_buffers():
    class Deep(Method):
        facts = MethodFacts("deep", "for tests", "none", "nothing")

        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(1, 1)
            self.inner.register_buffer("seen", torch.zeros(0))

        def loss(self, logits, batch):
            return logits.mean()

    method = Deep()
    state = {"inner.weight": torch.ones(2, 3), "inner.bias": torch.zeros(2), "inner.seen": torch.arange(4)}
    method.restore(state)
    assert all(torch.equal(method.state_dict()[name], value) for name, value in state.items())
    assert [name for name, _ in method.named_parameters()] == ["inner.weight", "inner.bias"]
    assert [name for name, _ in method.named_buffers()] == ["inner.seen"]


class SingleLabelOnly(Method):
    facts = MethodFacts("choosy", "for tests", "none", "all", needs_transition=True, accepts=("single",))

    def loss(self, logits, batch):
        return logits.mean()


TRANSITION = torch.full((Q, Q), 1 / Q)
SINGLE = ComplementaryLabels.from_single([0, 1], classes=Q)
NAMED = ComplementaryLabels.from_lists([["a"], ["b", "c"]], classes=["a", "b", "c"], ids=["p", "q"])
UNLABELED = ComplementaryLabels.from_lists([[], []], classes=Q)


@pytest.mark.parametrize(
    ("method", "problem", "message"),
    [
        (
            make_method("scarce"),
            Problem(LABELS),
            r"scarce needs class priors; pass priors=\[\.\.\.\] with 3 numbers",
        ),
        (make_method("scarce"), Problem(LABELS, PRIORS[:2]), r"priors has shape \(2,\); expected \(3,\)"),
        (make_method("scarce"), Problem(UNLABELED, PRIORS), "no example excludes any class"),
        (SingleLabelOnly(), Problem(SINGLE), r"choosy needs a transition matrix p\(excluded \| true class\)"),
        (
            SingleLabelOnly(),
            Problem(SINGLE, transition=TRANSITION[:2]),
            r"transition has shape \(2, 3\); expected \(3, 3\)",
        ),
        (
            SingleLabelOnly(),
            Problem(NAMED, transition=TRANSITION),
            r"one excluded class per example, but row 1 \(id q\) has 2",
        ),
    ],
)
def test_prepare_rejects_unsuitable_problem(method, problem, message):
    with pytest.raises(MethodError, match=message) as e:
        method.prepare(problem)
    assert "\n" not in str(e.value)


def test_prepare_warns_of_unlabeled_rows():
    labels = ComplementaryLabels.from_lists([[0], [], [1], []], classes=Q)
    with pytest.warns(UserWarning, match="2 of 4 examples exclude no class; choosy cannot use them"):
        SingleLabelOnly().prepare(Problem(labels, transition=TRANSITION))


def test_prepare_accepts_suitable_problem():
    SingleLabelOnly().prepare(Problem(SINGLE, transition=TRANSITION))
    only_yes = ComplementaryLabels.from_answer_matrix([[1, np.nan], [np.nan, 1]])
    method = make_method("scarce")
    method.prepare(Problem(only_yes, torch.tensor([0.5, 0.5])))
    assert method.rates.tolist() == [0.0, 0.0]
    assert method.confirmation.tolist() == [2.0, 2.0]


def test_problem_has_sizes_and_rates_of_labels():
    problem = Problem(LABELS)
    assert (problem.n_examples, problem.n_classes) == (6, 3)
    assert problem.rates.tolist() == pytest.approx([1 / 3, 1 / 2, 1 / 3])
