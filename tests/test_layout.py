"""The layout of the source: modules with an underscore are imported by their own package only."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"


def private_modules():
    """The underscore modules of each package; those at the top level are shared by all packages."""
    found = {}
    for path in SOURCE.glob("scarce/*/**/_*.py"):
        package = ".".join(path.parent.relative_to(SOURCE).parts)
        if path.name != "__init__.py" and not package.startswith("scarce._"):
            found.setdefault(package, set()).add(f"{package}.{path.stem}")
    return found


def test_every_private_module_is_protected_by_a_contract():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = [
        contract
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "protected"
    ]
    protected = {
        importer: set(contract["protected_modules"])
        for contract in contracts
        for importer in contract["allowed_importers"]
    }
    assert protected == private_modules()
