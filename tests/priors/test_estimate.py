"""`PriorEstimate`: saving, plotting, conversion and matching by class names."""

import json

import numpy as np
import pytest
from helpers.populations import labels_from_answer_counts

from scarce.errors import FileError, PriorError
from scarce.labels import ComplementaryLabels
from scarce.priors import PriorEstimate, load_priors, priors_from_answers, resolve_priors

ESTIMATE = PriorEstimate(
    np.array([0.25, 0.35, 0.4]),
    "best-bin",
    np.array([0.2, 0.3, 0.35]),
    np.array([0.1, 0.2, 0.3]),
    np.array([0.3, 0.4, 0.45]),
    np.array(["cat", "cow", "dog"]),
)


def test_prior_estimate_round_trips_through_file(tmp_path):
    ESTIMATE.save(tmp_path / "priors.json")
    again = load_priors(tmp_path / "priors.json")
    assert again.as_dict() == ESTIMATE.as_dict()
    assert again.total == pytest.approx(0.85)
    with pytest.raises(FileError, match="exists"):
        ESTIMATE.save(tmp_path / "priors.json")


def test_resolve_priors_matches_prior_estimate_by_class_name():
    labels = ComplementaryLabels.from_single(["dog", "cow"] * 20, classes=["dog", "cat", "cow"])
    found = resolve_priors(ESTIMATE, labels)
    assert found.values.tolist() == [0.4, 0.25, 0.35]
    assert found.raw.tolist() == [0.35, 0.2, 0.3]
    assert found.low.tolist() == [0.3, 0.1, 0.2]
    other = ComplementaryLabels.from_single(["dog", "emu"] * 20, classes=["dog", "emu"])
    with pytest.raises(PriorError, match="lacks emu and names cat, cow, which is not a class"):
        resolve_priors(ESTIMATE, other)


@pytest.mark.parametrize(
    "content",
    [
        "[1, 2]",
        '{"cat": 1}',
        '{"format": "scarce-priors-1"}',
        '{"format": "scarce-priors-1", "source": "x", "values": 3, "raw": [], "low": 1, "high": {}, "classes": null}',
    ],
)
def test_load_priors_rejects_other_files(tmp_path, content):
    (tmp_path / "priors.json").write_text(content)
    with pytest.raises(FileError, match=r"priors\.json (does not hold estimated priors|is damaged)"):
        load_priors(tmp_path / "priors.json")


def test_prior_estimate_plot_shows_every_class_and_sum(tmp_path):
    figure = ESTIMATE.plot(truth=[0.3, 0.3, 0.4])
    axes = figure.axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["cat", "cow", "dog"]
    assert "best-bin" in axes.get_title(loc="left")
    assert "0.850" in axes.get_title(loc="left")
    figure.savefig(tmp_path / "priors.png")
    assert (tmp_path / "priors.png").stat().st_size > 5000
    without = PriorEstimate(ESTIMATE.values, "given", ESTIMATE.raw).plot()
    assert [tick.get_text() for tick in without.axes[0].get_xticklabels()] == ["0", "1", "2"]


def test_prior_estimate_as_dict_is_json_with_class_names():
    assert json.loads(json.dumps(ESTIMATE.as_dict()))["classes"] == ["cat", "cow", "dog"]


LABELS = ComplementaryLabels.from_single(["cat", "dog"] * 50, classes=["cat", "cow", "dog"])


def test_prior_estimate_as_dict_is_json_of_all_numbers():
    content = json.loads(
        json.dumps(priors_from_answers(labels_from_answer_counts(yes=[1, 1], no=[1, 1])).as_dict())
    )
    assert (content["source"], content["values"], content["raw"]) == ("answers", [0.5, 0.5], [0.5, 0.5])
    assert len(content["low"]) == len(content["high"]) == 2
    given_by_hand = resolve_priors([0.3, 0.2, 0.5], LABELS).as_dict()
    assert given_by_hand["low"] is given_by_hand["high"] is None
