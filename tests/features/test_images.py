"""Reading folders of images as features."""

import numpy as np
import pytest
from PIL import Image

from scarce.errors import FeatureError, FileError
from scarce.features import _images, read_features
from scarce.features._image_shapes import parse_size


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
    save_image(tmp_path, "alpha.png", np.dstack([color, np.full((2, 3), 255)]))
    save_image(tmp_path, "palette.gif", GREY, "P")
    features = read_features(tmp_path)
    assert features.ids.tolist() == ["alpha.png", "color.png", "grey.png", "palette.gif"]
    expected = color.transpose(2, 0, 1).tolist()
    assert features.values[:2].tolist() == [expected, expected]
    assert features.values[2].tolist() == [GREY] * 3
    assert features.values[3].tolist() == [GREY] * 3


def on_white(color, alpha):
    return round((color * alpha + 255 * (255 - alpha)) / 255)


def test_image_folder_shows_transparent_images_on_white(tmp_path):
    palette = Image.fromarray(np.array([[0, 1]], np.uint8)).convert("P")
    palette.putpalette([10, 20, 30, 40, 50, 60])
    palette.save(tmp_path / "a.png", transparency=b"\x00\x80")
    save_image(tmp_path, "b.png", [[[10, 20, 30, 0], [40, 50, 60, 128]]])
    save_image(tmp_path, "c.png", [[[10, 20, 30, 255], [40, 50, 60, 255]]])
    Image.new("RGB", (2, 1), (10, 20, 30)).save(tmp_path / "d.png", transparency=(10, 20, 30))
    values = read_features(tmp_path).values
    expected = [[[255, on_white(color, 128)]] for color in (40, 50, 60)]
    assert np.abs(values[:2] - np.array(expected)).max() <= 1  # Pillow rounds down
    assert (values[0] == values[1]).all()
    assert values[2].tolist() == [[[10, 40]], [[20, 50]], [[30, 60]]]
    assert (values[3] == 255).all()


def test_image_folder_of_gray_images_shows_transparent_ones_on_white(tmp_path):
    save_image(tmp_path, "a.png", [[0, 77]])
    pixels = np.array([[[0, 0], [77, 255]]], np.uint8)
    Image.frombytes("LA", (2, 1), pixels.tobytes()).save(tmp_path / "b.png")
    assert read_features(tmp_path).values.tolist() == [[[0, 77]], [[255, 77]]]


def test_image_folder_reads_cmyk_and_first_frame(tmp_path):
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(tmp_path / "a.jpg", quality=100)
    frames = [Image.new("RGB", (8, 8), color) for color in ("red", "blue", "lime")]
    frames[0].save(tmp_path / "b.gif", save_all=True, append_images=frames[1:])
    values = read_features(tmp_path).values.astype(int)
    assert np.abs(values - np.array([255, 0, 0])[:, None, None]).max() <= 2


# How the pixels are stored for each orientation, so that the picture appears upright.
STORED = {1: lambda a: a, 2: np.fliplr, 3: lambda a: np.rot90(a, 2), 4: np.flipud, 5: lambda a: a.swapaxes(0, 1),
          6: np.rot90, 7: lambda a: np.rot90(a, 2).swapaxes(0, 1), 8: lambda a: np.rot90(a, 3)}  # fmt: skip


def save_with_orientation(path, upright, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {} if path.suffix == ".png" else {"quality": 100}
    Image.fromarray(np.ascontiguousarray(STORED[orientation](upright))).save(path, exif=exif, **options)


@pytest.mark.parametrize("ending", ["jpg", "png", "tif", "webp"])
def test_image_folder_applies_every_exif_orientation(tmp_path, ending):
    upright = (
        np.kron([[0, 80, 160], [200, 240, 120]], np.ones((8, 8))).astype(np.uint8)[..., None].repeat(3, 2)
    )
    for orientation in STORED:
        save_with_orientation(tmp_path / f"{orientation}.{ending}", upright, orientation)
    features = read_features(tmp_path)
    assert features.values.shape == (8, 3, 16, 24)  # all have one size, which is kept
    assert features.note is None
    assert np.abs(features.values.astype(int) - upright.transpose(2, 0, 1)).max() <= 6


@pytest.mark.parametrize("ending", ["jpg", "png", "tif", "webp"])
def test_image_folder_scales_photos_of_every_exif_orientation(tmp_path, ending):
    """The sizes come from the headers, and JPEG is decoded at a fraction of its size."""
    upright = np.kron([[0, 80, 160, 20], [200, 240, 120, 90]], np.ones((200, 150))).astype(np.uint8)
    for orientation in STORED:
        save_with_orientation(tmp_path / f"{orientation}.{ending}", np.dstack([upright] * 3), orientation)
    features = read_features(tmp_path)
    assert "the 8 images have 400x600 pixels" in features.note
    part = upright[:, 100:500]  # what is cropped: the square at the center
    expected = np.asarray(Image.fromarray(part).resize((32, 32), Image.Resampling.BILINEAR)).astype(int)
    assert features.values.shape == (8, 3, 32, 32)
    assert np.abs(features.values - expected).max() <= 6


def test_image_folder_scales_mixed_sizes_to_short_side_and_crops_at_center(tmp_path):
    save_image(tmp_path, "a.png", np.full((480, 640), 7))
    tall = np.zeros((400, 100), np.uint8)
    tall[150:250] = np.arange(100)  # only this square remains
    save_image(tmp_path, "b.png", tall)
    save_image(tmp_path, "c.png", np.full((20, 24), 9))  # enlarged
    features = read_features(tmp_path)
    assert features.values.dtype == np.uint8
    assert features.values.shape == (3, 32, 32)
    assert (np.unique(features.values[0]).tolist(), np.unique(features.values[2]).tolist()) == ([7], [9])
    middle = features.values[1, 1:-1].astype(int)
    assert np.abs(middle - (np.arange(32) + 0.5) * 100 / 32).max() <= 1
    assert features.note == (
        "the 3 images differ in size (height x width from 20x24 to 480x640); each was scaled so that its short side is 32 pixels "
        "and cropped at the center to 32x32; image_size (--image-size) changes this"
    )


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([(64, 48)], (64, 48)),  # one size is kept up to 64 pixels per side
        ([(65, 65)], (32, 32)),
        ([(20, 65)], (20, 20)),
        ([(28, 28), (20, 30)], (20, 20)),  # nothing is enlarged
        ([(28, 28), (20, 30), (32, 32)], (32, 32)),
        ([(1, 1), (3, 2)], (1, 1)),
    ],
)
def test_image_folder_default_size(tmp_path, sizes, expected):
    for number, size in enumerate(sizes * 2):
        save_image(tmp_path, f"{number}.png", np.full(size, 50))
    features = read_features(tmp_path)
    assert features.values.shape[1:] == expected
    assert (features.values == 50).all()
    assert (features.note is None) == (sizes == [expected])


def test_image_size_keeps_aspect_ratio_and_reports_only_cropping(tmp_path):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (90, 120), np.uint8)
    save_image(tmp_path, "a.png", pixels)
    for size in ("30x40", (30, 40)):
        features = read_features(tmp_path, image_size=size)
        scaled = Image.fromarray(pixels).resize((40, 30), Image.Resampling.BILINEAR)
        assert features.values.tolist() == [np.asarray(scaled).tolist()]  # the whole image
        assert features.note is None
    features = read_features(tmp_path, image_size="90x60")
    assert features.values[0].tolist() == pixels[:, 30:90].tolist()
    assert features.note == (
        "the image has 90x120 pixels (height x width); it was scaled to cover 90x60 and cropped to that at the center"
    )


def test_input_shape_sets_size_and_colors(tmp_path):
    save_image(tmp_path, "a.png", np.full((40, 50), 7))
    gray = read_features(tmp_path, input_shape=(3, 32, 32))
    assert gray.values.shape == (1, 3, 32, 32)
    assert (gray.values == 7).all()
    assert gray.note.endswith("cropped at the center to 32x32, as the model expects")
    save_image(tmp_path, "b.png", np.full((40, 50, 3), [10, 200, 30]))
    luma = (10 * 299 + 200 * 587 + 30 * 114) / 1000
    for shape in ((40, 50), (1, 40, 50)):
        features = read_features(tmp_path, input_shape=shape, image_size="40x50")
        assert features.values.shape == (2, *shape)
        assert np.unique(features.values[1]).tolist() == [round(luma)]
        assert (
            features.note == "1 of the 2 images is in color and was converted to gray, as the model expects"
        )
    (tmp_path / "a.png").unlink()
    note = read_features(tmp_path, input_shape=(20, 25)).note
    assert note == (
        "the image has 40x50 pixels (height x width); it was scaled to 20x25, as the model expects; "
        "the image is in color and was converted to gray, as the model expects"
    )


@pytest.mark.parametrize(
    ("input_shape", "message"),
    [
        ((5,), "is a folder of images, but the model was trained on rows of 5 numbers; pass"),
        ((2, 8, 8), "have 1 or 3 channels, but the model was trained on 2; pass an array"),
        ((3, 8, 8), "image_size is 9x9, but the model was trained on images of 8x8; leave image_size .* out"),
    ],
)
def test_input_shape_rejects_what_images_cannot_be(tmp_path, input_shape, message):
    save_image(tmp_path, "a.png", GREY)
    with pytest.raises(FeatureError, match=message):
        read_features(tmp_path, input_shape=input_shape, image_size="9x9")


def test_input_shape_does_not_change_other_features(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 4)))
    assert read_features(tmp_path / "x.npy", input_shape=(3, 32, 32)).values.shape == (2, 4)


def test_image_folder_decodes_large_jpeg_at_reduced_size(tmp_path, monkeypatch):
    pixels = np.add.outer(np.arange(960) / 5, np.arange(1280) / 30).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.jpg", quality=95)
    decoded, convert = [], _images._convert
    monkeypatch.setattr(
        _images, "_convert", lambda image, mode: decoded.append(image.size) or convert(image, mode)
    )
    values = read_features(tmp_path).values
    assert decoded == [(160, 120)]  # an eighth
    expected = Image.fromarray(pixels[:, 160:1120]).resize((32, 32), Image.Resampling.BILINEAR)
    assert np.abs(values[0].astype(int) - np.asarray(expected)).max() <= 2


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
    with pytest.raises(
        FileError, match=r"would take 10,000 bytes .* divide the images among several folders"
    ):
        read_features(tmp_path, input_shape=(100, 100))
