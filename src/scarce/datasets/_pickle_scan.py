"""Check the opcodes of a pickle before it is loaded.

The loader of Python trusts a pickle with lengths, memo indices and depth: a few bytes can take gigabytes or crash the process. This
scanner runs the opcodes on descriptions of the values instead of the values.
"""

import pickletools
from collections.abc import Callable, Sequence
from typing import NamedTuple

_MAX_DEPTH = 32
_MAX_EXPANSION, _FREE_VALUES = 64, 2**20  # values that share an entry of the memo count each time

_TEXT = {"STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"}
_BYTES = {"BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"}
_NUMBERS = {"INT", "LONG", "LONG1", "LONG4", "BININT", "BININT1", "BININT2"}
_NUMBERS |= {"FLOAT", "BINFLOAT", "NONE", "NEWTRUE", "NEWFALSE"}
_PUTS, _GETS = {"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"}, {"GET", "BINGET", "LONG_BINGET"}
_EMPTY = {"EMPTY_LIST": "list", "EMPTY_DICT": "dict", "EMPTY_TUPLE": "tuple"}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_FROM_MARK = {"LIST": "list", "DICT": "dict", "TUPLE": "tuple"}
_ITEMS = {"APPEND": ("list", 1), "SETITEM": ("dict", 2)}
_ITEMS_FROM_MARK = {"APPENDS": "list", "SETITEMS": "dict"}


class _Value(NamedTuple):
    """A kind such as "list", the depth of the containers in it, the bytes it takes at most, its text and memo index."""

    kind: str
    depth: int = 0
    size: int = 8
    text: str = ""
    memo: int = -1


def scan_pickle(
    data: bytes, check_name: Callable[[str, str], object], with_state: Sequence[tuple[str, str]]
) -> None:
    """Raise a `ValueError` unless a pickle consists of plain values and calls, and is cheap to load.

    Parameters
    ----------
    data : bytes
        The pickle.
    check_name : callable
        Raises if the pickle may not use a function, given its module and name.
    with_state : sequence of pairs
        The functions whose results have a state to set, by module and name.

    Examples
    --------
    >>> import pickle
    >>> scan_pickle(pickle.dumps([1, "a"]), print, [])
    >>> scan_pickle(b"r" + (2**31 - 1).to_bytes(4, "little") + b".", print, [])
    Traceback (most recent call last):
    ValueError: memo index 2147483647 at byte 0
    """
    scanner = _Scanner(check_name, {f"{module} {name}" for module, name in with_state})
    for opcode, argument, position in pickletools.genops(data):
        try:
            scanner.run(opcode.name, argument)
        except (IndexError, KeyError):
            raise ValueError(f"{opcode.name} without its operands at byte {position}") from None
        except _RefusedError as refused:
            raise ValueError(f"{refused} at byte {position}") from None
        if opcode.name == "FRAME" and argument > len(data) - position:  # type: ignore[operator]
            raise ValueError(f"a frame of {argument} bytes at byte {position}")
        if scanner.largest > _MAX_EXPANSION * len(data) + _FREE_VALUES:
            raise ValueError(f"values of {scanner.largest} bytes at byte {position}")


class _RefusedError(Exception):
    """An opcode that no data set needs."""


class _Scanner:
    """The stack and memo of the pickle machine, with descriptions in place of values."""

    def __init__(self, check_name: Callable[[str, str], object], with_state: set[str]) -> None:
        self.check_name, self.with_state = check_name, with_state
        self.stack: list[_Value] = []
        self.marks: list[int] = []
        self.memo: dict[int, _Value] = {}
        self.shared: set[int] = set()
        self.largest = 0

    def run(self, name: str, argument: object) -> None:
        """Run one opcode."""
        if name in _NUMBERS:
            size = argument.bit_length() // 8 + 8 if isinstance(argument, int) else 8
            self.push(_Value("number", size=size))
        elif name in _BYTES:
            self.push(_Value("bytes", size=len(argument) + 8))  # type: ignore[arg-type]
        elif name in _TEXT:
            self.push(_Value("text", size=4 * len(argument) + 8, text=str(argument)))  # type: ignore[arg-type]
        elif name in _EMPTY:
            self.push(_Value(_EMPTY[name], depth=1))
        elif name in _TUPLES:
            self.combine(_Value("tuple"), self.pop(_TUPLES[name]))
        elif name in _FROM_MARK:
            self.combine(_Value(_FROM_MARK[name]), self.pop_to_mark())
        elif name in _ITEMS:
            kind, n = _ITEMS[name]
            self.extend(kind, self.pop(n))
        elif name in _ITEMS_FROM_MARK:
            self.extend(_ITEMS_FROM_MARK[name], self.pop_to_mark())
        elif name in _PUTS:
            self.put(len(self.memo) if argument is None else int(argument))  # type: ignore[call-overload]
        elif name in _GETS:
            self.get(int(argument))  # type: ignore[call-overload]
        elif name in ("GLOBAL", "INST"):
            self.push_function(name, *str(argument).split(" ", 1))
        elif name == "STACK_GLOBAL":
            self.push_function(name, *(value.text for value in self.pop(2)))
        elif name == "REDUCE":
            function, arguments = self.pop(2)
            self.check_kind(function, "function")
            self.check_kind(arguments, "tuple")
            kind = "object" if function.text in self.with_state else "result"
            self.combine(_Value(kind), [arguments])
        elif name == "BUILD":
            self.extend("object", self.pop(1))
        elif name == "MARK":
            self.marks.append(len(self.stack))
        elif name not in ("PROTO", "FRAME", "STOP"):
            raise _RefusedError(f"opcode {name}")

    def push(self, value: _Value) -> None:
        """Put a value on the stack."""
        if value.depth > _MAX_DEPTH:
            raise _RefusedError(f"more than {_MAX_DEPTH} levels")
        self.largest = max(self.largest, value.size)
        self.stack.append(value)

    def pop(self, n: int) -> list[_Value]:
        """Take the last `n` values from the stack, which must not be below the last mark."""
        start = len(self.stack) - n
        if start < (self.marks[-1] if self.marks else 0):
            raise IndexError
        values = self.stack[start:]
        del self.stack[start:]
        return values

    def pop_to_mark(self) -> list[_Value]:
        """Take the values above the last mark from the stack."""
        return self.pop(len(self.stack) - self.marks.pop())

    def combine(self, container: _Value, items: list[_Value]) -> None:
        """Put a container with these items on the stack."""
        depth = 1 + max((item.depth for item in items), default=0)
        size = 8 + container.size + sum(item.size for item in items)
        self.push(container._replace(depth=depth, size=size))

    def extend(self, kind: str, items: list[_Value]) -> None:
        """Add items to the container on top of the stack, or set the state of an object there."""
        (container,) = self.pop(1)
        self.check_kind(container, kind)
        if container.memo in self.shared:
            raise _RefusedError(f"a {kind} that changes after it was shared")
        depth = max(container.depth, 1 + max((item.depth for item in items), default=0))
        size = container.size + sum(item.size + 8 for item in items)
        self.push(container._replace(depth=depth, size=size))
        if container.memo >= 0:
            self.memo[container.memo] = self.stack[-1]

    def put(self, index: int) -> None:
        """Store the value on top of the stack in the memo; the indices of a pickler are consecutive."""
        if not 0 <= index <= len(self.memo) + 1 or self.stack[-1].memo >= 0:
            raise _RefusedError(f"memo index {index}")
        self.memo[index] = self.stack[-1] = self.stack[-1]._replace(memo=index)

    def get(self, index: int) -> None:
        """Put a value of the memo on the stack; lists and dicts may not change afterwards, or they could contain themselves."""
        self.shared.add(index)
        self.push(self.memo[index])

    def push_function(self, opcode: str, module: str, name: str) -> None:
        """Put a function on the stack."""
        self.check_name(module, name)
        if opcode == "INST":
            raise _RefusedError("opcode INST")
        self.push(_Value("function", text=f"{module} {name}"))

    @staticmethod
    def check_kind(value: _Value, kind: str) -> None:
        """Raise if a value is of another kind."""
        if value.kind != kind:
            raise _RefusedError(f"a {value.kind} in place of a {kind}")
