"""Regret: the best mean accuracy of a cell minus that of the default."""

from scarce.bench.reports._content import make_report
from scarce.bench.results._regret import regrets
from scarce.bench.results.results import ExperimentResults, collect
from scarce.bench.spec.experiment import Experiment
from scarce.bench.trials.plan import Plan
from scarce.bench.trials.record import TrialRecord


def results_of(accuracies: dict[tuple[str, str, int], float]) -> ExperimentResults:
    """Return results of digits by setting, row and seed; trials without an accuracy were not run."""
    experiment = Experiment.model_validate(
        {
            "name": "mine",
            "title": "Mine",
            "protocol": "own",
            "kind": "classifiers",
            "data": "digits",
            "split": "70/30",
            "settings": ["uniform", "scar-unequal", "biased"],
            "methods": ["em-lr", "auto", "pl-knn"],
            "seeds": 2,
        }
    )
    plan = Plan.from_experiment(experiment)
    records = [
        TrialRecord(spec=trial.spec, label=trial.label, experiment="mine", protocol="own", accuracy=accuracy)
        for trial in plan
        if (accuracy := accuracies.get((trial.spec.setting, trial.label, trial.spec.seed))) is not None
    ]
    return collect(plan, records)


def test_regret_is_best_mean_minus_default() -> None:
    results = results_of(
        {
            ("uniform", "auto", 0): 0.80,
            ("uniform", "auto", 1): 0.60,
            ("uniform", "em-lr", 0): 0.70,
            ("uniform", "em-lr", 1): 0.80,  # mean 0.75, better than 0.70
            ("uniform", "pl-knn", 0): 0.99,  # without seed 1
            ("scar-unequal", "auto", 0): 0.90,
            ("scar-unequal", "em-lr", 0): 0.90,  # as good as the default
            ("biased", "auto", 0): 0.30,
            ("biased", "pl-knn", 0): 0.50,
            ("biased", "em-lr", 0): 0.40,
        }
    )
    found = {regret.setting: regret for regret in regrets(results)}
    assert {setting: regret.best for setting, regret in found.items()} == {
        "uniform": "em-lr",
        "scar-unequal": "auto",
        "biased": "pl-knn",
    }
    assert [round(found[name].value, 6) for name in ("uniform", "scar-unequal", "biased")] == [0.05, 0.0, 0.2]
    (summary_table,) = (
        summary_table
        for summary_table in make_report(results, "run").summary_tables
        if summary_table.title == "Regret of the default"
    )
    assert summary_table.rows == (
        ("digits", "uniform", "em-lr", "75.00", "70.00", "5.00"),
        ("digits", "scar-unequal", "auto", "90.00", "90.00", "0.00"),
        ("digits", "biased", "pl-knn", "50.00", "30.00", "20.00"),
        ("mean, biased excluded", "", "", "", "", "2.50"),
        ("mean of all", "", "", "", "", "8.33"),
        ("worst: digits", "biased", "pl-knn", "", "", "20.00"),
    )


def test_regret_needs_the_default() -> None:
    results = results_of({("uniform", "em-lr", 0): 0.7, ("biased", "auto", 0): 0.5})  # and another row
    assert regrets(results) == []
    assert "Regret of the default" not in {
        summary_table.title for summary_table in make_report(results, "run").summary_tables
    }
