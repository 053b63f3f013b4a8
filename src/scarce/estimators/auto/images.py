"""Fit a stack of networks to images: compare augmentations and networks on held-out labels, and combine the best."""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from scarce._validation import check_number, check_priors
from scarce.errors import FeatureError
from scarce.estimators.auto._candidate_evaluation import CandidateEvaluator, EvaluatedCandidate, first_score
from scarce.estimators.auto._image_learners import (
    AUGMENTATIONS,
    BATCH_SIZE,
    ImageLearner,
    NetworkTrainer,
    check_modules,
    default_modules,
)
from scarce.estimators.auto._learners import make_folds
from scarce.estimators.auto._mechanism_choice import MechanismChoice, check_informative, choose_mechanisms
from scarce.estimators.auto.result import Progress, StackResult, make_choice
from scarce.features._arrays import input_shape
from scarce.labels import ComplementaryLabels
from scarce.models import Stack

_MIN_STEPS, _MIN_EPOCHS, _MAX_STEPS_PER_ROW = 1500, 20, 20  # of a member of the stack
_MAX_CROSS_FITTED = 10_000  # with more rows, some are held out once
_MAX_HELD_OUT, _HELD_OUT_DIVISOR = 5_000, 12
_EVALUATION_DIVISOR = 3  # of the steps, in an evaluation by cross-validation
_SCREENING_DIVISOR = 6  # of the steps, in an evaluation on rows held out once
_MAX_MECHANISM_ROWS, _MAX_MECHANISM_STEPS = 20_000, 600
_MAX_MEMBERS, _MAX_LARGE_MEMBERS = 3, 2
_EVALUATION_FRACTION = 0.6  # of the time limit; the rest is for training the members


def fit_image_stack(
    images: Any,
    labels: ComplementaryLabels,
    *,
    seed: int = 0,
    modules: Sequence[str] | None = None,
    priors: Sequence[float] | NDArray[np.float64] | None = None,
    time_limit: float | None = None,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
) -> StackResult:
    """Compare augmentations and networks by the likelihood of held-out labels, and stack the best three.

    The mechanism, by which the labels arise, is estimated from the out-of-fold predictions of a first network. All networks
    are trained by the likelihood of the labels under it, with a short run for each of four augmentations of the first module,
    and for the two best augmentations of the others. The best three get the full number of steps.

    Up to 10,000 images are divided into four folds, and the best are trained on all images at the end. With more images, a
    twelfth (at most 5,000) is held out, from training too.

    Parameters
    ----------
    images : array of shape (n, h, w) or (n, c, h, w)
        The images; uint8 values are scaled to [0, 1].
    labels : ComplementaryLabels
        The labels of the n images.
    seed : int
        Random seed of the folds and networks; the same seed gives the same result.
    modules : sequence of {"mlp", "lenet", "resnet", "densenet"}, optional
        The networks to compare; by default those that suit the shape of the images.
    priors : sequence of q numbers, optional
        Class priors π, used for SCAR; by default they are estimated.
    time_limit : float, optional
        Seconds after which no more candidates are added. The networks of the stack are trained for fewer steps if the time does
        not suffice. At least one is always trained, and the mechanism is always estimated.
    device : torch.device or str
        The device to train on.
    progress : callable, optional
        Called with the fraction of the work that is done, from 0 to 1, and the name of the current step.

    Returns
    -------
    StackResult
        The stack, the choice, and held-out predictions.

    Raises
    ------
    LabelError
        If no example has a label.
    FeatureError
        If `images` and `labels` differ in length.
    MethodError
        If a module is unknown or does not suit the images, or if all candidates fail.

    See Also
    --------
    fit_stack : The same for tables.
    scarce.ScarceClassifier : The same with the interface of scikit-learn.

    Examples
    --------
    >>> from scarce.simulate import uniform
    >>> bright = np.repeat([0, 1], 8)  # two classes: dark and bright images
    >>> images = np.random.default_rng(0).random((16, 8, 8)) + bright[:, None, None]
    >>> result = fit_image_stack(images, uniform(bright, classes=2, seed=0))
    >>> bool((result.held_out.argmax(axis=1) == bright).mean() > 0.9)
    True
    """
    if len(images) != len(labels):
        raise FeatureError(
            f"there are {len(images)} images and {len(labels)} labels; expected one label per image: pass both of the same "
            "examples."
        )
    if time_limit is not None:
        check_number("time_limit", time_limit)
    check_informative(labels)
    modules = default_modules(input_shape(images)) if modules is None else modules
    check_modules(modules)
    given = None if priors is None else torch.tensor(check_priors(priors, labels.classes))
    fit = _ImageFit(
        images, labels, seed, torch.device(device), modules, time_limit, progress or (lambda *_: None)
    )
    return fit.run(given)


class _ImageFit:
    """One fit: its data, the trainer, the deadline and the progress."""

    def __init__(
        self,
        images: Any,
        labels: ComplementaryLabels,
        seed: int,
        device: torch.device,
        modules: Sequence[str],
        time_limit: float | None,
        progress: Progress,
    ) -> None:
        started = time.monotonic()
        self.labels, self.seed, self.modules, self.progress = labels, seed, modules, progress
        limit = math.inf if time_limit is None else time_limit
        self.deadline, self.evaluation_deadline = started + limit, started + _EVALUATION_FRACTION * limit
        self.trainer = NetworkTrainer(images, labels, seed, device, self._advance)
        n = len(labels)
        self.is_cross_fitted = n <= _MAX_CROSS_FITTED
        self.n_steps = min(max(_MIN_STEPS, _MIN_EPOCHS * math.ceil(n / BATCH_SIZE)), _MAX_STEPS_PER_ROW * n)
        self._step, self._done, self._total = "", 0, self._expected_steps()

    def run(self, priors: Tensor | None) -> StackResult:
        """Estimate the mechanism, compare the learners, and train the best."""
        self._step = "mechanism"
        chosen = self._choose_mechanism(priors)
        evaluator = self._compare(chosen)
        members, finished, weights, held_out, rows = (
            self._train_on_all(evaluator) if self.is_cross_fitted else self._train_on_rest(evaluator, chosen)
        )
        choice = make_choice(evaluator.candidates, finished, weights, chosen, self.labels)
        self.progress(1.0, "done")
        stack = Stack(members, [weight for weight in weights if weight > 0])
        return StackResult(stack.eval(), choice, rows, held_out)

    def _choose_mechanism(self, priors: Tensor | None) -> MechanismChoice:
        """Estimate the mechanism by cross-fitting a small network, on a sample if there are many rows."""
        n = len(self.labels)
        sample = np.sort(np.random.default_rng(self.seed).permutation(n)[:_MAX_MECHANISM_ROWS])
        known = self.labels[sample]
        folds = make_folds(len(sample), 4 if self.is_cross_fitted else 2, seed=self.seed)
        learner = ImageLearner("mlp" if "mlp" in self.modules else self.modules[0], ("shift",))
        n_steps = min(_MAX_MECHANISM_STEPS, self.n_steps // _EVALUATION_DIVISOR)
        results: dict[bytes, NDArray[np.float64]] = {}

        def out_of_fold(log_likelihood: Tensor) -> NDArray[np.float64]:
            key = log_likelihood.numpy().tobytes()
            if key not in results:
                of_all = torch.zeros(self.labels.shape, dtype=log_likelihood.dtype)
                of_all[torch.from_numpy(sample)] = log_likelihood
                sample_folds = [sample[fold] for fold in folds]
                (predictions,) = self.trainer.cross_fit(
                    [(learner, of_all)], sample_folds, range(len(folds)), n_steps, sample
                )
                results[key] = np.empty(known.shape)
                for fold, p in zip(folds, predictions, strict=True):
                    results[key][fold] = p
            return results[key]

        chosen = choose_mechanisms(known, out_of_fold, out_of_fold, folds, None, priors)
        return MechanismChoice(
            (chosen.criterion,), chosen.criterion, chosen.gate, chosen.priors, chosen.reason
        )

    def _compare(self, chosen: MechanismChoice) -> CandidateEvaluator[ImageLearner]:
        """Evaluate the augmentations with the first module, then the best two with the other modules."""
        n = len(self.labels)
        if self.is_cross_fitted:
            folds, divisor = make_folds(n, seed=self.seed), _EVALUATION_DIVISOR
        else:
            order = np.random.default_rng(self.seed).permutation(n)
            folds = [np.sort(order[: min(_MAX_HELD_OUT, n // _HELD_OUT_DIVISOR)])]
            divisor = _SCREENING_DIVISOR

        def cross_fit(
            jobs: Sequence[tuple[ImageLearner, Tensor]], numbers: Sequence[int]
        ) -> list[list[NDArray[np.float64]]]:
            return self.trainer.cross_fit(jobs, folds, numbers, self.n_steps // divisor)

        evaluator = CandidateEvaluator(cross_fit, self.labels, chosen, folds, self.evaluation_deadline)
        first, *others = self.modules
        for augmentation in AUGMENTATIONS:
            self._screen(evaluator, ImageLearner(first, augmentation))
        ranked = sorted(_screened(evaluator), key=first_score, reverse=True)
        for module in others:
            for candidate in ranked[:2]:
                self._screen(evaluator, ImageLearner(module, candidate.learner.augmentation))
        if self.is_cross_fitted:
            self._complete(evaluator)
        return evaluator

    def _complete(self, evaluator: CandidateEvaluator[ImageLearner]) -> None:
        """Evaluate the best candidates on the other folds, or drop these folds if the time does not suffice."""
        n_evaluations = _MAX_MEMBERS * (len(evaluator.folds) - 1)
        step_seconds = max(self.trainer.step_seconds.values())
        seconds = n_evaluations * step_seconds * (self.n_steps // _EVALUATION_DIVISOR)
        if time.monotonic() + seconds > self.evaluation_deadline:
            evaluator.folds = evaluator.folds[:1]
        else:
            self._step = "best candidates"
            evaluator.complete(evaluator.candidates, _MAX_MEMBERS)

    def _screen(self, evaluator: CandidateEvaluator[ImageLearner], learner: ImageLearner) -> None:
        self._step = learner.name
        evaluator.screen([learner])

    def _train_on_all(self, evaluator: CandidateEvaluator[ImageLearner]) -> "_Trained":
        """Train the members on all rows; their weights are those of the cross-validation."""
        finished, weights = evaluator.weights(_MAX_MEMBERS)
        log_likelihood, rows = evaluator.log_likelihoods[0], np.arange(len(self.labels))
        order = [int(member) for member in np.argsort(-weights, kind="stable") if weights[member] > 0]
        models: dict[int, nn.Module] = {}
        for position, member in enumerate(order):
            if models and time.monotonic() > self.deadline:
                break
            models[member] = self._train(finished[member], log_likelihood, rows, n_left=len(order) - position)
        kept = np.where(np.isin(np.arange(len(weights)), list(models)), weights, 0.0)
        held_out = evaluator.held_out(finished, weights)
        evaluated = np.sort(np.concatenate(evaluator.folds))
        members = [models[member] for member in sorted(models)]
        return members, finished, kept / kept.sum(), held_out[evaluated], evaluated

    def _train_on_rest(
        self, evaluator: CandidateEvaluator[ImageLearner], chosen: MechanismChoice
    ) -> "_Trained":
        """Train the members on the rows that are not held out, and weight them by the labels of those that are."""
        (held_out_rows,) = evaluator.folds
        rest = np.setdiff1d(np.arange(len(self.labels)), held_out_rows)
        finalists = sorted(_screened(evaluator), key=first_score, reverse=True)[:_MAX_LARGE_MEMBERS]
        models: dict[ImageLearner, nn.Module] = {}

        def train_and_predict(
            jobs: Sequence[tuple[ImageLearner, Tensor]], numbers: Sequence[int]
        ) -> list[list[NDArray[np.float64]]]:
            ((learner, log_likelihood),) = jobs
            n_left = len(finalists) - len(models)
            models[learner] = self._train(candidate, log_likelihood, rest, n_left)
            return [[self.trainer.predict(models[learner], held_out_rows)]]

        final = CandidateEvaluator(train_and_predict, self.labels, chosen, evaluator.folds, self.deadline)
        for candidate in finalists:
            final.screen([candidate.learner])
        finished, weights = final.weights()
        retrained = {id(candidate) for candidate in finalists[: len(final.candidates)]}
        evaluator.candidates = final.candidates + [
            candidate for candidate in evaluator.candidates if id(candidate) not in retrained
        ]
        pairs = zip(finished, weights, strict=True)
        members = [models[candidate.learner] for candidate, weight in pairs if weight > 0]
        return members, finished, weights, final.held_out(finished, weights)[held_out_rows], held_out_rows

    def _train(
        self,
        candidate: EvaluatedCandidate[ImageLearner],
        log_likelihood: Tensor,
        rows: NDArray[np.int64],
        n_left: int,
    ) -> nn.Module:
        """Return a network for the stack; with a time limit, it gets an equal share of the time that is left."""
        learner = candidate.learner
        self._step = learner.name
        seconds = (self.deadline - time.monotonic()) / n_left
        n_steps = self.trainer.affordable_steps(learner.module, self.n_steps, seconds)
        return self.trainer.fit(learner, log_likelihood, rows, n_steps)

    def _expected_steps(self) -> int:
        """Return roughly how many steps all networks take, for the progress bar."""
        n_screened = len(AUGMENTATIONS) + 2 * (len(self.modules) - 1)
        if self.is_cross_fitted:
            n_evaluations = (
                3 * 4 + n_screened + 3 * _MAX_MEMBERS
            )  # three estimates of the mechanism, four folds
            return n_evaluations * (self.n_steps // _EVALUATION_DIVISOR) + _MAX_MEMBERS * self.n_steps
        n_estimation = 3 * 2 * _MAX_MECHANISM_STEPS
        return n_estimation + n_screened * (self.n_steps // _SCREENING_DIVISOR) + 2 * self.n_steps

    def _advance(self, n_steps: int) -> None:
        self._done += n_steps
        self.progress(min(0.99, self._done / self._total), self._step)


_Trained = tuple[
    list[nn.Module],
    Sequence[EvaluatedCandidate[ImageLearner]],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int64],
]
"""Members, evaluated candidates, their weights, held-out class probabilities, and the rows of these."""


def _screened(evaluator: CandidateEvaluator[ImageLearner]) -> list[EvaluatedCandidate[ImageLearner]]:
    return [candidate for candidate in evaluator.candidates if candidate.likelihoods]
