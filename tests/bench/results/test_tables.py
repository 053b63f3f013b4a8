"""Tables and choices, against numbers worked out by hand from a few records."""

from dataclasses import replace

import pytest
from helpers.bench_records import (
    failed_record,
    fill,
    gap,
    prior_record,
    record_of,
    small_experiment,
    trials_of,
)

from scarce.bench.results.paper import PaperCell, paper_accuracies
from scarce.bench.results.results import Slot, read_study
from scarce.bench.results.selection import epoch_choices, method_choices
from scarce.bench.results.tables import Cell, make_prior_tables, make_tables
from scarce.bench.spec.experiment import load_experiment
from scarce.errors import MethodError

MEANS = {"ga": 0.88, "nn": 0.68, "scarce": 0.91}


def study_of(folder, experiment, records):
    return read_study(experiment, fill(folder, records))


@pytest.fixture
def study(tmp_path):
    """NN failed with seed 1 and SCARCE has not been run with seed 2, both in the uniform setting."""
    experiment = small_experiment()
    records = []
    for trial in trials_of(experiment):
        place = (trial.label, trial.spec.setting, trial.spec.seed)
        if place == ("nn", "uniform", 1):
            records.append(failed_record(trial, "the loss is nan"))
        elif place != ("scarce", "uniform", 2):
            records.append(record_of(trial, MEANS[trial.label] + gap(trial)))
    return study_of(tmp_path, experiment, records)


def test_a_cell_holds_mean_spread_and_the_numbers_of_the_paper(study):
    (table,) = make_tables(study)
    assert (table.data, table.model, table.rows, table.columns) == (
        "mnist", "mlp", ("ga", "nn", "scarce"), ("uniform", "biased-a")
    )  # fmt: skip
    cell = table.cells["ga", "uniform"]
    assert cell.values == pytest.approx({0: 88.0, 1: 88.4, 2: 87.6, 3: 88.2, 4: 87.8})
    assert cell.summary.mean == pytest.approx(88)
    assert cell.summary.std == pytest.approx(0.1**0.5)  # (0.16 + 0.16 + 0.04 + 0.04) / 4
    assert cell.paper == paper_accuracies()["mnist", "uniform", "mlp", "ga"]
    assert cell.difference == pytest.approx(88 - cell.paper.mean)


def test_failed_and_missing_trials_are_told_apart_and_left_out_of_the_mean(study):
    (table,) = make_tables(study)
    assert table.cells["nn", "uniform"].failed == (1,)
    assert table.cells["scarce", "uniform"].missing == (2,)
    assert table.cells["scarce", "uniform"].summary.n == 4
    assert table.cells["scarce", "uniform"].summary.mean == pytest.approx(91.1)  # without the gap of −0.4
    assert [slot.seed for slot in study.missing] == [2]
    assert table.cells["ga", "biased-a"].failed == table.cells["ga", "biased-a"].missing == ()


def test_the_best_of_every_column_is_bold(study):
    (table,) = make_tables(study)
    for column in table.columns:
        assert [table.cells[row, column].bold for row in table.rows] == [False, False, True]
    (lenient,) = make_tables(study, "wilcoxon")
    assert all(cell.bold for cell in lenient.cells.values())  # five seeds are too few for that test


def test_two_standard_errors_are_of_the_difference_of_both_means():
    values = {0: 89.0, 1: 90.0, 2: 91.0, 3: 90.0}  # mean 90, variance 2/3, so 1/6 of the mean
    near = Cell(values, paper=PaperCell(91.0, 0.5, False))  # 0.25 / 5 = 1/20 of the paper's mean
    assert near.standard_error == pytest.approx((1 / 6 + 1 / 20) ** 0.5)  # 0.4655: one is beyond two of them
    assert near.agrees is False
    assert replace(near, paper=PaperCell(90.93, 0.5, False)).agrees is True
    assert replace(near, values={0: 90.0}).agrees is None
    assert replace(near, paper=None).difference is None


def test_variants_of_a_method_are_not_compared_with_the_paper(tmp_path):
    changes = {
        "methods": ["scarce", {"label": "flooded", "method": "scarce", "params": {"correction": "relu"}}],
        "settings": ["uniform", {"name": "biased-a", "process": "uniform"}],
    }
    (table,) = make_tables(study_of(tmp_path, small_experiment(**changes), []))
    compared = {place for place, cell in table.cells.items() if cell.paper}
    assert compared == {("scarce", "uniform")}


def test_wrong_priors_are_rows_of_their_own(tmp_path):
    experiment = small_experiment(
        methods="scarce", settings="uniform", priors=[{"perturb": 0.0}, {"perturb": 0.5}]
    )
    records = [record_of(trial, 0.9 - trial.spec.priors.perturb / 10) for trial in trials_of(experiment)]
    (table,) = make_tables(study_of(tmp_path, experiment, records))
    assert table.rows == ("scarce, σ = 0", "scarce, σ = 0.5")
    assert [table.cells[row, "uniform"].summary.mean for row in table.rows] == pytest.approx([90, 85])
    assert [table.cells[row, "uniform"].paper is None for row in table.rows] == [False, True]


def test_records_of_other_trials_in_the_store_do_not_count(tmp_path):
    long, short = small_experiment(epochs=200), small_experiment(protocol="shortened", epochs=100)
    records = [record_of(trial, 0.5) for trial in trials_of(long)]
    assert study_of(tmp_path, short, records).records == {}
    assert len(study_of(tmp_path, long, records).records) == 30


def test_two_trials_in_one_cell_are_refused(tmp_path):
    experiment = small_experiment(protocol="shortened", grid=[{"epochs": 10}, {"epochs": 20}])
    with pytest.raises(MethodError, match="another label or setting name"):
        study_of(tmp_path, experiment, [])


def test_every_shipped_experiment_has_a_place_for_every_trial(tmp_path):
    for name in ("paper-real", "paper-overfit", "paper-sensitivity", "paper-instantiations"):
        experiment = load_experiment(name)
        tables = make_tables(study_of(tmp_path, experiment, []))
        counts = [len(cell.missing) for table in tables for cell in table.cells.values()]
        assert sum(counts) == len(trials_of(experiment))


def test_estimated_priors_stand_beside_those_of_the_paper(tmp_path):
    experiment = load_experiment("paper-priors")
    records = []
    for trial in trials_of(experiment):
        if trial.spec.data == "mnist":
            shift = gap(trial)
            values = [0.1 + shift, 0.1 - shift, *[0.1] * 8]
            records.append(prior_record(trial, values))
    (table,) = make_prior_tables(study_of(tmp_path, experiment, records))
    assert table.rows == tuple(map(str, range(10)))
    assert table.columns == ("mnist",)
    cell = table.cells["0", "mnist"]
    assert (cell.summary.mean, cell.summary.std) == pytest.approx((10, 0.1**0.5))
    assert (cell.paper.mean, cell.paper.std) == pytest.approx((10.4, 1.1))
    assert table.cells["2", "mnist"].summary.std == 0


def test_criteria_choose_epochs(study):
    found = {choice.criterion: choice for choice in epoch_choices(study)}
    trials = [record.accuracy for record in study.done.values()]
    mean = sum(trials) / len(trials)
    for name, chosen in (
        ("scar_accuracy", mean + 0.01),  # the best epoch, as it sees the truth
        ("scar_risk", mean / 2),  # the lowest is best: the first epoch
        ("covering_rate", mean / 2),  # all the same: the first epoch
    ):
        choice = found[name]
        assert (choice.n, choice.data) == (28, "mnist")
        assert (choice.chosen, choice.last, choice.oracle) == pytest.approx((chosen, mean, mean + 0.01))


def test_criteria_choose_methods(study):
    choices = [choice for choice in method_choices(study) if choice.setting == "biased-a"]
    assert {choice.criterion: choice.chosen for choice in choices} == {
        "scar_accuracy": "scarce",
        "scar_risk": "ga",  # all the same: the first
        "covering_rate": "nn",
    }
    assert all((choice.best, choice.best_accuracy) == ("scarce", pytest.approx(0.91)) for choice in choices)
    assert {choice.chosen: choice.accuracy for choice in choices} == pytest.approx(MEANS)


def test_epochs_without_a_finite_criterion_are_not_chosen(tmp_path):
    experiment = small_experiment(methods="scarce", settings="uniform", seeds=1)
    (trial,) = trials_of(experiment)
    record = record_of(
        trial,
        0.5,
        curves={"test_accuracy": [0.9, 0.6, 0.5]},
        selection={"scel": [None, 0.4, 0.3], "scar_risk": [None] * 3},
    )
    study = study_of(tmp_path, experiment, [record])
    (choice,) = epoch_choices(study)
    assert (choice.criterion, choice.chosen, choice.oracle) == ("scel", 0.5, 0.9)
    assert method_choices(study) == []


def test_a_slot_names_its_column():
    assert Slot("mnist", "uniform", "mlp", "SCARCE", 3).column == ("mnist", "uniform", "mlp")
