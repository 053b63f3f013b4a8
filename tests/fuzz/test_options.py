"""Odd values for every parameter of methods, recipes, estimators, processes and prior estimators, and for every option.

The environment variables SCARCE_FUZZ_CASES and SCARCE_FUZZ_SEED set the fits and commands.
"""

import dataclasses
import inspect
import random

import numpy as np
import pytest
import typer
from helpers.fuzz import ODD_VALUES, count_outcomes, seeds_of_cases
from sklearn.linear_model import LogisticRegression

from scarce import ScarceClassifier
from scarce.cli.main import _UsageError, app
from scarce.errors import ScarceError
from scarce.estimators import ElkanNotoClassifier, EMComplementaryClassifier, MetaComplementaryClassifier
from scarce.methods import available_methods, make_method
from scarce.methods.registry import method_class
from scarce.priors import PRIOR_ESTIMATORS
from scarce.simulate import PROCESSES, simulate, uniform
from scarce.training import Recipe

TRUTH = np.arange(24) % 3
X = (np.random.default_rng(0).normal(size=(24, 4)) + 2 * np.eye(3, 4)[TRUTH]).astype(np.float32)
LABELS = uniform(TRUTH, seed=0)


def parameters(function):
    """The names of the parameters of a function or class."""
    signature = inspect.signature(function).parameters.values()
    return [each.name for each in signature if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]


def crossed(names):
    """Every name with every odd value, by its label."""
    return [(name, odd) for name in names for odd in ODD_VALUES]


def sampled(cases, default):
    """As many cases as asked for, or all of them, in random order."""
    seeds = seeds_of_cases(default)
    return random.Random(seeds[0]).sample(cases, min(len(seeds), len(cases)))


@pytest.mark.parametrize("method", available_methods())
def test_parameters_of_methods(method):
    counts, failed = count_outcomes(
        lambda case: make_method(method, **{case[0]: ODD_VALUES[case[1]]}),
        crossed(parameters(method_class(method))),
    )
    assert failed == []
    assert counts["refused"] or not parameters(method_class(method))


def test_fits_with_accepted_parameters_of_methods():
    """A value that the constructor accepts does not fail later, in the middle of a fit."""

    def fit(case):
        method, (name, odd) = case
        params = {name: ODD_VALUES[odd]}
        classifier = ScarceClassifier(method, "linear", "uniform", transition="uniform", method_params=params)
        classifier.set_params(epochs=1, batch_size=12).fit(X, LABELS).predict_proba(X)

    cases = [
        (method, case) for method in available_methods() for case in crossed(parameters(method_class(method)))
    ]
    assert count_outcomes(fit, sampled(cases, 40))[1] == []


def test_settings_of_recipe():
    settings = [field.name for field in dataclasses.fields(Recipe)]
    counts, failed = count_outcomes(lambda case: Recipe(**{case[0]: ODD_VALUES[case[1]]}), crossed(settings))
    assert failed == []
    assert counts["refused"] > 200


@pytest.mark.parametrize("process", PROCESSES)
def test_parameters_of_processes(process):
    names = [name for name in parameters(PROCESSES[process]) if name != "y"]
    _, failed = count_outcomes(
        lambda case: simulate(process, TRUTH, **{case[0]: ODD_VALUES[case[1]]}), crossed(names)
    )
    assert failed == []


@pytest.mark.parametrize("estimator", PRIOR_ESTIMATORS)
def test_parameters_of_prior_estimators(estimator):
    _, failed = count_outcomes(
        lambda case: PRIOR_ESTIMATORS[estimator](**{case[0]: ODD_VALUES[case[1]]}),
        crossed(parameters(PRIOR_ESTIMATORS[estimator])),
    )
    assert failed == []


def test_parameters_of_classifier():
    def fit(case):
        params = {"module": "linear", "method": "scarce", "priors": "uniform", "epochs": 1, "batch_size": 12}
        ScarceClassifier(**params | {case[0]: ODD_VALUES[case[1]]}).fit(X, LABELS)

    slow = {("epochs", "none"), ("method", "none"), ("verbose", "true"), ("verbose", "numpy flag")}
    cases = [case for case in crossed(parameters(ScarceClassifier)) if case not in slow]
    assert count_outcomes(fit, sampled(cases, 200))[1] == []


@pytest.mark.parametrize(
    "estimator", [EMComplementaryClassifier, MetaComplementaryClassifier, ElkanNotoClassifier]
)
def test_parameters_of_other_estimators(estimator):
    y = (TRUTH > 0).astype(int) if estimator is ElkanNotoClassifier else LABELS

    def fit(case):
        params = {"estimator": LogisticRegression()} | {case[0]: ODD_VALUES[case[1]]}
        estimator(**params).fit(X, y)

    # A true `verbose` writes to the terminal; without an estimator, the default one takes seconds.
    names = [name for name in parameters(estimator) if name != "verbose"]
    cases = [case for case in crossed(names) if case not in {("estimator", "none"), ("n_jobs", "negative")}]
    assert count_outcomes(fit, sampled(cases, 30))[1] == []


TEXTS = [
    *("0", "1", "-1", "99999999999999999999", "9" * 400, "9" * 5000, "nan", "inf", "-inf", "1e308", "5e-324", "0.5", "1,2", ","),
    *("true", "none", "abc", "", " ", "a\nb", "1+2j", "=", "a=", "a=1", "0.2,0.3,0.5", "0=0.5,1=0.5", "é" * 300, "x.npy", "[1]"),
]  # fmt: skip
SETTINGS = [
    "alpha",
    "beta",
    "loss",
    "rates",
    "c",
    "sizes",
    "weight",
    "form",
    "draws",
    "error_rate",
    "seed",
    "classes",
]


def options(command):
    """The options of a command that take a value."""
    return [
        option.opts[0]
        for option in command.params
        if option.param_type_name == "option" and not option.is_flag and option.opts[0] != "--device"
    ]


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """Commands that succeed on small files, with their options."""
    folder = tmp_path_factory.mktemp("commands")
    ids = [f"p{row}" for row in range(24)]
    rows = [f"{name},{','.join(map(str, row))}" for name, row in zip(ids, X.tolist(), strict=True)]
    (folder / "x.csv").write_text("\n".join(["id,a,b,c,d", *rows]))
    excluded = zip(ids, LABELS.indices, strict=True)
    (folder / "y.csv").write_text(
        "\n".join(["example_id,excluded", *(f"{name},{k}" for name, k in excluded)])
    )
    (folder / "truth.csv").write_text(
        "\n".join(["id,label", *(f"{name},{y}" for name, y in zip(ids, TRUTH, strict=True))])
    )
    ScarceClassifier("scarce", "linear", "uniform", epochs=1).fit(X, LABELS).save(folder / "model")
    x, y, model = folder / "x.csv", folder / "y.csv", folder / "model"
    train = [
        "train",
        x,
        "--labels",
        y,
        "--out",
        folder / "out",
        "--force",
        "--method",
        "scarce",
        "--module",
        "linear",
    ]
    calls = [
        [*train, "--priors", "uniform", "--epochs", "1", "--no-estimate", "--classes", "0,1,2"],
        ["priors", x, "--labels", y, "--classes", "0,1,2", "--out", folder / "priors.json", "--force"],
        ["predict", model, x, "--out", folder / "predicted.csv", "--force"],
        ["evaluate", model, x, "--labels", y],
        [
            "labels",
            "simulate",
            folder / "truth.csv",
            folder / "simulated.csv",
            "--process",
            "scar",
            "--set",
            "c=0.3",
            "--force",
        ],
        ["bench", "status", "quick-digits"],
    ]
    found = []
    for call in calls:
        command = typer.main.get_command(app)
        for name in call[: 2 if call[0] in ("labels", "bench") else 1]:
            command = command.commands[name]
        found.append(([str(part) for part in call], options(command)))
    return found


def test_options_of_commands(commands, monkeypatch, tmp_path):
    """The errors of the command line itself are usage errors in one line; no other error reaches `main`."""
    monkeypatch.chdir(tmp_path)

    def call(case):
        arguments, option, text = case
        try:
            app([*arguments, option, text], standalone_mode=False)
        except _UsageError as error:
            raise ScarceError(" ".join(error.format_message().split())[:1000]) from None
        except (ScarceError, OSError) as error:  # `main` shows them in one line
            raise ScarceError(" ".join(str(error).split())[:1000]) from None

    cases = [(arguments, option, text) for arguments, known in commands for option in known for text in TEXTS]
    cases += [
        (arguments, "--set", f"{name}={text}")
        for arguments, known in commands
        if "--set" in known
        for name in SETTINGS
        for text in TEXTS
    ]
    failed = count_outcomes(call, sampled(cases, 100))[1]
    assert [(arguments[0], option, text[:50], error) for (arguments, option, text), error in failed] == []
