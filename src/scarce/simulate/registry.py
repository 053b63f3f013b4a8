"""Every process by its name in the command line and in experiment files."""

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any

from scarce._validation import check_option, check_renamed, shorten
from scarce.errors import MethodError
from scarce.labels import ComplementaryLabels
from scarce.simulate.human import human
from scarce.simulate.multiple_labels import uniform_multiple
from scarce.simulate.questions import ask
from scarce.simulate.scar import scar, scar_a, scar_b, scar_single, scar_unequal
from scarce.simulate.single_label import biased, biased_a, biased_b, from_transition, noisy, uniform

REVISION = 1
"""Increase it when the same settings draw different labels; results of earlier revisions are then outdated."""

PROCESSES: Mapping[str, Callable[..., ComplementaryLabels]] = MappingProxyType(
    {
        "uniform": uniform,
        "biased-a": biased_a,
        "biased-b": biased_b,
        "biased": biased,
        "transition": from_transition,
        "noisy": noisy,
        "scar": scar,
        "scar-unequal": scar_unequal,
        "scar-single": scar_single,
        "scar-a": scar_a,
        "scar-b": scar_b,
        "uniform-multiple": uniform_multiple,
        "human": human,
        "ask": ask,
    }
)
"""The processes by name. Each is a function of the true classes that takes ``classes``, ``seed`` and its own parameters."""


def simulate(name: str, y: Any, /, **params: Any) -> ComplementaryLabels:
    """Draw complementary labels for the true classes `y` by the process called `name`.

    Parameters
    ----------
    name : str
        A key of `PROCESSES`.
    y : sequence of length n
        The true class of each example, by name or number.
    **params
        Parameters of the process; every process takes ``classes`` and ``seed``.

    Returns
    -------
    ComplementaryLabels
        The labels of the n examples.

    Raises
    ------
    MethodError
        If the process is unknown, or a parameter is unknown, missing or invalid.
    LabelError
        If `y` does not contain one class per example.

    See Also
    --------
    uniform, biased, scar, noisy, uniform_multiple, human, ask : Processes as functions, with their parameters.

    Examples
    --------
    >>> simulate("uniform-multiple", ["cat", "dog", "cow"], sizes=2, seed=3).per_example.tolist()
    [2, 2, 2]
    >>> simulate("scar", ["cat", "dog"], rate=0.1)
    Traceback (most recent call last):
    scarce.errors.MethodError: the process 'scar' has no parameter 'rate'; it takes c, rates, error_rate, classes, seed.
    """
    process = PROCESSES[check_option("process", name, PROCESSES)]
    check_renamed(f"the process {name!r}", process, params)
    _, *known = signature(process).parameters.values()  # the first is y
    names = [parameter.name for parameter in known]
    for given in params:
        if given not in names:
            raise MethodError(
                f"the process {name!r} has no parameter {shorten(given)}; it takes {', '.join(names)}."
            )
    for parameter in known:
        if parameter.default is Parameter.empty and parameter.name not in params:
            raise MethodError(f"the process {name!r} needs {parameter.name!r}; pass {parameter.name}=...")
    return process(y, **params)
