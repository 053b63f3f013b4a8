"""Odd values, seeded mutations of saved data, and the rule that only a `ScarceError` in one line may come out."""

import copy
import json
import math
import os
import random
import warnings

import numpy as np

from scarce.errors import ScarceError

ODD_VALUES = {
    "zero": 0,
    "one": 1,
    "negative": -1,
    "huge": 99999999999999999999,
    "400 digits": 10**400,
    "5000 digits": 10**5000,
    "nan": math.nan,
    "inf": math.inf,
    "tiny": 5e-324,
    "1e308": 1e308,
    "true": True,
    "false": False,
    "none": None,
    "text": "abc",
    "empty text": "",
    "lines": "a\nb\nTraceback",
    "complex": 1 + 2j,
    "numpy": np.float32(0.5),
    "numpy integer": np.int8(1),
    "numpy flag": np.True_,
    "list": [1, 2],
    "empty list": [],
    "nested list": [[1], [2, 3]],
    "array": np.arange(3.0),
    "0-d array": np.array(0.5),
    "mapping": {"a": 1},
    "object": object(),
}
JSON_VALUES = [
    *(0, 1, -1, 2, 3, 7, 10**9, 2**31, 2**63, 10**20, 10**400, -(10**400), 0.5, -0.5, 1e308, math.nan, math.inf, -math.inf),
    *(True, False, None, "", "abc", "a\nb", "0", "1", "é" * 300, [], {}, [1], [1, 2, 3], ["a"], [[1]], [None], {"a": 1}, {"": []}),
]  # fmt: skip


def seeds_of_cases(default):
    """Return the seeds of the cases to try: SCARCE_FUZZ_CASES of them, or `default`; another SCARCE_FUZZ_SEED gives others."""
    first = 10**6 * int(os.environ.get("SCARCE_FUZZ_SEED", "0"))
    return range(first, first + int(os.environ.get("SCARCE_FUZZ_CASES", default)))


def outcome(function):
    """Call a function; return "accepted", or "refused" for a one-line `ScarceError`. Another error is raised as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function()
            return "accepted"
        except ScarceError as error:
            message = str(error)
    assert len(message.splitlines()) == 1, message[:2000]
    assert len(message) < 2000, message[:2000]
    return "refused"


def count_outcomes(function, cases):
    """Call a function with each case, and return how many were accepted and refused, and the failures with their cases."""
    counts, failed = {"accepted": 0, "refused": 0}, []
    for case in cases:
        try:
            counts[outcome(lambda case=case: function(case))] += 1
        except Exception as error:
            failed.append((case, f"{type(error).__name__}: {str(error)[:300]}"))
    return counts, failed


def nodes(value, path=()):
    """Yield the paths of all values inside lists and dicts."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from nodes(item, (*path, key))


def mutated(value, rng: random.Random, replacements=JSON_VALUES):
    """Return a copy of plain data with one to three changes: a value replaced, removed, doubled, swapped or nested deeply."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        paths = list(nodes(value))
        if not paths:
            return value
        # Many paths lead into long lists of numbers: choose the top level half of the time.
        short = [path for path in paths if len(path) <= 2]
        *parents, key = rng.choice(short if rng.random() < 0.5 else paths)
        parent = value
        for name in parents:
            parent = parent[name]
        change = rng.choice(("replace", "replace", "replace", "remove", "double", "add", "swap", "nest"))
        if change == "replace":
            parent[key] = copy.deepcopy(rng.choice(replacements))
        elif change == "remove":
            del parent[key]
        elif change == "double" and isinstance(parent[key], list):
            parent[key] = parent[key] + parent[key]
        elif change == "add":
            if isinstance(parent, dict):
                parent[rng.choice(("x", "epoch", "a\nb", ""))] = copy.deepcopy(rng.choice(replacements))
            else:
                parent.insert(key, copy.deepcopy(rng.choice(replacements)))
        elif change == "swap":
            *others, other_key = rng.choice(paths)
            other = value
            for name in others:
                other = other[name]
            parent[key] = copy.deepcopy(other[other_key])
        elif change == "nest":
            for _ in range(rng.choice((1, 3, 50, 200))):
                parent[key] = [parent[key]]
            return value  # copying it again could exceed the recursion limit
    return value


def mutated_text(text, rng: random.Random):
    """Return text with one change: characters removed, repeated, replaced, or truncated."""
    start = rng.randrange(max(len(text), 1))
    length = rng.choice((1, 1, 2, 10, 100))
    change = rng.choice(("remove", "repeat", "replace", "truncate", "literal"))
    if change == "remove":
        return text[:start] + text[start + length :]
    if change == "repeat":
        return text[:start] + text[start : start + length] * rng.choice((2, 10, 1000)) + text[start:]
    if change == "replace":
        return (
            text[:start]
            + chr(rng.choice((0, 10, 34, 39, 44, 91, 93, 123, 125, 0x2028, 0xE9)))
            + text[start + 1 :]
        )
    if change == "truncate":
        return text[:start]
    return (
        text[:start]
        + rng.choice(("NaN", "Infinity", "9" * 5000, "[" * 5000, '{"a":' * 5000, "null"))
        + text[start:]
    )


def mutated_bytes(content, rng: random.Random):
    """Return bytes with one to four changes: bytes replaced, removed, inserted or truncated."""
    content = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4))):
        start = rng.randrange(max(len(content), 1))
        change = rng.choice(("replace", "replace", "remove", "insert", "truncate"))
        if change == "replace" and content:
            content[start] = rng.randrange(256)
        elif change == "remove":
            del content[start : start + rng.choice((1, 2, 8))]
        elif change == "insert":
            content[start:start] = bytes(rng.randrange(256) for _ in range(rng.choice((1, 2, 8))))
        elif change == "truncate" and rng.random() < 0.3:
            del content[start:]
    return bytes(content)


def as_json(value):
    """Return JSON text with integers of any length, NaN and infinity."""
    return json.dumps(value, ensure_ascii=False, default=str)
