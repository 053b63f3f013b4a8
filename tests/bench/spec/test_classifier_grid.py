"""Experiment files that compare classifiers."""

from pathlib import Path

import pytest
from helpers.bench import CLASSIFIERS, plan_trials, write_experiment

from scarce.bench.baselines import BASELINES
from scarce.bench.spec._classifier_grid import ClassifierGrid, ClassifierParams
from scarce.bench.spec.experiment import load_experiment
from scarce.errors import FileError, MethodError

REPLACED = {
    'split = "70/30"': ("", "the field 'split' is missing; add split = '70/30', '10-fold' or 'standard'"),
    '"70/30"': ('"80/20"', "split: expected '70/30', '10-fold' or 'standard', got '80/20'"),
    'kind = "classifiers"': ("", "split requires kind = 'classifiers'"),
    'protocol = "own"': ('protocol = "paper"', "set protocol = 'own'"),
    '"digits"': ('"mnist"', "data: data='mnist' is unknown; expected 'ecoli',"),
    '"uniform"': (
        '"own"',
        "digits has no candidate sets; leave out 'own', or choose data from lost, msrcv2",
    ),
    '"scar-unequal"': (
        '"scar-unequal", params = { low = 2 }',
        "settings: scar on digits: low=2; expected a probability",
    ),
    "seeds = 2": (
        "seeds = 2\nepochs = 3",
        "there is no field epochs; expected data, description, kind, methods, name,",
    ),
    '"pl-knn"': ('"knn"', "method='knn' is unknown; expected 'auto', "),
    '"pl-knn", ': (
        '{ method = "pl-knn", params = { k = 3 } }, ',
        "pl-knn has no parameter 'k'; it takes none",
    ),
    '"em-lr"': (
        '{ method = "cc", params = { modul = "mlp" } }',
        "cc has no parameter 'modul'; it takes module, method_params,",
    ),
    '"em-lr"]': (
        '{ method = "cc", params = { module = "vgg" } }]',
        "methods: cc: module: expected 'auto',",
    ),
    ', "em-lr"': (', { method = "cc", params = { module = "nystroem" } }', "'nystroem' requires method auto"),
    ', "em-lr"]': (
        ', { method = "cc", params = { epochs = 0 } }]',
        "methods: cc: epochs: expected a number greater",
    ),
    '["pl-knn", "em-lr"]': (
        '"forward"',
        "forward needs a transition matrix; add params = { transition = 'uniform' }",
    ),
    '"pl-knn", "em-lr"': (
        '{ method = "scarce", params = { method_params = { gama = 1 } } }',
        "methods: scarce: scarce has no parameter 'gama'",
    ),
    'methods = ["pl-knn", "em-lr"]': (
        'methods = { method = "auto", params = { method_params = { loss = "log" } } }',
        "auto chooses its methods; leave out method_params",
    ),
    "seeds = 2\n": ("seeds = [1, 1]\n", "seeds names 1 twice"),
}


@pytest.mark.parametrize(("old", "new", "message"), [(old, *rest) for old, rest in REPLACED.items()])
def test_load_experiment_names_mistake_of_classifier_grid(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in CLASSIFIERS
    with pytest.raises(FileError) as caught:
        load_experiment(write_experiment(tmp_path, CLASSIFIERS.replace(old, new)))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_classifier_grid_limits_folds_and_rejects_epochs(tmp_path: Path) -> None:
    text = CLASSIFIERS.replace("70/30", "10-fold")
    with pytest.raises(
        FileError, match="10 is not a fold; with split = '10-fold' expected seeds from 0 to 9"
    ):
        load_experiment(write_experiment(tmp_path, text.replace("seeds = 2", "seeds = [10]")))
    experiment = load_experiment(write_experiment(tmp_path, text))
    assert experiment.changed(seeds=10).grids[0].seeds == tuple(range(10))
    assert experiment.changed(seeds=10).protocol == "own"
    with pytest.raises(MethodError, match="10 is not a fold"):
        experiment.changed(seeds=11)
    with pytest.raises(
        MethodError, match="mine compares classifiers, each with its own recipe; leave out --epochs"
    ):
        experiment.changed(epochs=3)


def test_default_experiments_have_expected_trials() -> None:
    tables, sets, text = (load_experiment(f"default-{name}") for name in ("tables", "candidates", "text"))
    assert len(plan_trials(tables)) == 5 * 5 * (3 * 12 + 13)
    assert len(plan_trials(sets)) == 2 * 10 * 8
    assert len(plan_trials(text)) == 5 * 6
    assert {trial.spec.setting for trial in plan_trials(tables) if trial.label == "answers"} == {"answers"}
    for experiment in (tables, sets, text):
        assert {
            trial.spec.method_params == {} for trial in plan_trials(experiment) if trial.label == "auto"
        } == {True}


def test_guide_to_classifier_grids_names_every_key(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text("utf-8")
    section = guide.partition("### Classifiers on tables")[2]
    example = section.partition("```toml\n")[2].partition("```")[0]
    assert len(plan_trials(load_experiment(write_experiment(tmp_path, example)))) == 2 * 3 * 4 * 5
    assert all(f"\n{name} =" in example for name in ClassifierGrid.model_fields)
    assert all(f"`{name}`" in section for name in (*ClassifierParams.model_fields, *BASELINES))
