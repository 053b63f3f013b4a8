"""Which records an experiment reads from a store, and which cell they belong to."""

import pytest
from helpers.bench import make_record, make_study, plan_trials, small_experiment

from scarce.bench.results.results import TrialIndex, read_study
from scarce.bench.trials.store import Store
from scarce.errors import MethodError


def test_records_of_other_trials_in_the_store_do_not_count(tmp_path):
    long, short = small_experiment(epochs=200), small_experiment(protocol="shortened", epochs=100)
    records = [make_record(trial, 0.5) for trial in plan_trials(long)]
    assert make_study(tmp_path, short, records).records == {}
    assert len(make_study(tmp_path, long, records).records) == 30


def test_two_trials_in_one_cell_are_refused(tmp_path):
    experiment = small_experiment(protocol="shortened", grid=[{"epochs": 10}, {"epochs": 20}])
    with pytest.raises(MethodError, match="another label or setting name"):
        make_study(tmp_path, experiment, [])


def test_a_slot_names_its_column():
    assert TrialIndex("mnist", "uniform", "mlp", "SCARCE", 3).column == ("mnist", "uniform", "mlp")


def test_the_paper_s_number_is_not_set_beside_other_data(tmp_path):
    changes = {"protocol": "shortened", "methods": "scarce", "settings": "uniform", "seeds": 1}
    for change, methods in (({}, ["scarce"]), ({"imbalance": 8}, [None]), ({"n_train": 100}, [None])):
        study = read_study(small_experiment(**changes, **change), Store(tmp_path))
        assert list(study.planned.values()) == methods
