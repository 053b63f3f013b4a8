"""The records of a training run."""

import pytest

from scarce.training import History


def test_history_is_read_by_name_and_epoch():
    history = History([{"epoch": 1, "loss": 2.0}, {"epoch": 2, "loss": 1.5}])
    assert history["loss"] == [2.0, 1.5]
    assert len(history) == 2
    assert list(history) == history.records
    assert len(History()) == 0
    with pytest.raises(KeyError):
        history["accuracy"]
