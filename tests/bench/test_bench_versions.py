"""Which record of a trial counts after a change of method or data, and what is told of the others."""

import inspect
import os
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from records_world import fill, record_of, small_experiment, trials_of

from scarce.bench.record import TrialRecord, key_of
from scarce.bench.report_content import make_report
from scarce.bench.report_experiment import report
from scarce.bench.store import Store
from scarce.bench.study import read_study
from scarce.bench.versions import _version_of, method_version
from scarce.errors import MethodError
from scarce.methods import registry

METHOD = """
from outside import numbers
from outside.losses import cost
from scarce.methods.base import Method, MethodFacts


class Outside(Method):
    facts = MethodFacts("outside", "Outside", "none", "nothing")

    def loss(self, logits, batch):
        return numbers.HALF * cost(logits)
"""
MODULES = {
    "__init__": "",
    "method": METHOD,
    "losses": "from outside.deep import square\n\n\ndef cost(logits):\n    return square(logits).mean()\n",
    "deep": "def square(x):\n    return x * x\n",
    "numbers": "from .more import HALF\n",
    "more": "HALF = 0.5\n",
    "unused": "ONE = 1\n",
}


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A method of another package, whose mathematics is in several modules of that package."""
    folder = tmp_path / "outside"
    folder.mkdir()
    for name, text in MODULES.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    from outside import unused  # noqa: F401
    from outside.method import Outside

    monkeypatch.setitem(registry._METHODS, "outside", Outside)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "outside"]:
        del sys.modules[name]
    _version_of.cache_clear()


def test_a_method_of_another_package_changes_with_all_modules_of_it_that_it_uses(
    outside: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = inspect.getsource
    changed = []

    def version() -> str:
        _version_of.cache_clear()
        return method_version("outside")

    before = version()
    for name in [*MODULES, "scarce.methods.base"]:
        module = {"__init__": "outside"}.get(name, name if "." in name else f"outside.{name}")

        def source(of: object, module: str = module) -> str:
            return read(of) + "\nCHANGED = 1\n" * (of.__name__ == module)

        monkeypatch.setattr(inspect, "getsource", source)
        changed += [name] * (version() != before)
    assert changed == ["method", "losses", "deep", "numbers", "more"]


def test_a_method_of_a_script_changes_with_the_files_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "lib" / "site-packages"
    installed.mkdir(parents=True)
    (installed / "foreign_numbers.py").write_text("ONE = 1\n")
    (tmp_path / "own_losses.py").write_text("def cost(logits):\n    return logits.mean()\n")
    (tmp_path / "own_numbers.py").write_text("HALF = 0.5\n")
    (tmp_path / "own_method.py").write_text(
        "import foreign_numbers\nimport own_numbers as numbers\nfrom own_losses import cost\n"
        + METHOD.partition("cost\n")[2]
    )
    names = ("foreign_numbers", "own_losses", "own_numbers", "own_method")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(installed)
    monkeypatch.setitem(registry._METHODS, "outside", import_module("own_method").Outside)
    read = inspect.getsource
    versions = {"": method_version("outside")}
    for name in names:
        monkeypatch.setattr(
            inspect, "getsource", lambda of, name=name: read(of) + "\nCHANGED = 1\n" * (of.__name__ == name)
        )
        _version_of.cache_clear()
        versions[name] = method_version("outside")
    for name in names:
        del sys.modules[name]
    _version_of.cache_clear()
    assert [name for name in names if versions[name] != versions[""]] == list(names[1:])


def test_a_method_changes_with_the_parts_that_its_parameters_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    read = inspect.getsource
    chosen: list[dict[str, str]] = [{}, {"base_method": "scarce"}, {"base_method": "op"}]
    before = [method_version("refine", params) for params in chosen]
    monkeypatch.setattr(
        inspect,
        "getsource",
        lambda of: read(of) + "\nCHANGED = 1\n" * (of.__name__ == "scarce.methods.scarce"),
    )
    _version_of.cache_clear()
    after = [method_version("refine", params) for params in chosen]
    _version_of.cache_clear()
    assert [one != other for one, other in zip(before, after, strict=True)] == [False, True, False]


def test_a_method_without_a_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    place: dict[str, object] = {"__name__": "typed_in"}
    exec(METHOD.replace("from outside", "# from outside"), place)
    monkeypatch.setitem(sys.modules, "typed_in", ModuleType("typed_in"))
    monkeypatch.setitem(registry._METHODS, "outside", place["Outside"])
    _version_of.cache_clear()
    with pytest.raises(
        MethodError, match=r"the source of typed_in cannot be read.*put the method into a file"
    ):
        method_version("outside")


def with_identity(record: TrialRecord, **changes: object) -> TrialRecord:
    identity = record.identity | changes
    return replace(record, key=key_of(identity), identity=identity)


ONE = {"methods": "scarce", "settings": "uniform", "seeds": 1}


def test_the_record_of_the_present_method_counts_whenever_it_was_made(tmp_path: Path) -> None:
    experiment = small_experiment(**ONE)
    (trial,) = trials_of(experiment)
    present = record_of(trial, 0.9, finished="2026-01-01T00:00:00.000000+00:00")
    other = with_identity(
        record_of(trial, 0.1, finished="2026-02-01T00:00:00.000000+00:00"), method_version="other"
    )
    for order in ([present, other], [other, present]):
        assert fill(tmp_path, order).of(experiment).records() == [present]


def test_of_earlier_methods_the_one_finished_last_counts_whatever_the_files_say(tmp_path: Path) -> None:
    experiment = small_experiment(**ONE)
    (trial,) = trials_of(experiment)
    records = [
        with_identity(record_of(trial, share, finished=time), method_version=time)
        for share, time in ((0.3, "2026-03-01"), (0.2, "2026-02-01"), (0.1, ""))
    ]
    store = fill(tmp_path, records)
    for age, record in enumerate(records):
        os.utime(tmp_path / "records" / f"{record.key}.json", (1e9 + age, 1e9 + age))
    assert [record.accuracy for record in store.of(experiment).records()] == [0.3]
    assert [record.accuracy for record in store.records()] == [0.1, 0.2, 0.3]


def test_results_of_an_earlier_method_or_data_are_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = small_experiment(methods=["ga", "scarce"], settings="uniform", seeds=2)
    trials = trials_of(experiment)
    times = ("2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04")
    records = [record_of(trial, 0.9, finished=time) for trial, time in zip(trials, times, strict=True)]
    study = read_study(experiment, fill(tmp_path / "same", records))
    assert study.outdated == frozenset()
    assert not any("earlier version" in line for line in make_report(study, "").protocol)

    old = [with_identity(records[0], method_version="old"), *records[1:]]
    one = read_study(experiment, fill(tmp_path / "one", old))
    assert [slot.label for slot in one.outdated] == [trials[0].label]
    told = (
        "1 of 4 trials was run by an earlier version of its method or data; `scarce bench run` runs it anew."
    )
    assert make_report(one, "").protocol[-1] == told
    report(experiment, Store(tmp_path / "one"), tmp_path / "out")
    report(experiment, Store(tmp_path / "one"), terminal=True)
    texts = [(tmp_path / "out" / f"report.{kind}").read_text("utf-8") for kind in ("md", "tex", "html")]
    for text in (*texts, capsys.readouterr().out):
        assert "1 of 4 trials was run by an earlier version of its" in " ".join(text.split())

    # The data of the last trial are those of today.
    mixed = [with_identity(record, data_checksum=c) for record, c in zip(records, "aabb", strict=True)]
    two = read_study(experiment, fill(tmp_path / "two", mixed))
    assert {slot.seed for slot in two.outdated} == {0}
    assert (
        make_report(two, "").protocol[-1].startswith("2 of 4 trials were run by an earlier version of their ")
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"protocol": "shortened", "grid": [{"epochs": 10}, {"epochs": 20}]},
        {"priors": ["true", "true"], "methods": "scarce"},
    ],
)
def test_trials_with_one_place_in_the_tables_are_refused_before_they_are_run(changes: dict) -> None:
    with pytest.raises(
        MethodError, match=r"two trials are called mnist, uniform, .*give one of them another"
    ):
        trials_of(small_experiment(**changes))
