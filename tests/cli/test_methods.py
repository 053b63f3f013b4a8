"""``scarce methods``: the table of methods."""

from helpers.command_line import RunCommand

from scarce.methods import available_methods


def test_methods_lists_all_methods_within_100_columns(run: RunCommand) -> None:
    code, out, err = run("methods")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 100
    assert {line.split()[0] for line in out.splitlines() if line[0] != " "} == {"name", *available_methods()}
