"""Every function of `scarce.functional` beside the method whose loss it is, and random data for both."""

import warnings
from collections import namedtuple

import numpy as np
import torch
from helpers.methods import batch_of, double

from scarce import functional as F  # noqa: N812
from scarce.labels import ComplementaryLabels
from scarce.labels._single_label import is_single_label
from scarce.methods import Problem, make_method
from scarce.methods._labeling import labeled_rates
from scarce.models import make_model
from scarce.risk import confirmation_weights

Data = namedtuple("Data", "labels batch priors rates transition answers")
"""All labels, the batch of their first rows, and what functions may be given besides."""


def data_of(excluded, q, n_rows, seed=0, transition=None):
    """The labels of these rows, followed by one row that excludes each class, and a batch of the first `n_rows`."""
    rng = np.random.default_rng(seed)
    rows = [*excluded, *([k] for k in range(q))]
    answers = np.full((len(rows), q), np.nan)
    for row, classes in zip(answers, rows, strict=True):
        row[classes] = 0
    return data_of_answers(answers, n_rows, rng, transition)


def data_of_answers(answers, n_rows, rng, transition=None):
    q = answers.shape[1]
    labels = ComplementaryLabels.from_answer_matrix(answers)
    priors = rng.dirichlet(np.full(q, 3.0))
    if transition is None:
        transition = (1 - np.eye(q)) / (q - 1)
    batch = batch_of(labels, range(n_rows))
    return Data(labels, batch, priors, labels.rates, np.asarray(transition), answers)


def prepared(name, data, **params):
    q = data.labels.n_classes
    method = make_method(name, **params)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*exclude no class")
        method.prepare(
            Problem(
                data.labels,
                double(data.priors),
                double(data.transition),
                lambda: make_model("linear", (q,), q),
            )
        )
    return method.double()


def from_method(name, **params):
    def loss(logits, data):
        return prepared(name, data, **params).loss(logits, data.batch)

    return loss


def with_state(name, buffer, values, **params):
    """The method with another value of a buffer, of the rows of the data."""

    def loss(logits, data):
        method = prepared(name, data, **params)
        setattr(method, buffer, values(data))
        return method.loss(logits, data.batch)

    return loss


def refine_in_a_round(matrix):
    def loss(logits, data):
        method = prepared("refine", data)
        method.stage.fill_(1)
        method.exclusion_matrix = double(matrix(data))
        return method.loss(logits, data.batch)

    return loss


def candidates_of(data):
    """The candidates of all rows."""
    candidates = torch.from_numpy(data.labels.indicator() == 0)
    for row, known in enumerate(data.labels.confirmed):
        if known >= 0:
            candidates[row] = torch.arange(candidates.shape[1]) == known
    return candidates


def some_confidence(data):
    weights = candidates_of(data) * torch.linspace(0.3, 1.7, candidates_of(data).numel()).double().reshape(
        candidates_of(data).shape
    )
    return weights / weights.sum(dim=1, keepdim=True)


def some_weights(data):
    return torch.linspace(0, 2, candidates_of(data).numel()).double().reshape(candidates_of(data).shape)


def some_rows(data):
    return some_weights(data).frac() > 0.3


def in_batch(values, data):
    return values[: len(data.batch.excluded)]


def exclusion_matrix(data):
    q = len(data.priors)
    return np.linspace(0.1, 0.6, q * q).reshape(q, q)


def call(function, *names, **params):
    """The function with some of the data as keywords."""

    def loss(logits, data):
        given = {name: getattr(data, name) for name in names if name != "confirmed"}
        if "confirmed" in names:
            given["confirmed"] = data.batch.confirmed
        return function(logits, data.batch.excluded, **given, **params)

    return loss


def scarce_call(function, **params):
    def loss(logits, data):
        known = data.batch.confirmed
        extra = (
            {}
            if known is None
            else {"confirmed": known, "confirmation_weights": confirmation_weights(data.labels)}
        )
        return function(logits, data.batch.excluded, priors=data.priors, rates=data.rates, **extra, **params)

    return loss


def cpe_of_weights(logits, data):
    weights = (double(data.transition) + 1e-3).log().requires_grad_()
    return F.cpe_loss(logits, data.batch.excluded, transition=weights.softmax(dim=1))


def rc_call(logits, data):
    return F.rc_loss(
        logits,
        data.batch.excluded,
        confidence=in_batch(some_confidence(data), data),
        confirmed=data.batch.confirmed,
    )


def lws_call(logits, data):
    return F.lws_loss(
        logits,
        data.batch.excluded,
        weights=in_batch(some_weights(data), data),
        beta=2.0,
        psi="cross-entropy",
        confirmed=data.batch.confirmed,
    )


def cvir_call(logits, data):
    return F.cvir_loss(logits, data.batch.excluded, kept=in_batch(some_rows(data), data))


def scar_call(error_rate):
    def loss(logits, data):
        single_label = is_single_label(data.labels)
        return F.scar_nll(
            logits,
            data.batch.excluded,
            priors=data.priors,
            rates=labeled_rates(data.labels, single_label),
            error_rate=error_rate,
            single_label=single_label,
            confirmed=data.batch.confirmed,
        )

    return loss


def least_excluded_call(logits, data):
    return F.least_excluded_nll(
        logits,
        data.batch.excluded,
        single_label=is_single_label(data.labels),
        confirmed=data.batch.confirmed,
    )


def conditional_call(logits, data):
    return F.class_conditional_nll(
        logits,
        data.batch.excluded,
        exclusion_matrix=exclusion_matrix(data),
        confirmed=data.batch.confirmed,
    )


def answers_call(logits, data):
    return F.answers_nll(
        logits,
        data.batch.excluded,
        asked=torch.from_numpy(in_batch(~np.isnan(data.answers), data)),
        false_negative_rate=0.1,
        false_positive_rate=0.05,
        confirmed=data.batch.confirmed,
    )


# Of each case: the function and the method. Where a function has parameters, one case is at the defaults of both.
CASES = {
    "scarce_risk": (scarce_call(F.scarce_risk), from_method("scarce")),
    "scarce_risk ht": (
        scarce_call(F.scarce_risk, form="ht", correction="nnpu", loss="sigmoid", alpha=0.3),
        from_method("scarce", form="ht", correction="nnpu", loss="sigmoid", alpha=0.3),
    ),
    "scarce_risk none": (
        scarce_call(F.scarce_risk, correction="none", form="dataset"),
        from_method("scarce-ure", form="dataset"),
    ),
    "multiclass_scarce_risk": (scarce_call(F.multiclass_scarce_risk), from_method("scarce-cce")),
    "multiclass_scarce_risk gce": (
        scarce_call(F.multiclass_scarce_risk, loss="gce", correction="relu", absent="keep"),
        from_method("scarce-cce", loss="gce", correction="relu", absent="keep"),
    ),
    "pc_loss": (call(F.pc_loss), from_method("pc", pairs=True)),
    "pc_loss plain": (call(F.pc_loss, variant="plain"), from_method("pc", variant="plain", pairs=True)),
    "pc_loss official": (call(F.pc_loss, variant="official"), from_method("pc", variant="official", pairs=True)),
    "free_risk": (call(F.free_risk, "rates"), from_method("free", pairs=True)),
    "nn_risk": (call(F.nn_risk, "rates"), from_method("nn", pairs=True)),
    "nn_risk beta": (call(F.nn_risk, "rates", beta=0.1), from_method("nn", beta=0.1, pairs=True)),
    "ga_risk": (call(F.ga_risk, "rates"), from_method("ga", pairs=True)),
    "ga_risk plain": (
        call(F.ga_risk, "rates", ascent="plain", beta=0.1, gamma=0.5),
        from_method("ga", ascent="plain", beta=0.1, gamma=0.5, pairs=True),
    ),
    "discriminative_loss": (call(F.discriminative_loss), from_method("l-uw", pairs=True)),
    "discriminative_loss weighted": (
        call(F.discriminative_loss, weighted=True), from_method("l-w", pairs=True),
    ),
    "order_preserving_loss": (call(F.order_preserving_loss), from_method("op", pairs=True)),
    "order_preserving_loss weighted": (
        call(F.order_preserving_loss, weighted=True), from_method("op-w", pairs=True),
    ),
    "forward_loss": (call(F.forward_loss, "transition"), from_method("forward", pairs=True)),
    "negative_learning_loss": (call(F.negative_learning_loss), from_method("scl-nl", pairs=True)),
    "exponential_surrogate_loss": (call(F.exponential_surrogate_loss), from_method("scl-exp", pairs=True)),
    "cpe_loss": (call(F.cpe_loss), from_method("cpe-i", pairs=True)),
    "cpe_loss fixed": (call(F.cpe_loss, "transition"), from_method("cpe-f", pairs=True)),
    "cpe_loss trained": (cpe_of_weights, from_method("cpe-t", pairs=True)),
    "multiple_label_risk": (call(F.multiple_label_risk), from_method("mae")),
    "multiple_label_risk mse": (call(F.multiple_label_risk, loss="mse"), from_method("mse")),
    "multiple_label_risk gce": (call(F.multiple_label_risk, loss="gce"), from_method("gce")),
    "multiple_label_risk phuber": (call(F.multiple_label_risk, loss="phuber"), from_method("phuber-ce")),
    "multiple_label_bound": (call(F.multiple_label_bound), from_method("log")),
    "multiple_label_bound exp": (call(F.multiple_label_bound, kind="exp"), from_method("exp")),
    "cc_loss": (call(F.cc_loss, "confirmed"), from_method("cc")),
    "rc_loss": (call(F.rc_loss, "confirmed"), from_method("rc")),
    "rc_loss proden": (rc_call, with_state("proden", "confidence", some_confidence)),
    "rc_loss cavl": (rc_call, with_state("cavl", "confidence", some_confidence)),
    "rc_loss pop": (rc_call, with_state("pop", "confidence", some_confidence)),
    "lws_loss": (call(F.lws_loss, "confirmed"), from_method("lws")),
    "lws_loss weights": (
        lws_call, with_state("lws", "confidence", some_weights, beta=2.0, psi="cross-entropy"),
    ),
    "upu_risk": (call(F.upu_risk, "priors"), from_method("meta-upu")),
    "upu_risk rest": (
        call(F.upu_risk, "priors", "rates", unlabeled="rest", loss="ramp"),
        from_method("meta-upu", unlabeled="rest", loss="ramp"),
    ),
    "nnpu_risk": (call(F.nnpu_risk, "priors"), from_method("meta-nnpu")),
    "nnpu_risk rest": (
        call(F.nnpu_risk, "priors", "rates", unlabeled="rest", beta=0.1, gamma=0.5, loss="sigmoid"),
        from_method("meta-nnpu", unlabeled="rest", beta=0.1, gamma=0.5, loss="sigmoid"),
    ),
    "nnpu_risk pusb": (call(F.nnpu_risk, "priors"), from_method("meta-pusb", hold_out=0.0)),
    "vpu_loss": (call(F.vpu_loss), from_method("meta-vpu")),
    "vpu_loss rest": (call(F.vpu_loss, unlabeled="rest"), from_method("meta-vpu", unlabeled="rest")),
    "dist_pu_loss": (call(F.dist_pu_loss, "priors"), from_method("meta-dist-pu")),
    "dist_pu_loss rest": (
        call(F.dist_pu_loss, "priors", "rates", unlabeled="rest", weight=None, mu=0.1),
        from_method("meta-dist-pu", unlabeled="rest", weight=None, mu=0.1),
    ),
    "cvir_loss": (call(F.cvir_loss), from_method("meta-cvir")),
    "cvir_loss kept": (cvir_call, with_state("meta-cvir", "kept", some_rows)),
    "cvir_loss tedn": (cvir_call, with_state("meta-tedn", "kept", some_rows, hold_out=0.0)),
    "elkan_noto_loss": (call(F.elkan_noto_loss), from_method("meta-elkan-noto", hold_out=0.0)),
    "scar_nll": (scar_call(0.0), from_method("scar-likelihood")),
    "scar_nll single": (scar_call(0.1), from_method("scar-likelihood", error_rate=0.1)),
    "class_conditional_nll": (conditional_call, refine_in_a_round(exclusion_matrix)),
    "single_label_nll": (
        call(F.single_label_nll, "transition", "confirmed"), refine_in_a_round(lambda data: data.transition),
    ),
    "least_excluded_nll": (least_excluded_call, from_method("least-excluded")),
    "least_excluded_nll single": (least_excluded_call, from_method("least-excluded")),
    "answers_nll": (
        answers_call, from_method("answers", false_negative_rate=0.1, false_positive_rate=0.05),
    ),
}  # fmt: skip
SINGLE_LABEL_CASES = ("scar_nll single", "single_label_nll", "least_excluded_nll single")
CASES_WITH_CONFIRMED = [
    name for name in CASES if name not in SINGLE_LABEL_CASES and name.split()[0] in (
        "scarce_risk", "multiclass_scarce_risk", "cc_loss", "rc_loss", "lws_loss", "scar_nll",
        "class_conditional_nll", "least_excluded_nll", "answers_nll",
    )
]  # fmt: skip
