"""Errors and warnings. The message of an error says what was found, what was expected, and what fixes it."""

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


class ScarceError(ValueError):
    """A mistake in what `scarce` was given, unless it is an `EnvironmentFailure`; the message names the fix.

    Attributes
    ----------
    exit_code : int
        With which the command line ends: 2 for a mistake of the user, 1 for a failure of the environment.
    """

    exit_code: ClassVar[int] = 2


class EnvironmentFailure(ScarceError):  # noqa: N818
    """A failure that is not a mistake in what was given: of the network, of another process, or of a training run."""

    exit_code = 1


class LabelError(ScarceError):
    """Labels that contradict themselves or have another form than was stated."""


class FeatureError(ScarceError):
    """Features that cannot be trained on or do not fit the model."""


class PriorError(ScarceError):
    """Class priors that are not a distribution or contradict the labels."""


class MethodError(ScarceError):
    """A method, model or setting that does not exist or does not suit the data."""


class FileError(ScarceError):
    """A file that is missing, damaged, of another kind, or in the way."""


class FetchError(EnvironmentFailure, FileError):
    """A file that could not be downloaded."""


class DivergedError(EnvironmentFailure):
    """Training whose loss is no longer a finite number."""


class ProcessError(EnvironmentFailure):
    """Another process of the same training that has ended or does not answer."""


class PriorWarning(UserWarning):
    """Class priors that were found, but should be checked before they are trusted."""


class CollapseWarning(UserWarning):
    """A fit that predicts one class for nearly every example that does not exclude it."""


class AccuracyWarning(UserWarning):
    """An accuracy estimated without true labels that should not be trusted."""
