"""The package transformers: imported when it is needed, without its progress bars and messages."""

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scarce.errors import ScarceError


def require(name: str) -> Any:
    """Return a package of the extra ``embed``, or raise an error with the command that installs it.

    Examples
    --------
    >>> require("transformers_of_tomorrow")
    Traceback (most recent call last):
    scarce.errors.ScarceError: embeddings need transformers_of_tomorrow, which is not installed: pip install "scarce[embed]".
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = (error.name or name).partition(".")[0]
        raise ScarceError(
            f'embeddings need {missing}, which is not installed: pip install "scarce[embed]".'
        ) from None


@contextmanager
def quiet() -> Iterator[None]:
    """Hide the messages, warnings and progress bars of transformers for the block."""
    logging = require("transformers.utils.logging")
    verbosity, had_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.set_verbosity(logging.CRITICAL)
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(verbosity)
            if had_bars:
                logging.enable_progress_bar()
