"""Errors and warnings. An error message says what was found, what was expected, and how to fix it."""

import re
from typing import ClassVar

__all__ = [
    "AccuracyWarning",
    "CollapseWarning",
    "DivergedError",
    "EnvironmentFailure",
    "FeatureError",
    "FetchError",
    "FileError",
    "LabelError",
    "MethodError",
    "PriorError",
    "PriorWarning",
    "ProcessError",
    "ScarceError",
]


# Control characters, line separators, and halves of surrogate pairs, which cannot be encoded.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class ScarceError(ValueError):
    """Base class of all errors: invalid input, unless it is an `EnvironmentFailure`. The message names the fix.

    A message is one line of text that any terminal can show: control characters of names in files are escaped.

    Attributes
    ----------
    exit_code : int
        The exit code of the command line: 2 for invalid input, 1 for a failure of the environment.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, message: object = "") -> None:
        super().__init__(_UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], str(message)))


class EnvironmentFailure(ScarceError):  # noqa: N818
    """A failure that is not caused by invalid input: no network, a process that died, or a loss that diverged."""

    exit_code = 1


class LabelError(ScarceError):
    """Labels that are malformed, contradict each other, or do not have the stated form."""


class FeatureError(ScarceError):
    """Features that cannot be trained on or do not fit the model."""


class PriorError(ScarceError):
    """Class priors that are not a distribution or contradict the labels."""


class MethodError(ScarceError):
    """A method, model or parameter that does not exist or does not suit the data."""


class FileError(ScarceError):
    """A file that is missing, damaged, of the wrong type, or that would be overwritten."""


class FetchError(EnvironmentFailure, FileError):
    """A file that could not be downloaded."""


class DivergedError(EnvironmentFailure):
    """A training run whose loss is no longer finite."""


class ProcessError(EnvironmentFailure):
    """Another process of the same distributed training has ended or does not respond."""


class PriorWarning(UserWarning):
    """Estimated class priors that should be checked before they are trusted."""


class CollapseWarning(UserWarning):
    """A fitted classifier that predicts one class for nearly every example that does not exclude it."""


class AccuracyWarning(UserWarning):
    """An accuracy estimated without true labels that should not be trusted."""
