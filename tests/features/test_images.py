"""Reading folders of images as features."""

import numpy as np
import pytest
from PIL import Image

from scarce.errors import FeatureError, FileError
from scarce.features import read_features
from scarce.features._images import parse_size


def save_image(folder, name, pixels, mode=None):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(np.asarray(pixels, np.uint8))
    (image.convert(mode) if mode else image).save(path)


GREY = [[0, 50, 100], [150, 200, 250]]


def test_image_folder_gives_grayscale_images_with_paths_as_ids(tmp_path):
    save_image(tmp_path, "b.png", GREY)
    save_image(tmp_path, "a/z.BMP", np.add(GREY, 1))
    save_image(tmp_path, "a/k.png", [[255, 0, 255], [0, 255, 0]], "1")
    (tmp_path / "notes.txt").write_text("not an image")
    features = read_features(tmp_path)
    assert features.ids.tolist() == ["a/k.png", "a/z.BMP", "b.png"]
    assert features.values.dtype == np.uint8
    assert features.values.tolist() == [[[255, 0, 255], [0, 255, 0]], np.add(GREY, 1).tolist(), GREY]


def test_image_folder_with_color_converts_all_to_color(tmp_path):
    color = np.arange(18).reshape(2, 3, 3)
    save_image(tmp_path, "color.png", color)
    save_image(tmp_path, "grey.png", GREY)
    save_image(tmp_path, "alpha.png", np.dstack([color, np.full((2, 3), 128)]))
    save_image(tmp_path, "palette.gif", GREY, "P")
    features = read_features(tmp_path)
    assert features.ids.tolist() == ["alpha.png", "color.png", "grey.png", "palette.gif"]
    expected = color.transpose(2, 0, 1).tolist()
    assert features.values[:2].tolist() == [expected, expected]
    assert features.values[2].tolist() == [GREY] * 3
    assert features.values[3].tolist() == [GREY] * 3


def test_image_folder_reads_palette_with_transparency(tmp_path):
    image = Image.fromarray(np.array([[0, 1]], np.uint8)).convert("P")
    image.putpalette([10, 20, 30, 40, 50, 60])
    image.save(tmp_path / "a.png", transparency=b"\x00\x80")
    assert read_features(tmp_path).values[0].tolist() == [[[10, 40]], [[20, 50]], [[30, 60]]]


def test_image_folder_applies_exif_orientation(tmp_path):
    image = Image.new("L", (4, 2))
    exif = Image.Exif()
    exif[0x0112] = 6  # the pixels are rotated by 90 degrees
    image.save(tmp_path / "a.jpg", exif=exif)
    Image.new("L", (2, 4)).save(tmp_path / "b.jpg")
    assert read_features(tmp_path).values.shape == (2, 4, 2)


def test_image_folder_resizes_unequal_sizes_only_if_asked(tmp_path):
    save_image(tmp_path, "a.png", np.full((2, 3), 7))
    save_image(tmp_path, "b.png", np.full((4, 5), 9))
    with pytest.raises(FeatureError, match=r"a\.png is 2x3, b\.png is 4x5; .*--image-size 32x32"):
        read_features(tmp_path)
    for size in ("6x8", (6, 8)):
        values = read_features(tmp_path, image_size=size).values
        assert values.shape == (2, 6, 8)
        assert (np.unique(values[0]).tolist(), np.unique(values[1]).tolist()) == ([7], [9])


@pytest.mark.parametrize("size", ["32", "0x5", "axb", "-3x4", (3,), (0, 4), ""])
def test_parse_size_rejects_invalid_size(size):
    with pytest.raises(FeatureError, match="such as 32x32"):
        parse_size(size)


@pytest.mark.parametrize("ending", ["png", "jpg"])
def test_image_folder_names_damaged_image(tmp_path, ending):
    save_image(tmp_path, "a.png", np.zeros((40, 40)))
    path = tmp_path / f"b.{ending}"
    Image.effect_noise((40, 40), 50).save(path)
    whole = path.read_bytes()
    for content in (b"", b"text", whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(FileError, match=rf"b\.{ending} is damaged or not an image"):
            read_features(tmp_path)


def test_image_folder_rejects_no_images_deep_images_and_id_column(tmp_path):
    with pytest.raises(FileError, match=r"contains neither images \(.*\.png"):
        read_features(tmp_path)
    Image.fromarray(np.array([[1000]], np.uint16)).save(tmp_path / "deep.png")
    with pytest.raises(FeatureError, match=r"deep\.png has more than 8 bits"):
        read_features(tmp_path)
    with pytest.raises(FeatureError, match="ids of images are their paths"):
        read_features(tmp_path, id_column="id")


def test_image_folder_rejects_content_of_other_formats(tmp_path):
    # Pillow would start Ghostscript for it.
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png", format="EPS")
    with pytest.raises(FileError, match=r"a\.png is damaged or not an image"):
        read_features(tmp_path)


@pytest.mark.parametrize("limit", [10, 20])  # Pillow raises above twice the limit, and only warns below
def test_image_folder_rejects_images_with_too_many_pixels(tmp_path, monkeypatch, limit):
    save_image(tmp_path, "a.png", np.zeros((4, 6)))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    with pytest.raises(FileError, match=rf"a\.png has more pixels than Pillow reads \({limit}\)"):
        read_features(tmp_path)


def test_image_folder_rejects_images_that_take_too_much_memory(tmp_path, monkeypatch):
    save_image(tmp_path, "a.png", np.zeros((4, 6)))
    monkeypatch.setenv("SCARCE_MAX_BYTES", "1000")
    with pytest.raises(FileError, match=r"would take 10,000 bytes .* pass a smaller image_size="):
        read_features(tmp_path, image_size="100x100")
