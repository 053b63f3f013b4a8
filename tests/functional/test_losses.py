"""Losses as pure functions: the value and gradient of the method, slow loops, exact gradients, extreme logits."""

from math import log

import numpy as np
import pytest
import torch
from helpers.loss_cases import CASES, CASES_WITH_CONFIRMED, SINGLE_LABEL_CASES, data_of, data_of_answers
from helpers.methods import double, mean, quick, random_problems, softmax
from hypothesis import assume, given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from scarce import functional
from scarce.labels._single_label import is_single_label
from scarce.methods import available_methods, make_method

EXACT = {"atol": 1e-12, "rtol": 1e-12}
IN_FLOAT32 = {"atol": 1e-6, "rtol": 1e-6}
STARTS_IN_FLOAT32 = ("rc_loss", "lws_loss")  # their methods make the first confidence in float32


def assert_same(function, method, logits, data, tolerance=EXACT):
    """The value and the gradient of the function are those of the method."""
    results = []
    for loss in (function, method):
        f = double(logits).requires_grad_()
        value = loss(f, data)
        results.append((value.detach(), torch.autograd.grad(value, f, allow_unused=True)[0]))
    (value, gradient), (expected, expected_gradient) = results
    assert value.shape == ()
    torch.testing.assert_close(value, expected, **tolerance)
    torch.testing.assert_close(gradient, expected_gradient, **tolerance)


@pytest.mark.parametrize("case", CASES)
@quick
@given(st.data())
def test_function_equals_loss_of_method(case, data):
    function, method = CASES[case]
    logits, excluded, transition = data.draw(
        random_problems("single" if case in SINGLE_LABEL_CASES else "any")
    )
    seed = data.draw(st.integers(0, 1000))
    given = data_of(excluded, len(logits[0]), len(logits), seed, transition)
    assume(case != "class_conditional_nll" or not is_single_label(given.labels))
    assert_same(function, method, logits, given, IN_FLOAT32 if case in STARTS_IN_FLOAT32 else EXACT)


@pytest.mark.parametrize("case", CASES_WITH_CONFIRMED)
@quick
@given(seed=st.integers(0, 2**32 - 1))
def test_function_with_confirmed_classes_equals_loss_of_method(case, seed):
    function, method = CASES[case]
    rng = np.random.default_rng(seed)
    n, q = rng.integers(2, 8), rng.integers(3, 6)
    true = rng.integers(q, size=n)
    answers = np.where(rng.random((n, q)) < 0.3, 0.0, np.nan)
    answers[np.arange(n), true] = np.where(rng.random(n) < 0.5, 1.0, np.nan)
    answers[0], answers[1] = np.nan, np.nan
    answers[0, true[0]] = 1.0
    answers[1, (true[1] + np.array([1, 2])) % q] = 0.0
    given = data_of_answers(answers, n, rng)
    assert (given.labels.confirmed >= 0).any()
    tolerance = IN_FLOAT32 if case in STARTS_IN_FLOAT32 else EXACT
    assert_same(function, method, rng.uniform(-4, 4, (n, q)), given, tolerance)


def test_every_function_is_compared_with_its_method():
    assert {case.split()[0] for case in CASES} == set(functional.__all__)


def test_every_method_but_idgp_has_a_function():
    """IDGP trains a second network. The others are in a case, or share the loss of one that is."""
    documented = " ".join(getattr(functional, name).__doc__ for name in functional.__all__)
    classes = {name: type(make_method(name)) for name in available_methods()}
    ours = {name: cls for name, cls in classes.items() if cls.__module__.startswith("scarce.")}
    missing = {name for name, cls in ours.items() if f".{cls.__name__}" not in documented}
    assert missing == {"idgp", "scarce-ure"}  # the second is a parameter of the function


@pytest.mark.parametrize("case", CASES)
def test_gradient_is_exact(case):
    function, _ = CASES[case]
    excluded = [[0], [1], [2], [3], [1]] if case in SINGLE_LABEL_CASES else [[0], [1, 3], [2], [], [1, 2]]
    data = data_of(excluded, 4, 5)
    generator = torch.Generator().manual_seed(2)
    logits = torch.randn(5, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda f: function(f, data), (logits,))


@pytest.mark.parametrize("case", CASES)
def test_loss_of_extreme_logits_is_finite_in_float32(case):
    function, _ = CASES[case]
    excluded = [[0], [1], [2], [0]] if case in SINGLE_LABEL_CASES else [[0], [1, 2], [2], []]
    data = data_of(excluded, 3, 4)
    logits = torch.tensor(
        [[1e4, -1e4, 0.0], [-1e4, 1e4, 1e4], [88.0, -104.0, 200.0], [0.0, 0.0, 1e4]], requires_grad=True
    )
    loss = function(logits, data)
    loss.backward()
    assert loss.dtype == torch.float32
    assert torch.isfinite(loss)
    assert torch.isfinite(logits.grad).all()


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float32])
def test_excluded_may_have_any_dtype(dtype):
    logits, excluded = torch.randn(3, 4), torch.eye(4)[:3]
    expected = functional.pc_loss(logits, excluded)
    assert functional.pc_loss(logits, excluded.to(dtype)).item() == expected.item()


@pytest.mark.parametrize(
    "priors", [[0.5, 0.3, 0.2], np.array([0.5, 0.3, 0.2]), torch.tensor([0.5, 0.3, 0.2])]
)
def test_priors_may_be_a_list_an_array_or_a_tensor(priors):
    logits, excluded = torch.zeros(2, 3), torch.eye(3)[:2]
    assert functional.scarce_risk(logits, excluded, priors=priors).item() == pytest.approx(
        functional.scarce_risk(logits, excluded, priors=(0.5, 0.3, 0.2)).item()
    )


@pytest.mark.parametrize("case", ["pc_loss", "forward_loss", "negative_learning_loss", "cpe_loss"])
def test_pair_loss_without_pairs_is_zero(case):
    function, _ = CASES[case]
    data = data_of([[], []], 3, 2)
    assert function(torch.zeros(2, 3, dtype=torch.float64), data).item() == 0


def test_transition_that_requires_a_gradient_is_trained():
    weights = torch.zeros(3, 3, requires_grad=True)
    logits, excluded = torch.zeros(2, 3), torch.tensor([[1, 0, 0], [0, 1, 0]])
    for function in (functional.cpe_loss, functional.forward_loss, functional.single_label_nll):
        (gradient,) = torch.autograd.grad(
            function(logits, excluded, transition=weights.softmax(dim=1)), weights
        )
        assert gradient.abs().sum() > 0


def test_no_gradient_flows_through_confidence():
    logits = torch.tensor([[2.0, 0.0, 1.0]], requires_grad=True)
    excluded = torch.tensor([[False, False, True]])
    confidence = logits.masked_fill(excluded, float("-inf")).softmax(dim=1)
    (through,) = torch.autograd.grad(functional.rc_loss(logits, excluded, confidence=confidence), logits)
    (detached,) = torch.autograd.grad(
        functional.rc_loss(logits, excluded, confidence=confidence.detach()), logits
    )
    assert torch.equal(through, detached)


@quick
@given(seed=st.integers(0, 2**32 - 1))
def test_answers_nll_with_rates_of_answers_equals_slow_loop(seed):
    rng = np.random.default_rng(seed)
    n, q = 4, 3
    logits = rng.uniform(-3, 3, (n, q))
    asked = rng.random((n, q)) < 0.7
    excluded = asked & (rng.random((n, q)) < 0.6)
    excluded[excluded.all(axis=1), 0] = False
    miss, false = rng.uniform(0.05, 0.4, (n, q)), rng.uniform(0.05, 0.4, (n, 1))
    losses = []
    for i in range(n):
        total = 0.0
        for y, p in enumerate(softmax(list(logits[i]))):
            for k in range(q):
                if asked[i, k]:
                    p_yes = 1 - miss[i, k] if k == y else false[i, 0]
                    p *= 1 - p_yes if excluded[i, k] else p_yes
            total += p
        losses.append(-log(total))
    value = functional.answers_nll(
        double(logits),
        torch.from_numpy(excluded),
        asked=torch.from_numpy(asked),
        false_negative_rate=miss,
        false_positive_rate=false,
    )
    assert value.item() == pytest.approx(mean(losses), abs=1e-9)


@quick
@given(random_problems("any"), st.integers(0, 1000))
def test_scar_nll_equals_slow_loop(problem, seed):
    logits, excluded, _ = problem
    q = len(logits[0])
    rng = np.random.default_rng(seed)
    priors = rng.dirichlet(np.full(q, 3.0))
    c = rng.uniform(0.1, 0.9, q)
    losses = []
    for f, ks in zip(logits, excluded, strict=True):
        ratio = [0.05 / c[y] if y in ks else 0.95 / (1 - c[y]) for y in range(q)]
        losses.append(-log(sum(p * r for p, r in zip(softmax(f), ratio, strict=True))))
    indicator = torch.tensor([[k in ks for k in range(q)] for ks in excluded])
    rates = (1 - priors) * c + 0.05 * priors
    value = functional.scar_nll(double(logits), indicator, priors=priors, rates=rates, error_rate=0.05)
    assert value.item() == pytest.approx(mean(losses), abs=1e-9)


@quick
@given(random_problems("any"))
def test_class_conditional_nll_equals_slow_loop(problem):
    logits, excluded, _ = problem
    q = len(logits[0])
    C = np.linspace(0.1, 0.6, q * q).reshape(q, q)
    losses = []
    for f, ks in zip(logits, excluded, strict=True):
        likelihoods = [np.prod([C[y, k] if k in ks else 1 - C[y, k] for k in range(q)]) for y in range(q)]
        losses.append(-log(np.dot(softmax(f), likelihoods)))
    indicator = torch.tensor([[k in ks for k in range(q)] for ks in excluded])
    value = functional.class_conditional_nll(double(logits), indicator, exclusion_matrix=C)
    assert value.item() == pytest.approx(mean(losses), abs=1e-9)


class ReadCounter(TorchDispatchMode):
    """Counts the operations that read values from a tensor, for which a program waits if the tensor is on a GPU."""

    n_reads = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        reads = (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.nonzero.default)
        self.n_reads += func in reads
        return func(*args, **(kwargs or {}))


THIRDS = [1 / 3] * 3


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (functional.scarce_risk, {"priors": THIRDS}),
        (functional.multiclass_scarce_risk, {"priors": THIRDS}),
        (functional.free_risk, {"rates": THIRDS}),
        (functional.ga_risk, {"rates": THIRDS}),
        (functional.multiple_label_risk, {}),
        (functional.cc_loss, {}),
        (functional.nnpu_risk, {"priors": THIRDS}),
        (functional.vpu_loss, {}),
        (functional.elkan_noto_loss, {}),
        (functional.scar_nll, {"priors": THIRDS, "rates": THIRDS}),
        (functional.class_conditional_nll, {"exclusion_matrix": (1 - np.eye(3)) / 2}),
        (functional.least_excluded_nll, {}),
    ],
)
def test_loss_reads_one_value_from_its_tensors(function, given):
    logits = torch.randn(4, 3, requires_grad=True)
    excluded = torch.tensor([[1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 1, 1]])
    with ReadCounter() as counter:
        function(logits, excluded, **given)
    assert counter.n_reads == 1
