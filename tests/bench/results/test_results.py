"""Which records belong to an experiment, and to which cell."""

import pytest
from helpers.bench import (
    make_failed_record,
    make_record,
    make_results,
    plan_trials,
    replace_spec,
    small_experiment,
    stored_results,
)

from scarce.bench.trials.store import Store
from scarce.errors import MethodError


def test_collect_ignores_records_of_other_trials(tmp_path):
    long, short = small_experiment(epochs=200), small_experiment(protocol="shortened", epochs=100)
    records = [make_record(trial, 0.5) for trial in plan_trials(long)]
    assert make_results(tmp_path, short, records).trials.record.isna().all()
    assert len(make_results(tmp_path, long, records).recorded) == 30


def test_collect_rejects_two_trials_in_one_cell(tmp_path):
    experiment = small_experiment(protocol="shortened", grid=[{"epochs": 10}, {"epochs": 20}])
    with pytest.raises(MethodError, match="another label or setting name"):
        make_results(tmp_path, experiment, [])


def test_collect_has_a_row_per_trial_in_the_order_of_the_plan(tmp_path):
    experiment = small_experiment(methods=["scarce", "ga"], settings="uniform", seeds=2)
    trials = plan_trials(experiment)
    outdated = replace_spec(make_record(trials[2], 0.8), method_revision=99)
    records = [make_record(trials[0], 0.9, seconds=7.0), make_failed_record(trials[1], "why"), outdated]
    rows = make_results(tmp_path, experiment, records).trials
    assert list(zip(rows.label, rows.seed, strict=True)) == [
        ("scarce", 0),
        ("ga", 0),
        ("scarce", 1),
        ("ga", 1),
    ]
    assert rows.status.tolist() == ["done", "failed", "done", "missing"]
    assert rows.accuracy.fillna(-1).tolist() == [0.9, -1, 0.8, -1]
    assert rows.seconds.fillna(-1).tolist() == [7.0, 1.0, 61.0, -1]
    assert rows.outdated.tolist() == [False, False, True, False]
    assert rows.record[0] == records[0]


def test_collect_compares_only_full_data_with_the_paper(tmp_path):
    changes = {"protocol": "shortened", "methods": "scarce", "settings": "uniform", "seeds": 1}
    for change, methods in (({}, ["scarce"]), ({"imbalance": 8}, [""]), ({"n_train": 100}, [""])):
        results = stored_results(small_experiment(**changes, **change), Store(tmp_path))
        assert results.trials.paper.tolist() == methods
