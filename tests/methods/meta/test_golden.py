"""Every reference record of the PU learners: values, classes and gradients in float64."""

import pytest
import torch
from helpers.golden import RECORDS, records, tensors
from helpers.methods import double

from scarce.methods import make_method
from scarce.methods.meta.cvir import cvir_kept
from scarce.methods.meta.dist_pu import dist_pu_losses
from scarce.methods.meta.elkan_noto import elkan_noto_losses, label_frequency
from scarce.methods.meta.nnpu import nnpu_losses
from scarce.methods.meta.pusb import pusb_thresholds
from scarce.methods.meta.upu import pu_risks
from scarce.methods.meta.vpu import log_not_k, vpu_losses
from scarce.risk._mixture_proportion import mixture_proportion, priors_from_mixture
from scarce.risk.binary_losses import balanced_logistic_losses

EXACT = {"atol": 1e-9, "rtol": 0}


def assert_matches_record(losses, g, record):
    torch.testing.assert_close(losses.detach(), double(record["per_class"]), **EXACT)
    assert losses.sum().item() == pytest.approx(record["loss"], abs=1e-9)
    losses.sum().backward()
    torch.testing.assert_close(g.grad, double(record["grad"]), **EXACT)


def predicted(g):
    return g.argmin(dim=1).tolist()


def hard():
    """Scores and exclusions of the fixture HARD."""
    record = next(r for r in RECORDS if r["method"] == "meta_upu" and r["fixture"] == "HARD")
    return tensors(record)[:2]


def test_golden_records_cover_every_learner():
    learners = ["meta_upu", "meta_nnpu", "meta_vpu", "meta_distpu", "meta_en", "meta_cvir"]
    assert [len(records(name)) for name in learners] == [15, 10, 5, 10, 5, 5]


@pytest.mark.parametrize("record", records("meta_upu"))
def test_upu_matches_golden_records(record):
    g, excluded, priors = tensors(record)
    params = record["params"]
    unlabeled = {"all": "all", "U_k": "rest"}[params["unlabeled"]]
    proportion = mixture_proportion(priors, double(params.get("pibar", [0.0] * len(priors))), unlabeled)
    if unlabeled == "rest":
        torch.testing.assert_close(proportion, double(params["positive_prior"]), **EXACT)
    else:
        assert predicted(g) == record["predict"]
    assert_matches_record(
        pu_risks(g, excluded, proportion, loss=params["loss"], unlabeled=unlabeled).total, g, record
    )


@pytest.mark.parametrize("record", records("meta_nnpu"))
def test_nnpu_matches_golden_records(record):
    g, excluded, priors = tensors(record)
    choices = {name: record["params"][name] for name in ("loss", "beta", "gamma")}
    assert_matches_record(nnpu_losses(g, excluded, 1 - priors, **choices), g, record)
    assert predicted(g) == record["predict"]


@pytest.mark.parametrize("record", records("meta_vpu"))
def test_vpu_matches_golden_records(record):
    g, excluded, _ = tensors(record)
    assert_matches_record(vpu_losses(g, excluded), g, record)


@pytest.mark.parametrize("record", records("meta_distpu"))
def test_dist_pu_matches_golden_records(record):
    g, excluded, priors = tensors(record)
    assert_matches_record(dist_pu_losses(g, excluded, 1 - priors, mu=record["params"]["mu"]), g, record)


@pytest.mark.parametrize("record", records("meta_en"))
def test_elkan_noto_matches_golden_records(record):
    g, excluded, _ = tensors(record)
    assert_matches_record(elkan_noto_losses(g, excluded), g, record)


@pytest.mark.parametrize("record", records("meta_cvir"))
def test_cvir_matches_golden_records(record):
    g, excluded, _ = tensors(record)
    kept = cvir_kept(g.detach(), excluded, double(record["params"]["alpha"]), unlabeled="rest")
    assert_matches_record(balanced_logistic_losses(g, excluded, kept.to(g)), g, record)


@pytest.mark.parametrize("record", records("meta_pusb_threshold"))
def test_pusb_thresholds_match_golden_records(record):
    g, _ = hard()
    thresholds = pusb_thresholds(g, double(record["params"]["pi"]))
    assert thresholds.tolist() == record["value"]["threshold"]
    assert predicted(g - thresholds) == record["value"]["predict"]


@pytest.mark.parametrize("record", records("meta_en_posterior"))
def test_elkan_noto_posterior_matches_golden_records(record):
    g, excluded = hard()
    frequency = label_frequency(g, excluded)
    method = make_method("meta-elkan-noto")
    method.c = frequency
    posterior = (-method.scores(-g)).exp()
    torch.testing.assert_close(frequency, double(record["value"]["c"]), **EXACT)
    torch.testing.assert_close(posterior, double(record["value"]["p_not_k"]), **EXACT)
    assert predicted(posterior) == record["value"]["predict"]


@pytest.mark.parametrize("record", records("meta_vpu_normalised"))
def test_vpu_normalization_matches_golden_records(record):
    g, _ = hard()
    normalised = log_not_k(g, torch.nn.functional.logsigmoid(g).amax(dim=0))
    torch.testing.assert_close(normalised, double(record["value"]["log_phi"]), **EXACT)
    assert predicted(normalised) == record["value"]["predict"]
    assert predicted(g) == record["value"]["predict_unnormalised"]


@pytest.mark.parametrize("record", records("prior_from_theta"))
def test_priors_from_mixture_match_golden_records(record):
    params, value = record["params"], record["value"]
    of_rest, of_all, rates = (double([params[name]]) for name in ("theta_U", "theta_X", "pibar"))
    assert priors_from_mixture(of_rest, rates, "rest").item() == pytest.approx(value["pi_from_U"])
    assert priors_from_mixture(of_all, rates, "all").item() == pytest.approx(value["pi_from_X"])
    assert priors_from_mixture(of_rest, rates, "all").item() == pytest.approx(
        value["pi_if_U_is_misread_as_X"]
    )
