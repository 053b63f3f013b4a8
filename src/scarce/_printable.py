"""Text for a terminal: names may contain control characters, which are shown as escapes instead of being obeyed."""

from collections.abc import Iterable
from typing import Any, TextIO

# A terminal obeys control characters, except for tabs and line ends, and hides text behind changes of its direction.
_CONTROLS = {*range(0x20), *range(0x7F, 0xA0)} - {0x09, 0x0A}
_DIRECTIONS = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_ESCAPES = {code: chr(code).encode("unicode_escape").decode() for code in _CONTROLS | _DIRECTIONS}


def printable(text: str) -> str:
    r"""Return a text with escapes such as ``\x1b`` in place of the characters that control a terminal.

    These are the control characters, except for tabs and line ends, and the characters that change the direction of text.

    Examples
    --------
    >>> print(printable("\x1b[31mcat\u202e"))
    \x1b[31mcat\u202e
    """
    return text.translate(_ESCAPES)


class PrintableStream:
    r"""A text stream that makes everything written to it `printable`; the commands print to such streams.

    Parameters
    ----------
    stream : TextIO
        Where to write.

    Examples
    --------
    >>> import io
    >>> stream = PrintableStream(io.StringIO())
    >>> _ = stream.write("\x1b[31mcat")
    >>> unwrapped(stream).getvalue() == r"\x1b[31mcat"
    True
    """

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream  # rich looks for this name, and writes its control sequences there

    def write(self, text: str) -> int:
        """Write a text, made printable."""
        return self.rich_proxied_file.write(printable(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts, made printable."""
        self.rich_proxied_file.writelines(map(printable, lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def unwrapped(stream: Any) -> Any:
    """Return the stream to which a `PrintableStream`, or a stream of rich, writes in the end; any other stream itself.

    Examples
    --------
    >>> import sys
    >>> unwrapped(PrintableStream(sys.stdout)) is unwrapped(sys.stdout)
    True
    """
    while (inner := getattr(stream, "rich_proxied_file", None)) is not None:
        stream = inner
    return stream
