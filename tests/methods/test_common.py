"""The contract of a method, checked for every registered method."""

import pytest

from scarce.methods import available_methods, make_method
from scarce.testing import method_checks


@pytest.mark.parametrize("method", available_methods())
@pytest.mark.parametrize(("name", "check"), method_checks())
def test_method_passes_check(name, check, method):
    check(lambda: make_method(method))
