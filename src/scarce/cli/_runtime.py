"""The runtime of a command: threads, the rank among several processes, and optional packages."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from scarce.errors import ScarceError

_EXTRA_PACKAGES = ("pydantic", "pandas", "matplotlib", "jinja2")


def use_one_thread() -> None:
    """Make torch use one thread, unless ``OMP_NUM_THREADS`` is set.

    Small networks do not train faster on several threads, and on a busy machine threads mostly wait for each other.
    """
    import torch

    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def rank() -> int:
    """Return the rank of this process among those that torchrun started; 0 without torchrun.

    Does not import torch, unlike `scarce.training._runtime.is_distributed`.

    Examples
    --------
    >>> rank()
    0
    """
    return int(os.environ["RANK"]) if is_launched_by_torchrun() else 0


def is_launched_by_torchrun() -> bool:
    """Return whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Raise `KeyboardInterrupt` on SIGTERM for the block, so that commands say how to resume and end their processes.

    Not under torchrun, which sends SIGTERM to processes that may be waiting for one that died.

    Examples
    --------
    >>> from contextlib import suppress
    >>> with suppress(KeyboardInterrupt), terminated_as_interrupted():
    ...     signal.raise_signal(signal.SIGTERM)
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        or "TORCHELASTIC_RUN_ID" in os.environ
    ):
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def needs_bench_extra(command: str) -> Iterator[None]:
    """If a package of the extra ``bench`` is missing, raise an error with the command that installs it.

    Examples
    --------
    >>> with needs_bench_extra("demo"):
    ...     raise ModuleNotFoundError(name="jinja2")
    Traceback (most recent call last):
    scarce.errors.ScarceError: scarce demo needs jinja2, which is not installed: pip install "scarce[bench]".
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA_PACKAGES:
            raise
        raise ScarceError(
            f'scarce {command} needs {error.name}, which is not installed: pip install "scarce[bench]".'
        ) from None
