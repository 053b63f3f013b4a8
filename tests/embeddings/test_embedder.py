"""`Embedder`: vectors recomputed by hand, the files of a model, and what is refused."""

import json
import shutil
import sys

import numpy as np
import pytest
import torch
from helpers.embedding_models import MINILM, make_clip, make_photos, prepare
from PIL import Image
from safetensors.torch import load_file, save_file

from scarce.embeddings import Embedder
from scarce.errors import FileError, MethodError, ScarceError

TEXTS = [
    "How far is it?",
    "What is the distance?",
    "Who was he, and why did so many people know his name by heart?",
]


def load_by_hand(folder, **options):
    from transformers import AutoModel

    from scarce.embeddings._transformers import quiet

    with quiet():
        return AutoModel.from_pretrained(folder, local_files_only=True, **options).eval()


def mean_by_hand(folder, text, layer):
    """The mean over the tokens of one text, which needs no padding, with norm 1."""
    from transformers import AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(folder, local_files_only=True)(text, return_tensors="pt")
    with torch.no_grad():
        hidden = load_by_hand(folder)(**tokens, output_hidden_states=True).hidden_states[layer][0]
    mean = torch.stack(list(hidden)).mean(0).numpy()
    return mean / np.linalg.norm(mean)


@pytest.fixture
def photo():
    return Image.fromarray(np.random.default_rng(1).integers(0, 255, (40, 25, 3)).astype(np.uint8))


def test_vector_of_vision_transformer_is_its_class_token(images, vit, photo):
    with torch.no_grad():
        expected = load_by_hand(vit)(pixel_values=prepare(photo)).last_hidden_state[:, 0]
    assert images.info.pooling == "class token"
    np.testing.assert_allclose(images.embed([photo]), expected.numpy(), atol=1e-5)


def test_vector_of_convolutional_network_is_the_mean_over_positions(resnet, photo):
    with torch.no_grad():
        hidden = load_by_hand(resnet)(pixel_values=prepare(photo)).last_hidden_state
    embedder = Embedder(resnet, "image")
    assert embedder.info.pooling == "pooler"
    np.testing.assert_allclose(embedder.embed([photo]), hidden.mean(dim=(2, 3)).numpy(), atol=1e-5)


def test_vector_of_clip_is_its_image_features(tmp_path, photo):
    folder = make_clip(tmp_path / "clip")
    model = load_by_hand(folder)
    with torch.no_grad():
        pooled = model.vision_model(pixel_values=prepare(photo)).pooler_output
        expected = model.visual_projection(pooled).numpy()
    embedder = Embedder(folder, "image")
    assert embedder.info.pooling == "projected"
    np.testing.assert_allclose(embedder.embed([photo]), expected, atol=1e-5)


def test_vectors_of_texts_are_means_over_their_tokens(texts):
    expected = [mean_by_hand(MINILM, text, -1) for text in TEXTS]
    found = texts.embed(TEXTS)
    assert texts.info.pooling == "mean, normalized"
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found[0] @ found[1] > found[0] @ found[2]


def test_texts_are_embedded_by_their_last_four_layers_by_default():
    assert Embedder(MINILM, "text").info.pooling == "mean of 4 layers, normalized"


def test_vectors_of_several_layers_stand_side_by_side():
    embedder = Embedder(MINILM, "text", layers=2)
    expected = np.concatenate([mean_by_hand(MINILM, TEXTS[0], layer) for layer in (-2, -1)])
    np.testing.assert_allclose(embedder.embed(TEXTS)[0], expected, atol=1e-6)
    assert (embedder.info.pooling, embedder.info.layers) == ("mean of 2 layers, normalized", 2)


def test_long_texts_are_cut(texts):
    assert json.loads((MINILM / "sentence_bert_config.json").read_text())["max_seq_length"] == 256
    longest, longer = texts.embed(["word " * 254]), texts.embed(["word " * 5000])
    np.testing.assert_allclose(longest, longer, atol=1e-6)


def test_first_token_is_used_where_the_model_says_so(tmp_path):
    for path in MINILM.iterdir():
        if path.suffix in (".json", ".safetensors"):
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert Embedder(tmp_path, "text").info.pooling == "class token, normalized"


def test_images_may_be_gray_transparent_or_turned(images, photo, tmp_path):
    gray = photo.convert("L")
    np.testing.assert_array_equal(images.embed([gray]), images.embed([gray.convert("RGB")]))
    np.testing.assert_array_equal(images.embed([photo.convert("RGBA")]), images.embed([photo]))
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held upright: the pixels are to be turned
    photo.save(tmp_path / "turned.png", exif=exif)
    turned = photo.transpose(Image.Transpose.ROTATE_270)
    np.testing.assert_array_equal(images.embed([tmp_path / "turned.png"]), images.embed([turned]))


def change_weights(folder, change):
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def test_checksum_is_that_of_weights_and_settings(images, vit, tmp_path):
    copy = shutil.copytree(vit, tmp_path / "copy")
    (copy / "README.md").write_text("Not part of the model.")
    assert Embedder(copy, "image").info.is_same(images.info)
    settings = json.loads((copy / "preprocessor_config.json").read_text())
    (copy / "preprocessor_config.json").write_text(json.dumps(settings | {"image_mean": [0.4] * 3}))
    assert not Embedder(copy, "image").info.is_same(images.info)
    other = shutil.copytree(vit, tmp_path / "other")
    change_weights(other, lambda weights: weights["layernorm.bias"].add_(1))
    assert not Embedder(other, "image").info.is_same(images.info)


def test_pooler_that_was_not_saved_is_not_needed(images, vit, photo, tmp_path):
    copy = shutil.copytree(vit, tmp_path / "copy")
    change_weights(copy, lambda weights: [weights.pop(f"pooler.dense.{name}") for name in ("weight", "bias")])
    np.testing.assert_array_equal(Embedder(copy, "image").embed([photo]), images.embed([photo]))


def test_missing_weights_are_refused(vit, tmp_path):
    copy = shutil.copytree(vit, tmp_path / "copy")
    change_weights(copy, lambda weights: weights.pop("layernorm.bias"))
    with pytest.raises(
        FileError, match=r"lacks 1 of the weights of its network, the first 'layernorm.bias'; expected"
    ):
        Embedder(copy, "image")


def test_pickled_weights_are_refused_and_never_read(vit, tmp_path):
    copy = shutil.copytree(vit, tmp_path / "copy")
    (copy / "model.safetensors").unlink()
    (copy / "pytorch_model.bin").write_bytes(b"cposix\nsystem\n(S'touch ran'\ntR.")
    with pytest.raises(
        FileError, match=r"no .safetensors file \(its weights are in pytorch_model.bin, which is not read"
    ):
        Embedder(copy, "image")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "config.json").unlink(), "has no config.json; expected a model"),
        (
            lambda folder: (folder / "preprocessor_config.json").unlink(),
            "no image processor that can be loaded",
        ),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"PK"), "cannot be loaded as a model"),
        (
            lambda folder: (folder / "config.json").write_text('{"model_type": "magic"}'),
            "cannot be loaded|no image",
        ),
    ],
)
def test_damaged_model_is_refused_in_one_line(vit, tmp_path, damage, message):
    copy = shutil.copytree(vit, tmp_path / "copy")
    damage(copy)
    with pytest.raises(FileError, match=message) as caught:
        Embedder(copy, "image")
    assert "\n" not in str(caught.value)


def test_code_of_a_model_is_never_run(vit, tmp_path):
    copy = shutil.copytree(vit, tmp_path / "copy")
    config = json.loads((copy / "config.json").read_text())
    config |= {"model_type": "magic", "auto_map": {"AutoConfig": "code.Config", "AutoModel": "code.Model"}}
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(FileError, match="cannot be loaded"):
        Embedder(copy, "image")
    assert not (tmp_path / "ran").exists()


def test_model_of_images_cannot_embed_texts(vit):
    with pytest.raises(FileError, match="cannot embed texts: it has no tokenizer"):
        Embedder(vit, "text")


@pytest.mark.parametrize("layers", [0, 1.5, 7])
def test_layers_must_exist(layers):
    with pytest.raises(MethodError, match="layers="):
        Embedder(MINILM, "text", layers=layers)


def test_unusable_device_is_refused(vit):
    with pytest.raises(MethodError, match="device='bogus' cannot be used"):
        Embedder(vit, "image", device="bogus")


def test_layers_are_for_texts(vit):
    with pytest.raises(MethodError, match="layers=2 is for texts"):
        Embedder(vit, "image", layers=2)


def test_model_of_the_hub_is_found_in_its_cache(vit, tmp_path, monkeypatch):
    from huggingface_hub import constants

    commit = "0123456789abcdef0123456789abcdef01234567"
    repo = tmp_path / "models--tiny--vit"
    shutil.copytree(vit, repo / "snapshots" / commit)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    for name in ("tiny/vit", f"tiny/vit@{commit}"):
        info = Embedder(name, "image").info
        assert (info.model, info.revision) == ("tiny/vit", commit)
    for name in ("tiny/other", "tiny/vit@v2"):
        with pytest.raises(
            FileError, match=f"{name} is neither a folder nor in the cache of the hub; expected one"
        ):
            Embedder(name, "image")


def test_error_names_the_extra_if_transformers_is_missing(vit, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(
        ScarceError, match=r'transformers, which is not installed: pip install "scarce\[embed\]"'
    ):
        Embedder(vit, "image")


def test_photos_of_a_folder_differ(images, tmp_path):
    ids = make_photos(tmp_path / "photos", 6)
    vectors = images.embed([tmp_path / "photos" / name for name in ids])
    assert vectors.shape == (6, 16)
    assert len(np.unique(vectors.round(4), axis=0)) == 6
