"""The demonstration: handwritten digits learned from answers to "is it a 3?"."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from scarce.labels import ComplementaryLabels
from scarce.labels.answers import YES
from scarce.methods import make_method
from scarce.metrics import complementary_accuracy, complementary_risk
from scarce.models import make_model
from scarce.priors import PriorEstimate, priors_from_answers
from scarce.simulate import ask
from scarce.training import PAPER, Callback, TrainingState, predict_logits, train
from scarce.training._runtime import seeded

QUESTIONS = 3
TEST_FRACTION = 0.4
_N_IMAGES = 8

MakeCallbacks = Callable[[str], Sequence[Callback]]


@dataclass(frozen=True)
class AskedImage:
    """An image of shape (8, 8), and the answers about it: pairs of a digit and whether the image shows it."""

    pixels: NDArray[np.uint8]
    answers: tuple[tuple[int, bool], ...]


@dataclass(frozen=True)
class DemoRun:
    """One training run, epoch by epoch.

    Attributes
    ----------
    title, learned_from : str
        The name of the run, and the labels that it learned from.
    risks : tuple of float
        The uncorrected risk of the training images, estimated from their exclusions.
    accuracies : tuple of float
        The true accuracy on the test images, which is unknown in practice.
    estimates, standard_errors : tuple of float
        The same accuracy, estimated only from the exclusions of the test images.
    """

    title: str
    learned_from: str
    risks: tuple[float, ...]
    accuracies: tuple[float, ...]
    estimates: tuple[float, ...]
    standard_errors: tuple[float, ...]

    @property
    def agrees(self) -> bool:
        """Whether the final true accuracy is within two standard errors of the estimate.

        Examples
        --------
        >>> DemoRun("a", "", (0.1,), (0.80,), (0.83,), (0.02,)).agrees
        True
        """
        return abs(self.accuracies[-1] - self.estimates[-1]) <= 2 * self.standard_errors[-1]


@dataclass(frozen=True, eq=False)
class Demo:
    """The questions and answers, the priors, and the four runs."""

    seed: int
    epochs: int
    n_test: int
    images: tuple[AskedImage, ...]
    labels: ComplementaryLabels
    priors: PriorEstimate
    frequencies: NDArray[np.float64]
    corrected: DemoRun
    uncorrected: DemoRun
    with_yes: DemoRun
    ordinary: DemoRun

    @property
    def runs(self) -> tuple[DemoRun, ...]:
        """All runs, in the order of the report."""
        return self.corrected, self.uncorrected, self.with_yes, self.ordinary


def run_demo(
    seed: int = 0, epochs: int = PAPER.epochs, *, make_callbacks: MakeCallbacks = lambda title: ()
) -> Demo:
    """Simulate questions about digits, train on the answers in four ways, and evaluate with and without true labels.

    All runs start from the same weights and follow the recipe of the paper with its multi-layer perceptron.

    Parameters
    ----------
    seed : int
        The seed of the split, the questions and the training.
    epochs : int
        The number of epochs of each run.
    make_callbacks : callable
        Given the title of a run, returns its callbacks, such as a progress bar.

    Examples
    --------
    >>> demo = run_demo(epochs=1)
    >>> demo.labels.n_examples, demo.n_test, len(demo.runs)
    (1078, 719, 4)
    """
    split_seed, ask_seed, test_seed, train_seed = np.random.SeedSequence(seed).generate_state(4).tolist()
    pixels, truth = load_digits(return_X_y=True)
    inputs, test_inputs, truth, test_truth = train_test_split(
        (pixels / 16).astype(np.float32),
        truth,
        test_size=TEST_FRACTION,
        random_state=split_seed,
        stratify=truth,
    )
    labels = ask(truth, questions=QUESTIONS, seed=ask_seed)
    exclusions = ComplementaryLabels(labels.indptr, labels.indices, labels.classes)
    priors = priors_from_answers(labels)
    evaluator = _EpochEvaluator(
        inputs,
        exclusions,
        test_inputs,
        ask(test_truth, questions=QUESTIONS, seed=test_seed),
        test_truth,
        priors,
    )
    recipe = replace(PAPER, epochs=epochs, seed=train_seed)

    def learn(title: str, learned_from: str, method: str, known: ComplementaryLabels, pi: Any) -> DemoRun:
        with seeded(train_seed):
            model = make_model("mlp", inputs.shape[1:], labels.n_classes)
        callbacks = [evaluator, *make_callbacks(title)]
        history = train(model, make_method(method), inputs, known, recipe, priors=pi, callbacks=callbacks)
        return DemoRun(title, learned_from, *(tuple(history[name]) for name in _EpochEvaluator.names))

    ordinary = ComplementaryLabels.from_ordinary(truth)
    n_yes = int((labels.confirmed >= 0).sum())
    return Demo(
        seed=seed,
        epochs=epochs,
        n_test=len(test_truth),
        images=_asked_images(inputs, labels),
        labels=labels,
        priors=priors,
        frequencies=1 - ordinary.rates,
        corrected=learn("SCARCE", '"no" answers', "scarce", exclusions, priors.values),
        uncorrected=learn("SCARCE uncorrected", '"no" answers', "scarce-ure", exclusions, priors.values),
        with_yes=learn('SCARCE with "yes"', f'"no" and {n_yes:,} "yes"', "scarce", labels, priors.values),
        ordinary=learn("Ordinary labels", "every true label", "scarce", ordinary, 1 - ordinary.rates),
    )


class _EpochEvaluator(Callback):
    """Record after every epoch the risk and accuracy that can be estimated in practice, and the true accuracy."""

    names = ("risk", "accuracy", "estimate", "standard_error")

    def __init__(
        self,
        inputs: NDArray[np.float32],
        exclusions: ComplementaryLabels,
        test_inputs: NDArray[np.float32],
        test_labels: ComplementaryLabels,
        test_truth: NDArray[Any],
        priors: PriorEstimate,
    ) -> None:
        self.inputs, self.exclusions, self.priors = inputs, exclusions, priors.values
        self.test_inputs, self.test_labels, self.test_truth = test_inputs, test_labels, test_truth

    def on_epoch_end(self, state: TrainingState, record: dict[str, float]) -> None:
        scores = state.method.scores(predict_logits(state.model, self.test_inputs))
        predicted = self.test_labels.classes[scores.argmax(dim=1).numpy()]
        estimate = complementary_accuracy(predicted, self.test_labels, self.priors)
        logits = predict_logits(state.model, self.inputs)
        # With the loss of the training, so that the figure shows the quantity that the uncorrected run minimizes.
        risk = complementary_risk(logits, self.exclusions, self.priors, loss="logistic")
        accuracy = float((predicted == self.test_truth).mean())
        record.update(zip(self.names, (risk, accuracy, estimate.value, estimate.standard_error), strict=True))


def _asked_images(inputs: NDArray[np.float32], labels: ComplementaryLabels) -> tuple[AskedImage, ...]:
    images = []
    for row in range(_N_IMAGES):
        answers = labels[[row]].answers
        assert answers is not None
        asked = labels.classes[answers.class_index].tolist()
        pixels = (255 * inputs[row].reshape(8, 8)).astype(np.uint8)
        images.append(AskedImage(pixels, tuple(zip(asked, (answers.answer == YES).tolist(), strict=True))))
    return tuple(images)
