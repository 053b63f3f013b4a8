"""`fit_image_stack`: accurate on easy images, reproducible, and right about which augmentations keep the classes."""

import json

import numpy as np
import pytest
import torch

from scarce import ComplementaryLabels, ScarceClassifier, load
from scarce.errors import FeatureError, LabelError, MethodError
from scarce.estimators.auto import _image_learners, fit_image_stack, images
from scarce.estimators.auto._image_learners import ImageLearner, KnownLikelihood, NetworkTrainer
from scarce.estimators.auto._network_store import networks_folder
from scarce.methods import Batch
from scarce.models import stack_from_description
from scarce.simulate import ask, from_transition, scar, uniform
from scarce.training import map_logits
from scarce.training.loop import train_checked


def bars(n, q=4, side=8, seed=0, channels=None):
    """Images with one bright column; its position, one of q, is the class."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n) % q)
    shape = (n, side, side) if channels is None else (n, channels, side, side)
    pixels = random.integers(0, 60, shape)
    columns = (np.arange(side) * q // side)[None] == y[:, None]
    pixels = pixels + 180 * columns.reshape(n, *[1] * (pixels.ndim - 2), side)
    return pixels.astype(np.uint8), y


def accuracy(result, X, y):
    predicted = map_logits(result.model, X, lambda logits: logits.argmax(dim=1)).numpy()
    return (predicted == y).mean()


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    monkeypatch.setattr(images, "_MIN_STEPS", 90)
    monkeypatch.setattr(images, "_MAX_MECHANISM_STEPS", 45)
    monkeypatch.setattr(images, "_TINY", 0)


@pytest.mark.parametrize(
    ("draw", "criterion"),
    [(uniform, "candidate-sets"), (lambda y, **_: scar(y, c=[0.2, 0.5, 0.3, 0.4]), "scar"), (ask, "answers")],
)
def test_fit_image_stack_learns_easy_classes(draw, criterion):
    X, y = bars(360)
    result = fit_image_stack(X[:240], draw(y[:240], classes=4))
    assert accuracy(result, X[240:], y[240:]) > 0.9
    choice = result.choice
    assert choice.criterion == criterion
    assert sum(one.weight for one in choice.candidates) == pytest.approx(1)
    assert not any(one.error for one in choice.candidates)
    assert len(result.rows) == len(result.held_out) == 60
    assert (result.held_out.argmax(axis=1) == y[result.rows]).mean() > 0.9
    np.testing.assert_allclose(result.held_out.sum(axis=1), 1, rtol=1e-5)


def test_fit_image_stack_rejects_flips_that_change_the_class():
    X, y = bars(480)
    choice = fit_image_stack(X, ask(y, questions=3), modules=["mlp"]).choice
    by_learner = {one.learner: one for one in choice.candidates}
    assert choice.candidates[0].learner.split()[1] in ("shift", "affine")
    (flipped,) = (one for name, one in by_learner.items() if "flip" in name)
    assert flipped.weight == 0


def test_fit_image_stack_prefers_the_usual_augmentation_in_doubt():
    X, _ = bars(40)
    labels = uniform(np.random.default_rng(1).integers(0, 4, 40), classes=4)  # nothing to learn
    choice = fit_image_stack(X, labels, modules=["mlp"]).choice
    assert choice.candidates[0].learner.startswith("mlp affine")


def test_fit_image_stack_is_reproducible_and_can_be_rebuilt():
    X, y = bars(60, side=14)
    one, two = (fit_image_stack(X, uniform(y), seed=3) for _ in range(2))
    inputs = torch.from_numpy(X[:7]) / 255.0
    assert torch.equal(one.model(inputs), two.model(inputs))
    again = stack_from_description(json.loads(json.dumps(one.model.description()))).eval()
    again.load_state_dict(one.model.state_dict())
    assert torch.equal(again(inputs), one.model(inputs))


def test_fit_image_stack_holds_rows_out_of_large_data(monkeypatch):
    monkeypatch.setattr(images, "_SMALL", 100)
    X, y = bars(240)
    result = fit_image_stack(X, uniform(y), modules=["mlp"])
    assert len(result.rows) == 20
    assert sum(one.weight > 0 for one in result.choice.candidates) <= 2
    assert accuracy(result, *bars(120, seed=1)) > 0.9


def test_few_images_get_copies_of_one_network(monkeypatch):
    monkeypatch.setattr(images, "_TINY", 100)
    X, y = bars(100, side=12)
    test_X, test_y = bars(120, side=12, seed=1)
    result = fit_image_stack(X, ask(y, questions=2))
    assert {one.learner.split()[0] for one in result.choice.candidates} == {"lenet"}
    assert [one.weight for one in result.choice.candidates] == [1, 0, 0, 0]
    assert accuracy(result, test_X, test_y) > 0.8
    assert result.model.log_weights.exp().tolist() == pytest.approx([0.2] * 5)
    logits = [member(torch.from_numpy(test_X)) for member in result.model.members]
    assert all(not torch.equal(logits[0], other) for other in logits[1:])
    both = fit_image_stack(X, ask(y, questions=2), modules=["mlp", "lenet"])
    assert sorted(one.weight for one in both.choice.candidates if one.weight) == [0.5, 0.5]
    assert len(both.model.members) == 6


def test_fit_image_stack_without_time_trains_one_network():
    X, y = bars(240)
    fractions = []
    result = fit_image_stack(
        X, uniform(y), time_limit=0.0, progress=lambda fraction, step: fractions.append(fraction)
    )
    assert {one.learner for one in result.choice.candidates} == {"mlp affine"}
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_fit_image_stack_reports_failed_candidates(monkeypatch):
    fit = NetworkTrainer.fit

    def fails_for_flips(self, learner, *rest):
        if "flip" in learner.augmentation:
            raise RuntimeError("no convergence")
        return fit(self, learner, *rest)

    monkeypatch.setattr(NetworkTrainer, "fit", fails_for_flips)
    X, y = bars(80)
    choice = fit_image_stack(X, uniform(y)).choice
    assert all("flip" in one.learner for one in choice.candidates if one.error)
    assert "1 failed" in choice.reason


def test_fit_image_stack_rejects_invalid_input():
    X, y = bars(20)
    with pytest.raises(LabelError, match="all 20 examples are empty"):
        fit_image_stack(X, ComplementaryLabels.from_lists([[]] * 20, classes=4))
    with pytest.raises(FeatureError, match="20 images and 10 labels"):
        fit_image_stack(X, uniform(y[:10], classes=4))
    with pytest.raises(MethodError, match="module='linear' is unknown"):
        fit_image_stack(X, uniform(y), modules=["linear"])
    with pytest.raises(MethodError, match="lenet takes images of 12 × 12 pixels or more"):
        fit_image_stack(X, uniform(y), modules=["lenet"])


@pytest.mark.parametrize(("channels", "side"), [(None, 12), (1, 8), (3, 12)])
def test_classifier_of_images_is_saved_and_predicts_the_same(tmp_path, channels, side):
    X, y = bars(90, side=side, channels=channels)
    module = "lenet" if channels == 3 else "auto"
    clf = ScarceClassifier(module=module).fit(X, scar(y, c=0.5))
    clf.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert str(again.choice_) == str(clf.choice_)
    assert clf.held_out_report_.n_examples == 22


def test_classifier_of_float_images_does_not_depend_on_their_scale():
    X, y = bars(60)
    predictions = [
        ScarceClassifier().fit(X.astype(float) * scale, uniform(y)).predict(X.astype(float) * scale)
        for scale in (1 / 255, 100.0)
    ]
    assert (predictions[0] == predictions[1]).mean() > 0.95


def test_fit_image_stack_learns_labels_that_depend_on_the_class(monkeypatch):
    monkeypatch.setattr(images, "_MIN_STEPS", 300)
    X, y = bars(600, q=3)
    labels = from_transition(y, [[0, 0.8, 0.2], [0.2, 0, 0.8], [0.8, 0.2, 0]])
    result = fit_image_stack(X, labels, modules=["mlp"])
    assert result.choice.criterion == "class-conditional"
    assert accuracy(result, *bars(200, q=3, seed=1)) > 0.9


def test_fit_image_stack_resumes_with_the_same_result(tmp_path, monkeypatch):
    X, y = bars(60)
    labels, checkpoint = uniform(y), tmp_path / "checkpoint"
    trained = []
    monkeypatch.setattr(
        _image_learners,
        "train_checked",
        lambda *args, **options: trained.append(1) or train_checked(*args, **options),
    )
    whole = fit_image_stack(X, labels)
    n_networks = len(trained)
    trained.clear()

    def stop(fraction, step):
        if len(trained) == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_image_stack(X, labels, checkpoint=checkpoint, progress=stop)
    assert len(list(networks_folder(checkpoint).iterdir())) == 8  # the ninth was not finished
    trained.clear()
    resumed = fit_image_stack(X, labels, checkpoint=checkpoint)
    assert len(trained) == n_networks - 8
    assert not networks_folder(checkpoint).exists()
    inputs = torch.from_numpy(X) / 255.0
    assert torch.equal(resumed.model(inputs), whole.model(inputs))


def test_known_likelihood_is_the_loss_of_a_slow_loop():
    random = torch.Generator().manual_seed(0)
    E, logits = torch.randn(6, 3, generator=random), torch.randn(4, 3, generator=random)
    priors, rows = torch.tensor([0.2, 0.3, 0.5]), torch.tensor([5, 0, 2, 2])
    loss = KnownLikelihood(E, priors, balance=0.7).loss(logits, Batch(logits, logits, rows))
    total, mean = 0.0, torch.zeros(3)
    for row, logit in zip(rows.tolist(), logits, strict=True):
        p = logit.exp() / logit.exp().sum()
        mean = mean + p / 4
        total -= sum(p[y] * E[row, y].exp() for y in range(3)).log() / 4
    total += 0.7 * sum(priors[y] * (priors[y] / mean[y]).log() for y in range(3))
    torch.testing.assert_close(loss, total)


def test_balance_decreases_with_the_number_of_labels():
    def balance(labels):
        X = np.zeros((len(labels), 4, 4), np.uint8)
        trainer = NetworkTrainer(X, labels, 0, torch.device("cpu"), lambda n_steps: None)
        return trainer.balance

    y = np.arange(600) % 4
    assert balance(uniform(y[:40])) == 0.3  # the largest
    assert balance(uniform(y)) == pytest.approx(0.1)  # 150 exclusions per class
    confirmed = ComplementaryLabels(np.zeros(601, int), np.array([]), np.arange(4), None, y)
    assert balance(confirmed) == pytest.approx(0.1 / 3)  # a true label excludes three classes


def test_trainer_scales_pixels_to_the_unit_interval():
    X = np.random.default_rng(0).normal(size=(30, 2, 6, 5)) * 100
    labels = uniform(np.arange(30) % 3)
    trainer = NetworkTrainer(X, labels, 0, torch.device("cpu"), lambda n_steps: None)
    model = trainer.fit(ImageLearner("mlp", ("shift",)), torch.zeros(30, 3), np.arange(30), 1)
    scaled = model[0](torch.from_numpy(X))
    assert (scaled.min().item(), scaled.max().item()) == (0, 1)
