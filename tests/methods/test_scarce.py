"""The SCARCE methods: their loss, ordinary labels, probabilities and state."""

import hypothesis.extra.numpy as npst
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import softplus

from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Problem, make_method
from scarce.risk import make_correction, multiclass_scarce_risk, scarce_risk

NAMES = ["scarce", "scarce-ure", "scarce-cce"]
Q = 3
PRIORS = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
LABELS = ComplementaryLabels.from_lists([[0], [1, 2], [], [2], [0, 1], [1]], classes=Q)
LOGITS = torch.tensor(
    [
        [0.4, -1.2, 2.0],
        [1.1, 0.3, -0.7],
        [-0.5, 0.9, 0.1],
        [2.2, -0.3, 0.6],
        [-1.0, 0.2, 0.8],
        [0.0, 1.5, -2.0],
    ],
    dtype=torch.float64,
)
ROWS = torch.tensor([4, 0, 3, 1])  # a batch: its rates are not those of the data


def prepared_scarce(name, labels=LABELS, **params):
    method = make_method(name, **params)
    method.prepare(Problem(labels, PRIORS))
    return method


def batch_of(labels=LABELS, rows=ROWS, confirmed=None):
    excluded = torch.tensor(labels.indicator(rows.numpy(), float))
    return Batch(torch.zeros(len(rows), 1), excluded, rows, confirmed)


@pytest.mark.parametrize("absent", ["skip", "keep"])
@pytest.mark.parametrize("form", ["batch", "dataset", "ht"])
@pytest.mark.parametrize("correction", ["abs", "relu", "leaky", "nnpu", "none"])
@pytest.mark.parametrize(
    ("name", "loss", "risk"),
    [
        ("scarce", "logistic", scarce_risk),
        ("scarce", "square", scarce_risk),
        ("scarce-cce", "cce", multiclass_scarce_risk),
        ("scarce-cce", "mse", multiclass_scarce_risk),
    ],
)
def test_scarce_loss_equals_risk_at_rates_of_data(name, loss, risk, correction, form, absent):
    extra = {"slope": -0.3, "beta": 0.05, "gamma": 0.7}
    method = prepared_scarce(name, loss=loss, correction=correction, form=form, absent=absent, **extra)
    batch = batch_of()
    expected = risk(
        LOGITS[ROWS],
        batch.excluded,
        PRIORS,
        loss=loss,
        correction=make_correction(correction, **extra),
        form=form,
        rates=torch.tensor([2 / 6, 3 / 6, 2 / 6], dtype=torch.float64),
        absent=absent,
    )
    assert method.loss(LOGITS[ROWS], batch).item() == pytest.approx(expected.item(), abs=1e-12)


@pytest.mark.parametrize("form", ["batch", "dataset", "ht"])
@pytest.mark.parametrize("loss", ["logistic", "sigmoid"])
def test_scarce_ure_equals_scarce_without_correction(form, loss):
    one = prepared_scarce("scarce-ure", loss=loss, form=form)
    other = prepared_scarce("scarce", loss=loss, form=form, correction="none")
    confirmed = torch.tensor([2, -1, -1, -1])
    for batch in (batch_of(), batch_of(confirmed=confirmed)):
        assert one.loss(LOGITS[ROWS], batch).item() == other.loss(LOGITS[ROWS], batch).item()
    corrected = prepared_scarce("scarce", loss=loss, form=form)
    assert corrected.loss(LOGITS[ROWS], batch_of()).item() != one.loss(LOGITS[ROWS], batch_of()).item()


def with_confirmed(confirmed):
    return ComplementaryLabels(LABELS.indptr, LABELS.indices, LABELS.classes, confirmed=np.array(confirmed))


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_scarce_mixes_in_ordinary_loss_of_confirmed_rows(name, alpha):
    labels = with_confirmed([-1, 0, 1, -1, 2, -1])  # half of the rows are confirmed: each has weight two
    method = prepared_scarce(name, labels, alpha=alpha)
    confirmed = torch.tensor(labels.confirmed[ROWS.numpy()]).long()
    ordinary = 0.0
    for row, y in zip(LOGITS[ROWS], confirmed.tolist(), strict=True):
        if y < 0:
            continue
        if name == "scarce-cce":
            ordinary += 2 * -torch.log_softmax(row, dim=0)[y].item()
        else:
            for k in range(Q):
                ordinary += 2 * softplus(-row[k] if k == y else row[k]).item()
    alone = method.loss(LOGITS[ROWS], batch_of()).item()
    expected = alpha * alone + (1 - alpha) * ordinary / len(ROWS)
    mixed = method.loss(LOGITS[ROWS], batch_of(confirmed=confirmed)).item()
    assert mixed == pytest.approx(expected, abs=1e-12)


def test_scarce_weights_confirmed_rows_by_question_rates():
    """Class a was asked about in 2 of 4 examples, b in 3: a "yes" to a has weight 2, one to b 4/3."""
    labels = ComplementaryLabels.from_answers(
        {
            "example_id": [0, 1, 1, 2, 3],
            "class_name": ["a", "a", "b", "b", "b"],
            "answer": ["yes", "no", "no", "yes", "no"],
        },
        classes=["a", "b", "c"],
    )
    method = prepared_scarce("scarce", labels, alpha=0.0)
    rows = torch.arange(4)
    losses = [
        softplus(-LOGITS[0, 0]) + softplus(LOGITS[0, 1]) + softplus(LOGITS[0, 2]),
        softplus(-LOGITS[2, 1]) + softplus(LOGITS[2, 0]) + softplus(LOGITS[2, 2]),
    ]
    expected = (2 * losses[0] + 4 / 3 * losses[1]) / 4
    batch = batch_of(labels, rows, torch.tensor(labels.confirmed).long())
    assert method.loss(LOGITS[:4], batch).item() == pytest.approx(expected.item())


@settings(deadline=None)  # the first call of an operation of torch is slow
@given(npst.arrays(np.float32, (4, 5), elements=st.floats(-(2.0**100), 2.0**100, width=32)))
def test_probabilities_are_distribution_consistent_with_scores(logits):
    logits = torch.from_numpy(logits)
    for name in NAMES:
        method = make_method(name)
        p = method.probabilities(logits)
        assert p.shape == logits.shape
        assert (p >= 0).all()
        assert p.sum(dim=1).tolist() == pytest.approx([1.0] * 4, abs=1e-5)
        assert torch.equal(p.argmax(dim=1), method.scores(logits).argmax(dim=1))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "row",
    [[40.0, 50.0, 60.0], [-800.0, -900.0, -700.0], [1e-9, 2e-9, 3e-9], [1000.0, -1000.0, 1001.0], [88.0, 88.5, 0.0],
     [0.0, 0.0, 0.0]],
)  # fmt: skip
def test_probabilities_agree_with_scores_despite_rounding(name, dtype, row):
    logits = torch.tensor([row], dtype=dtype)
    method = make_method(name)
    p = method.probabilities(logits)
    assert p.argmax().item() == logits.argmax().item()
    assert p.sum().item() == pytest.approx(1.0)
    assert (p <= 1).all()


def test_probabilities_match_hand_computed_values():
    logits = torch.tensor([[0.0, np.log(3.0)]], dtype=torch.float64)
    # σ(0) = 1/2 and σ(log 3) = 3/4; softmax gives 1 to 3
    assert make_method("scarce").probabilities(logits)[0].tolist() == pytest.approx([0.4, 0.6])
    assert make_method("scarce-cce").probabilities(logits)[0].tolist() == pytest.approx([0.25, 0.75])


@pytest.mark.parametrize("name", NAMES)
def test_state_dict_round_trip_preserves_loss(name):
    method = prepared_scarce(name, form="ht")
    assert set(method.state_dict()) == {"priors", "rates", "confirmation"}
    twin = prepared_scarce(name, ComplementaryLabels.from_single([0, 1], classes=Q), form="ht")
    twin.load_state_dict(method.state_dict())
    unprepared = make_method(name, form="ht")
    unprepared.restore(method.state_dict())
    for other in (twin, unprepared):
        assert other.loss(LOGITS[ROWS], batch_of()).item() == method.loss(LOGITS[ROWS], batch_of()).item()
    assert all(torch.equal(unprepared.state_dict()[key], value) for key, value in method.state_dict().items())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_buffers_follow_dtype_of_model(dtype):
    method = prepared_scarce("scarce").to(dtype)
    assert {buffer.dtype for buffer in method.buffers()} == {dtype}
    batch = Batch(torch.zeros(4, 1), batch_of().excluded.to(dtype), ROWS)
    assert method.loss(LOGITS[ROWS].to(dtype), batch).dtype == dtype


def test_prepare_copies_priors():
    priors = PRIORS.clone()
    method = make_method("scarce")
    method.prepare(Problem(LABELS, priors))
    priors.fill_(0)
    assert torch.equal(method.priors, PRIORS)
