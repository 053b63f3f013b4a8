"""Tables of results, against numbers worked out by hand from a few records."""

from dataclasses import replace

import pytest
from helpers.bench import (
    fill_results,
    make_prior_record,
    make_record,
    make_results,
    plan_trials,
    seed_offset,
    small_experiment,
    small_prior_experiment,
)

from scarce.bench.reports.content import make_report
from scarce.bench.reports.rendering import latex_report
from scarce.bench.results.paper import PaperCell, paper_accuracies
from scarce.bench.results.tables import Cell, make_prior_tables, make_tables
from scarce.bench.spec.experiment import load_experiment


def test_cell_holds_mean_deviation_and_paper_numbers(results):
    (table,) = make_tables(results)
    assert (table.data, table.model, table.rows, table.columns) == (
        "mnist", "mlp", ("ga", "nn", "scarce"), ("uniform", "biased-a")
    )  # fmt: skip
    cell = table.cells["ga", "uniform"]
    assert cell.values == pytest.approx({0: 88.0, 1: 88.4, 2: 87.6, 3: 88.2, 4: 87.8})
    assert cell.summary.mean == pytest.approx(88)
    assert cell.summary.std == pytest.approx(0.1**0.5)  # (0.16 + 0.16 + 0.04 + 0.04) / 4
    assert cell.paper == paper_accuracies()["mnist", "uniform", "mlp", "ga"]
    assert cell.difference == pytest.approx(88 - cell.paper.mean)


def test_cell_excludes_failed_and_missing_trials_from_mean(results):
    (table,) = make_tables(results)
    assert table.cells["nn", "uniform"].failed == (1,)
    assert table.cells["scarce", "uniform"].missing == (2,)
    assert table.cells["scarce", "uniform"].summary.n == 4
    assert table.cells["scarce", "uniform"].summary.mean == pytest.approx(91.1)  # without the offset of −0.4
    assert results.missing.seed.tolist() == [2]
    assert table.cells["ga", "biased-a"].failed == table.cells["ga", "biased-a"].missing == ()


def test_table_marks_best_of_each_column(results):
    (table,) = make_tables(results)
    for column in table.columns:
        assert [table.cells[row, column].bold for row in table.rows] == [False, False, True]
    (lenient,) = make_tables(results, "wilcoxon")
    assert all(cell.bold for cell in lenient.cells.values())  # five seeds are too few for that test


def test_cell_agreement_uses_standard_error_of_difference():
    values = {0: 89.0, 1: 90.0, 2: 91.0, 3: 90.0}  # mean 90, variance 2/3, so 1/6 of the mean
    near = Cell(values, paper=PaperCell(91.0, 0.5, False))  # 0.25 / 5 = 1/20 of the paper's mean
    assert near.standard_error == pytest.approx((1 / 6 + 1 / 20) ** 0.5)  # 0.4655: one is beyond two of them
    assert near.agrees is False
    assert replace(near, paper=PaperCell(90.93, 0.5, False)).agrees is True
    assert replace(near, values={0: 90.0}).agrees is None
    assert replace(near, paper=None).difference is None


def test_table_compares_no_variants_with_the_paper(tmp_path):
    changes = {
        "methods": ["scarce", {"label": "flooded", "method": "scarce", "params": {"correction": "relu"}}],
        "settings": ["uniform", {"name": "biased-a", "process": "uniform"}],
    }
    (table,) = make_tables(make_results(tmp_path, small_experiment(**changes), []))
    compared = {key for key, cell in table.cells.items() if cell.paper}
    assert compared == {("scarce", "uniform")}


def test_table_has_a_row_per_perturbation_of_priors(tmp_path):
    experiment = small_experiment(
        methods="scarce", settings="uniform", priors=[{"perturb": 0.0}, {"perturb": 0.5}]
    )
    records = [make_record(trial, 0.9 - trial.spec.priors.perturb / 10) for trial in plan_trials(experiment)]
    (table,) = make_tables(make_results(tmp_path, experiment, records))
    assert table.rows == ("scarce, σ = 0", "scarce, σ = 0.5")
    assert [table.cells[row, "uniform"].summary.mean for row in table.rows] == pytest.approx([90, 85])
    assert [table.cells[row, "uniform"].paper is None for row in table.rows] == [False, True]


def test_tables_of_shipped_experiments_hold_every_trial(tmp_path):
    for name in ("paper-real", "paper-overfit", "paper-sensitivity", "paper-instantiations"):
        experiment = load_experiment(name)
        tables = make_tables(make_results(tmp_path, experiment, []))
        counts = [len(cell.missing) for table in tables for cell in table.cells.values()]
        assert sum(counts) == len(plan_trials(experiment))


def test_prior_table_holds_estimates_and_paper_numbers(tmp_path):
    experiment = load_experiment("paper-priors")
    records = []
    for trial in plan_trials(experiment):
        if trial.spec.data == "mnist":
            shift = seed_offset(trial)
            values = [0.1 + shift, 0.1 - shift, *[0.1] * 8]
            records.append(make_prior_record(trial, values))
    (table,) = make_prior_tables(make_results(tmp_path, experiment, records))
    assert table.rows == tuple(map(str, range(10)))
    assert table.columns == ("mnist",)
    cell = table.cells["0", "mnist"]
    assert (cell.summary.mean, cell.summary.std) == pytest.approx((10, 0.1**0.5))
    assert (cell.paper.mean, cell.paper.std) == pytest.approx((10.4, 1.1))
    assert table.cells["2", "mnist"].summary.std == 0


def test_prior_tables_are_split_by_model_of_one_data_set(tmp_path):
    shares = {"mlp": 0.2, "lenet": 0.4}

    def make(trial):
        return make_prior_record(trial, [shares[trial.spec.model], 0.1])

    experiment = small_prior_experiment(models=["mlp", "lenet"])
    results = fill_results(tmp_path, experiment, make)
    tables = make_prior_tables(results)
    assert [table.title for table in tables] == ["best-bin, scar-a, mlp", "best-bin, scar-a, lenet"]
    assert [table.cells["0", "mnist"].summary.mean for table in tables] == pytest.approx([20, 40])
    text = latex_report(make_report(results, ""))
    assert text.count(r"Class & mnist \\") == 2


def test_prior_table_joins_data_sets_with_different_models(tmp_path):
    grid = [{"data": "mnist", "models": "mlp"}, {"data": "kmnist", "models": "lenet"}]
    (table,) = make_prior_tables(
        fill_results(
            tmp_path, small_prior_experiment(grid=grid), lambda trial: make_prior_record(trial, [0.5, 0.5])
        )
    )
    assert (table.title, table.columns) == ("best-bin, scar-a", ("mnist", "kmnist"))


def test_prior_table_holds_true_priors_and_mean_absolute_error(tmp_path):
    def make(trial):
        record = make_prior_record(trial, [0.5, 0.3, 0.2])
        shift = 0.1 if trial.spec.seed else 0.0
        if trial.spec.data == "mnist":
            true = {"true": [0.4 - shift, 0.4, 0.2 + shift]}
            record = record.model_copy(update={"priors": record.priors.model_copy(update=true)})
        return record

    results = fill_results(tmp_path, small_prior_experiment(data=["kmnist", "mnist"]), make)
    (table,) = make_prior_tables(results)
    assert table.columns == ("kmnist", "mnist", "mnist, true")
    assert table.rows == ("0", "1", "2", "mean absolute error")
    assert table.cells["0", "mnist, true"].values == pytest.approx({0: 40, 1: 30})
    # |0.5 − 0.4| + |0.3 − 0.4| + 0 over three, and 0.2 + 0.1 + 0.1 with the other seed.
    assert table.cells["mean absolute error", "mnist"].values == pytest.approx({0: 20 / 3, 1: 40 / 3})
    assert ("mean absolute error", "kmnist") not in table.cells
    assert make_report(results, "").tables == (table,)
