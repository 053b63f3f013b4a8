"""Trials: what their names depend on, and which are chosen."""

import copy
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from experiment_world import TINY, trials_of

from scarce.bench.plan import Trial, same_cell, select
from scarce.bench.versions import _version_of, method_version
from scarce.errors import MethodError
from scarce.methods import least_excluded

SEVERAL = TINY.replace('"uniform"', '["uniform", "scar-a"]').replace('"linear"', '["linear", "mlp"]')


def changes_of(value: object) -> list[object]:
    """Return values that differ in one place: for a dict, one for every field, and one with a field more."""
    if isinstance(value, dict):
        changed = [value | {name: other} for name in value for other in changes_of(value[name])]
        return [*changed, value | {"one more": 1}]
    return [f"not {value}"]


def test_the_key_depends_on_every_part_of_the_identity_and_on_nothing_else(tmp_path: Path) -> None:
    trial = trials_of(tmp_path)[0]
    changed = changes_of(trial.identity)
    assert len(changed) > 20
    keys = {Trial(identity, trial.label, "tiny", "shortened").key for identity in changed}
    assert len(keys) == len(changed)
    assert trial.key not in keys
    backwards = dict(reversed(copy.deepcopy(trial.identity).items()))
    assert Trial(backwards, "another label", "another experiment", "paper").key == trial.key


def test_the_data_and_the_size_of_the_sample_are_in_the_identity(tmp_path: Path) -> None:
    whole, part = trials_of(tmp_path)[0].identity, trials_of(tmp_path, TINY + "n_train = 100")[0].identity
    assert (whole["n_train"], part["n_train"]) == (1198, 100)
    assert len(whole["data_checksum"]) == 64


def test_only_methods_that_need_a_matrix_are_given_one(tmp_path: Path) -> None:
    text = TINY.replace('"nn"', '"forward"') + 'transition = "uniform"'
    given = {trial.identity["method"]: trial.identity["transition"] for trial in trials_of(tmp_path, text)}
    assert given == {"scarce": None, "forward": "uniform"}


def version(
    name: str,
    monkeypatch: pytest.MonkeyPatch | None = None,
    module: str = "",
    change: Callable[[str], str] = str,
) -> str:
    """Return the version of a method, if the source of a module were changed."""
    _version_of.cache_clear()
    if monkeypatch is None:
        return method_version(name)
    read = inspect.getsource
    with monkeypatch.context() as patch:
        patch.setattr(inspect, "getsource", lambda m: change(read(m)) if m.__name__ == module else read(m))
        found = method_version(name)
    _version_of.cache_clear()
    return found


@pytest.mark.parametrize(
    ("module", "others"),
    [
        ("scarce.methods.scarce", {"nn", "meta-vpu"}),
        ("scarce.risk.parts", {"nn", "meta-vpu"}),  # used by the risk that the method uses
        ("scarce.methods.pairs", {"scarce", "meta-vpu"}),  # a base
        ("scarce.pu.vpu", {"scarce", "nn"}),
        ("scarce.methods.base", {"scarce", "nn", "meta-vpu"}),  # the interface of all methods
        ("scarce.methods.registry", {"scarce", "nn", "meta-vpu"}),
        ("scarce.methods.pop", {"scarce", "nn", "meta-vpu"}),
    ],
)
def test_the_version_of_a_method_changes_with_the_source_it_depends_on(
    monkeypatch: pytest.MonkeyPatch, module: str, others: set[str]
) -> None:
    names = ("scarce", "nn", "meta-vpu")
    before = {name: version(name) for name in names}
    after = {name: version(name, monkeypatch, module, lambda text: text + "changed = 1\n") for name in names}
    assert {name for name in names if before[name] == after[name]} == others


@pytest.mark.parametrize(
    "part", ["scarce.methods.least_excluded", "scarce.methods.refine", "scarce.risk.conditional"]
)
def test_the_version_of_a_method_changes_with_its_parts(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    """Refine knows the method that it trains first by name alone."""
    assert version("refine") != version("refine", monkeypatch, part, lambda text: text + "changed = 1\n")


DOCSTRINGS = re.compile(r'\n *"""(.*?)"""', re.DOTALL)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: DOCSTRINGS.sub("", text),
        lambda text: DOCSTRINGS.sub(lambda found: found[0].replace(found[1], "Other\n\n# words.\n"), text),
        lambda text: text.replace("\n\n", "\n    # Why.\n\n"),
        lambda text: "\n\n" + text.replace("\n\n", "\n\n\n") + "\n",
    ],
)
def test_what_only_explains_is_no_part_of_the_version(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str]
) -> None:
    text = inspect.getsource(least_excluded)
    assert change(text) != text
    assert version("least-excluded") == version(
        "least-excluded", monkeypatch, least_excluded.__name__, change
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + "text = '# no comment'\n",
        lambda text: text.replace(".mean()", ".sum()"),
        lambda text: text.replace("    def scores", "    def _scores"),
        lambda text: text.replace(
            "\n        self.log_rates =", "\n        if True:\n            self.log_rates ="
        ),
    ],
)
def test_every_statement_is_part_of_the_version(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str]
) -> None:
    assert version("least-excluded") != version(
        "least-excluded", monkeypatch, least_excluded.__name__, change
    )


def test_trials_differing_in_versions_alone_are_of_one_cell(tmp_path: Path) -> None:
    identity = trials_of(tmp_path)[0].identity
    assert same_cell(identity) == same_cell(identity | {"method_version": "x", "data_checksum": None})
    assert same_cell(identity) != same_cell(identity | {"seed": 1})


def test_one_trial_under_two_names_is_refused(tmp_path: Path) -> None:
    text = TINY.replace('"nn"', '{ label = "again", method = "scarce" }')
    with pytest.raises(
        MethodError, match=r"scarce, linear, seed 0 and .*again, linear, seed 0 are the same trial"
    ):
        trials_of(tmp_path, text)


def test_selection_by_axis(tmp_path: Path) -> None:
    trials = trials_of(tmp_path, SEVERAL)
    chosen = select(
        trials, {"method": ["nn"], "model": ["mlp"], "setting": ["uniform", "scar-a"], "seed": ["1"]}
    )
    assert [str(trial) for trial in chosen] == [
        "digits, uniform, nn, mlp, seed 1",
        "digits, scar-a, nn, mlp, seed 1",
    ]
    assert select(trials, {}) == trials


def test_a_method_is_selected_by_its_label_and_by_its_name(tmp_path: Path) -> None:
    text = TINY.replace('"nn"', '{ label = "soft", method = "scarce", params = { loss = "sigmoid" } }')
    trials = trials_of(tmp_path, text)
    assert {trial.label for trial in select(trials, {"method": ["soft"]})} == {"soft"}
    assert len(select(trials, {"method": ["scarce"]})) == 4


@pytest.mark.parametrize(
    ("only", "message"),
    [
        (
            {"methods": ["nn"]},
            "there is no axis 'methods'; expected one of data, setting, method, model, seed.",
        ),
        ({"model": ["mlp"]}, "no trial has the model 'mlp'; there are linear."),
        ({"seed": ["0", "5"]}, "no trial has the seed '5'; there are 0, 1."),
    ],
)
def test_a_selection_of_nothing_is_refused(tmp_path: Path, only: dict[str, list[str]], message: str) -> None:
    with pytest.raises(MethodError) as caught:
        select(trials_of(tmp_path), only)
    assert str(caught.value) == message
