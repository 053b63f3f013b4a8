"""The table of methods in the guide is the one that the facts make."""

from pathlib import Path

from scarce.methods.listing import COLUMNS, method_rows, methods_markdown

GUIDE = Path(__file__).parents[2] / "docs" / "methods.md"


def test_guide_holds_the_table_of_the_facts():
    assert methods_markdown() in GUIDE.read_text(encoding="utf-8")


def test_rows_say_what_a_method_takes_and_needs():
    rows = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in method_rows()}
    assert rows["forward"]["needs"] == "transition"
    assert rows["forward"]["labels"] == "1"
    assert rows["mae"]["labels"] == "1+"
    assert rows["scarce"]["needs"] == "priors"
    assert rows["scarce"]["labels"] == "0+"
