"""Mutations of files with a seed: of their bytes, and of the words, numbers and lines of text."""

import os
import random
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers.fuzz import seeds_of_cases

from scarce.errors import ScarceError

WORDS = [
    "", " ", "0", "-1", "1", "2", "1e400", "nan", "inf", "-inf", "1_000", "٣", "4294967297", "99999999999999999999", "1.5",
    "true", "null", "yes", "no", "skip", "cat", "dog", "\"", "\\", "\n", "\r", "\0", "\x1b[31m", "\u2028", ";", ",",
    ",,,", "{", "}", "[",
    "]", "[]", "{}", "[[]]", ":", "\\ud800", "é", "𝔘", "a" * 300, "example_id", "excluded", "class_name", "answer", "id", "label",
]  # fmt: skip


def flip_bytes(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 2, 8))):
        changed[rng.randrange(len(changed))] = rng.choice((0, 255, rng.randrange(256)))
    return bytes(changed)


def flip_head(content: bytes, rng: random.Random) -> bytes:
    """Change bytes near the start or the end, where most formats have their header."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 2, 4))):
        position = rng.randrange(min(len(changed), 160))
        changed[position if rng.random() < 0.5 else -1 - position] = rng.randrange(256)
    return bytes(changed)


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def grow(content: bytes, rng: random.Random) -> bytes:
    return content + rng.choice((b"\0", b"x", b"\n", content, bytes(rng.randrange(256) for _ in range(20))))


def move_block(content: bytes, rng: random.Random) -> bytes:
    """Copy a block of bytes over, or into, another place."""
    start = rng.randrange(len(content))
    block = content[start : start + rng.randrange(1, 40)]
    place = rng.randrange(len(content))
    return content[:place] + block + content[place + rng.choice((0, len(block))) :]


def change_words(content: bytes, rng: random.Random) -> bytes:
    """Replace, delete or insert words of a text, at the borders of words."""
    text = content.decode("latin-1")
    for _ in range(rng.choice((1, 1, 3))):
        start = rng.randrange(len(text) + 1)
        end = start
        while end < len(text) and (text[end].isalnum() or text[end] in "-.") and end - start < 30:
            end += 1
        text = text[:start] + rng.choice(WORDS).encode().decode("latin-1") + text[end:]
    return text.encode("latin-1")


def change_lines(content: bytes, rng: random.Random) -> bytes:
    """Delete, repeat or swap lines."""
    lines = content.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[first]
    elif kind == 1:
        lines.insert(second, lines[first])
    elif kind == 2:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines[first] = lines[first] + lines[second]
    return b"\n".join(lines)


MUTATORS = (flip_bytes, flip_head, cut, grow, move_block, change_words, change_lines)


def try_mutations(valid: bytes, path: Path, read: Callable[[Path], Any], seed: str) -> Counter[str]:
    """Read mutations of a file; each must be accepted, or refused by a `ScarceError` of one line. Return how many were which."""
    counts: Counter[str] = Counter()
    for case in seeds_of_cases(40):
        rng = random.Random(f"{seed} {case}")
        content = valid
        for _ in range(rng.choice((1, 1, 2))):
            content = rng.choice(MUTATORS)(content or b"\0", rng)
        path.write_bytes(content)
        counts[outcome(path, read, f"{seed} {case}")] += 1
    return counts


def outcome(path: Path, read: Callable[[Path], Any], case: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read(path)
    except ScarceError as error:
        message = str(error)
        assert len(message.splitlines()) == 1, f"case {case}: {message!r}"
        assert message.encode(), case
        return "refused"
    except Exception as error:
        kept = Path(os.environ.get("SCARCE_FUZZ_KEEP", path.parent), f"failed {case}{path.suffix}")
        kept.write_bytes(path.read_bytes())
        raise AssertionError(f"case {case}: {type(error).__name__}: {error}; the file is {kept}") from error
    return "accepted"
