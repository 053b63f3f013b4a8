"""The content of reports: learned priors, epochs, subsampled classes, the protocol."""

import pytest
from helpers.bench import fill_results, make_record, small_experiment, stored_results

from scarce.bench.reports._content import make_report
from scarce.bench.reports._summaries import make_summary_tables
from scarce.bench.trials.store import Store

ONE_METHOD = {"methods": "scarce", "settings": "uniform", "seeds": 2}


def test_prior_error_table_lists_only_learned_priors(tmp_path):
    learned = {
        0: {"values": [0.5, 0.5], "source": "learned by scar-likelihood", "true": [0.4, 0.6]},
        1: {"values": [0.5, 0.5], "source": "learned by scar-likelihood", "true": [0.3, 0.7]},
    }

    def make(trial):
        if trial.spec.method == "scarce":
            return make_record(trial, 0.9)
        return make_record(trial, 0.9, priors=learned[trial.spec.seed])

    experiment = small_experiment(**ONE_METHOD | {"methods": ["scarce", "scar-likelihood"]})
    summary_tables = {
        summary_table.title: summary_table
        for summary_table in make_summary_tables(fill_results(tmp_path, experiment, make))
    }
    assert summary_tables["Error of the priors"].rows == (
        ("mnist", "uniform", "mlp", "scar-likelihood", "learned by scar-likelihood", "0.1500"),
    )


@pytest.mark.parametrize(
    ("epochs", "words"), [(3, "last 3 epochs"), (12, "last 10 epochs"), (1, "last epoch")]
)
def test_protocol_names_number_of_last_epochs(tmp_path, epochs, words):
    def make(trial):
        curves = {"test_accuracy": [0.5] * epochs, "loss": [1.0] * epochs}
        return make_record(trial, 0.5, curves=curves, selection={"scel": [0.1] * epochs})

    experiment = small_experiment(methods=["ga", "scarce"], settings="uniform", seeds=2)
    content = make_report(fill_results(tmp_path, experiment, make), "")
    (score,) = [line for line in content.protocol if line.startswith("Test accuracy")]
    assert f"the mean over the {words} of each trial" in score
    notes = {summary_table.title: summary_table.note for summary_table in content.summary_tables}
    assert f"over the {words} (no selection" in notes["Choosing the epoch without true labels"]
    assert f"(mean over seeds and {words})" in notes["Choosing the method without true labels"]


def test_protocol_names_trials_of_different_length(tmp_path):
    experiment = small_experiment(methods=["ga", "scarce"], settings="uniform", seeds=2)

    def make(trial):
        return make_record(trial, 0.5, curves={"test_accuracy": [0.5] * (4 if trial.label == "ga" else 20)})

    protocol = make_report(fill_results(tmp_path, experiment, make), "").protocol
    assert any("the last 4 or 10 epochs of each trial" in line for line in protocol)


def test_protocol_names_subsampled_classes_and_number_of_examples(tmp_path):
    experiment = small_experiment(**ONE_METHOD, imbalance=8, protocol="shortened")

    def protocol(name, counts):
        results = fill_results(
            tmp_path / name,
            experiment,
            lambda trial: make_record(trial, 0.5, n_examples=counts[trial.spec.seed]),
        )
        return make_report(results, "").protocol

    lines = protocol("known", [25_010, 25_007])
    assert "Training examples: 25,007 to 25,010 of mnist." in lines
    assert (
        "The classes of the training and test images were subsampled: the first keeps all its images, each following class a "
        "smaller fraction, and the last 1/8."
    ) in lines
    assert "Training examples: 25,007 of mnist." in protocol("same", [25_007, 25_007])
    assert "Training examples: fewer than 60,000 of mnist." in protocol("older", [None, None])
    whole = make_report(
        fill_results(tmp_path / "whole", small_experiment(**ONE_METHOD), lambda t: make_record(t, 0.5)), ""
    )
    assert not any("subsampled" in line for line in whole.protocol)


def test_protocol_drops_description_of_changed_experiment(tmp_path):
    experiment = small_experiment(description="Two seeds.", seeds=2)
    lines = make_report(stored_results(experiment, Store(tmp_path)), "").protocol
    assert lines[:2] == ("The paper's protocol.", "Two seeds.")
    for other in (experiment.changed(seeds=3), experiment.changed(epochs=3)):
        assert "Two seeds." not in make_report(stored_results(other, Store(tmp_path)), "").protocol
