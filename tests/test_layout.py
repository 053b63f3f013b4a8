"""The layout of the source: a contract of import-linter says who may import each private module."""

import tomllib
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"


def private_modules():
    """The package of every private module or sub-package; those at the top of `scarce` are for every package."""
    found = {}
    for path in SOURCE.glob("scarce/*/**/_[a-z]*"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        is_module = path.suffix == ".py" or (path / "__init__.py").exists()
        if is_module and not any(part.startswith("_") for part in parts[:-1]):
            found[".".join(parts)] = ".".join(parts[:2])
    return found


def contracts():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return [
        contract
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "protected"
    ]


def test_every_private_module_is_protected_by_one_contract():
    protected = Counter(module for contract in contracts() for module in contract["protected_modules"])
    assert protected == Counter(private_modules().keys())


def test_private_modules_may_be_imported_by_their_own_package():
    packages = private_modules()
    for contract in contracts():
        own = {packages[module] for module in contract["protected_modules"]}
        assert own <= set(contract["allowed_importers"]), contract["name"]
