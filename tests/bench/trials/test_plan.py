"""Planned trials: what their keys depend on, and which are selected."""

from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest
from helpers.bench import TINY, replace_spec, tiny_experiment, tiny_plan, tiny_record, tiny_trials
from pydantic import ValidationError

from scarce.bench.spec.trial import Perturbed, TrialSpec
from scarce.bench.trials.plan import Plan, Trial
from scarce.bench.trials.store import Store
from scarce.datasets import _files
from scarce.errors import MethodError
from scarce.methods.ure import NonNegativeRisk
from scarce.models import registry as factory
from scarce.simulate import registry as processes
from scarce.training import loop

SEVERAL = TINY.replace('"uniform"', '["uniform", "scar-a"]').replace('"linear"', '["linear", "mlp"]')


OTHERS = {
    "kind": "priors",
    "data": "mnist",
    "data_checksum": "abc",
    "n_train": 7,
    "imbalance": 2.0,
    "setting": "mine",
    "process": "scar-a",
    "setting_params": {"rates": 0.1},
    "method": "ga",
    "method_params": {"ascent": "plain"},
    "model": "lenet",
    "seed": 5,
    "priors": Perturbed(perturb=0.1),
    "transition": "uniform",
    "recipe": {"epochs": 4},
    "early_stopping": True,
    "split": "70/30",
    "method_revision": 2,
    "labels_revision": 2,
    "model_revision": 2,
    "training_revision": 2,
}


def test_key_depends_on_each_field_of_spec_and_nothing_else(tmp_path: Path) -> None:
    trial = tiny_trials(tmp_path)[0]
    assert OTHERS.keys() == TrialSpec.model_fields.keys()
    keys = {trial.spec.model_copy(update={name: value}).key for name, value in OTHERS.items()}
    assert len(keys | {trial.key}) == len(OTHERS) + 1
    backwards = TrialSpec.model_validate(dict(reversed(trial.spec.model_dump().items())))
    assert Trial(backwards, "another label", "another experiment", "paper").key == trial.key


def test_key_ignores_defaults_that_are_written_out(tmp_path: Path) -> None:
    spec = tiny_trials(tmp_path)[0].spec
    assert TrialSpec.model_validate(spec.as_dict()).key == spec.key
    assert (
        TrialSpec.model_validate(spec.as_dict() | {"early_stopping": False, "imbalance": None}).key
        == spec.key
    )


def test_spec_holds_data_checksum_and_sample_size(tmp_path: Path) -> None:
    whole, part = tiny_trials(tmp_path)[0].spec, tiny_trials(tmp_path, TINY + "n_train = 100")[0].spec
    assert (whole.n_train, part.n_train) == (1198, 100)
    assert len(whole.data_checksum) == 64


def test_spec_holds_revisions_of_method_and_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (processes, factory, loop):
        monkeypatch.setattr(module, "REVISION", 3)
    monkeypatch.setattr(NonNegativeRisk, "facts", replace(NonNegativeRisk.facts, revision=2))
    specs = {trial.spec.method: trial.spec for trial in tiny_trials(tmp_path)}
    assert (specs["nn"].method_revision, specs["scarce"].method_revision) == (2, 1)
    others = ("labels_revision", "model_revision", "training_revision")
    assert [getattr(specs["nn"], name) for name in others] == [3, 3, 3]


def test_revision_outdates_earlier_records_and_keeps_their_cell(tmp_path: Path) -> None:
    spec = tiny_trials(tmp_path)[0].spec
    later = spec.model_copy(update={"method_revision": 2})
    assert later.cell == spec.cell
    assert not spec.is_current(later)
    assert spec.is_current(spec.model_copy(update={"data_checksum": None}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recipe": {"epochs": 0}}, "epochs=0; expected a whole number"),
        ({"recipe": {"lr": 1}}, "unexpected keyword argument 'lr'"),
        ({"seed": "0"}, "valid integer"),
        ({"method_version": "x"}, "Extra inputs"),
        ({"method_revision": 0}, "greater than or equal to 1"),
        ({"priors": {"corrupt": 0.1}}, "corrupt is now called perturb"),
    ],
)
def test_spec_rejects_wrong_fields(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    content = tiny_trials(tmp_path)[0].spec.model_dump() | changes
    with pytest.raises(ValidationError, match=message):
        TrialSpec.model_validate(content)


def test_plan_gives_transition_only_to_methods_that_need_it(tmp_path: Path) -> None:
    text = TINY.replace('"nn"', '"forward"') + 'transition = "uniform"'
    given = {trial.spec.method: trial.spec.transition for trial in tiny_trials(tmp_path, text)}
    assert given == {"scarce": None, "forward": "uniform"}


def test_plan_rejects_one_trial_under_two_labels(tmp_path: Path) -> None:
    text = TINY.replace('"nn"', '{ label = "again", method = "scarce" }')
    with pytest.raises(
        MethodError, match=r"scarce, linear, seed 0 and .*again, linear, seed 0 are the same trial"
    ):
        tiny_trials(tmp_path, text)


def test_select_filters_by_axes(tmp_path: Path) -> None:
    plan = tiny_plan(tmp_path, SEVERAL)
    chosen = plan.select(method="nn", model=["mlp"], setting=["uniform", "scar-a"], seed=1)
    assert [str(trial) for trial in chosen] == [
        "digits, uniform, nn, mlp, seed 1",
        "digits, scar-a, nn, mlp, seed 1",
    ]
    assert plan.select() == plan


def test_select_finds_method_by_label_and_by_name(tmp_path: Path) -> None:
    text = TINY.replace('"nn"', '{ label = "soft", method = "scarce", params = { loss = "sigmoid" } }')
    plan = tiny_plan(tmp_path, text)
    assert {trial.label for trial in plan.select(method="soft")} == {"soft"}
    assert len(plan.select(method="scarce")) == 4


@pytest.mark.parametrize(
    ("only", "message"),
    [
        (
            {"methods": ["nn"]},
            "axis='methods' is unknown; expected 'data', 'setting', 'method', 'model' or 'seed'.",
        ),
        ({"model": ["mlp"]}, "no trial has the model 'mlp'; there are linear."),
        ({"seed": ["0", "5"]}, "no trial has the seed '5'; there are 0, 1."),
    ],
)
def test_select_rejects_empty_selection(tmp_path: Path, only: dict[str, list[str]], message: str) -> None:
    with pytest.raises(MethodError) as caught:
        tiny_plan(tmp_path).select(**only)
    assert str(caught.value) == message


def test_plan_finds_the_latest_record_of_each_trial(tmp_path: Path) -> None:
    store, experiment = Store(tmp_path / "store"), tiny_experiment(tmp_path)
    first = tiny_record(tmp_path, finished="2026-01-02")
    older = replace_spec(tiny_record(tmp_path, finished="2026-01-01"), data_checksum="old")
    alien = replace_spec(tiny_record(tmp_path, finished="2026-01-03"), setting="scar-a")
    revised = replace_spec(tiny_record(tmp_path, finished="2026-01-04"), method_revision=2)
    for record in (alien, first, older, revised):
        store.save(record)
    assert store.records() == [older, first, alien, revised]
    plan, with_data = Plan.from_experiment(experiment), tiny_plan(tmp_path)
    cell = first.spec.cell
    assert with_data.find_records(store.records()) == {cell: first}
    assert plan.find_records([older, first]) == {cell: first}
    assert with_data.find_records([older, revised]) == {cell: revised}
    longer = Plan.from_experiment(experiment.changed(epochs=9))
    assert longer.with_data().find_records(store.records()) == {}


def test_plan_with_data_keeps_the_selection_and_names_missing_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SCARCE_DATA", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path / "cache")
    monkeypatch.setattr(_files, "_SYSTEM", tmp_path / "system")
    text = TINY.replace('"digits"', '["digits", "mnist"]')
    plan = Plan.from_experiment(tiny_experiment(tmp_path, text)).select(method="nn")
    found = plan.with_data(download=False)
    assert [trial.label for trial in found] == ["nn"] * 4
    assert found.missing == {"mnist": "get it with: scarce data fetch mnist"}
    assert {trial.spec.data for trial in found if trial.spec.data_checksum is None} == {"mnist"}
