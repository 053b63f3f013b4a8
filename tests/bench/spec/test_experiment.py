"""Experiment files: those of the library follow the paper, and mistakes are named in one line."""

from collections import Counter
from pathlib import Path

import pytest
from helpers.bench import TINY, tiny_experiment, write_experiment

from scarce.bench.results._paper import paper_accuracies, paper_priors
from scarce.bench.spec.experiment import available_experiments, load_experiment
from scarce.bench.spec.trial import Perturbed
from scarce.bench.trials.plan import Plan, Trial
from scarce.errors import FileError

TABLES = ("paper-mnist", "paper-kmnist", "paper-fashion", "paper-cifar10", "paper-real")


def planned_trials(name: str) -> list[Trial]:
    return list(Plan.from_experiment(load_experiment(name)))


def test_paper_experiments_cover_each_cell_of_the_paper_once() -> None:
    cells = Counter(
        tuple(getattr(trial.spec, axis) for axis in ("data", "setting", "model", "method"))
        for name in TABLES
        for trial in planned_trials(name)
    )
    assert cells == dict.fromkeys(paper_accuracies(), 5)
    assert len(cells) == 320
    assert all(trial.label == trial.spec.method for name in TABLES for trial in planned_trials(name))


@pytest.mark.parametrize("name", [*TABLES, "paper-overfit", "paper-instantiations", "paper-sensitivity"])
def test_paper_experiments_follow_the_papers_protocol(name: str) -> None:
    assert load_experiment(name).protocol == "paper"
    for trial in planned_trials(name):
        colour = "cifar" in trial.spec.data
        assert trial.spec.recipe == {
            "epochs": 200,
            "batch_size": 256,
            "optimizer": "adam",
            "learning_rate": 1e-3,
            "weight_decay": 1e-3 if colour else 1e-5,
            "schedule": "constant",
            "augmentation": ["flip", "crop"] if name == "paper-real" else [],
        }
        assert trial.spec.n_train == (50_000 if colour else 60_000)
        if name != "paper-sensitivity":
            assert trial.spec.priors == "true"


def test_paper_priors_covers_data_of_the_paper() -> None:
    trials = planned_trials("paper-priors")
    assert Counter(trial.spec.data for trial in trials) == dict.fromkeys(paper_priors(), 5)
    assert {trial.spec.kind for trial in trials} == {"priors"}
    assert {trial.spec.setting_params["rates"] for trial in trials} == {0.5}


def test_paper_sensitivity_has_a_row_per_perturbation() -> None:
    rows = {trial.label: trial.spec.priors for trial in planned_trials("paper-sensitivity")}
    assert rows["scarce, σ = 0"] == Perturbed(perturb=0.0)
    assert rows["scarce, σ = 0.8"] == Perturbed(perturb=0.8)


@pytest.mark.parametrize("name", available_experiments())
def test_shipped_experiment_has_name_of_its_file_and_distinct_trials(name: str) -> None:
    experiment = load_experiment(name)
    assert experiment.name == name
    repeats = name.startswith("paper-") or name == "mnist-mlp-paper"
    is_own = name.startswith("default-") or name in ("images-by-size", "few-refine", "recipes")
    expected = "paper" if repeats else "own" if is_own else "shortened"
    assert experiment.protocol == expected
    keys = [trial.key for trial in planned_trials(name)]
    assert len(set(keys)) == len(keys)


def test_grid_tables_override_top_level_fields(tmp_path: Path) -> None:
    experiment = tiny_experiment(
        tmp_path, TINY + '[[grid]]\nseeds = [7]\n[[grid]]\nmodels = "mlp"\nepochs = 9\n'
    )
    first, second = experiment.grids
    assert (first.seeds, first.models, first.make_recipe().epochs) == ((7,), ("linear",), 3)
    assert (second.seeds, second.models, second.make_recipe().epochs) == ((0, 1), ("mlp",), 9)


@pytest.mark.parametrize(
    ("change", "protocol", "epochs", "schedule"),
    [
        ({"seeds": 1}, "paper", 200, "constant"),
        ({"epochs": 200}, "paper", 200, "constant"),
        ({"epochs": 20}, "shortened", 20, "constant"),
        ({"recipe": "annealed"}, "shortened", 40, "cosine"),
        ({"recipe": "annealed", "epochs": 5}, "shortened", 5, "cosine"),
        ({"recipe": "fast"}, "shortened", 10, "cosine"),
    ],
)
def test_changed_recipe_is_not_the_papers_protocol(
    change: dict[str, object], protocol: str, epochs: int, schedule: str
) -> None:
    changed = load_experiment("paper-cifar10").changed(**change)
    recipe = changed.grids[0].make_recipe()
    assert (changed.protocol, recipe.epochs, recipe.schedule) == (protocol, epochs, schedule)
    assert recipe.weight_decay == 1e-3
    assert len(changed.grids[0].seeds) == change.get("seeds", 5)


MISTAKES = {
    "epoch = 3": "there is no field epoch; expected augmentation, batch_size, data,",
    "batch_size = 0": "batch_size=0; expected a whole number",
    'batch_size = "many"': "batch_size: expected a whole number",
    'augmentation = ["spin"]': "augmentation='spin' is unknown",
    "n_train = 5000": "n_train=5000, but digits has 1198",
    'priors = "truth"': "priors.0: expected 'true', 'uniform', 'estimate' or 'learn', got 'truth'",
    "priors = { perturb = -1 }": "priors.0.perturb: expected a number greater than or equal to 0",
    "priors = { sigma = 1 }": "the field 'priors.0.perturb' is missing",
    'priors = "learn"': "scarce does not learn priors; set priors = 'true' or 'estimate'",
    'priors = ["true", "learn"]': "scarce does not learn priors",
    "imbalance = 1": "imbalance: expected a number greater than 1, got 1",
    "imbalance = 0.5": "imbalance: expected a number greater than 1, got 0.5",
    "[grid]\nseeds = 3": "write [[grid]]",
    'kind = "priors"': "estimator='scarce' is unknown; expected 'best-bin'",
    "=": "is not a TOML file",
}
REPLACED = {
    'title = "Tiny"': ("", "the field 'title' is missing"),
    'models = "linear"': ('models = "vgg"', "models: model='vgg' is unknown; expected 'linear',"),
    '"digits"': ('"mnits"', "data: data='mnits' is unknown"),
    'settings = "uniform"': ('settings = "human"', "digits has no human labels"),
    '"uniform"': ('"unform"', "settings.0.process: process='unform' is unknown"),
    '"nn"': ('"nm"', "method='nm' is unknown"),
    '["scarce", "nn"]': ('["scarce", { label = "scarce", method = "nn" }]', "methods names 'scarce' twice"),
    '"scarce", ': ('{ method = "scarce", params = { gama = 1 } }, ', "scarce has no parameter 'gama'"),
    '"scarce", "nn"': (
        '{ method = "scarce", parms = {} }',
        "no field methods.0.parms; expected label, method, params",
    ),
    '"nn"]': ("{ params = {} }]", "methods.1: a method in braces needs its name"),
    ', "nn"]': (', "forward"]', "forward needs a transition matrix; add transition"),
    '"shortened"': ('"papers"', "protocol: expected 'paper', 'shortened' or 'own', got 'papers'"),
    '"tiny"': ('"a/b"', "name: expected letters, digits"),
    "seeds = 2": ("seeds = [1, 1]", "seeds names 1 twice"),
    "seeds": ("seeds = [-1] #", "seeds.0: expected a number greater than or equal to 0"),
}


@pytest.mark.parametrize(
    ("text", "message"),
    [(f"{TINY}{added}\n", message) for added, message in MISTAKES.items()]
    + [(TINY.replace(old, new), message) for old, (new, message) in REPLACED.items()],
)
def test_load_experiment_names_file_and_mistake_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = write_experiment(tmp_path, text)
    with pytest.raises(FileError) as caught:
        load_experiment(path)
    error = str(caught.value)
    assert error.startswith(str(path))
    assert message in error
    assert "\n" not in error


def test_load_experiment_rejects_unknown_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(
        FileError,
        match=r"there is no experiment 'mnist'; name a \.toml file, or choose one of all-methods, calibration",
    ):
        load_experiment("mnist")
    with pytest.raises(FileError, match="does not exist"):
        load_experiment(tmp_path / "nowhere.toml")
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="cannot be read as text"):
        load_experiment(path)


@pytest.mark.parametrize("name", ["tiny.TOML", "tiny.tml", "tiny"])
def test_load_experiment_accepts_any_file_ending(tmp_path: Path, name: str) -> None:
    assert load_experiment(write_experiment(tmp_path, TINY, name)).name == "tiny"


def test_load_experiment_prefers_shipped_name_over_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_experiment(tmp_path, TINY, "quick-digits")
    assert load_experiment("quick-digits").name == "quick-digits"
    assert load_experiment("./quick-digits").name == "tiny"
    (tmp_path / "mine").mkdir()
    with pytest.raises(FileError, match=r"there is no experiment 'mine'; name a \.toml file"):
        load_experiment("mine")


def test_load_experiment_accepts_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, "utf-8-sig")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert load_experiment(path).name == "tiny"


def test_load_experiment_rejects_long_files_long_keys_and_many_seeds(tmp_path):
    for text, message in {
        "a = 1\n" * 10_000: "has 60,000 bytes; an experiment has at most 32,768",
        "a." * 3_000 + "b = 1": "has a key of more than 20 parts",
        TINY.replace("seeds = 2", f"seeds = {list(range(1001))}").replace(
            ", ", ",\n"
        ): "expected at most 1000: split the experiment",
    }.items():
        with pytest.raises(FileError, match=message):
            load_experiment(write_experiment(tmp_path, text))
