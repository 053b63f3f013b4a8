"""Fit a stack of networks to images: compare augmentations and networks on held-out labels, and combine the best."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from scarce._validation import check_number, check_priors
from scarce.errors import FeatureError
from scarce.estimators.auto._candidate_evaluation import (
    CandidateEvaluator,
    label_likelihoods,
)
from scarce.estimators.auto._candidate_ranking import best_candidates, best_of_each_module, doubtful_score
from scarce.estimators.auto._class_dependence import exclusion_matrix_given_predictions, scar_from_priors
from scarce.estimators.auto._image_learners import (
    BATCH_SIZE,
    ImageLearner,
    Jobs,
    NetworkTrainer,
    check_modules,
    default_modules,
    other_learners,
    usual_augmentation,
    with_other_flip,
    with_other_motion,
    without_motion,
)
from scarce.estimators.auto._learners import make_folds
from scarce.estimators.auto._mechanism_choice import MechanismChoice, check_informative, choose_mechanisms
from scarce.estimators.auto._mechanisms import CandidateSets, ClassConditional, excluded_tensor
from scarce.estimators.auto._network_store import NetworkStore, networks_folder
from scarce.estimators.auto._temperature import best_temperature, scaled, with_temperature
from scarce.estimators.auto.result import Progress, StackResult, make_choice
from scarce.features._arrays import input_shape
from scarce.labels import ComplementaryLabels
from scarce.models import Stack

_MIN_STEPS, _MIN_EPOCHS, _MAX_STEPS_PER_ROW = 1500, 20, 20  # of a member of the stack
_SMALL = 10_000  # up to this many images, the members are finally trained on all
_SCREENING_DIVISORS = 3, 6  # of the steps, for small and for large data
_TINY = 1_000  # up to this many images, held-out labels are too few to tell networks apart
_MAX_MEMBERS = 3, 2  # of the stack
_MIN_COPIES = 5  # of networks in a stack of copies
_HELD_OUT_DIVISORS, _MAX_HELD_OUT = (4, 12), (1_000, 5_000)
_MAX_MECHANISM_ROWS, _MAX_MECHANISM_STEPS = 20_000, 1000
_MAX_FOUR_FOLDS = 5_000  # with more rows, two folds are enough to estimate the mechanism
_MLP_ROUNDS, _BEST_ROUNDS = (
    3,
    2,
)  # in which class-conditional exclusions are estimated, with an MLP and the best network
_MAX_CROSS_FITS = 4 + _MLP_ROUNDS + _BEST_ROUNDS  # to estimate a mechanism
_IMPOSSIBLE = -30.0  # log-likelihood of a class that a label rules out
_SHARPNESS = 4.0
_MECHANISM_FRACTION, _SCREENING_FRACTION = 0.2, 0.5  # of the time limit; the rest is for training the members


def fit_image_stack(
    images: Any,
    labels: ComplementaryLabels,
    *,
    seed: int = 0,
    modules: Sequence[str] | None = None,
    priors: Sequence[float] | NDArray[np.float64] | None = None,
    time_limit: float | None = None,
    device: torch.device | str = "cpu",
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> StackResult:
    """Compare augmentations and networks by the likelihood of held-out labels, and stack the best.

    1. The mechanism, the model of how the labels arise, is estimated from out-of-fold predictions of a small network.
    2. Every network is trained by the likelihood of the labels under this mechanism. Short runs compare augmentations of the
       first network (affine maps, shifts or neither, with flips or without), and then the other networks with the best one, by
       the likelihood of held-out labels. The usual augmentation is replaced only if another is clearly better, because nobody
       knows beforehand whether a class survives a rotation or a mirror image, and few labels cannot tell.
    3. The best get the full number of steps and are stacked, with weights that maximize the likelihood of the held-out labels.

    Up to 10,000 images, a quarter of the images (at most 1,000) is held out, and the best three networks are finally trained on
    all images. Up to 1,000 images, the held-out labels are too few to tell networks apart: there is only one kind of network,
    and the stack consists of five copies with the best augmentation, which differ only in their random numbers. With more than
    10,000 images, a twelfth (at most 5,000) is held out, and the stack consists of the best two networks as they are. Networks
    that are trained on few labels are too sure of themselves, so their logits are divided by the temperature at which the
    held-out labels are likeliest.

    Parameters
    ----------
    images : array of shape (n, h, w) or (n, c, h, w)
        The images; uint8 values are scaled to [0, 1].
    labels : ComplementaryLabels
        The labels of the n images.
    seed : int
        Random seed of the folds and networks; the same seed gives the same result.
    modules : sequence of {"mlp", "lenet", "resnet", "densenet"}, optional
        The networks to compare; by default those that suit the shape of the images. Up to 1,000 images, they are not compared,
        but all used; by default only the first.
    priors : sequence of q numbers, optional
        Class priors π, used for SCAR; by default they are estimated.
    time_limit : float, optional
        Seconds after which no more candidates are added. The networks of the stack are trained for fewer steps if the time does
        not suffice. At least one is always trained, and the mechanism is always estimated.
    device : torch.device or str
        The device to train on.
    checkpoint : path, optional
        Finished networks are kept in the folder ``checkpoint.networks`` until the fit is done. If it is interrupted, the same call
        resumes and ends with exactly the same stack.
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
    >>> result = fit_image_stack(images, uniform(bright, classes=2, seed=0), time_limit=2)
    >>> (result.held_out.argmax(axis=1) == bright[result.rows]).tolist()
    [True, True, True, True]
    """
    if len(images) != len(labels):
        raise FeatureError(
            f"there are {len(images)} images and {len(labels)} labels; expected one label per image: pass both of the same "
            "examples."
        )
    if time_limit is not None:
        check_number("time_limit", time_limit)
    check_informative(labels)
    if modules is None:
        modules = default_modules(input_shape(images))[: 1 if len(labels) <= _TINY else None]
    check_modules(modules)
    given = None if priors is None else torch.tensor(check_priors(priors, labels.classes))
    store = NetworkStore(None if checkpoint is None else networks_folder(checkpoint))
    fit = _ImageFit(images, labels, seed, modules, time_limit, progress or (lambda *_: None))
    fit.trainer = NetworkTrainer(images, labels, seed, torch.device(device), fit.advance, store)
    result = fit.run(given)
    store.delete()
    return result


class _ImageFit:
    """One fit: its data, what is held out, the trainer, the deadlines and the progress."""

    trainer: NetworkTrainer

    def __init__(
        self,
        images: Any,
        labels: ComplementaryLabels,
        seed: int,
        modules: Sequence[str],
        time_limit: float | None,
        progress: Progress,
    ) -> None:
        started, limit = time.monotonic(), math.inf if time_limit is None else time_limit
        self.labels, self.seed, self.modules, self.progress = labels, seed, modules, progress
        self.deadline, self.screening_deadline = started + limit, started + _SCREENING_FRACTION * limit
        self.mechanism_seconds = _MECHANISM_FRACTION * limit
        self.usual_augmentation = usual_augmentation(input_shape(images))
        n = len(labels)
        self.is_small = n <= _SMALL
        size = 0 if self.is_small else 1
        self.n_steps = min(max(_MIN_STEPS, _MIN_EPOCHS * math.ceil(n / BATCH_SIZE)), _MAX_STEPS_PER_ROW * n)
        self.is_tiny = n <= _TINY
        divisor = 1 if self.is_tiny else _SCREENING_DIVISORS[size]
        self.n_screening_steps = self.n_steps // divisor
        self.max_members = _MAX_MEMBERS[size]
        n_held_out = min(max(1, n // _HELD_OUT_DIVISORS[size]), _MAX_HELD_OUT[size])
        self.order = np.random.default_rng(seed).permutation(n)
        self.held_out, self.rest = np.sort(self.order[:n_held_out]), np.sort(self.order[n_held_out:])
        self.sample = np.sort(self.order[:_MAX_MECHANISM_ROWS])
        self.known = labels[self.sample]
        n_folds = 4 if len(self.sample) <= _MAX_FOUR_FOLDS else 2
        self.folds = make_folds(len(self.sample), n_folds, seed=seed)
        self.out_of_fold: dict[bytes, NDArray[np.float64]] = {}
        self.temperatures: dict[ImageLearner, float] = {}  # of the latest network of a learner
        self._step, self._done, self._total = "", 0, self._expected_steps()

    def run(self, priors: Tensor | None) -> StackResult:
        """Estimate the mechanism, compare the learners, and train the best."""
        if priors is not None:
            self.trainer.set_priors(priors)
        chosen = self._choose_mechanism(priors)
        screening = self._screen(chosen)
        best = best_candidates(screening)[0].learner
        chosen = self._improve_mechanism(chosen, best, _BEST_ROUNDS)
        result = self._stack_of_copies(screening, chosen) if self.is_tiny else self._stack(screening, chosen)
        self.progress(1.0, "done")
        return result

    def _stack_of_copies(
        self, screening: CandidateEvaluator[ImageLearner], chosen: MechanismChoice
    ) -> StackResult:
        """Train copies of the best learner of each module on all rows; held-out predictions are those of the screening."""
        best = best_of_each_module(screening)
        n_copies = math.ceil(_MIN_COPIES / len(best))
        log_likelihood, all_rows = chosen.criterion.log_likelihood(self.labels), np.arange(len(self.labels))
        members: list[nn.Module] = []
        for number in range(n_copies * len(best)):
            if members and time.monotonic() > self.deadline:
                break
            learner = best[number % len(best)].learner
            n_left = n_copies * len(best) - number
            model = self._train(replace(learner, copy=number // len(best)), log_likelihood, all_rows, n_left)
            members.append(with_temperature(model, self.temperatures[learner]))
        weights = np.full(len(best), 1 / len(best))
        choice = make_choice(screening.candidates, best, weights, chosen, self.labels)
        held_out = screening.held_out(best, weights)[self.held_out]
        stack = Stack(members, [1 / len(members)] * len(members))
        return StackResult(stack.eval(), choice, self.held_out, held_out)

    def _stack(self, screening: CandidateEvaluator[ImageLearner], chosen: MechanismChoice) -> StackResult:
        """Stack the best learners; with few images, train the members again, on all rows."""
        final, models = self._train_finalists(screening, chosen)
        finished, weights = final.weights()
        held_out = final.held_out(finished, weights)[self.held_out]
        members = [
            (candidate.learner, weight) for candidate, weight in zip(finished, weights, strict=True) if weight
        ]
        if self.is_small:
            for number, (learner, _) in enumerate(members):
                models[learner] = self._train(
                    learner, final.log_likelihoods[0], np.arange(len(self.labels)), len(members) - number
                )
        trained = {candidate.learner for candidate in final.candidates}
        others = [candidate for candidate in screening.candidates if candidate.learner not in trained]
        choice = make_choice([*final.candidates, *others], finished, weights, chosen, self.labels)
        stack = Stack(
            [with_temperature(models[learner], self.temperatures[learner]) for learner, _ in members],
            [weight for _, weight in members],
        )
        return StackResult(stack.eval(), choice, self.held_out, held_out)

    def _choose_mechanism(self, priors: Tensor | None) -> MechanismChoice:
        """Choose the mechanism from the predictions of an MLP; the usual motion is left out if it clearly harms an MLP."""
        self._step = "mechanism"
        augmentations = self.usual_augmentation, without_motion(self.usual_augmentation)
        learners = [ImageLearner("mlp", augmentation) for augmentation in augmentations]
        sets = CandidateSets().log_likelihood(self.known)
        likelihoods = [
            label_likelihoods(self._out_of_fold(learner, sets), sets.numpy()) for learner in learners
        ]
        scores = [doubtful_score(likelihood, likelihoods[0]) for likelihood in likelihoods]
        learner = learners[int(np.argmax(scores))]

        def out_of_fold(log_likelihood: Tensor) -> NDArray[np.float64]:
            return self._out_of_fold(learner, log_likelihood)

        first = out_of_fold(sets)
        chosen = choose_mechanisms(self.known, out_of_fold, lambda _: first, self.folds, None, priors)
        # Candidate sets say nothing about rates, and the candidate shares are then no worse than mean posteriors.
        if chosen.criterion.name != "candidate-sets":
            self.trainer.set_priors(chosen.priors)
        chosen = replace(chosen, mechanisms=(chosen.criterion,))
        if isinstance(chosen.criterion, ClassConditional) and chosen.criterion.single:
            chosen = self._with_exclusions(chosen, self._least_excluded(learner))
        return self._improve_mechanism(chosen, learner, _MLP_ROUNDS)

    def _improve_mechanism(
        self, chosen: MechanismChoice, learner: ImageLearner, rounds: int
    ) -> MechanismChoice:
        """Estimate class-conditional exclusions again, in some rounds, from the predictions of this learner."""
        if not isinstance(chosen.criterion, ClassConditional):
            return chosen
        self._step = "mechanism"
        for _ in range(rounds):
            p = self._out_of_fold(learner, chosen.criterion.log_likelihood(self.known))
            chosen = self._with_exclusions(chosen, torch.from_numpy(p))
        return chosen

    def _with_exclusions(self, chosen: MechanismChoice, p: Tensor) -> MechanismChoice:
        """Return the choice with class-conditional exclusions that are estimated from the predictions p (m, q) of the sample."""
        assert isinstance(chosen.criterion, ClassConditional)
        scar = scar_from_priors(self.known, chosen.priors)
        C = exclusion_matrix_given_predictions(self.known, p, scar)
        criterion = replace(chosen.criterion, exclusion_probabilities=C)
        return replace(chosen, mechanisms=(criterion,), criterion=criterion)

    def _least_excluded(self, learner: ImageLearner) -> Tensor:
        """Return p_k ∝ (r_k / g_k)⁴, where g_k(x) = P(k is excluded | x) is predicted out of fold, and r_k is the rate of k.

        Where the choice of the excluded class depends strongly on the true class, these predictions are better than those under
        candidate sets, which look for the class that is never excluded, and few labels do not show which that is.
        """
        excluded = excluded_tensor(self.known)
        rates = excluded.sum(dim=0) / excluded.sum()
        priors = self.trainer.priors
        self.trainer.set_priors(rates)
        g = torch.from_numpy(self._out_of_fold(learner, _IMPOSSIBLE * (1 - excluded)))
        self.trainer.set_priors(priors)
        return torch.softmax(_SHARPNESS * (rates.clamp(min=1e-4).log() - g.clamp(min=1e-12).log()), dim=1)

    def _out_of_fold(self, learner: ImageLearner, log_likelihood: Tensor) -> NDArray[np.float64]:
        """Return the class probabilities of the sample (m, q) by networks that were not trained on these rows."""
        key = learner.name.encode() + log_likelihood.numpy().tobytes()
        if key not in self.out_of_fold:
            of_all = torch.zeros(self.labels.shape, dtype=log_likelihood.dtype)
            of_all[torch.from_numpy(self.sample)] = log_likelihood
            p = np.empty(self.known.shape)
            for fold in self.folds:
                training = np.setdiff1d(self.sample, self.sample[fold])
                seconds = self.mechanism_seconds / (_MAX_CROSS_FITS * len(self.folds))
                n_steps = min(_MAX_MECHANISM_STEPS, self.n_steps)
                n_steps = self.trainer.affordable_steps(learner.module, n_steps, seconds)
                model = self.trainer.fit(learner, of_all, training, n_steps)
                p[fold] = self.trainer.predict(model, self.sample[fold])
            self.out_of_fold[key] = p
        return self.out_of_fold[key]

    def _screen(self, chosen: MechanismChoice) -> CandidateEvaluator[ImageLearner]:
        """Compare the augmentations with the first network, and the other networks with the best augmentation."""

        def train_and_predict(jobs: Jobs, folds: Sequence[int]) -> list[list[NDArray[np.float64]]]:
            ((learner, log_likelihood),) = jobs
            model = self.trainer.fit(learner, log_likelihood, self.rest, self.n_screening_steps)
            return [[self._predict_held_out(learner, model, log_likelihood)]]

        evaluator = CandidateEvaluator(
            train_and_predict, self.labels, chosen, [self.held_out], self.screening_deadline
        )

        def screen(learner: ImageLearner) -> None:
            self._step = learner.name
            evaluator.screen([learner])

        first = ImageLearner(self.modules[0], self.usual_augmentation)
        screen(first)
        for change in (with_other_motion, without_motion):
            screen(replace(first, augmentation=change(first.augmentation)))
        best = best_candidates(evaluator)[0].learner.augmentation
        screen(replace(first, augmentation=with_other_flip(best)))
        for learner in other_learners(self.modules, best_candidates(evaluator)[0].learner.augmentation):
            screen(learner)
        return evaluator

    def _train_finalists(
        self, screening: CandidateEvaluator[ImageLearner], chosen: MechanismChoice
    ) -> tuple[CandidateEvaluator[ImageLearner], dict[ImageLearner, nn.Module]]:
        """Train the best learners with all steps, and evaluate them on the held-out rows."""
        finalists = best_candidates(screening)[: self.max_members]
        models: dict[ImageLearner, nn.Module] = {}

        def train_and_predict(jobs: Jobs, folds: Sequence[int]) -> list[list[NDArray[np.float64]]]:
            ((learner, log_likelihood),) = jobs
            n_left = len(finalists) - len(models) + len(finalists) * self.is_small
            models[learner] = self._train(learner, log_likelihood, self.rest, n_left)
            return [[self._predict_held_out(learner, models[learner], log_likelihood)]]

        evaluator = CandidateEvaluator(train_and_predict, self.labels, chosen, [self.held_out], self.deadline)
        for candidate in finalists:
            evaluator.screen([candidate.learner])
        return evaluator, models

    def _predict_held_out(
        self, learner: ImageLearner, model: nn.Module, log_likelihood: Tensor
    ) -> NDArray[np.float64]:
        """Return the class probabilities of the held-out rows, at the temperature at which their labels are likeliest."""
        p = self.trainer.predict(model, self.held_out)
        self.temperatures[learner] = best_temperature(p, log_likelihood[torch.from_numpy(self.held_out)])
        return scaled(p, self.temperatures[learner])

    def _train(
        self, learner: ImageLearner, log_likelihood: Tensor, rows: NDArray[np.int64], n_left: int
    ) -> nn.Module:
        """Return a network for the stack; with a time limit, it gets an equal share of the time that is left."""
        self._step = learner.name
        seconds = (self.deadline - time.monotonic()) / n_left
        n_steps = self.trainer.affordable_steps(learner.module, self.n_steps, seconds)
        return self.trainer.fit(learner, log_likelihood, rows, n_steps)

    def _expected_steps(self) -> int:
        """Return roughly how many steps all networks take, for the progress bar."""
        n_screened = 4 + len(other_learners(self.modules, ()))
        n_long = _MIN_COPIES if self.is_tiny else self.max_members * (2 if self.is_small else 1)
        return 8 * _MAX_MECHANISM_STEPS + n_screened * self.n_screening_steps + n_long * self.n_steps

    def advance(self, n_steps: int) -> None:
        """Report progress."""
        self._done += n_steps
        self.progress(min(0.99, self._done / self._total), self._step)
