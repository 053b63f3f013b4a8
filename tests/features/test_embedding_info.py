"""`EmbeddingInfo`: when two are the same, and what is stored."""

from dataclasses import replace

import pytest

from scarce.errors import FeatureError, MethodError
from scarce.features import EmbeddingInfo

INFO = EmbeddingInfo(
    "image", "tiny/vit", "0123456789abcdef" * 2, "f" * 64, "class token", versions={"torch": "2.6"}
)


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({"model": "/a/copy", "revision": None, "versions": {}}, True),
        ({"text_column": "question"}, True),
        ({"kind": "text"}, False),
        ({"checksum": "e" * 64}, False),
        ({"pooling": "mean"}, False),
    ],
)
def test_same_means_same_weights_settings_and_pooling(change, is_same):
    assert INFO.is_same(replace(INFO, **change)) is is_same


def test_info_survives_its_dict():
    assert EmbeddingInfo.from_dict(INFO.as_dict()) == INFO


def test_text_names_model_revision_checksum_and_pooling():
    assert str(INFO) == "tiny/vit (revision 0123456789ab, checksum ffffffffffff, class token)"


@pytest.mark.parametrize(
    "change", [{"kind": "sound"}, {"model": 3}, {"layers": 0}, {"versions": {"torch": 2}}, {"more": 1}]
)
def test_damaged_dict_is_refused(change):
    with pytest.raises(FeatureError, match=r"; embed the examples again\."):
        EmbeddingInfo.from_dict(INFO.as_dict() | change)


def test_unknown_kind_is_refused():
    with pytest.raises(MethodError, match="kind='sound'"):
        replace(INFO, kind="sound")
