"""Errors a user can cause and mend: each says what was got, what was expected, and what fixes it; and three warnings."""

__all__ = [
    "AccuracyWarning",
    "CollapseWarning",
    "DivergedError",
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
    """A mistake in what `scarce` was given; the message names the fix."""


class LabelError(ScarceError):
    """Labels that contradict themselves or do not mean what was said."""


class FeatureError(ScarceError):
    """Features that cannot be trained on or do not fit the model."""


class PriorError(ScarceError):
    """Class priors that are no distribution or contradict the labels."""


class MethodError(ScarceError):
    """A method, model or setting that does not exist or does not suit the data."""


class FileError(ScarceError):
    """A file that is missing, damaged, of another kind, or in the way."""


class FetchError(FileError):
    """A file that could not be had from where it lives, though nothing is wrong with what was asked for."""


class DivergedError(ScarceError):
    """Training whose loss is no longer a finite number."""


class ProcessError(ScarceError):
    """Another process of the same training that has ended or fallen silent."""


class PriorWarning(UserWarning):
    """Class priors that were found, but that one should look at before trusting them."""


class CollapseWarning(UserWarning):
    """A fit that predicts one class for nearly every example that may be of it."""


class AccuracyWarning(UserWarning):
    """An accuracy estimated without true labels that one should not believe."""
