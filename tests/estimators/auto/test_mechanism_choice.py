"""The mechanisms that are chosen for given labels, or by name."""

import pytest
from helpers.mechanisms import CYCLIC, Y, confident_predictor

from scarce import ComplementaryLabels
from scarce.errors import LabelError, MethodError
from scarce.estimators.auto._learners import make_folds
from scarce.estimators.auto._mechanism_choice import check_informative, choose_mechanisms
from scarce.simulate import ask, from_transition, scar, uniform


@pytest.mark.parametrize(
    ("labels", "names", "criterion"),
    [
        (uniform(Y[:400]), ["candidate-sets", "class-conditional"], "candidate-sets"),
        (scar(Y[:400], c=[0.1, 0.5, 0.3, 0.4]), ["candidate-sets", "scar"], "scar"),
        (from_transition(Y[:400], CYCLIC), ["candidate-sets", "class-conditional"], "class-conditional"),
        (ask(Y[:400], questions=2), ["candidate-sets", "answers"], "answers"),
        (
            ComplementaryLabels.from_lists([[0, 1], [2, 3]] * 200, classes=4),
            ["candidate-sets"],
            "candidate-sets",
        ),
    ],
)
def test_choose_mechanisms_depends_on_labels(labels, names, criterion):
    predict = confident_predictor(Y[:400], 4, 0.99)
    chosen = choose_mechanisms(labels, predict, predict, make_folds(400))
    assert [mechanism.name for mechanism in chosen.mechanisms] == names
    assert chosen.criterion.name == criterion
    assert float(chosen.priors.sum()) == pytest.approx(1)


@pytest.mark.parametrize(
    "names", [["scar"], ["class-conditional"], ["candidate-sets"], ["scar", "candidate-sets"]]
)
def test_choose_mechanisms_accepts_names(names):
    predict = confident_predictor(Y[:400], 4)
    chosen = choose_mechanisms(scar(Y[:400], c=0.4), predict, predict, make_folds(400), names)
    assert {mechanism.name for mechanism in chosen.mechanisms} == set(names)
    assert chosen.criterion.name in names
    assert chosen.reason.startswith("the mechanisms were restricted to ")


def test_choose_mechanisms_does_not_call_several_labels_per_example_single():
    predict, labels = confident_predictor(Y[:400], 4, 0.99), scar(Y[:400], c=[0.1, 0.5, 0.3, 0.4])
    assert labels.per_example.max() > 1
    reason = choose_mechanisms(labels, predict, predict, make_folds(400)).reason
    assert reason.startswith("exclusions agree with SCAR (Z = ")


def test_choose_mechanisms_rejects_unknown_or_unsuitable_names():
    predict, labels = confident_predictor(Y[:10], 4), uniform(Y[:10], classes=4)
    with pytest.raises(MethodError, match="mechanism='scarce' is unknown"):
        choose_mechanisms(labels, predict, predict, make_folds(10), ["scarce"])
    with pytest.raises(MethodError, match="needs recorded answers"):
        choose_mechanisms(labels, predict, predict, make_folds(10), ["answers"])


def test_check_informative_rejects_empty_labels():
    with pytest.raises(LabelError, match="all 1 examples are empty"):
        check_informative(ComplementaryLabels.from_answer_matrix([["skip", "", ""]]))
