"""Experiment files that compare classifiers."""

from pathlib import Path
from typing import get_args

import pytest
from helpers.bench import CLASSIFIERS, IMAGES, plan_trials, tiny_experiment, tiny_plan, write_experiment

from scarce.bench.baselines import BASELINES
from scarce.bench.spec._classifier_grid import ClassifierGrid, ClassifierParams
from scarce.bench.spec.experiment import load_experiment
from scarce.bench.spec.trial import RecipeName
from scarce.errors import FileError, MethodError
from scarce.training import RECIPES

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
        "there is no field epochs; expected data, description, kind, methods, n_train,",
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
    'split = "70/30"\n': (
        'split = "70/30"\nn_train = 100\n',
        "n_train is for images; leave it out, or set split = ",
    ),
    '["pl-knn", "em-lr"]\n': (
        '{ method = "cc", params = { module = "lenet" } }\n',
        "methods: cc: module 'lenet' takes images; choose linear or mlp",
    ),
    'data = "digits"': ('data = "mnist"', "or with split = 'standard', a data set of images"),
}
IMAGES_REPLACED = {
    '"digits"': ('"vowel"', "data: data='vowel' is unknown; expected 'digits', 'mnist',"),
    "[200, 1000]": (
        "[200, 1199]",
        "n_train=1199, but digits has 1198 training images; lower it or leave it out",
    ),
    "[200,": ("[0,", "n_train.0: expected a number greater than or equal to 1, got 0"),
    '{ name = "true labels", process = "uniform-multiple", params = { sizes = 9 } }': (
        '"own"',
        "digits has no candidate sets; leave out 'own'",
    ),
    "params = { sizes = 9 }": (
        "params = { sizes = 10 }",
        "settings: true labels on digits: sizes=10; expected",
    ),
    'method = "cc", params = { module = "linear", epochs = 40, learning_rate = 0.03 }': (
        'method = "pl-knn"',
        "methods: pl-knn takes tables; leave it out of grids with split = 'standard'",
    ),
    "epochs = 40": ('augmentation = ["spin"]', "methods: cc: augmentation='spin' is unknown"),
    "learning_rate = 0.03": ("learning_rate = 0", "methods: cc: learning_rate=0.0; expected"),
    "module =": (
        "time_limit = 0, module =",
        "methods: cc: time_limit: expected a number greater than 0, got 0",
    ),
}


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [(CLASSIFIERS, old, *rest) for old, rest in REPLACED.items()]
    + [(IMAGES, old, *rest) for old, rest in IMAGES_REPLACED.items()],
)
def test_load_experiment_names_mistake_of_classifier_grid(
    tmp_path: Path, text: str, old: str, new: str, message: str
) -> None:
    assert old in text
    with pytest.raises(FileError) as caught:
        load_experiment(write_experiment(tmp_path, text.replace(old, new)))
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


def test_image_experiments_have_expected_trials() -> None:
    few, all_images, by_size, refine = (
        load_experiment(name)
        for name in ("default-images-few", "default-images", "images-by-size", "few-refine")
    )
    assert len(plan_trials(few)) == (4 + 2) * 2
    assert {trial.spec.n_train for trial in plan_trials(all_images)} == {60_000}
    assert [str(trial) for trial in plan_trials(all_images)][::4] == [
        "mnist, uniform, auto, mlp, seed 0",
        "fashion-mnist, biased-a, auto, mlp, seed 0",
        "mnist, scar-a, auto, lenet, seed 0",
    ]
    assert len(plan_trials(by_size)) == 5 * 4 * 2
    assert {
        (trial.spec.setting, trial.label) for trial in plan_trials(by_size) if trial.spec.n_train == 3000
    } == {("uniform, n = 3,000", name) for name in ("auto", "scarce", "cc")} | {
        ("true labels, n = 3,000", "true labels")
    }
    assert {trial.spec.setting for trial in plan_trials(refine)} == {"uniform", "scar-a", "biased-a"}


def test_recipes_experiment_compares_recipes_per_method() -> None:
    trials = plan_trials(load_experiment("recipes"))
    assert len(trials) == (4 + 2 * 3 + 2) + 2 * (8 + 2 * 8 + 4)
    small = {trial.label for trial in trials if trial.spec.n_train == 3000}
    assert small == {
        f"{method}, {variant}"
        for method in ("cc", "scarce", "scar-likelihood", "refine", "answers")
        for variant in ("annealed", "fast", "fast, affine", "fast, noise")
    }
    for trial in trials:
        params = trial.spec.method_params
        assert (params.get("recipe") == "fast") == (", fast" in trial.label)
        assert (params.get("augmentation"), params.get("input_noise")) == (
            ["affine"] if trial.label.endswith("affine") else None,
            0.3 if trial.label.endswith("noise") else None,
        )


def test_recipe_names_match_registry() -> None:
    assert get_args(RecipeName) == tuple(RECIPES)


def test_split_decides_whether_digits_is_a_table(tmp_path: Path) -> None:
    table = tiny_plan(tmp_path, CLASSIFIERS).trials[0].spec
    images = tiny_plan(tmp_path, IMAGES).trials[0].spec
    assert (table.is_table, images.is_table) == (True, False)
    assert (table.n_train, images.n_train) == (1258, 200)
    assert table.data_checksum != images.data_checksum
    both = (
        CLASSIFIERS.replace('split = "70/30"', "")
        + '[[grid]]\nsplit = "70/30"\n[[grid]]\nsplit = "standard"\n'
    )
    both += 'settings = "scar-a"\nmethods = "cc"\n'
    specs = [trial.spec for trial in tiny_plan(tmp_path, both)]
    assert {(spec.is_table, spec.data_checksum) for spec in specs} == {
        (True, table.data_checksum),
        (False, images.data_checksum),
    }


def test_size_is_part_of_setting_only_if_it_varies(tmp_path: Path) -> None:
    names = {trial.spec.setting for trial in plan_trials(tiny_experiment(tmp_path, IMAGES))}
    assert names == {"true labels, n = 200", "true labels, n = 1,000"}
    for text in (IMAGES.replace("[200, 1000]", "[200]"), IMAGES.replace("n_train = [200, 1000]\n", "")):
        assert {trial.spec.setting for trial in plan_trials(tiny_experiment(tmp_path, text))} == {
            "true labels"
        }
    two_grids = IMAGES.replace("n_train = [200, 1000]\n", "") + "[[grid]]\nn_train = 200\n[[grid]]\n"
    assert {trial.spec.setting for trial in plan_trials(tiny_experiment(tmp_path, two_grids))} == {
        "true labels, n = 200",
        "true labels, n = 1,198",
    }


def test_guide_to_classifier_grids_names_every_key(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text("utf-8")
    section = guide.partition("### Classifiers on tables")[2].partition("### Your own method")[0]
    tables, images = (part.partition("```")[0] for part in section.split("```toml\n")[1:])
    assert len(plan_trials(load_experiment(write_experiment(tmp_path, tables)))) == 2 * 3 * 4 * 5
    assert len(plan_trials(load_experiment(write_experiment(tmp_path, images)))) == 2 * 3 * 3 * 2
    assert all(f"\n{name} =" in tables + images for name in ClassifierGrid.model_fields)
    assert all(f"`{name}`" in section for name in (*ClassifierParams.model_fields, *BASELINES))
