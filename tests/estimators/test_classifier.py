"""`ScarceClassifier`: features, labels, priors, settings and errors."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from torch import nn

from scarce import ComplementaryLabels, ScarceClassifier
from scarce.errors import (
    DivergedError,
    FeatureError,
    LabelError,
    MethodError,
    PriorError,
    PriorWarning,
    ScarceError,
)
from scarce.methods import make_method
from scarce.metrics import complementary_accuracy
from scarce.priors import BestBin, Tice
from scarce.simulate import ask, scar, uniform
from scarce.testing import three_blobs
from scarce.training import Recipe

QUICK = {"module": "linear", "priors": "uniform", "epochs": 40, "learning_rate": 0.03}


@pytest.fixture(scope="module")
def blobs():
    return three_blobs()


@pytest.fixture(scope="module")
def digits():
    images, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))  # the digits are ordered by writer
    return (images.reshape(-1, 8, 8) / 16)[order], y[order]


class NeverCalledEstimator(BestBin):
    """An estimator that must not be called."""

    def estimate(self, *_, **__):
        raise AssertionError("priors were estimated")


def test_classifier_agrees_for_sparse_and_dense_features(blobs):
    X, _, labels = blobs
    dense = ScarceClassifier(**QUICK).fit(X, labels)
    thin = ScarceClassifier(**QUICK).fit(sparse.csr_matrix(X), labels)
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_matrix(X)), dense.predict_proba(X), atol=1e-5)


def test_classifier_keeps_feature_names_of_data_frame(blobs):
    X, y, labels = blobs
    frame = pd.DataFrame(X, columns=["width", "height"])
    classifier = ScarceClassifier(**QUICK).fit(frame, labels)
    assert classifier.feature_names_in_.tolist() == ["width", "height"]
    assert classifier.score(frame, y) > 0.9
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(frame[["height", "width"]])


def test_classifier_takes_feature_names_of_array(blobs):
    X, _, labels = blobs
    classifier = ScarceClassifier("scarce", **QUICK).fit(X, labels, feature_names=["width", "height"])
    assert classifier.feature_names_in_.tolist() == ["width", "height"]
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(pd.DataFrame(X, columns=["height", "width"]))
    with pytest.raises(FeatureError, match="feature_names has 3 names, and X has 2 columns"):
        classifier.fit(X, labels, feature_names=["a", "b", "c"])
    assert classifier.feature_names_in_.tolist() == ["width", "height"]
    assert not hasattr(classifier.fit(X, labels), "feature_names_in_")


@pytest.mark.parametrize(
    ("params", "source"),
    [
        ({"method": "scarce", "priors": "uniform"}, "uniform"),
        ({"method": "auto", "priors": [0.3, 0.3, 0.4]}, "given"),
        ({"method": "scarce"}, None),
        ({"method": "auto", "priors": "best-bin"}, None),
        ({"method": "refine"}, None),
        ({"method": "auto"}, None),
    ],
)
def test_describe_has_priors_that_are_known_before_training(blobs, params, source):
    _, _, labels = blobs
    known = ScarceClassifier(**params).describe(labels)
    assert known.labels == labels.summary()
    assert (known.priors and known.priors.source) == source


def test_describe_reads_priors_from_answers_unless_learned(blobs):
    _, y, _ = blobs
    labels = ask(y, questions=2, seed=0)
    assert ScarceClassifier("scarce").describe(labels).priors.source == "answers"
    assert ScarceClassifier("answers").describe(labels).priors is None


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        (
            {"method": "scarce", "method_params": {"loss": "squared"}},
            MethodError,
            "loss='squared' is unknown",
        ),
        ({"method": "forward"}, MethodError, "forward needs a transition matrix"),
        ({"priors": [0.5, 0.6, 0.2]}, PriorError, "the priors sum to 1.3"),
    ],
)
def test_describe_rejects_what_fit_rejects(blobs, params, error, message):
    X, _, labels = blobs
    for call in (lambda c: c.describe(labels), lambda c: c.fit(X, labels)):
        with pytest.raises(error, match=message):
            call(ScarceClassifier(**params))


def test_classifier_scales_byte_images_but_not_float_images(digits):
    images, y = digits
    labels = uniform(y, seed=0)
    floats = ScarceClassifier(priors="uniform", epochs=3).fit(
        (images * 255).astype(np.uint8) / np.float32(255), labels
    )
    bytes_ = ScarceClassifier(priors="uniform", epochs=3).fit((images * 255).astype(np.uint8), labels)
    assert torch.allclose(
        floats.logits(images.astype(np.float32)), bytes_.logits(images.astype(np.float32)), atol=1e-4
    )


@pytest.mark.parametrize("shape", [(28, 28), (1, 28, 28), (3, 32, 32)])
def test_lenet_accepts_images_with_and_without_channels(shape):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (40, *shape), dtype=np.uint8)
    classifier = ScarceClassifier(priors="uniform", module="lenet", epochs=1).fit(
        X, uniform(np.arange(40) % 4, seed=0)
    )
    assert classifier.predict_proba(X).shape == (40, 4)


@pytest.mark.slow
def test_classifier_learns_digits_and_estimates_its_accuracy(digits):
    images, y = digits
    train, test = np.arange(0, 1200), np.arange(1200, len(y))
    labels = scar(y[train], rates=0.5, seed=0)
    classifier = ScarceClassifier(priors="uniform", epochs=60).fit(images[train], labels)
    truth = classifier.score(images[test], y[test])
    assert truth > 0.85
    estimate = complementary_accuracy(
        classifier.predict(images[test]), scar(y[test], rates=0.5, seed=1), classifier.priors_
    )
    assert abs(estimate.value - truth) < 2 * estimate.standard_error


def test_classifier_trains_small_data_for_a_thousand_steps(blobs):
    X, _, labels = blobs
    assert (
        len(ScarceClassifier(priors="uniform", module="linear", batch_size=100).fit(X, labels).history_)
        == 334
    )
    assert len(ScarceClassifier(priors="uniform", module="linear", epochs=5).fit(X, labels).history_) == 5


def test_classifier_accepts_module_and_factory(blobs):
    X, y, labels = blobs
    module = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 3))
    before = module[0].weight.detach().clone()
    classifier = ScarceClassifier(priors="uniform", module=module, epochs=60, learning_rate=0.02).fit(
        X, labels
    )
    assert classifier.score(X, y) > 0.9
    assert torch.equal(module[0].weight, before)
    made = ScarceClassifier(
        priors="uniform", module=lambda shape, q: nn.Linear(*shape, q), epochs=60, learning_rate=0.03
    )
    assert made.fit(X, labels).score(X, y) > 0.9


def test_classifier_accepts_method_instance(blobs):
    X, y, labels = blobs
    classifier = ScarceClassifier(method=make_method("scarce-cce"), **QUICK).fit(X, labels)
    assert classifier.score(X, y) > 0.9
    with pytest.raises(MethodError, match="method_params is set, but method is a Method"):
        ScarceClassifier(method=make_method("scarce"), method_params={"form": "ht"}, **QUICK).fit(X, labels)


def test_classifier_accepts_priors_in_every_form(blobs):
    X, y, labels = blobs

    def fitted(target, priors):
        return ScarceClassifier("scarce", **{**QUICK, "priors": priors}).fit(X, target)

    assert fitted(labels, {"cat": 0.2, "ant": 0.5, "bee": 0.3}).priors_.tolist() == [0.5, 0.3, 0.2]
    answered = fitted(ask(y, questions=2, seed=0), "estimate")
    assert answered.prior_estimate_.source == "answers"
    assert answered.priors_ == pytest.approx([1 / 3] * 3, abs=0.1)
    assert fitted(labels, "uniform").prior_estimate_.source == "uniform"
    assert ScarceClassifier().get_params()["priors"] == "estimate"


@pytest.mark.parametrize("priors", ["estimate", "best-bin", BestBin(scorer="linear"), Tice()])
def test_classifier_estimates_unequal_priors(priors):
    rng = np.random.default_rng(0)
    y = rng.choice(3, 900, p=[0.15, 0.25, 0.6])
    X = 4 * np.eye(3)[y] + rng.normal(size=(900, 3))
    estimate = ScarceClassifier(**{**QUICK, "priors": priors}).fit(X, scar(y, c=0.5)).prior_estimate_
    assert estimate.source.split(",")[0] == ("tice" if isinstance(priors, Tice) else "best-bin")
    assert ("shrunk towards uniform" in estimate.source) == (priors == "estimate")
    assert estimate.values == pytest.approx([0.15, 0.25, 0.6], abs=0.12 if isinstance(priors, Tice) else 0.04)


@pytest.mark.parametrize("priors", ["estimate", BestBin()])
def test_classifier_falls_back_to_candidate_shares_with_warning(blobs, priors):
    X, y, _ = blobs
    few = ComplementaryLabels.from_lists(
        [["bee"] if name == "ant" else ["ant"] for name in y], classes=["ant", "bee", "cat"]
    )
    with pytest.warns(
        PriorWarning,
        match=r"candidate shares are used as priors: too few of 300 examples exclude class cat, or leave it",
    ) as caught:
        classifier = ScarceClassifier(**{**QUICK, "priors": priors}).fit(X, few)
    assert len(caught) == 1
    ants = (y == "ant").mean()
    assert classifier.priors_ == pytest.approx([ants / 2, (1 - ants) / 2, 0.5])


def test_classifier_benefits_from_yes_answers(digits):
    images, y = digits
    train, test = np.arange(0, 1200), np.arange(1200, len(y))
    answers = ask(y[train], questions=1, seed=0)
    with_yes = ScarceClassifier("scarce", epochs=40).fit(images[train], answers).score(images[test], y[test])
    without = ScarceClassifier("scarce", epochs=40, method_params={"alpha": 1.0}).fit(images[train], answers)
    assert with_yes > without.score(images[test], y[test])


def test_warm_start_continues_from_last_fit(blobs):
    X, _, labels = blobs
    classifier = ScarceClassifier(
        priors="uniform", module="linear", epochs=1, learning_rate=0.01, warm_start=True
    )
    losses = [classifier.fit(X, labels).history_["loss"][0] for _ in range(10)]
    assert losses[-1] < losses[0]
    cold = ScarceClassifier(priors="uniform", module="linear", epochs=1, learning_rate=0.01)
    assert cold.fit(X, labels).history_["loss"] == cold.fit(X, labels).history_["loss"]
    with pytest.raises(MethodError, match="warm_start=True needs the same input shape and classes"):
        classifier.fit(X[:, :1], labels)


def test_classifier_resumes_from_checkpoint(blobs, tmp_path):
    X, _, labels = blobs
    path = tmp_path / "run.safetensors"
    whole = ScarceClassifier(**QUICK).fit(X, labels)
    ScarceClassifier(**QUICK, checkpoint=path).fit(X, labels)
    again = ScarceClassifier(**QUICK, checkpoint=path).fit(X, labels)
    assert torch.equal(again.logits(X), whole.logits(X))
    with pytest.raises(ScarceError, match="belongs to another run: its epochs is 40, not 3"):
        ScarceClassifier(**{**QUICK, "epochs": 3}, checkpoint=path).fit(X, labels)


def test_classifier_accepts_recipe_and_overrides(blobs):
    X, _, labels = blobs
    classifier = ScarceClassifier(
        module="linear", priors="uniform", recipe=Recipe(epochs=7, schedule="constant"), learning_rate=0.5
    )
    history = classifier.fit(X, labels).history_
    assert len(history) == 7
    assert set(history["learning_rate"]) == {0.5}
    with pytest.raises(
        MethodError, match="recipe='slow' is unknown; expected 'annealed', 'fast', 'paper' or a Recipe"
    ):
        ScarceClassifier(recipe="slow").fit(X, labels)


def test_classifier_learns_two_classes(blobs):
    X, y, _ = blobs
    chosen = y != "cat"
    labels = uniform(y[chosen], seed=0)
    classifier = ScarceClassifier(**QUICK).fit(X[chosen], labels)
    assert classifier.decision_function(X).shape == (len(X),)
    assert classifier.score(X[chosen], y[chosen]) > 0.95


def features_with(place, value):
    X, _, _ = three_blobs()
    X = X.astype(float)
    X[place] = value
    return X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (features_with((4, 1), np.nan), r"X contains NaN at row 4, column 1 \(1 in all\)"),
        (features_with((4, 1), -np.inf), r"X contains inf at row 4, column 1"),
        (features_with((2, 0), 1e300), r"too large for float32 at row 2, column 0"),
        (sparse.csr_matrix(features_with((2, 0), np.nan)), r"X contains NaN at row 2, column 0"),
        (features_with((0, 0), 1)[:-3], r"X has 297 rows and y has 300"),
        (features_with((0, 0), 1)[:0], r"0 sample"),
        (np.zeros((300, 1, 1, 1, 1)), r"expected a table"),
        (np.full((300, 4, 4), np.nan), r"X contains NaN at row 0, position \(0, 0\)"),
    ],
)
def test_classifier_rejects_invalid_features(blobs, X, message):
    with pytest.raises(ValueError, match=message):
        ScarceClassifier(priors="uniform", epochs=1).fit(X, blobs[2])


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"priors": [0.5, 0.5, 0.5]}, PriorError, "the priors sum to 1.5; expected 1"),
        ({"priors": [1.2, -0.1, -0.1]}, PriorError, "the prior of class bee is -0.1"),
        ({"priors": ["a", "b", "c"]}, PriorError, "expected 3 numbers"),
        ({"priors": [0.9, 0.05, 0.05]}, PriorError, r"class ant is excluded by 0\.\d+ .* leaves only 0.100"),
        ({"priors": "answers"}, PriorError, "needs labels made from answers"),
        ({"method": "magic"}, MethodError, "method='magic' is unknown; expected 'scarce', "),
        ({"method_params": {"speed": 9}}, MethodError, "scarce has no parameter 'speed'; it takes loss"),
        ({"module": "vgg"}, MethodError, "model='vgg' is unknown; expected 'linear', "),
        ({"module": "lenet"}, MethodError, "lenet takes images"),
        ({"labels": "negative"}, MethodError, "labels='negative' is unknown"),
        ({"epochs": 0}, MethodError, "epochs=0; expected a whole number from 1 to "),
        ({"early_stopping": True, "validation_fraction": 1.5}, MethodError, "validation_fraction=1.5"),
    ],
)
def test_classifier_rejects_invalid_settings(blobs, params, error, message):
    X, _, labels = blobs
    with pytest.raises(error, match=message):
        ScarceClassifier(**{"priors": "uniform", "epochs": 1, **params}).fit(X, labels)


def test_classifier_rejects_empty_labels(blobs):
    nothing = ComplementaryLabels.from_lists([[]] * 300, classes=3)
    with pytest.raises(MethodError, match="scarce has nothing to learn from"):
        ScarceClassifier(priors="uniform", epochs=1).fit(blobs[0], nothing)


def test_ordinary_mode_rejects_single_class(blobs):
    X, _, _ = blobs
    with pytest.raises(LabelError, match="only one class, 3"):
        ScarceClassifier(labels="ordinary").fit(X, np.full(len(X), 3))


def test_predict_rejects_wrong_width(blobs, digits):
    X, _, labels = blobs
    classifier = ScarceClassifier(**QUICK).fit(X, labels)
    with pytest.raises(ValueError, match="X has 1 features, but ScarceClassifier is expecting 2"):
        classifier.predict(X[:, :1])
    images, y = digits
    seen = ScarceClassifier(priors="uniform", epochs=1).fit(images, uniform(y, seed=0))
    with pytest.raises(ValueError, match=r"inputs of shape \(8, 7\), but the model was fitted on \(8, 8\)"):
        seen.predict(images[:, :, :7])


def test_classifier_learns_from_all_but_one_class_excluded(blobs):
    X, y, labels = blobs
    everything = ComplementaryLabels.from_indicator(y[:, None] != labels.classes, labels.classes)
    assert ScarceClassifier(**QUICK).fit(X, everything).score(X, y) > 0.95


def test_failed_fit_keeps_earlier_fit(blobs):
    X, _, labels = blobs
    classifier = ScarceClassifier(**QUICK).fit(X, labels)
    before = classifier.predict_proba(X)
    with pytest.raises(PriorError):
        classifier.set_params(priors=[1, 1, 1]).fit(np.hstack([X, X]), labels)
    np.testing.assert_array_equal(classifier.predict_proba(X), before)


def test_diverged_warm_start_keeps_earlier_weights(blobs):
    X, _, labels = blobs
    classifier = ScarceClassifier(**QUICK, warm_start=True, standardize=False).fit(X, labels)
    before = classifier.predict_proba(X)
    classifier.set_params(
        method_params={"loss": "square"}, learning_rate=1e30, recipe=Recipe(optimizer="sgd")
    )
    with pytest.raises(DivergedError):
        classifier.fit(X, labels)
    np.testing.assert_array_equal(classifier.predict_proba(X), before)


def test_score_before_fit_raises_not_fitted_error(blobs):
    X, y, labels = blobs
    for target in (y, labels):
        with pytest.raises(NotFittedError):
            ScarceClassifier().score(X, target)


@pytest.mark.parametrize("recipe", ["slow", None, 3])
def test_classifier_rejects_unknown_recipe(blobs, recipe):
    X, _, labels = blobs
    with pytest.raises(
        MethodError, match=f"recipe={recipe!r} is unknown; expected 'annealed', 'fast', 'paper' or a Recipe"
    ):
        ScarceClassifier(recipe=recipe).fit(X, labels)


def test_classifier_takes_class_names_from_columns_of_exclusions(blobs):
    X, _, labels = blobs
    table = pd.DataFrame(labels.indicator(dtype=int), columns=["u", "v", "w"])
    assert ScarceClassifier(**QUICK).fit(X, table).classes_.tolist() == ["u", "v", "w"]
    numbered = pd.DataFrame(labels.indicator(dtype=int))
    assert ScarceClassifier(**QUICK).fit(X, numbered).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"method_params": ["loss"]}, "expected a mapping"),
        ({"method_params": {1: 2}}, "expected a mapping"),
        ({"module": 3}, "pass a name such as 'mlp'"),
        ({"early_stopping": True, "validation_fraction": "x"}, "expected a number above 0 and below 1"),
        ({"early_stopping": True, "patience": None}, "expected a whole number of at least 1"),
        ({"early_stopping": True, "patience": 1.5}, "expected a whole number of at least 1"),
    ],
)
def test_classifier_rejects_settings_of_wrong_type(blobs, settings, says):
    X, _, labels = blobs
    with pytest.raises(MethodError, match=says):
        ScarceClassifier(**{**QUICK, **settings}).fit(X, labels)


def test_classifier_rejects_images_without_pixels():
    labels = ComplementaryLabels.from_single([0, 1], classes=[0, 1])
    with pytest.raises(ScarceError, match=r"shape \(2, 0, 8\)"):
        ScarceClassifier("scarce", priors="uniform", epochs=1).fit(np.zeros((2, 0, 8)), labels)


def test_classifier_accepts_half_precision_and_tensors_with_gradient(blobs):
    X, _, labels = blobs
    clf = ScarceClassifier(**QUICK).fit(X.astype(np.float16), labels)
    tensor = torch.tensor(X, requires_grad=True)
    np.testing.assert_array_equal(clf.predict(tensor), clf.predict(X))


def test_predict_rejects_images_of_other_type_than_fitted(digits):
    images, y = digits
    labels = uniform(y, seed=0)
    as_bytes = (images * 255).astype(np.uint8)
    on_bytes = ScarceClassifier(priors="uniform", epochs=1).fit(as_bytes, labels)
    on_floats = ScarceClassifier(priors="uniform", epochs=1).fit(images, labels)
    with pytest.raises(FeatureError, match=r"fitted on uint8 images.* up to 255: pass them as uint8"):
        on_bytes.predict(as_bytes.astype(float))
    with pytest.raises(FeatureError, match="fitted on float images, and these are uint8"):
        on_floats.predict(as_bytes)
    assert (on_bytes.predict(as_bytes / 255) == on_bytes.predict(as_bytes)).all()


def test_classifier_accepts_augmentation(digits):
    images, y = digits
    labels = uniform(y, seed=0)
    plain, moved = (
        ScarceClassifier(priors="uniform", epochs=1, augmentation=names).fit(images, labels)
        for names in (None, ["crop", "flip"])
    )
    assert not torch.equal(plain.logits(images), moved.logits(images))
    with pytest.raises(
        MethodError, match="augmentation='spin' is unknown; expected 'crop', 'flip', 'shift' or 'affine'"
    ):
        ScarceClassifier(priors="uniform", epochs=1, augmentation=("spin",)).fit(images, labels)


def test_classifier_rejects_masked_arrays(blobs):
    X, _, labels = blobs
    with pytest.raises(FeatureError, match="masked array"):
        ScarceClassifier(priors="uniform", epochs=1).fit(np.ma.masked_greater(X, 3), labels)


def test_classifier_rejects_unknown_device(blobs):
    X, _, labels = blobs
    with pytest.raises(
        MethodError, match=r"device='bogus' cannot be used: .*; try device='cpu' \(--device\)"
    ):
        ScarceClassifier(priors="uniform", epochs=1, device="bogus").fit(X, labels)


@pytest.mark.parametrize(
    ("method", "several", "message"),
    [
        ("answers", False, "answers needs a table of answers"),
        ("nn", True, "nn takes one excluded class per example"),
        (make_method("refine", base_method="nn"), True, "nn takes one excluded class per example"),
    ],
)
def test_unsuitable_labels_are_rejected_before_priors_are_estimated(blobs, method, several, message):
    X, y, labels = blobs
    if several:
        labels = scar(y, c=0.7, seed=0)
    with pytest.raises(MethodError, match=message):
        ScarceClassifier(method, **{**QUICK, "priors": NeverCalledEstimator()}).fit(X, labels)
    with pytest.raises(AssertionError, match="priors were estimated"):
        ScarceClassifier("scarce", **{**QUICK, "priors": NeverCalledEstimator()}).fit(X, labels)


@pytest.mark.parametrize("unit", ["datetime64[s]", "timedelta64[D]"])
def test_fit_rejects_dates(blobs, unit):
    X, _, labels = blobs
    dates = np.round(X).astype(np.int64).astype(unit)
    dates[0, 0] = "NaT"
    with pytest.raises(FeatureError, match="expected numbers: encode them"):
        ScarceClassifier(**QUICK).fit(dates, labels)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, pd.DataFrame])
def test_fit_rejects_features_that_never_vary(blobs, convert):
    _, _, labels = blobs
    X = np.tile([1.0, 0.0], (len(labels), 1))
    with pytest.raises(FeatureError, match=r"X has 300 equal rows .* so there is nothing to learn"):
        ScarceClassifier(**QUICK).fit(convert(X), labels)
    X[-1, 1] = 1
    ScarceClassifier("scarce", **QUICK | {"epochs": 1}).fit(convert(X), labels)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_prediction_that_overflows_names_row_and_column(blobs, method):
    X, _, labels = blobs
    classifier = ScarceClassifier("scarce", **QUICK | {"epochs": 1}).fit(X * 1e-6, labels)
    rows = np.tile(X[:1], (1500, 1))
    rows[1200, 1] = 1e38
    with pytest.raises(
        FeatureError, match=r"row 1200 has no finite prediction: column 1 is 1e\+38, too far from"
    ):
        getattr(classifier, method)(rows)
    for features in (sparse.csr_matrix(rows), pd.DataFrame(rows)):
        with pytest.raises(FeatureError, match="row 1200 has no finite prediction: column 1"):
            getattr(classifier, method)(features)
