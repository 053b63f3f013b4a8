"""`embed_images` and `embed_texts`: files, ids, resuming, and what is computed again."""

import json
import shutil

import numpy as np
import pytest
from helpers.csv_files import write_csv
from helpers.embedding_models import make_photos, make_vit

from scarce.embeddings import Embedder, embed_images, embed_texts
from scarce.errors import FeatureError, FileError, LabelError
from scarce.features import read_features


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def count(images, monkeypatch):
    """The sizes of the batches that are computed; an interrupt after as many as `limit` says."""
    sizes, embed = [], images.embed

    def counted(items):
        if len(sizes) == count.limit:
            raise KeyboardInterrupt
        sizes.append(len(items))
        return embed(items)

    def count():
        return sizes

    count.limit = None
    monkeypatch.setattr(images, "embed", counted)
    return count


def test_file_has_ids_and_model(images, photos, tmp_path):
    written = embed_images(photos, images, tmp_path / "f.npy", batch_size=7)
    read = read_features(tmp_path / "f.npy")
    ids = sorted(path.relative_to(photos).as_posix() for path in photos.rglob("*.png"))
    assert written.ids.tolist() == read.ids.tolist() == ids
    assert written.embedding == read.embedding == images.info
    for row in (0, 9, 23):
        np.testing.assert_allclose(read.values[row], images.embed([photos / ids[row]])[0], atol=1e-6)
    assert names_in(tmp_path) == ["f.npy", "f.npy.json"]
    np.testing.assert_array_equal(embed_images(photos, images, batch_size=7).values, read.values)


def test_texts_keep_their_order_and_ids(texts, tmp_path):
    questions = ["Who wrote it, and when was it first read by others?", "Why?", "How far is it?"]
    write_csv(tmp_path / "q.csv", ["question", "id"], zip(questions, "xyz", strict=True))
    found = embed_texts(tmp_path / "q.csv", "question", texts, tmp_path / "f.npy", batch_size=2)
    assert found.ids.tolist() == ["x", "y", "z"]
    assert read_features(tmp_path / "f.npy").embedding.text_column == "question"
    for row, question in enumerate(questions):
        np.testing.assert_allclose(found.values[row], texts.embed([question])[0], atol=1e-6)


def test_texts_may_have_no_ids(texts, tmp_path):
    write_csv(tmp_path / "q.csv", ["question"], [["Why?"]])
    assert embed_texts(tmp_path / "q.csv", "question", texts, tmp_path / "f.npy").ids is None
    assert read_features(tmp_path / "f.npy").ids is None


@pytest.mark.parametrize(
    ("rows", "column", "error", "message"),
    [
        (
            [["a", "Why?"]],
            "text",
            FeatureError,
            "no column 'text'; the columns are 'id', 'question'|no column 'text'",
        ),
        ([["a", " "]], "question", FeatureError, "line 2, column question: the text is missing"),
        ([["a", "Why?"], ["a", "Who?"]], "question", FeatureError, "the id a occurs in rows 0 and 1"),
        ([["", "Why?"]], "question", LabelError, "the id is missing"),
        ([], "question", FeatureError, "a header but no rows"),
    ],
)
def test_unusable_texts_are_refused(texts, tmp_path, rows, column, error, message):
    write_csv(tmp_path / "q.csv", ["id", "question"], rows)
    with pytest.raises(error, match=message):
        embed_texts(tmp_path / "q.csv", column, texts)


def test_interrupted_file_is_resumed_with_the_same_bytes(images, photos, tmp_path, count):
    embed_images(photos, images, tmp_path / "whole.npy", batch_size=5)
    assert count() == [5, 5, 5, 5, 4]
    count().clear()
    for count.limit in (2, 4):
        with pytest.raises(KeyboardInterrupt):
            embed_images(photos, images, tmp_path / "f.npy", batch_size=5)
        assert names_in(tmp_path) == [
            "f.npy.partial",
            "f.npy.partial.json",
            "whole.npy",
            "whole.npy.json",
        ]
        assert json.loads((tmp_path / "f.npy.partial.json").read_text())["n_done"] == 5 * count.limit
    count.limit = None
    embed_images(photos, images, tmp_path / "f.npy", batch_size=5)
    assert count() == [5, 5, 5, 5, 4]
    for suffix in (".npy", ".npy.json"):
        assert (tmp_path / f"f{suffix}").read_bytes() == (tmp_path / f"whole{suffix}").read_bytes()


def add_a_photo(photos, tmp_path):
    shutil.copy(photos / "000.png", photos / "new.png")


def change_a_photo(photos, tmp_path):
    shutil.copy(photos / "000.png", photos / "more" / "001.png")


def damage_progress(photos, tmp_path):
    (tmp_path / "f.npy.partial.json").write_text("{")


def damage_array(photos, tmp_path):
    (tmp_path / "f.npy.partial").write_bytes(b"half")


@pytest.mark.parametrize("change", [add_a_photo, change_a_photo, damage_progress, damage_array])
def test_partial_file_of_other_inputs_is_discarded(images, tmp_path, count, change):
    make_photos(tmp_path / "photos", 12)
    count.limit = 1
    with pytest.raises(KeyboardInterrupt):
        embed_images(tmp_path / "photos", images, tmp_path / "f.npy", batch_size=6)
    change(tmp_path / "photos", tmp_path)
    count.limit = None
    found = embed_images(tmp_path / "photos", images, tmp_path / "f.npy", batch_size=6)
    assert sum(count()) == 6 + len(found.values)
    np.testing.assert_array_equal(
        found.values, embed_images(tmp_path / "photos", images, batch_size=6).values
    )


def test_partial_file_of_another_model_is_discarded(images, photos, tmp_path, count):
    count.limit = 1
    with pytest.raises(KeyboardInterrupt):
        embed_images(photos, images, tmp_path / "g.npy", batch_size=3)
    other = Embedder(make_vit(tmp_path / "other", seed=1), "image")
    found = embed_images(photos, other, tmp_path / "g.npy", batch_size=3)
    np.testing.assert_array_equal(found.values, embed_images(photos, other, batch_size=3).values)


def test_file_of_same_inputs_and_model_is_not_computed_again(images, photos, tmp_path, count):
    first = embed_images(photos, images, tmp_path / "f.npy")
    again = embed_images(photos, images, tmp_path / "f.npy")
    assert len(count()) == 1
    np.testing.assert_array_equal(first.values, again.values)
    other = Embedder(make_vit(tmp_path / "other", seed=1), "image")
    with pytest.raises(FileError, match=r"f.npy exists; choose another name, or pass force=True"):
        embed_images(photos, other, tmp_path / "f.npy")
    changed = embed_images(photos, other, tmp_path / "f.npy", force=True)
    assert read_features(tmp_path / "f.npy").embedding.is_same(changed.embedding)


def test_description_of_another_array_is_refused(images, photos, tmp_path):
    embed_images(photos, images, tmp_path / "f.npy")
    np.save(tmp_path / "f.npy", np.zeros((24, 16)))
    with pytest.raises(FileError, match=r"f.npy.json does not describe f.npy: its checksum differs; embed"):
        read_features(tmp_path / "f.npy")
    (tmp_path / "f.npy.json").unlink()
    assert read_features(tmp_path / "f.npy").ids is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record | {"format": "scarce-embeddings-9"}, "by a newer version: update scarce"),
        (lambda record: record | {"ids": [1.5]}, "is damaged: ids.0 is 1.5; expected"),
        (lambda record: record | {"ids": record["ids"][1:]}, "the ids have shape"),
        (lambda record: record | {"embedding": {}}, "is damaged: embedding is {}; expected"),
    ],
)
def test_damaged_description_is_refused(images, photos, tmp_path, change, message):
    embed_images(photos, images, tmp_path / "f.npy")
    path = tmp_path / "f.npy.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises((FileError, FeatureError), match=message):
        read_features(tmp_path / "f.npy")


def test_other_json_file_beside_an_array_is_ignored(tmp_path):
    np.save(tmp_path / "f.npy", np.eye(2))
    (tmp_path / "f.npy.json").write_text('{"notes": "mine"}')
    assert read_features(tmp_path / "f.npy").embedding is None


def test_damaged_photo_is_found_before_any_work(images, tmp_path, count):
    make_photos(tmp_path / "photos", 6)
    (tmp_path / "photos" / "zz.jpg").write_bytes(b"half")
    with pytest.raises(FileError, match=r"zz\.jpg is damaged or not an image"):
        embed_images(tmp_path / "photos", images, tmp_path / "f.npy")
    assert count() == []


def test_wrong_arguments_are_refused(images, texts, photos, tmp_path):
    with pytest.raises(FileError, match=r"ends in '.txt'; expected a name that ends in .npy"):
        embed_images(photos, images, tmp_path / "f.txt")
    with pytest.raises(FeatureError, match="was loaded for texts; expected a model of images"):
        embed_images(photos, texts)
    with pytest.raises(FileError, match="contains no images"):
        embed_images(tmp_path, images)
    with pytest.raises(FileError, match=r"texts are read from a column of a \.csv"):
        embed_texts(photos / "000.png", "text", texts)


def test_model_that_returns_nan_is_refused(vit, photos, tmp_path):
    import torch

    embedder = Embedder(vit, "image")
    with torch.no_grad():
        next(iter(embedder._model.parameters())).fill_(float("nan"))
    with pytest.raises(FeatureError, match="numbers that are not finite for item 0 of a batch"):
        embed_images(photos, embedder, tmp_path / "f.npy")
