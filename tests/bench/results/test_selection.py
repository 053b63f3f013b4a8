"""Criteria that choose epochs and methods, against numbers worked out by hand."""

import pytest
from helpers.bench import MEAN_ACCURACIES, make_record, make_results, plan_trials, small_experiment

from scarce.bench.results._selection import epoch_choices, method_choices


def test_epoch_choices_follow_each_criterion(results):
    found = {choice.criterion: choice for choice in epoch_choices(results).itertuples()}
    accuracies = results.done.accuracy.tolist()
    mean = sum(accuracies) / len(accuracies)
    for name, chosen in (
        ("scar_accuracy", mean + 0.01),  # the best epoch, as it sees the truth
        ("scar_risk", mean / 2),  # the lowest is best: the first epoch
        ("covering_rate", mean / 2),  # ties: the first epoch
    ):
        choice = found[name]
        assert (choice.n, choice.data) == (28, "mnist")
        assert (choice.chosen, choice.last, choice.oracle) == pytest.approx((chosen, mean, mean + 0.01))


def test_method_choices_follow_each_criterion(results):
    choices = [choice for choice in method_choices(results).itertuples() if choice.setting == "biased-a"]
    assert {choice.criterion: choice.chosen for choice in choices} == {
        "scar_accuracy": "scarce",
        "scar_risk": "ga",  # ties: the first
        "covering_rate": "nn",
    }
    assert all((choice.best, choice.best_accuracy) == ("scarce", pytest.approx(0.91)) for choice in choices)
    assert {choice.chosen: choice.accuracy for choice in choices} == pytest.approx(MEAN_ACCURACIES)


def test_epoch_choices_skip_epochs_without_finite_criterion(tmp_path):
    experiment = small_experiment(methods="scarce", settings="uniform", seeds=1)
    (trial,) = plan_trials(experiment)
    record = make_record(
        trial,
        0.5,
        curves={"test_accuracy": [0.9, 0.6, 0.5]},
        selection={"scel": [None, 0.4, 0.3], "scar_risk": [None] * 3},
    )
    results = make_results(tmp_path, experiment, [record])
    (choice,) = epoch_choices(results).itertuples()
    assert (choice.criterion, choice.chosen, choice.oracle) == ("scel", 0.5, 0.9)
    assert method_choices(results).empty
