"""Grids: settings that no trial can run with are rejected when an experiment is read."""

import json
from pathlib import Path

import pytest
import torch
from helpers.bench import TINY, tiny_experiment

from scarce.bench.spec._grid import Grid
from scarce.bench.spec.experiment import Experiment
from scarce.bench.trials.plan import Plan
from scarce.errors import FileError, MethodError, ScarceError
from scarce.methods import Batch, Method, MethodFacts, registry
from scarce.simulate import simulate


def setting(process: str, params: str, data: str = "digits") -> str:
    text = TINY.replace('"digits"', f'"{data}"')
    return text.replace('"uniform"', f'{{ name = "mine", process = "{process}", params = {{ {params} }} }}')


def error_of(folder: Path, text: str) -> str:
    with pytest.raises(FileError) as caught:
        tiny_experiment(folder, text)
    error = str(caught.value)
    assert "\n" not in error
    return error


@pytest.mark.parametrize("value", ["2024-01-01", "07:32:00", "nan", "-inf", "[0.1, inf]", "{ a = [nan] }"])
def test_grid_rejects_parameters_that_json_cannot_hold(tmp_path: Path, value: str) -> None:
    text = error_of(tmp_path, setting("scar", f"rates = {value}"))
    assert "settings.0.params: rates holds " in text
    assert "expected finite numbers, strings, true or false, or lists and tables of these" in text
    method = TINY.replace('"scarce", ', f'{{ method = "scarce", params = {{ gamma = {value} }} }}, ')
    assert "methods.0.params: gamma holds " in error_of(tmp_path, method)


def test_grid_rejects_infinite_numbers(tmp_path: Path) -> None:
    for name in ("nan", "inf"):
        text = error_of(tmp_path, f"{TINY}priors = {{ perturb = {name} }}\n")
        assert text.endswith(f"priors.0.perturb: expected a finite number, got {name}.")
    assert "imbalance: expected a finite number" in error_of(tmp_path, f"{TINY}imbalance = inf\n")


@pytest.mark.parametrize(
    ("process", "params", "message"),
    [
        (
            "scar",
            "ratez = 0.2",
            "the process 'scar' has no parameter 'ratez'; it takes c, rates, error_rate, classes, seed",
        ),
        ("scar", "rates = 7", "rates of class 0 is 7; expected a probability from 0 to 1"),
        (
            "scar",
            "rates = [0.1, 0.2]",
            "rates has shape (2,); expected one number, or one for each of the 10",
        ),
        ("scar", "rates = 0.1, c = 0.1", "got both of c and rates"),
        ("scar", "", "got neither of c and rates"),
        ("scar", "c = 0.1, seed = 3", "each trial sets its own seed; leave it out"),
        ("uniform", "classes = 3", "each trial sets its own classes; leave it out"),
        ("noisy", "", "the process 'noisy' needs 'noise'"),
        ("uniform-multiple", "sizes = 10", "sizes=10; expected a whole number from 1 to 9"),
        ("ask", "rates = 2", "rates of class 0 is 2"),
        ("human", 'source = "me"', "source='me' is unknown"),
    ],
)
def test_grid_rejects_wrong_parameters_of_setting(
    tmp_path: Path, process: str, params: str, message: str
) -> None:
    assert f"settings: mine on digits: {message}" in error_of(tmp_path, setting(process, params))


def test_grid_checks_settings_with_classes_of_each_data_set(tmp_path: Path) -> None:
    tiny_experiment(tmp_path, setting("scar-a", "", "cifar10"))
    assert "settings: mine on cifar20: SCAR-a" in error_of(tmp_path, setting("scar-a", "", "cifar20"))
    nineteen = f"sizes = {[1 / 19] * 19}"
    tiny_experiment(tmp_path, setting("uniform-multiple", nineteen, "cifar20"))
    assert "sizes has shape (19,); expected 9 numbers" in error_of(
        tmp_path, setting("uniform-multiple", nineteen, "cifar10")
    )


def test_grid_accepts_rates_that_unbalanced_classes_allow(tmp_path: Path) -> None:
    shares = [0.04] + [0.96 / 9] * 9
    rates = [0.95] + [0.1] * 9
    y = [k for k, share in enumerate(shares) for _ in range(round(3600 * share))]
    simulate("scar", y, rates=rates)  # possible with these priors
    with pytest.raises(ScarceError):
        simulate("scar", range(10), rates=rates)  # but not with uniform priors
    for text in (setting("scar", f"rates = {rates}"), setting("scar-single", f"rates = {rates}")):
        tiny_experiment(tmp_path, text)
        tiny_experiment(tmp_path, f"{text}imbalance = 8\n")


def test_grid_check_keeps_setting_parameters_unchanged(tmp_path: Path) -> None:
    experiment = tiny_experiment(tmp_path, setting("scar", "rates = [0.1, 1, 0, 0, 0, 0, 0, 0, 0, 0.5]"))
    (trial, *_) = Plan.from_experiment(experiment)
    assert json.dumps(trial.spec.setting_params) == '{"rates": [0.1, 1, 0, 0, 0, 0, 0, 0, 0, 0.5]}'


MISTAKES = {
    "grid = []": "grid is empty; write [[grid]] above each table, or leave it out",
    "grids = []": "expected at least one, got []",
    'augmentation = "flip"': "augmentation: expected a list, got 'flip'",
    "priors = 3": "priors.0: expected a name or a table in braces, got 3",
}
REPLACED = {
    'protocol = "shortened"': {
        'protocol = "paper"': "protocol: the paper's is the recipe 'paper' (200 epochs, batches of 256, learning rate 0.001) "
        "on all training images; set protocol = 'shortened'",
    },
    "epochs = 3": {
        "epochs = true": "epochs: expected a whole number, got True",
        'epochs = "2"': "epochs: expected a whole number, got '2'",
        "epochs = 2.5": "epochs: expected a whole number, got 2.5",
        'learning_rate = "0.1"': "learning_rate: expected a number, got '0.1'",
        "n_train = true": "n_train: expected a whole number, got True",
    },
    "seeds = 2": {
        "seeds = 1.5": "seeds: got 1.5; expected a whole number from 1 to 1000, or a list of seeds",
        "seeds = true": "seeds: got True; expected a whole number from 1 to 1000",
        "seeds = 0": "seeds: got 0; expected a whole number from 1 to 1000",
        "seeds = 1000000000000": "seeds: got 1000000000000; expected a whole number from 1 to 1000",
        "seeds = []": "seeds: expected at least one, got []",
        "seeds = [4294967296]": "seeds.0: expected a number less than or equal to 4294967295",
    },
    '["scarce", "nn"]': {
        "[]": "methods: expected at least one, got []",
        "3": "methods.0: expected a name or a table in braces, got 3",
        '{ method = "scarce", params = 3 }': "methods.0.params: expected a table in braces, got 3",
        '{ method = "scarce", label = " " }': "methods.0.label: got ' '; expected a name that is not blank",
    },
    'settings = "uniform"': {
        "settings = []": "settings: expected at least one, got []",
        'settings = { name = "", process = "uniform" }': "settings.0.name: got ''",
        'settings = { name = "x", process = "" }': "process='' is unknown",
    },
}


@pytest.mark.parametrize(
    ("text", "message"),
    [(f"{TINY}{added}\n", message) for added, message in MISTAKES.items()]
    + [
        (TINY.replace(old, new), message)
        for old, changes in REPLACED.items()
        for new, message in changes.items()
    ],
)
def test_grid_errors_use_words_of_the_file(tmp_path: Path, text: str, message: str) -> None:
    error = error_of(tmp_path, text)
    assert message in error
    for word in ("tuple", "instance of", "dictionary", "validation"):
        assert word not in error


@pytest.mark.parametrize(
    "change", ["n_train = 100", "imbalance = 4", "batch_size = 7", "learning_rate = 0.5"]
)
def test_grid_rejects_paper_protocol_with_other_settings(tmp_path: Path, change: str) -> None:
    text = TINY.replace('"shortened"', '"paper"').replace('"annealed"\nepochs = 3', '"paper"')
    assert tiny_experiment(tmp_path, f"{text}weight_decay = 1e-3\nn_train = 1198\n").protocol == "paper"
    assert "protocol: the paper's is the recipe 'paper'" in error_of(tmp_path, f"{text}{change}\n")


@pytest.mark.parametrize("value", ["[" * 3000 + "]" * 3000, "1" * 5000])
def test_load_experiment_rejects_too_deep_or_too_long_toml(tmp_path: Path, value: str) -> None:
    assert "tiny.toml is not a TOML file: " in error_of(tmp_path, f"{TINY}n_train = {value}\n")


class Forgetful(Method):
    """Assigns a module before `torch.nn.Module.__init__` has run."""

    facts = MethodFacts("forgetful", "Forgetful", "none", "nothing")

    def __init__(self) -> None:
        self.part = torch.nn.Linear(1, 1)

    def loss(self, logits: torch.Tensor, batch: Batch) -> torch.Tensor:
        return logits.sum()


def test_grid_names_method_that_cannot_be_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._METHODS, "forgetful", Forgetful)
    error = error_of(tmp_path, TINY.replace('"nn"', '"forgetful"'))
    assert "methods: forgetful cannot be built: AttributeError: cannot assign module before" in error


def test_guide_to_experiments_names_every_key(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text("utf-8")
    example = guide.partition("```toml\n")[2].partition("```")[0]
    experiment = tiny_experiment(tmp_path, example)
    assert len(Plan.from_experiment(experiment)) == 2 * 2 * 3 * 3
    table = guide.partition("| key | meaning |")[2].partition("\n\n")[0]
    for name in {*Experiment.model_fields, *Grid.model_fields} - {"grids"}:
        assert name in example or f"| `{name}` |" in table
    assert all(
        name in table for name in ("`true`", "`uniform`", "`estimate`", "`learn`", "`{ perturb = 0.2 }`")
    )


def test_grid_accepts_at_most_1000_seeds(tmp_path: Path) -> None:
    assert Grid(data="digits", settings="uniform", methods="nn", models="mlp", seeds=1000).seeds[-1] == 999
    with pytest.raises(MethodError, match=r"seeds=1001; expected a whole number from 1 to 1000"):
        tiny_experiment(tmp_path).changed(seeds=1001)
