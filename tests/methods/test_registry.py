"""Methods by name: their facts, parameters, plugins, and the table in the guide."""

import inspect
import itertools
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from torch import nn

from scarce import methods
from scarce.errors import MethodError
from scarce.methods import Method, MethodFacts, available_methods, make_method, register, registry
from scarce.methods.registry import COLUMNS, method_class, method_rows, methods_markdown

NAMES = list(available_methods())

PLUGIN_CODE = """
from scarce.methods import Method, MethodFacts

class Guess(Method):
    facts = MethodFacts("guess", "Guessing", "nobody, never", "nothing", accepts=("single",))

    def __init__(self, luck: float = 0.5):
        super().__init__(luck=luck)

    def loss(self, logits, batch):
        return (logits * self.params["luck"]).mean()
"""


@pytest.fixture
def fresh_registry(monkeypatch):
    """A registry that has not loaded entry points, and forgets what the test registers."""
    monkeypatch.setattr(registry, "_METHODS", dict(registry._METHODS))
    registry._load_entry_points.cache_clear()
    yield
    registry._load_entry_points.cache_clear()


@pytest.fixture
def install_plugin(tmp_path, monkeypatch, fresh_registry):
    """Put a package with an entry point on the path, as an installer would."""

    def write(code, entry):
        (tmp_path / "luck.py").write_text(code)
        info = tmp_path / "luck-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: luck\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[scarce.methods]\nguess = {entry}\n")
        monkeypatch.syspath_prepend(tmp_path)

    yield write
    sys.modules.pop("luck", None)


def test_available_methods_include_scarce_methods():
    assert {"scarce", "scarce-ure", "scarce-cce"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_class_of_method_is_exported(name):
    cls = registry.method_class(name)
    assert getattr(methods, cls.__name__) is cls
    assert cls.__name__ in methods.__all__


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("meta-")])
def test_class_of_meta_method_is_exported_from_meta(name):
    cls = registry.method_class(name)
    assert getattr(methods.meta, cls.__name__) is cls
    assert cls.__name__ in methods.meta.__all__


@pytest.mark.parametrize("name", NAMES)
def test_method_facts_are_complete(name):
    facts = available_methods()[name]
    assert facts.name == name == name.lower()
    for field in ("title", "paper", "assumes"):
        text = getattr(facts, field)
        assert len(text) > 3
        assert text == text.strip()
    assert set(facts.accepts) <= {"single", "multiple", "unlabeled"}
    assert "single" in facts.accepts
    assert all(getattr(facts, field.name) is not None for field in fields(facts))


@pytest.mark.parametrize("name", NAMES)
def test_params_recreate_method(name):
    method = make_method(name)
    again = make_method(name, **method.params)
    assert again.params == method.params
    assert type(again) is type(method)
    assert isinstance(method, nn.Module)
    for param, value in method.params.items():
        assert f"{param}={value!r}" in repr(method)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("scarce", {"loss": "square", "correction": "nnpu", "form": "ht", "absent": "keep", "alpha": 0.25,
                    "slope": -0.5, "beta": 0.1, "gamma": 0.9}),
        ("scarce-ure", {"loss": "sigmoid", "form": "dataset", "absent": "keep", "alpha": 1.0}),
        ("scarce-cce", {"loss": "mae", "correction": "leaky", "form": "ht", "absent": "keep", "alpha": 0.0,
                        "slope": -1.0, "beta": 0.2, "gamma": 0.3}),
    ],
)  # fmt: skip
def test_make_method_keeps_every_parameter(name, changed):
    assert set(changed) == set(make_method(name).params)
    assert make_method(name, **changed).params == changed


@pytest.mark.parametrize("name", ["scarse", "", None])
def test_make_method_rejects_unknown_name(name):
    with pytest.raises(MethodError, match=rf"method={name!r} is unknown; expected 'scarce', 'scarce-ure'"):
        make_method(name)


def test_make_method_rejects_unknown_parameter():
    with pytest.raises(
        MethodError, match=r"scarce-ure has no parameter 'correction'; it takes loss, form, absent, alpha"
    ):
        make_method("scarce-ure", correction="abs")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"loss": "cubic"}, "loss='cubic' is unknown"),
        ({"correction": "square"}, "correction='square' is unknown"),
        ({"form": "epoch"}, "form='epoch' is unknown; expected 'batch', 'dataset' or 'ht'"),
        ({"absent": "drop"}, "absent='drop' is unknown; expected 'skip' or 'keep'"),
        ({"alpha": 1.5}, "alpha=1.5; expected a number from 0 to 1"),
        ({"alpha": float("nan")}, "alpha=nan; expected a number"),
        ({"alpha": "half"}, "alpha='half'; expected a number"),
        ({"correction": "leaky", "slope": 0.5}, "slope=0.5 is positive"),
        ({"correction": "leaky", "slope": None}, "slope=None; expected a number"),
        ({"correction": "nnpu", "gamma": float("inf")}, "gamma=inf; expected a number"),
    ],
)
@pytest.mark.parametrize("name", ["scarce", "scarce-cce"])
def test_make_method_rejects_invalid_values(name, params, message):
    with pytest.raises(MethodError, match=message):
        make_method(name, **params)


def test_plugin_method_is_found_by_entry_point(install_plugin):
    install_plugin(PLUGIN_CODE, "luck:Guess")
    assert available_methods()["guess"].title == "Guessing"
    method = make_method("guess", luck=0.9)
    assert (type(method).__module__, method.params) == ("luck", {"luck": 0.9})
    with pytest.raises(MethodError, match="guess has no parameter 'loss'; it takes luck"):
        make_method("guess", loss="logistic")


@pytest.mark.parametrize(
    ("code", "entry", "why"),
    [
        ("raise RuntimeError('no luck today')", "luck:Guess", "no luck today"),
        ("import a_package_that_is_not_there", "luck:Guess", "a_package_that_is_not_there"),
        (PLUGIN_CODE, "luck:Missing", "Missing"),
        (PLUGIN_CODE, "luck:Method", "facts"),
        (
            PLUGIN_CODE.replace('"guess"', '"scarce"'),
            "luck:Guess",
            "the name 'scarce' belongs to scarce.methods.scarce.Scarce",
        ),
    ],
)
def test_broken_plugin_raises_error_naming_entry_point(install_plugin, code, entry, why):
    install_plugin(code, entry)
    with pytest.raises(
        MethodError, match=rf"the method 'guess' .*cannot be loaded from {entry} \(.*{why}.*\); repair"
    ):
        make_method("scarce")


def test_register_replaces_redefined_method(fresh_registry):
    def define(title):
        @register
        class Own(Method):
            facts = MethodFacts("own", title, "nobody", "nothing at all")

            def loss(self, logits, batch):
                return logits.mean()

        return Own

    first = define("first")
    assert isinstance(make_method("own"), first)
    second = define("second")  # as when a notebook cell is rerun
    assert isinstance(make_method("own"), second)
    assert available_methods()["own"].title == "second"


def test_register_rejects_taken_name(fresh_registry):
    class Impostor(Method):
        facts = MethodFacts("scarce", "another", "nobody", "nothing at all")

        def loss(self, logits, batch):
            return logits.mean()

    with pytest.raises(MethodError, match=r"the name 'scarce' belongs to scarce\.methods\.scarce\.Scarce"):
        register(Impostor)


GUIDE = Path(__file__).parents[2] / "docs" / "methods.md"


def test_guide_contains_table_of_methods():
    assert methods_markdown() in GUIDE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_docstring_of_method_cites_linked_paper(name):
    facts, docstring = available_methods()[name], inspect.getdoc(method_class(name))
    assert bool(facts.url) == (facts.paper != "this project") == ("References" in docstring)
    assert facts.url in docstring
    assert facts.paper[-4:] in docstring or not facts.url  # the year


def see_also(docstring):
    """The names in the section See Also."""
    _, _, section = docstring.partition("See Also\n--------\n")
    lines = itertools.takewhile(bool, section.splitlines())
    return [name for line in lines for name in line.split(" : ")[0].split(", ")]


@pytest.mark.parametrize("name", NAMES)
def test_docstring_of_method_refers_to_method_classes(name):
    classes = {method_class(each).__name__ for each in NAMES}
    related = see_also(inspect.getdoc(method_class(name)))
    assert related
    assert {each for each in related if not each.startswith("scarce.functional.")} <= classes


def test_guide_links_papers():
    assert "[Ishida et al., NeurIPS 2017](https://arxiv.org/abs/1705.07541)" in methods_markdown()
    assert "| this project |" in methods_markdown()


def test_method_rows_list_labels_and_needs():
    rows = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in method_rows()}
    assert rows["forward"]["needs"] == "transition"
    assert rows["forward"]["labels"] == "1"
    assert rows["mae"]["labels"] == "1+"
    assert rows["scarce"]["needs"] == "priors"
    assert rows["scarce"]["labels"] == "0+"
