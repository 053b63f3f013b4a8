"""The study of the demo: reproducible, and each run gets only the labels it claims."""

import numpy as np
import pytest

from scarce.demo import study as module
from scarce.demo.study import QUESTIONS, DemoRun, run_demo
from scarce.training import Callback

pytestmark = pytest.mark.slow  # they share one run of the demonstration


def test_run_demo_depends_only_on_its_seed():
    first, again, other = run_demo(3, 2), run_demo(3, 2), run_demo(4, 2)
    assert first.runs == again.runs
    assert first.labels == again.labels
    assert first.runs != other.runs
    assert first.labels != other.labels


def test_run_demo_gives_each_run_only_its_labels(monkeypatch):
    calls = []

    def train(model, method, inputs, labels, *args, **kwargs):
        calls.append((method.facts.name, labels, kwargs["priors"]))
        return real_train(model, method, inputs, labels, *args, **kwargs)

    real_train = module.train
    monkeypatch.setattr(module, "train", train)
    demo = run_demo(0, 1)
    names, labels, priors = zip(*calls, strict=True)
    assert names == ("scarce", "scarce-ure", "scarce", "scarce")
    for known in labels[:2]:  # exclusions, and not one "yes"
        assert known.confirmed.max() == -1
        assert known.answers is None
        assert np.array_equal(known.indicator(), demo.labels.indicator())
    assert (labels[2].confirmed >= 0).sum() == demo.labels.summary().n_confirmed > 0
    assert (labels[3].per_example == 9).all()
    truth = (~labels[3].indicator()).argmax(axis=1)
    assert not demo.labels.indicator()[np.arange(len(truth)), truth].any()
    assert np.allclose(demo.frequencies, np.bincount(truth) / len(truth))
    for pi in priors[:3]:
        assert np.array_equal(pi, demo.priors.values)


def test_demo_priors_are_shares_of_yes(demo):
    answers = demo.labels.answers
    for k in range(10):
        about = answers.answer[answers.class_index == k]
        assert demo.priors.raw[k] == pytest.approx((about == 1).sum() / len(about))


def test_uncorrected_risk_falls_below_zero_and_corrected_risk_does_not(demo):
    assert (
        demo.corrected.risks[0] == demo.uncorrected.risks[0]
    )  # same weights, same order, nothing to correct yet
    assert demo.uncorrected.risks[-1] < min(-1, demo.uncorrected.risks[20])
    assert min(demo.corrected.risks) > 0


def test_estimated_accuracy_is_near_truth_and_grows_with_knowledge(demo):
    for run in demo.runs:
        assert len(run.risks) == len(run.accuracies) == len(run.estimates) == len(run.standard_errors) == 40
        assert abs(run.accuracies[-1] - run.estimates[-1]) < 4 * run.standard_errors[-1]
    assert demo.ordinary.accuracies[-1] > demo.with_yes.accuracies[-1] > demo.corrected.accuracies[-1] > 0.6


def test_demo_images_carry_their_own_answers(demo):
    excluded = demo.labels.indicator()
    for row, image in enumerate(demo.images):
        assert image.pixels.shape == (8, 8)
        assert len({digit for digit, _ in image.answers}) == QUESTIONS
        assert [digit for digit, yes in image.answers if not yes] == np.flatnonzero(excluded[row]).tolist()
        assert [digit for digit, yes in image.answers if yes] in ([], [demo.labels.confirmed[row]])


def test_run_demo_makes_callbacks_for_each_run_by_its_title():
    seen = []

    class EpochLog(Callback):
        def __init__(self, title):
            self.title = title

        def on_epoch_end(self, state, record):
            seen.append((self.title, state.epoch))

    demo = run_demo(0, 2, make_callbacks=lambda title: [EpochLog(title)])
    assert seen == [(run.title, epoch) for run in demo.runs for epoch in (1, 2)]


@pytest.mark.parametrize(("truth", "agrees"), [(0.75, True), (0.74, False), (1.25, True), (1.26, False)])
def test_agreement_means_two_standard_errors_in_last_epoch(truth, agrees):
    run = DemoRun("a", "", (0.0, 0.0), (9.0, truth), (0.0, 1.0), (0.0, 0.125))
    assert run.agrees is agrees
