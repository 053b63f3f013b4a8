"""The public names of `scarce.bench`, which are imported on first use."""

import subprocess
import sys

import pytest

import scarce.bench


@pytest.mark.parametrize("name", scarce.bench.__all__)
def test_every_exported_name_is_documented_with_an_example(name: str) -> None:
    public = getattr(scarce.bench, name)
    assert public.__module__.startswith("scarce.bench.")
    assert "See Also\n" in public.__doc__
    assert "Examples\n" in public.__doc__


def test_exports_agree_with_dir_and_unknown_names_are_rejected() -> None:
    assert dir(scarce.bench) == sorted(scarce.bench.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'plan_selected'"):
        _ = scarce.bench.plan_selected


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import scarce.bench", ["matplotlib", "pandas", "pydantic", "torch"]),
        ("from scarce.bench import Plan, load_experiment, run_local", ["jinja2", "matplotlib"]),
    ],
)
def test_names_import_only_what_they_need(code: str, modules: list[str]) -> None:
    shown = f"import sys; {code}; print([name for name in {modules} if name in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
