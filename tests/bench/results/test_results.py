"""Which records belong to an experiment, and to which cell."""

import pytest
from helpers.bench import make_record, make_results, plan_trials, small_experiment

from scarce.bench.results.results import TrialIndex, collect_results
from scarce.bench.trials.store import Store
from scarce.errors import MethodError


def test_collect_results_ignores_records_of_other_trials(tmp_path):
    long, short = small_experiment(epochs=200), small_experiment(protocol="shortened", epochs=100)
    records = [make_record(trial, 0.5) for trial in plan_trials(long)]
    assert make_results(tmp_path, short, records).records == {}
    assert len(make_results(tmp_path, long, records).records) == 30


def test_collect_results_rejects_two_trials_in_one_cell(tmp_path):
    experiment = small_experiment(protocol="shortened", grid=[{"epochs": 10}, {"epochs": 20}])
    with pytest.raises(MethodError, match="another label or setting name"):
        make_results(tmp_path, experiment, [])


def test_slot_names_its_column():
    assert TrialIndex("mnist", "uniform", "mlp", "SCARCE", 3).column == ("mnist", "uniform", "mlp")


def test_collect_results_compares_only_full_data_with_the_paper(tmp_path):
    changes = {"protocol": "shortened", "methods": "scarce", "settings": "uniform", "seeds": 1}
    for change, methods in (({}, ["scarce"]), ({"imbalance": 8}, [None]), ({"n_train": 100}, [None])):
        results = collect_results(small_experiment(**changes, **change), Store(tmp_path))
        assert list(results.planned.values()) == methods
