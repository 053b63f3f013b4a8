"""Every reference record of the compared methods: values, gradients and state updates in float64."""

import warnings

import pytest
import torch
from helpers.golden import records, tensors
from helpers.methods import double

from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Problem, make_method
from scarce.methods.cavl import most_active_candidate
from scarce.methods.idgp import idgp_terms
from scarce.methods.pop import purify
from scarce.models import make_model
from scarce.risk import multiclass_loss

EXACT = {"atol": 1e-9, "rtol": 0}

PLAIN = {  # name in the records -> name in scarce
    "l_uw": "l-uw", "l_w": "l-w", "op": "op", "op_w": "op-w", "scl_nl": "scl-nl", "scl_exp": "scl-exp",
    "cpe_i": "cpe-i", "mcl_mae": "mae", "mcl_mse": "mse", "mcl_gce": "gce", "mcl_phuber": "phuber-ce",
    "mcl_exp": "exp", "mcl_log": "log", "cc": "cc",
}  # fmt: skip


def prepared_for_record(name, record, transition=None, **params):
    """The method, prepared for the rows of a record."""
    logits, excluded, priors = tensors(record)
    method = make_method(name, **params)
    q = logits.shape[1]
    if transition is None:
        transition = (1 - torch.eye(q, dtype=torch.float64)) / (q - 1)
    labels = ComplementaryLabels.from_indicator(excluded.numpy())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*exclude no class")
        method.prepare(Problem(labels, priors, transition, lambda: make_model("linear", (1,), q)))
    return method.double(), logits, Batch(torch.zeros(len(logits), 1), excluded, torch.arange(len(logits)))


def assert_matches_record(method, logits, batch, record):
    value = method.loss(logits, batch)
    value.backward()
    assert value.item() == pytest.approx(record["loss"], abs=1e-9)
    torch.testing.assert_close(logits.grad, double(record["grad"]), **EXACT)


@pytest.mark.parametrize("record", records(*PLAIN))
def test_losses_without_parameters_match_golden_records(record):
    pairs = {"pairs": True} if "pairs" in make_method(PLAIN[record["method"]]).params else {}
    assert_matches_record(*prepared_for_record(PLAIN[record["method"]], record, **pairs), record)


@pytest.mark.parametrize("record", records("pc"))
def test_pc_matches_golden_records(record):
    assert_matches_record(
        *prepared_for_record("pc", record, variant=record["params"]["style"], pairs=True), record
    )


@pytest.mark.parametrize("record", records("ure_free", "nn", "ga"))
def test_free_nn_and_ga_match_golden_records(record):
    name = {"ure_free": "free"}.get(record["method"], record["method"])
    params = {"pairs": True}
    if name == "ga":
        params["ascent"] = "counted" if record["params"]["count_scaled"] else "plain"
    method, logits, batch = prepared_for_record(name, record, **params)
    method.label_frequencies = double(record["params"]["pibar"])
    torch.testing.assert_close(method.class_risks(logits, batch), double(record["per_class"]), **EXACT)
    assert_matches_record(method, logits, batch, record)


WRONG_ON_MIXED = [
    each
    for each in records("nn", "ga", status="known_wrong_do_not_match")
    if each.values[0]["fixture"] == "MIXED"
]


@pytest.mark.parametrize("record", WRONG_ON_MIXED)
def test_nn_and_ga_differ_from_known_wrong_records(record):
    """On MIXED some parts are violated and some are not, so the forms differ in value."""
    method, logits, batch = prepared_for_record(record["method"], record, pairs=True)
    method.label_frequencies = double(record["params"]["pibar"])
    assert method.loss(logits, batch).item() != pytest.approx(record["loss"], abs=1e-4)


@pytest.mark.parametrize("record", records("forward"))
def test_forward_and_cpe_f_match_golden_records(record):
    transition = double(record["params"]["T"])
    method, logits, batch = prepared_for_record("forward", record, transition, pairs=True)
    assert_matches_record(method, logits, batch, record)
    if "predict" in record:
        assert method.scores(logits).argmax(dim=1).tolist() == record["predict"]
        decoding, *_ = prepared_for_record("cpe-f", record, transition, pairs=True)
        assert decoding.loss(logits, batch).item() == pytest.approx(record["loss"], abs=1e-9)
        assert decoding.scores(logits).argmax(dim=1).tolist() == record["cpe_f_decode"]


@pytest.mark.parametrize("record", records("cpe_t"))
def test_cpe_t_matches_golden_records(record):
    weights = double(record["params"]["W"])
    method, logits, batch = prepared_for_record("cpe-t", record, weights.exp() - 1e-3, pairs=True)
    torch.testing.assert_close(method.weights.detach(), weights, atol=1e-6, rtol=0)
    method.weights.data = weights
    assert_matches_record(method, logits, batch, record)
    torch.testing.assert_close(method.weights.grad, double(record["grad_W"]), **EXACT)


@pytest.mark.parametrize("record", records("mcl_cce"))
def test_multiple_label_risk_with_cross_entropy_matches_golden_records(record):
    from scarce.methods.multiple_labels import multiple_label_losses

    logits, excluded, _ = tensors(record)
    value = multiple_label_losses(multiclass_loss("cce")(logits), excluded).mean()
    value.backward()
    assert value.item() == pytest.approx(record["loss"], abs=1e-9)
    torch.testing.assert_close(logits.grad, double(record["grad"]), **EXACT)


@pytest.mark.parametrize("record", records("rc", "proden", "cavl", "lws", "lwc"))
def test_confidence_methods_match_golden_records(record):
    params, name = {}, record["method"]
    if name in ("lws", "lwc"):
        params = {"beta": record["params"]["beta"], "psi": "sigmoid" if name == "lws" else "cross-entropy"}
        name = "lws"
    method, logits, batch = prepared_for_record(name, record, **params)
    method.confidence = double(record["params"]["confidence"])
    assert_matches_record(method, logits, batch, record)
    if "state_out" in record:
        seen = (
            double(record["params"]["post_logits"]) if "post_logits" in record["params"] else logits.detach()
        )
        torch.testing.assert_close(
            method.updated_confidence(seen, method.candidates), double(record["state_out"]), **EXACT
        )


@pytest.mark.parametrize("record", records("rc", "proden", "cavl"))
def test_initial_confidence_is_uniform_over_candidates(record):
    method, _, batch = prepared_for_record(record["method"], record)
    candidates = 1 - batch.excluded
    torch.testing.assert_close(method.confidence, candidates / candidates.sum(dim=1, keepdim=True))


def test_proden_reuses_logits_and_rc_recomputes_them():
    record = records("rc")[0].values[0]
    new = torch.nn.Linear(1, len(record["logits"][0])).double()
    for name, expected in (("proden", "logits"), ("rc", None)):
        method, logits, batch = prepared_for_record(name, record)
        batch = Batch(torch.ones(len(logits), 1).double(), batch.excluded, batch.index)
        method.loss(logits, batch)
        method.after_step(new, batch)
        seen = logits.detach() if expected else new(batch.inputs).detach()
        torch.testing.assert_close(method.confidence, method.updated_confidence(seen, method.candidates))


@pytest.mark.parametrize("record", records("cavl"))
def test_cavl_never_chooses_an_excluded_class(record):
    _, excluded, _ = tensors(record)
    chosen = most_active_candidate(double(record["params"]["post_logits"]), excluded == 0)
    assert (chosen * excluded).sum() == 0


@pytest.mark.parametrize("record", records("idgp"))
def test_idgp_matches_golden_records(record):
    logits, excluded, _ = tensors(record)
    params = record["params"]
    logits_g = double(params["g_logits"]).requires_grad_(True)
    terms = idgp_terms(
        logits, logits_g, double(params["d"]), double(params["b"]), excluded == 0, params["T1"], params["T2"]
    )
    parts = record["parts"]
    expected = [parts[name] for name in ("L_f", "L_fg", "KLf", "L_g", "L_gf", "KLg")]
    assert [term.item() for term in terms] == pytest.approx(expected, abs=1e-9)
    loss_f = terms.f + terms.f_given_g + params["lam"] * terms.kl_f
    loss_g = terms.g + terms.g_given_f + params["lam"] * terms.kl_g
    (loss_f + loss_g).backward()
    assert loss_f.item() == pytest.approx(record["loss"], abs=1e-9)
    assert loss_g.item() == pytest.approx(record["loss_g"], abs=1e-9)
    torch.testing.assert_close(logits.grad, double(record["grad"]), **EXACT)
    torch.testing.assert_close(logits_g.grad, double(record["grad_g"]), **EXACT)

    method, _, batch = prepared_for_record("idgp", record)
    method._step_logits = logits.detach(), logits_g.detach()
    method.after_step(torch.nn.Identity(), batch)
    torch.testing.assert_close(method.confidence, double(record["d_out"]), **EXACT)
    torch.testing.assert_close(method.belief, double(record["b_out"]), **EXACT)


@pytest.mark.parametrize("record", records("pop_purify"))
def test_pop_purification_matches_golden_records(record):
    params, value = record["params"], record["value"]
    candidates, confidence, theta = purify(
        double(params["history_mean"]), double(params["candidates"]) > 0, params["theta"], params["inc"]
    )
    assert candidates.double().tolist() == value["candidates"]
    torch.testing.assert_close(confidence, double(value["confidence"]), **EXACT)
    assert theta == pytest.approx(value["theta"])
