"""Every name in a See Also section exists; methods and functions of `scarce.functional` refer to each other."""

import importlib
import inspect
import pkgutil
import re
from contextlib import suppress

import pytest

import scarce
from scarce import functional


def public_objects():
    """The functions and classes exported by the packages, by their full names."""
    found = {}
    for module in pkgutil.walk_packages(scarce.__path__, "scarce."):
        if module.ispkg and "._" not in module.name:
            package = importlib.import_module(module.name)
            for name in getattr(package, "__all__", ()):
                member = getattr(package, name)
                if inspect.isfunction(member) or inspect.isclass(member):
                    found.setdefault(f"{member.__module__}.{name}", member)
    return found


def see_also(docstring):
    """The names in the section See Also: before " : ", on lines that are not indented."""
    _, _, section = docstring.partition("See Also\n--------\n")
    entries = section.partition("\n\n")[0]
    names = [entry.partition(" : ")[0] for entry in re.split(r"\n(?! )", entries)]
    return re.findall(r"[\w.]+", " ".join(names))


def exists(name, module):
    """Whether the name is that of an object, in full or relative to a package that contains the module."""
    parts = module.split(".")
    for prefix in ("", *(f"{'.'.join(parts[:depth])}." for depth in range(1, len(parts) + 1))):
        with suppress(ImportError, AttributeError):
            pkgutil.resolve_name(prefix + name)
            return True
    return False


OBJECTS = public_objects()


@pytest.mark.parametrize("full_name", OBJECTS)
def test_names_in_see_also_exist(full_name):
    member = OBJECTS[full_name]
    missing = [name for name in see_also(inspect.getdoc(member) or "") if not exists(name, member.__module__)]
    assert not missing


def test_reader_of_see_also_knows_lists_and_continued_lines():
    docstring = "Do.\n\nSee Also\n--------\na.b, c,\nd : One.\n    Two, three.\ne : Four.\n\nExamples\n--------\nf : No."
    assert see_also(docstring) == ["a.b", "c", "d", "e"]
    assert exists("scarce.functional.pc_loss", "scarce.risk")
    assert exists("pc_loss", "scarce.functional._unbiased")
    assert not exists("scarce.functional.no_loss", "scarce.risk")
    assert not exists("no_loss", "scarce.functional._unbiased")


@pytest.mark.parametrize("name", functional.__all__)
def test_method_and_function_refer_to_each_other(name):
    function = getattr(functional, name)
    methods = [each for each in see_also(inspect.getdoc(function)) if each.startswith("scarce.methods.")]
    assert methods
    for each in methods:
        package, _, cls = each.rpartition(".")
        method = getattr(importlib.import_module(package), cls)
        assert f"scarce.functional.{name}" in see_also(inspect.getdoc(method)), each
