"""Old parameter names are rejected everywhere, with the new name in the message."""

import copy
import inspect

import numpy as np
import pytest
from sklearn.base import clone

from scarce import MetaComplementaryClassifier, ScarceClassifier
from scarce._validation import parameter_renames, renamed_parameters
from scarce.bench.spec.experiment import load_experiment
from scarce.cli.main import main
from scarce.errors import FileError, MethodError
from scarce.methods import available_methods, make_method
from scarce.methods.answers_likelihood import AnswersLikelihood
from scarce.methods.refine import Refine
from scarce.methods.registry import method_class
from scarce.priors import PRIOR_ESTIMATORS, BestBin, make_estimator
from scarce.simulate import PROCESSES, ask, scar, simulate, uniform_transition, with_errors
from scarce.testing import three_blobs

RENAMED = {
    "refine": {
        "first": "base_method",
        "short": "short_fraction",
        "share": "confident_fraction",
        "settled": "tol",
        "strength": "scar_strength",
        "errors": "error_rate",
    },
    "scar-likelihood": {"errors": "error_rate"},
    "answers": {"miss": "false_negative_rate", "false": "false_positive_rate"},
    **{
        f"meta-{name}": {"unlabelled": "unlabeled"}
        for name in ("upu", "nnpu", "vpu", "dist-pu", "cvir", "tedn", "pusb")
    },
}
CASES = [(name, old, new) for name, names in RENAMED.items() for old, new in names.items()]


def test_parameter_renames_of_methods_are_listed_here():
    found = {name: dict(parameter_renames(method_class(name))) for name in available_methods()}
    assert {name: renames for name, renames in found.items() if renames} == RENAMED


@pytest.mark.parametrize(
    "target",
    [
        MetaComplementaryClassifier,
        with_errors,
        *map(method_class, RENAMED),
        *PRIOR_ESTIMATORS.values(),
        *PROCESSES.values(),
    ],
)
def test_parameter_renames_match_signatures(target):
    known = inspect.signature(target).parameters
    renames = parameter_renames(target)
    assert set(renames.values()) <= set(known)
    assert not set(renames) & set(known)


@pytest.mark.parametrize(("name", "old", "new"), CASES)
def test_methods_reject_old_parameter_with_new_name(name, old, new):
    message = f"has no parameter '{old}'; it is now called '{new}'\\.$"
    with pytest.raises(MethodError, match=f"^{name} {message}"):
        make_method(name, **{old: 0.5})
    kind = method_class(name)
    with pytest.raises(MethodError, match=f"^{kind.__name__} {message}"):
        kind(**{old: 0.5})


def test_classifier_rejects_old_parameter_with_new_name():
    X, _, labels = three_blobs()
    with pytest.raises(MethodError, match="refine has no parameter 'first'; it is now called 'base_method'"):
        ScarceClassifier("refine", method_params={"first": "scarce"}).fit(X, labels)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ask([0, 1], p_miss=0.1),
            "ask has no parameter 'p_miss'; it is now called 'false_negative_rate'.",
        ),
        (
            lambda: scar([0, 1], c=0.5, error=0.1),
            "scar has no parameter 'error'; it is now called 'error_rate'.",
        ),
        (
            lambda: with_errors(uniform_transition(3), error=0.1),
            "with_errors has no parameter 'error'; it is now called 'error_rate'.",
        ),
        (
            lambda: simulate("ask", [0, 1], p_false=0.1),
            "the process 'ask' has no parameter 'p_false'; it is now called 'false_positive_rate'.",
        ),
        (
            lambda: BestBin(unlabelled="rest"),
            "BestBin has no parameter 'unlabelled'; it is now called 'unlabeled'.",
        ),
        (
            lambda: make_estimator("kernel-mean", unlabelled="rest"),
            "kernel-mean has no parameter 'unlabelled'; it is now called 'unlabeled'.",
        ),
        (
            lambda: MetaComplementaryClassifier(unlabelled="all"),
            "MetaComplementaryClassifier has no parameter 'unlabelled'; it is now called 'unlabeled'.",
        ),
        (
            lambda: MetaComplementaryClassifier().set_params(unlabelled="all"),
            "MetaComplementaryClassifier has no parameter 'unlabelled'; it is now called 'unlabeled'.",
        ),
    ],
)
def test_functions_and_estimators_reject_old_parameter_with_new_name(call, message):
    with pytest.raises(MethodError) as caught:
        call()
    assert str(caught.value) == message


def test_command_line_rejects_old_parameter_with_new_name(tmp_path, capsys):
    X, y, labels = three_blobs()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", np.unique(y, return_inverse=True)[1])
    labels.save(tmp_path / "labels.npz")
    files = {name: str(tmp_path / name) for name in ("X.npy", "y.npy", "labels.npz", "out")}
    train = ["train", files["X.npy"], "--labels", files["labels.npz"], "--out", files["out"]]
    for command, message in (
        (
            [*train, "--method", "refine", "--set", "first=op"],
            "error: refine has no parameter 'first'; it is now called 'base_method'.",
        ),
        (
            [
                "labels",
                "simulate",
                files["y.npy"],
                files["out"] + ".csv",
                "--process",
                "scar",
                "--set",
                "error=0.1",
            ],
            "error: the process 'scar' has no parameter 'error'; it is now called 'error_rate'.",
        ),
        (
            ["priors", files["X.npy"], "--labels", files["labels.npz"], "--set", "unlabelled=rest"],
            "error: best-bin has no parameter 'unlabelled'; it is now called 'unlabeled'.",
        ),
    ):
        assert main(command) == 2
        assert capsys.readouterr().err == message + "\n"


@pytest.mark.parametrize(
    ("setting", "method", "message"),
    [
        (
            '"uniform"',
            '{ method = "refine", params = { settled = 0.1 } }',
            "refine has no parameter 'settled'; it is now called 'tol'",
        ),
        (
            '{ name = "wrong", process = "scar", params = { rates = 0.3, error = 0.1 } }',
            '"scarce"',
            "the process 'scar' has no parameter 'error'; it is now called 'error_rate'",
        ),
    ],
)
def test_experiment_file_rejects_old_parameter_with_new_name(tmp_path, setting, method, message):
    (tmp_path / "own.toml").write_text(
        'name = "own"\ntitle = "Own"\nprotocol = "shortened"\nrecipe = "annealed"\nseeds = 1\n'
        f'data = "digits"\nmodels = "mlp"\nsettings = [{setting}]\nmethods = [{method}]\n'
    )
    with pytest.raises(FileError, match=message):
        load_experiment(str(tmp_path / "own.toml"))


def test_renamed_parameters_keep_signatures_copies_and_clones():
    assert list(inspect.signature(AnswersLikelihood).parameters) == [
        "false_negative_rate",
        "false_positive_rate",
    ]
    assert next(iter(inspect.signature(Refine).parameters)) == "base_method"
    assert copy.deepcopy(make_method("refine", tol=0.1)).params["tol"] == 0.1
    assert clone(MetaComplementaryClassifier(unlabeled="all")).get_params()["unlabeled"] == "all"
    assert BestBin(unlabeled="rest") == BestBin(unlabeled="rest")


def test_renamed_parameters_are_inherited_with_constructor():
    @renamed_parameters(old="new")
    class Base:
        def __init__(self, new=1):
            self.new = new

    class Child(Base):
        pass

    class Other(Base):
        def __init__(self, old):
            super().__init__(new=old)

    assert Child(2).new == Child(new=2).new == 2
    with pytest.raises(MethodError, match="'old'; it is now called 'new'"):
        Child(old=2)
    assert parameter_renames(Other) == {}
    assert Other(old=3).new == 3
