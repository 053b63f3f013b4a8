"""The public face: what packages export, the committed list of names, and the index in the documentation agree."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
LIST = Path(__file__).with_name("public_api.txt")
INDEX = ROOT / "docs" / "api.md"
SINGLE_FILES = {"scarce.errors", "scarce.functional"}
"""Public modules that are not packages."""
COMMANDS = ("scarce.cli", "scarce.demo", "scarce.__main__")
"""Programs: they export nothing."""


def source_files():
    """The dotted name of every module, and its file."""
    for path in sorted(SOURCE.glob("scarce/**/*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def is_private(name):
    return any(part.startswith("_") for part in name.split(".")) or name.startswith(COMMANDS)


def defines_all(path):
    targets = [
        target
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Assign)
        for target in node.targets
    ]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def public_modules():
    """The packages that export names, and the public single files."""
    return [
        name
        for name, path in source_files()
        if not is_private(name) and (path.name == "__init__.py" or name in SINGLE_FILES) and defines_all(path)
    ]


def public_names():
    return [
        f"{module}.{name}" for module in public_modules() for name in importlib.import_module(module).__all__
    ]


def resolve(name):
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def summary(name):
    """The first sentence of the docstring; of a constant, its type."""
    found = resolve(name)
    if inspect.ismodule(found) or inspect.isclass(found) or inspect.isroutine(found):
        first = (inspect.getdoc(found) or "").split("\n\n")[0]
        return " ".join(first.split()).replace("|", "\\|")
    return f"constant ({type(found).__name__})"


def render_index():
    text = (
        "# API index\n\nEvery public name, by the module to import it from. Modules and packages with a leading underscore are "
        "private and may change at any time, and so are modules whose names are not listed here.\n"
    )
    for module in public_modules():
        names = sorted(importlib.import_module(module).__all__, key=str.lower)
        doc = inspect.getdoc(importlib.import_module(module)).split("\n\n")[0]
        rows = "".join(f"| `{name}` | {summary(f'{module}.{name}')} |\n" for name in names)
        text += f"\n## {module}\n\n{' '.join(doc.split())}\n\n| name | summary |\n|---|---|\n{rows}"
    return text


def check_file(path, text, update):
    if update:
        path.write_text(text, encoding="utf-8")
    assert path.read_text("utf-8") == text, (
        f"{path.name} does not match what the packages export; if this is meant, run "
        "`pytest tests/test_public_api.py --update-public-api`, and add a line to CHANGELOG.md."
    )


def test_exported_names_are_those_of_the_committed_list(update_public_api):
    check_file(LIST, "".join(f"{name}\n" for name in sorted(public_names())), update_public_api)


def test_exported_names_are_those_of_the_index(update_public_api):
    check_file(INDEX, render_index(), update_public_api)


def test_modules_export_no_names_twice():
    for module in public_modules():
        names = importlib.import_module(module).__all__
        assert len(set(names)) == len(names), module


def test_only_public_modules_define_all():
    public = set(public_modules())
    assert [name for name, path in source_files() if defines_all(path) and name not in public] == []


def homes_of_public_names():
    """The modules that define a public name, by the imports of the packages and by the objects themselves."""
    files = dict(source_files())
    for module in public_modules():
        exported = set(importlib.import_module(module).__all__)
        for node in ast.walk(ast.parse(files[module].read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and exported & {alias.name for alias in node.names}:
                yield node.module
    yield from (getattr(resolve(name), "__module__", None) for name in public_names())


def test_modules_without_public_names_have_an_underscore():
    modules = {name for name, path in source_files() if path.name != "__init__.py" and not is_private(name)}
    assert modules - set(homes_of_public_names()) - SINGLE_FILES == set()


@pytest.mark.parametrize("name", public_names())
def test_public_object_is_documented_with_an_example(name):
    found = resolve(name)
    if not (inspect.isclass(found) or inspect.isfunction(found)):
        return
    doc = inspect.getdoc(found) or ""
    assert doc, f"{name} has no docstring"
    assert (inspect.isclass(found) and issubclass(found, BaseException)) or ">>> " in doc, (
        f"{name} has no example"
    )
