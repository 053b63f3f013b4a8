"""Plain-text tables keep all text and stay within the width."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from scarce._console import text_table

WORD = st.text("abcdefghij./-0123456789", min_size=1, max_size=40)
CELL = st.lists(WORD, max_size=4).map(" ".join)


def letters(*texts: str) -> Counter[str]:
    return Counter("".join("".join(texts).split()))


@given(
    table=st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=2)),
    n_text_columns=st.integers(0, 5),
    width=st.integers(10, 100),
)
def test_text_table_keeps_all_text_within_width(
    table: list[list[str]], n_text_columns: int, width: int
) -> None:
    columns, *rows = table
    text = text_table(columns, rows, n_text_columns, width)
    assert letters(*columns, *(cell for row in rows for cell in row)) <= letters(text)
    assert max(map(len, text.splitlines()), default=0) <= width


def test_text_table_breaks_long_words() -> None:
    path = "/a/very/long/path/to/a/folder/with/many/names/in/it"
    assert text_table(["name", "where"], [["mnist", path]], 2, 40).splitlines() == [
        "name   where",
        f"mnist  {path[:33]}",
        f"       {path[33:]}",
    ]
