"""A restricted unpickler: numbers, text, lists, dicts and arrays of numbers, and nothing else.

A pickle names functions to call when it is loaded, so loading a pickle from an untrusted source can run any code. The
functions that NumPy arrays need are replaced with stand-ins; any other function raises an error.
"""

import io
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scarce._validation import shorten
from scarce.datasets._pickle_scan import scan_pickle
from scarce.errors import FileError


def unpickle(data: bytes, path: Path) -> dict[str, Any]:
    """Return the dict in the pickle `path`, with keys as text; `numpy.asarray` converts its arrays.

    Examples
    --------
    >>> unpickle(pickle.dumps({b"labels": [3, 1], "names": ["a", "b"]}), Path("batch"))
    {'labels': [3, 1], 'names': ['a', 'b']}
    >>> unpickle(pickle.dumps(print), Path("batch"))
    Traceback (most recent call last):
    scarce.errors.FileError: batch asks to call builtins.print, which no data set needs; the call was blocked: ...
    """
    try:
        scan_pickle(data, _stand_in, _WITH_STATE)
        content = _PlainUnpickler(io.BytesIO(data), encoding="bytes").load()
    except _ForbiddenCallError as forbidden:
        raise FileError(
            f"{path} asks to call {forbidden}, which no data set needs; the call was blocked: do not trust this file."
        ) from None
    except Exception as error:  # damage can raise any error
        raise FileError(
            f"{path} is damaged, truncated or not a pickle of arrays; delete it and download it again."
        ) from error
    if not isinstance(content, dict):
        raise FileError(f"{path} holds a {type(content).__name__}; expected a dict: it is the wrong file.")
    return {_text(key): value for key, value in content.items()}


class _ForbiddenCallError(Exception):
    """The pickle names a function without a stand-in."""


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Callable[..., Any]:
        return _stand_in(module, name)


def _stand_in(module: str, name: str) -> Callable[..., Any]:
    stand_in = _STAND_INS.get((module.replace("numpy._core", "numpy.core"), name))
    if stand_in is None:
        raise _ForbiddenCallError(shorten(f"{module}.{name}").strip("'\""))
    return stand_in


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


class _DtypeStandIn:
    """Stand-in for numpy.dtype, for plain numbers only: the pickled state of a real one could corrupt memory."""

    dtype = np.dtype(np.uint8)

    def __init__(self, code: str | bytes, *_: Any) -> None:
        if not re.fullmatch("[biuf][1248]", _text(code)):
            raise ValueError(f"not a numeric dtype: {code!r}")
        self.dtype = np.dtype(_text(code))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, order, subdtype, names, fields, *_ = state
        if (subdtype, names, fields) != (None, None, None):
            raise ValueError("not a numeric dtype")
        self.dtype = self.dtype.newbyteorder(_text(order))  # type: ignore[arg-type]


class _ArrayStandIn:
    """Stand-in for numpy.ndarray, and for the function that creates an empty array before its state is set."""

    values: NDArray[Any] = np.empty(0)

    def __init__(self, *_: Any) -> None:
        pass

    def __setstate__(self, state: tuple[int, tuple[int, ...], _DtypeStandIn, bool, bytes]) -> None:
        _, shape, kind, is_fortran, data = state
        self.values = _array_from_buffer(data, kind, shape, "F" if is_fortran else "C").values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)


def _array_from_buffer(
    data: Any, kind: _DtypeStandIn, shape: tuple[int, ...], order: Any, *_: Any
) -> _ArrayStandIn:
    array = _ArrayStandIn()
    array.values = np.frombuffer(data, kind.dtype).reshape(shape, order=order)
    return array


def _scalar(kind: _DtypeStandIn, data: bytes) -> Any:
    return np.frombuffer(data, kind.dtype)[0].item()


def _encode(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise ValueError(f"no such encoding: {encoding!r}")
    return text.encode("latin-1")


_STAND_INS: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): _ArrayStandIn,
    ("numpy", "dtype"): _DtypeStandIn,
    ("numpy.core.multiarray", "_reconstruct"): _ArrayStandIn,
    ("numpy.core.multiarray", "scalar"): _scalar,
    ("numpy.core.numeric", "_frombuffer"): _array_from_buffer,
    ("_codecs", "encode"): _encode,  # Python 3 writes bytes for Python 2 this way
}
_WITH_STATE = [
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
]
