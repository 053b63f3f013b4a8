"""True classes as every process takes them: accepted types, and errors that name the row."""

import numpy as np
import pytest

from scarce.errors import LabelError
from scarce.simulate import BIASED_A, PROCESSES, simulate, uniform

REQUIRED_PARAMS = {
    "transition": {"transition": BIASED_A},
    "noisy": {"noise": 0.1},
    "scar": {"c": 0.5},
    "scar-single": {"c": 0.5},
}


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], "y is empty"),
        ([[0, 1], [1, 0]], r"y has shape \(2, 2\).*argmax"),
        (3, r"y has shape \(\)"),
        ("cat", r"y has shape \(\)"),
        ([0, float("nan")], "row 1: the true class is missing"),
        (np.array([0, np.nan]), "row 1: the true class is missing"),
        (["cat", None], "row 1: the true class is missing"),
        (["cat", float("nan")], "row 1: the true class is missing"),
        ([0, 1.5], "row 1: 1.5 is not a class number"),
        ([0, float("inf")], "row 1: inf is not a class number"),
        ([0, 1, 10], "row 2: the true class 10 is not one of the classes"),
        ([0, "cat"], "row 1: the true class cat is not one of the classes"),
        ([[0], [1, 2]], "list of lists"),
        ([{}, {}], "y contains object values"),
        (np.array([b"a", b"b"]), "expected class names"),
    ],
)
@pytest.mark.parametrize("name", sorted(PROCESSES))
def test_every_process_rejects_invalid_truth(name, y, message):
    with pytest.raises(LabelError, match=message):
        simulate(name, y, classes=10, **REQUIRED_PARAMS.get(name, {}))


def test_uniform_rejects_single_class():
    with pytest.raises(LabelError, match="at least 2"):
        uniform(["cat", "cat"])


def test_truth_accepts_names_integers_and_integral_floats():
    assert uniform(["cow", "ant"]).classes.tolist() == ["ant", "cow"]
    assert uniform([7, 3]).classes.tolist() == [3, 7]
    assert uniform(np.array([7.0, 3.0])).classes.tolist() == [3, 7]
    assert uniform(np.array([10, 9, 2], object)).classes.tolist() == [2, 9, 10]
    assert uniform(["cow"], classes=["owl", "cow"]).indices.tolist() == [0]
