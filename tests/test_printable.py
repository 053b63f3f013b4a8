"""Names with control characters: shown as escapes on a terminal, and kept as they are in files."""

import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from scarce._console import text_table
from scarce._printable import printable

OBEYED = "\x1b\x07\r\x7f\x9b\u202e\u2066"


@given(st.text())
def test_printable_keeps_everything_but_controls(text: str) -> None:
    shown = printable(text)
    assert not any(unicodedata.category(character) == "Cc" for character in shown if character not in "\t\n")
    assert not any(
        unicodedata.bidirectional(character) in ("RLO", "LRO", "RLI", "LRI") for character in shown
    )
    assert printable(shown) == shown
    kept = [character for character in text if printable(character) == character]
    assert [character for character in kept if character in "\t\n" or character.isprintable()] == [
        character for character in text if character in "\t\n" or character.isprintable()
    ]


def test_every_control_character_becomes_an_escape() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.category(character) == "Cc" and character not in "\t\n":
            assert printable(character) == f"\\x{code:02x}".replace(r"\x0d", r"\r")


def test_table_aligns_names_with_control_characters() -> None:
    lines = text_table(["class", "n"], [[f"a{OBEYED}", "1"], ["b", "22"]]).splitlines()
    assert lines[1] == r"a\x1b\x07\r\x7f\x9b\u202e\u2066   1"
    assert len({len(line) for line in lines}) == 1
