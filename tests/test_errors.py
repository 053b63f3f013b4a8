"""Error classes: their exit codes, and what the module exports."""

import inspect

from scarce import errors
from scarce.errors import EnvironmentFailure, FetchError, FileError, ScarceError

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, ScarceError)]


def test_exit_code_is_2_for_invalid_input_and_1_for_environment_failures():
    failures = {kind.__name__ for kind in CLASSES if kind.exit_code == 1}
    assert failures == {"EnvironmentFailure", "DivergedError", "FetchError", "ProcessError"}
    assert {kind.exit_code for kind in CLASSES if kind.__name__ not in failures} == {2}
    assert all(issubclass(kind, EnvironmentFailure) == (kind.exit_code == 1) for kind in CLASSES)


def test_failed_download_is_also_file_error():
    assert issubclass(FetchError, FileError)


def test_errors_and_warnings_are_all_exported():
    defined = {
        name
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if kind.__module__ == "scarce.errors"
    }
    assert defined == set(errors.__all__)


def test_message_is_one_line_that_can_be_encoded():
    error = FileError("the class 'a\nb\x1b[31m\u2028\ud800é' is unknown.")
    assert str(error) == r"the class 'a\nb\x1b[31m\u2028\ud800é' is unknown."
    assert str(FileError(str(error))) == str(error)
