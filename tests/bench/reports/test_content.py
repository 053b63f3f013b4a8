"""What reports show where an experiment is not as most are: several models, variants, few epochs, thinned classes."""

import pytest
from helpers.bench_records import failed_record, fill, prior_record, record_of, small_experiment, trials_of

from scarce._plotting import INK
from scarce.bench.reports.content import make_report
from scarce.bench.reports.figures.comparison import draw_study
from scarce.bench.reports.figures.paper import draw_overfitting, draw_sensitivity
from scarce.bench.reports.latex import latex_report
from scarce.bench.reports.summaries import make_sheets
from scarce.bench.results.comparison import compare
from scarce.bench.results.results import read_study
from scarce.bench.results.tables import make_prior_tables
from scarce.bench.trials.store import Store

ONE = {"methods": "scarce", "settings": "uniform", "seeds": 2}


def study_of(folder, experiment, make):
    return read_study(experiment, fill(folder, [make(trial) for trial in trials_of(experiment)]))


def priors_experiment(**changes):
    return small_experiment(
        **{"kind": "priors", "methods": "best-bin", "settings": "scar-a", "seeds": 2} | changes
    )


def lines_of(axes):
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def test_every_model_has_a_table_of_priors_where_a_data_set_has_several(tmp_path):
    shares = {"mlp": 0.2, "lenet": 0.4}

    def make(trial):
        return prior_record(trial, [shares[trial.spec.model], 0.1])

    experiment = priors_experiment(models=["mlp", "lenet"])
    study = study_of(tmp_path, experiment, make)
    tables = make_prior_tables(study)
    assert [table.title for table in tables] == ["best-bin, scar-a, mlp", "best-bin, scar-a, lenet"]
    assert [table.cells["0", "mnist"].summary.mean for table in tables] == pytest.approx([20, 40])
    text = latex_report(make_report(study, ""))
    assert text.count(r"Class & mnist \\") == 2


def test_data_sets_with_different_models_share_a_table_of_priors(tmp_path):
    grid = [{"data": "mnist", "models": "mlp"}, {"data": "kmnist", "models": "lenet"}]
    (table,) = make_prior_tables(
        study_of(tmp_path, priors_experiment(grid=grid), lambda trial: prior_record(trial, [0.5, 0.5]))
    )
    assert (table.title, table.columns) == ("best-bin, scar-a", ("mnist", "kmnist"))


def test_true_priors_and_the_error_stand_beside_the_estimated_ones(tmp_path):
    def make(trial):
        record = prior_record(trial, [0.5, 0.3, 0.2])
        shift = 0.1 if trial.spec.seed else 0.0
        if trial.spec.data == "mnist":
            true = {"true": [0.4 - shift, 0.4, 0.2 + shift]}
            record = record.model_copy(update={"priors": record.priors.model_copy(update=true)})
        return record

    study = study_of(tmp_path, priors_experiment(data=["kmnist", "mnist"]), make)
    (table,) = make_prior_tables(study)
    assert table.columns == ("kmnist", "mnist", "mnist, true")
    assert table.rows == ("0", "1", "2", "mean absolute error")
    assert table.cells["0", "mnist, true"].values == pytest.approx({0: 40, 1: 30})
    # |0.5 − 0.4| + |0.3 − 0.4| + 0 over three, and 0.2 + 0.1 + 0.1 with the other seed.
    assert table.cells["mean absolute error", "mnist"].values == pytest.approx({0: 20 / 3, 1: 40 / 3})
    assert ("mean absolute error", "kmnist") not in table.cells
    assert make_report(study, "").tables == (table,)


def test_the_error_of_priors_that_were_learned_is_told_and_that_of_given_ones_is_not(tmp_path):
    learned = {
        0: {"values": [0.5, 0.5], "source": "learned by scar-likelihood", "true": [0.4, 0.6]},
        1: {"values": [0.5, 0.5], "source": "learned by scar-likelihood", "true": [0.3, 0.7]},
    }

    def make(trial):
        if trial.spec.method == "scarce":
            return record_of(trial, 0.9)
        return record_of(trial, 0.9, priors=learned[trial.spec.seed])

    experiment = small_experiment(**ONE | {"methods": ["scarce", "scar-likelihood"]})
    sheets = {sheet.title: sheet for sheet in make_sheets(study_of(tmp_path, experiment, make))}
    assert sheets["How wrong the priors were"].rows == (
        ("mnist", "uniform", "mlp", "scar-likelihood", "learned by scar-likelihood", "0.1500"),
    )


def test_variants_of_a_method_are_lines_of_their_own_in_the_figure_of_wrong_priors(tmp_path):
    methods = ["scarce", {"label": "flooded", "method": "scarce", "params": {"correction": "relu"}}]
    experiment = small_experiment(
        methods=methods, settings="uniform", seeds=2, priors=[{"perturb": 0.0}, {"perturb": 0.5}]
    )

    def make(trial):
        share = 0.9 if trial.label.startswith("scarce") else 0.6
        return record_of(trial, share - trial.spec.priors.perturb / 5)

    (axes,) = draw_sensitivity(study_of(tmp_path, experiment, make)).figure.axes
    found = {name: line.get_ydata().tolist() for name, line in lines_of(axes).items()}
    assert found == {
        "scarce, mnist, uniform, mlp": pytest.approx([0.9, 0.8]),
        "flooded, mnist, uniform, mlp": pytest.approx([0.6, 0.5]),
    }


def test_variants_of_a_method_are_lines_of_their_own_in_the_figure_of_overfitting(tmp_path):
    losses = {"scarce-ure": [1.0, -1.0], "scarce": [1.0, 0.5], "flooded": [3.0, 2.0]}
    flooded = {"label": "flooded", "method": "scarce", "params": {"correction": "relu"}}
    experiment = small_experiment(methods=["scarce-ure", "scarce", flooded], settings="uniform", seeds=2)

    def make(trial):
        return record_of(trial, 0.8, curves={"loss": losses[trial.label], "test_accuracy": [0.5, 0.8]})

    drawing = draw_overfitting(study_of(tmp_path, experiment, make))
    risk, _ = drawing.figure.axes
    found = {name: line.get_ydata().tolist() for name, line in lines_of(risk).items()}
    assert found == {"uncorrected (URE)": [1.0, -1.0], "scarce": [1.0, 0.5], "flooded": [3.0, 2.0]}
    assert [list(line.get_xdata()) for line in risk.lines].count([2, 2]) == 1


@pytest.mark.parametrize(
    ("epochs", "words"), [(3, "last 3 epochs"), (12, "last 10 epochs"), (1, "last epoch")]
)
def test_the_number_of_last_epochs_is_the_true_one(tmp_path, epochs, words):
    def make(trial):
        curves = {"test_accuracy": [0.5] * epochs, "loss": [1.0] * epochs}
        return record_of(trial, 0.5, curves=curves, selection={"scel": [0.1] * epochs})

    experiment = small_experiment(methods=["ga", "scarce"], settings="uniform", seeds=2)
    content = make_report(study_of(tmp_path, experiment, make), "")
    (score,) = [line for line in content.protocol if line.startswith("Test accuracy")]
    assert f"the mean over the {words} of each trial" in score
    notes = {sheet.title: sheet.note for sheet in content.sheets}
    assert f"beside the mean of the {words} (no choice" in notes["Choosing the epoch without true labels"]
    assert f"(mean over seeds and {words})" in notes["Choosing the method without true labels"]


def test_trials_of_different_length_are_told_of(tmp_path):
    experiment = small_experiment(methods=["ga", "scarce"], settings="uniform", seeds=2)

    def make(trial):
        return record_of(trial, 0.5, curves={"test_accuracy": [0.5] * (4 if trial.label == "ga" else 20)})

    protocol = make_report(study_of(tmp_path, experiment, make), "").protocol
    assert any("the last 4 or 10 epochs of each trial" in line for line in protocol)


def test_thinned_classes_are_told_with_the_true_number_of_examples(tmp_path):
    experiment = small_experiment(**ONE, imbalance=8, protocol="shortened")

    def protocol(name, counts):
        study = study_of(
            tmp_path / name,
            experiment,
            lambda trial: record_of(trial, 0.5, n_examples=counts[trial.spec.seed]),
        )
        return make_report(study, "").protocol

    told = protocol("known", [25_010, 25_007])
    assert "Training examples: 25,007 to 25,010 of mnist." in told
    assert (
        "Classes were thinned, in the training and the test images: the first keeps all of its own, every further one a "
        "smaller share, the last 1/8."
    ) in told
    assert "Training examples: 25,007 of mnist." in protocol("same", [25_007, 25_007])
    assert "Training examples: fewer than 60,000 of mnist." in protocol("older", [None, None])
    whole = make_report(
        study_of(tmp_path / "whole", small_experiment(**ONE), lambda t: record_of(t, 0.5)), ""
    )
    assert not any("thinned" in line for line in whole.protocol)


def test_the_paper_s_number_is_not_set_beside_other_data(tmp_path):
    changes = {"protocol": "shortened", "methods": "scarce", "settings": "uniform", "seeds": 1}
    for change, methods in (({}, ["scarce"]), ({"imbalance": 8}, [None]), ({"n_train": 100}, [None])):
        study = read_study(small_experiment(**changes, **change), Store(tmp_path))
        assert list(study.planned.values()) == methods


def test_what_the_experiment_says_of_itself_is_told_while_it_is_true(tmp_path):
    experiment = small_experiment(description="Two seeds.", seeds=2)
    told = make_report(read_study(experiment, Store(tmp_path)), "").protocol
    assert told[:2] == ("The paper's protocol.", "Two seeds.")
    for other in (experiment.changed(seeds=3), experiment.changed(epochs=3)):
        assert "Two seeds." not in make_report(read_study(other, Store(tmp_path)), "").protocol


def test_seeds_of_different_length_are_lines_of_their_own(tmp_path):
    experiment = small_experiment(methods="scarce", settings="uniform", seeds=3)
    lengths = (12, 15, 12)
    study = study_of(
        tmp_path,
        experiment,
        lambda trial: record_of(trial, 0.5 + 0.1 * trial.spec.seed, epochs=lengths[trial.spec.seed]),
    )
    (drawing,) = [drawing for drawing in draw_study(study) if drawing.name.startswith("curves")]
    (axes,) = drawing.figure.axes
    lines = {len(line.get_xdata()): line.get_ydata()[-1] for line in axes.lines}
    assert lines == pytest.approx({12: 0.6, 15: 0.6})  # the mean of 0.5 and 0.7, and 0.6
    assert len(axes.collections) == 1  # one band, around the two of one length
    assert drawing.caption.endswith(
        "; seeds that were trained for different numbers of epochs are drawn apart."
    )
    assert [text.get_text() for text in drawing.figure.legends[0].get_texts()] == ["scarce"]


def test_the_number_of_a_low_bar_stands_above_it(tmp_path):
    experiment = small_experiment(methods=["ga", "scarce"], settings="uniform", seeds=1)
    study = study_of(
        tmp_path, experiment, lambda trial: record_of(trial, 0.01 if trial.label == "ga" else 0.9)
    )
    (drawing,) = [drawing for drawing in draw_study(study) if drawing.name == "comparison"]
    heights = {text.get_text(): (text.xy[1], text.get_color()) for text in drawing.figure.axes[0].texts}
    assert heights["90.0"] == (2, "white")
    assert heights["1.0"] == (3, INK)


def test_stores_that_cannot_be_compared_say_why(tmp_path):
    priors = fill(
        tmp_path / "priors", [prior_record(trial, [0.5, 0.5]) for trial in trials_of(priors_experiment())]
    )
    text = compare(priors, priors)
    why = "(without 2 trials of estimated priors, as only accuracies are compared)"
    assert f"A: {priors.path} {why}\nB: {priors.path} {why}\n" in text
    assert "no cell has accuracies in both stores" in text


def test_failed_trials_are_told_where_stores_are_compared(tmp_path):
    first, second = trials_of(small_experiment(**ONE))
    good = fill(tmp_path / "good", [record_of(first, 0.5), record_of(second, 0.5)])
    bad = fill(tmp_path / "bad", [record_of(first, 0.5), failed_record(second, "why")])
    assert compare(good, bad).startswith(f"A: {good.path}\nB: {bad.path} (without 1 failed trial)\n\n")
    _, again = trials_of(
        small_experiment(**ONE, protocol="shortened", epochs=300)
    )  # with another recipe it did not fail
    fill(bad.path, [record_of(again, 0.5)])
    assert "failed trial" not in compare(good, Store(bad.path))
