"""Wrong arguments of the losses: what was found, what was expected, and the fix."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from scarce import functional as F  # noqa: N812
from scarce.errors import LabelError, MethodError, PriorError

LOGITS, EXCLUDED = torch.zeros(2, 3), torch.tensor([[1, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("logits", "excluded", "error", "message"),
    [
        (torch.zeros(3), EXCLUDED, MethodError, r"logits has shape \(3,\); expected a tensor of shape \(n, q\)"),
        (torch.zeros(2, 1), EXCLUDED, MethodError, "q ≥ 2 classes"),
        (torch.zeros(0, 3), EXCLUDED, MethodError, r"logits has shape \(0, 3\)"),
        ([[0.0, 1.0]], EXCLUDED, MethodError, "logits has type list; expected a tensor"),
        (torch.zeros(2, 3).int(), EXCLUDED, MethodError, r"dtype torch.int32; expected a float: .*float\(\)"),
        (LOGITS, EXCLUDED[:1], LabelError, r"excluded has shape \(1, 3\); expected a tensor of shape \(2, 3\) like logits"),
        (LOGITS, EXCLUDED[:, :2], LabelError, r"excluded has shape \(2, 2\)"),
        (LOGITS, torch.tensor([0, 1]), LabelError, r"excluded has shape \(2,\)"),
        (LOGITS, np.zeros((2, 3)), LabelError, "excluded has type ndarray"),
        (LOGITS, EXCLUDED * 2, LabelError, "excluded holds 2; expected True and False, or 1 and 0"),
        (LOGITS, EXCLUDED * float("nan"), LabelError, "excluded holds nan"),
        (LOGITS, torch.tensor([[0, 1, 0], [1, 1, 1]]), LabelError, r"row 1 excludes every class; .* set excluded\[1, k\] = False"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("function", [F.cc_loss, F.elkan_noto_loss, F.pc_loss])
def test_wrong_rows_raise_error(function, logits, excluded, error, message):
    with pytest.raises(error, match=message):
        function(logits, excluded)


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.5], r"priors has shape \(2,\); expected 3 numbers, one per class"),
        ([0.5, 0.5, 0.5], "the priors sum to 1.5; expected 1"),
        ([1.5, -0.5, 0.0], "the prior of class 1 is -0.5"),
    ],
)
@pytest.mark.parametrize(
    "function",
    [
        F.scarce_risk,
        F.multiclass_scarce_risk,
        F.upu_risk,
        F.nnpu_risk,
        F.dist_pu_loss,
    ],
)
def test_wrong_priors_raise_error(function, priors, message):
    with pytest.raises(PriorError, match=message):
        function(LOGITS, EXCLUDED, priors=priors)


THIRDS = [1 / 3] * 3


@pytest.mark.parametrize(
    ("function", "given", "error", "message"),
    [
        (F.scarce_risk, {"priors": THIRDS, "loss": "log"}, MethodError, "loss='log' is unknown"),
        (F.scarce_risk, {"priors": THIRDS, "correction": "max"}, MethodError, "correction='max' is unknown"),
        (F.scarce_risk, {"priors": THIRDS, "form": "ht"}, MethodError, "pass rates=labels.rates"),
        (F.scarce_risk, {"priors": THIRDS, "confirmed": torch.tensor([0, -1])}, MethodError,
         r"pass confirmation_weights=scarce.risk.confirmation_weights\(labels\)"),
        (F.scarce_risk, {"priors": THIRDS, "confirmed": torch.tensor([0, -1]), "confirmation_weights": [1, 2]}, MethodError,
         "expected 3 numbers of at least 0"),
        (F.pc_loss, {"variant": "biased"}, MethodError, "variant='biased' is unknown"),
        (F.free_risk, {"rates": [0.5, 0.5]}, MethodError, r"rates has shape \(2,\); expected \(3,\)"),
        (F.nn_risk, {"rates": [2.0, 0.0, 0.0]}, MethodError, "rates holds 2; expected probabilities"),
        (F.nn_risk, {"rates": THIRDS, "beta": -1}, MethodError, "beta=-1"),
        (F.ga_risk, {"rates": [0.0, 0.0, 0.0]}, MethodError, "rates are all 0"),
        (F.ga_risk, {"rates": THIRDS, "ascent": "up"}, MethodError, "ascent='up' is unknown"),
        (F.ga_risk, {"rates": "many"}, MethodError, "rates='many'; expected numbers"),
        (F.forward_loss, {"transition": np.eye(2)}, MethodError, r"transition has shape \(2, 2\); expected \(3, 3\): pass one row"),
        (F.forward_loss, {"transition": np.eye(3)}, MethodError, "excludes the true class most often"),
        (F.cpe_loss, {"transition": torch.ones(2, 3, requires_grad=True)}, MethodError,
         r"transition has shape \(2, 3\); expected \(3, 3\)"),
        (F.multiple_label_bound, {"kind": "mae"}, MethodError, "kind='mae' is unknown"),
        (F.cc_loss, {"confirmed": torch.tensor([0])}, LabelError, r"confirmed has shape \(1,\); expected a tensor of shape \(2,\)"),
        (F.cc_loss, {"confirmed": torch.tensor([0.0, 1.0])}, LabelError, "dtype torch.float32; expected integers"),
        (F.cc_loss, {"confirmed": torch.tensor([0, 3])}, LabelError, "confirmed ranges from 0 to 3; expected −1 to 2"),
        (F.rc_loss, {"confidence": torch.ones(2, 3)}, MethodError, "above 0 for a class that is excluded, or .*; expected 0"),
        (F.rc_loss, {"confidence": torch.ones(5, 3)}, MethodError, r"pass confidence\[index\]"),
        (F.lws_loss, {"weights": -torch.ones(2, 3)}, MethodError, "weights holds a negative or missing number"),
        (F.lws_loss, {"psi": "hinge"}, MethodError, "psi='hinge' is unknown"),
        (F.upu_risk, {"priors": THIRDS, "unlabeled": "rest"}, MethodError, "unlabeled='rest' needs the rates"),
        (F.vpu_loss, {"unlabeled": "none"}, MethodError, "unlabeled='none' is unknown"),
        (F.dist_pu_loss, {"priors": THIRDS, "weight": -1.0}, MethodError, "weight=-1.0"),
        (F.cvir_loss, {"kept": torch.ones(2)}, MethodError, r"kept has shape \(2,\)"),
        (F.scar_nll, {"priors": THIRDS, "rates": THIRDS, "error_rate": [0.1, 0.2]}, MethodError, "error_rate has shape"),
        (F.class_conditional_nll, {"exclusion_matrix": 2 * np.eye(3)}, MethodError, "exclusion_matrix holds 2"),
        (F.answers_nll, {"asked": torch.zeros(2, 3)}, LabelError, "a class that was not asked about"),
        (F.answers_nll, {"asked": torch.zeros(2)}, LabelError, r"asked has shape \(2,\); expected a tensor of shape \(2, 3\)"),
    ],
)  # fmt: skip
def test_wrong_arguments_raise_error(function, given, error, message):
    with pytest.raises(error, match=message):
        function(LOGITS, EXCLUDED, **given)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (F.single_label_nll, {"transition": (1 - np.eye(3)) / 2}),
        (F.scar_nll, {"priors": THIRDS, "rates": THIRDS, "single_label": True}),
        (F.least_excluded_nll, {"single_label": True}),
    ],
)
def test_likelihood_of_single_labels_rejects_several(function, given):
    with pytest.raises(LabelError, match="row 1 excludes 2 classes; expected at most one"):
        function(LOGITS, torch.tensor([[1, 0, 0], [0, 1, 1]]), **given)


def test_functional_is_an_attribute_of_scarce_and_loads_torch_on_first_use():
    program = (
        "import sys, scarce\n"
        "assert 'torch' not in sys.modules and 'functional' in dir(scarce)\n"
        "assert scarce.functional.scarce_risk.__name__ == 'scarce_risk'\n"
        "assert 'torch' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
