"""Results of a small experiment with a failed and a missing trial."""

import pytest
from helpers.bench import (
    MEAN_ACCURACIES,
    make_failed_record,
    make_record,
    make_results,
    plan_trials,
    seed_offset,
    small_experiment,
)


@pytest.fixture
def results(tmp_path):
    """NN failed with seed 1 and SCARCE has not been run with seed 2, both in the uniform setting."""
    experiment = small_experiment()
    records = []
    for trial in plan_trials(experiment):
        key = (trial.label, trial.spec.setting, trial.spec.seed)
        if key == ("nn", "uniform", 1):
            records.append(make_failed_record(trial, "the loss is nan"))
        elif key != ("scarce", "uniform", 2):
            records.append(make_record(trial, MEAN_ACCURACIES[trial.label] + seed_offset(trial)))
    return make_results(tmp_path, experiment, records)
