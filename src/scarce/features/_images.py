"""A folder of images as one array."""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageOps

from scarce._io.paths import check_dir
from scarce._limits import check_bytes
from scarce.errors import FeatureError, FileError
from scarce.features._image_shapes import (
    MAX_KEPT_SIDE,
    ImageHeader,
    Shape,
    Size,
    check_input_shape,
    choose_shape,
    describe_changes,
)

_SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".pgm", ".ppm"}
IMAGE_SUFFIXES = ", ".join(sorted(_SUFFIXES))
"""For messages."""
_FORMATS = (
    "PNG",
    "JPEG",
    "BMP",
    "GIF",
    "WEBP",
    "TIFF",
    "PPM",
)  # for other formats Pillow may start a program
_GRAY_MODES = {"1", "L", "LA"}
_TURNED = {5, 6, 7, 8}  # EXIF orientations that swap height and width
_OVERSAMPLING = 3  # how much larger than needed a JPEG is decoded; the rest is scaled with antialiasing


class ImageFolder(NamedTuple):
    """All images of a folder as one array."""

    images: NDArray[np.uint8]
    ids: NDArray[np.str_]
    note: str | None


def read_images(
    folder: str | Path, size: Size | None = None, input_shape: Shape | None = None
) -> ImageFolder:
    """Read all images in a folder and its subfolders, in the order of their paths.

    An image that needs another size is scaled until it covers that size, with antialiasing, and what projects is cut off equally
    on both sides. Images are turned as their EXIF orientation says, transparent pixels become white, and of an animation the first
    frame is read.

    Parameters
    ----------
    folder : path
        The folder; files without an image suffix are ignored.
    size : (height, width), optional
        The size of the images in the array; by default that of `scarce.features._image_shapes.choose_shape`.
    input_shape : tuple of int, optional
        The shape that each image gets, (h, w), (1, h, w) or (3, h, w): that of the images a classifier was trained on.

    Returns
    -------
    images : array of uint8 of shape (n, height, width) or (n, 3, height, width)
        Gray values if all images are grayscale, else RGB.
    ids : array of str
        The paths relative to the folder, with forward slashes.
    note : str or None
        What was done to the images to give them one shape, if anything.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name, shade in (("b", 9), ("a", 5)):
    ...         Image.new("L", (3, 2), shade).save(Path(folder, f"{name}.png"))
    ...     images, ids, _ = read_images(folder)
    >>> images.shape, images[:, 0, 0].tolist(), ids.tolist()
    ((2, 2, 3), [5, 9], ['a.png', 'b.png'])
    """
    folder = check_dir(folder)
    if input_shape is not None:
        check_input_shape(input_shape, folder, size)
    paths = find_images(folder)
    ids = sorted(paths)
    if not ids:
        raise FileError(
            f"{folder} contains neither images ({IMAGE_SUFFIXES}) nor shards (.npy, .parquet); check the path."
        )
    # Read the headers first, so that most errors are found before any pixels are read.
    headers = [_read_header(paths[name]) for name in ids]
    shape = input_shape or choose_shape(headers, size)
    fix = (
        "pass a smaller image_size= (--image-size)"
        if input_shape is None
        else "divide the images among several folders"
    )
    check_bytes(len(ids) * math.prod(shape), folder, fix)
    images = np.empty((len(ids), *shape), np.uint8)
    mode = "RGB" if shape[:-2] == (3,) else "L"
    for row, name in zip(images, ids, strict=True):
        pixels = _read_pixels(paths[name], mode, (shape[-2], shape[-1]))
        row[...] = pixels.transpose(2, 0, 1) if pixels.ndim == 3 else pixels
    note = describe_changes(headers, shape, is_asked=size is not None, is_model=input_shape is not None)
    return ImageFolder(images, np.array(ids), note)


def find_images(folder: Path) -> dict[str, Path]:
    """Return the image files in a folder and its subfolders, by their paths relative to it."""
    found = (path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in found}


@contextmanager
def open_image(path: Path) -> Iterator[Image.Image]:
    """Open an image, turned as its EXIF orientation says: cameras store the orientation, not rotated pixels."""
    with _open_unturned(path) as image:
        ImageOps.exif_transpose(image, in_place=True)
        yield image


@contextmanager
def _open_unturned(path: Path) -> Iterator[Image.Image]:
    """Open an image without reading its pixels; what fails in the block becomes an error that names the file."""
    try:
        with (
            warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning),
            path.open("rb") as file,
            Image.open(file, formats=_FORMATS) as image,
        ):
            if image.mode[0] in "IF":
                raise FeatureError(
                    f"{path} has more than 8 bits per pixel (mode {image.mode}); save it with 8 bits."
                )
            yield image
    except FeatureError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise FileError(
            f"{path} has more pixels than Pillow reads ({Image.MAX_IMAGE_PIXELS:,}); make the image smaller."
        ) from error
    except Exception as error:  # each image format raises its own errors
        raise FileError(f"{path} is damaged or not an image; replace or remove it.") from error


def _read_header(path: Path) -> ImageHeader:
    with _open_unturned(path) as image:
        is_gray = image.mode in _GRAY_MODES
        if image.format == "TIFF" or max(image.size) <= MAX_KEPT_SIDE:
            # Small sizes must be exact, and Pillow may or may not have swapped the sides of a TIFF image.
            ImageOps.exif_transpose(image, in_place=True)
            return ImageHeader((image.height, image.width), is_gray)
        # Not image.getexif(), because that of PNG decodes all pixels to find tags behind them.
        orientation = Image.Image.getexif(image).get(ExifTags.Base.Orientation)
        height_and_width = (
            (image.width, image.height) if orientation in _TURNED else (image.height, image.width)
        )
        return ImageHeader(height_and_width, is_gray)


def _read_pixels(path: Path, mode: str, size: Size) -> NDArray[np.uint8]:
    with _open_unturned(path) as image:
        side = _OVERSAMPLING * max(size)
        image.draft(
            None, (side, side)
        )  # JPEG is decoded at 1/2, 1/4 or 1/8 of its size if that is still larger
        ImageOps.exif_transpose(image, in_place=True)
        return np.asarray(_cover(_convert(image, mode), size))


def _convert(image: Image.Image, mode: str) -> Image.Image:
    """Return an image as 8-bit gray (L) or RGB, on white where it is transparent."""
    if image.mode[-1] in "AaP" or "transparency" in image.info:  # a palette may contain transparency
        colors = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), colors)
    return image.convert(mode)


def _cover(image: Image.Image, size: Size) -> Image.Image:
    """Return the largest part at the center that has the aspect ratio of `size`, scaled to `size`."""
    height, width = size
    if (image.width, image.height) == (width, height):
        return image
    part_width, part_height = float(image.width), float(image.height)
    if image.width * height > image.height * width:
        part_width = image.height * width / height
    else:
        part_height = image.width * height / width
    left, top = (image.width - part_width) / 2, (image.height - part_height) / 2
    box = left, top, image.width - left, image.height - top
    return image.resize((width, height), Image.Resampling.BILINEAR, box)


def read_image(path: Path, mode: str = "RGB") -> Image.Image:
    """Return an image, upright and in this mode; gray values are repeated for RGB.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Image.new("L", (3, 2), 7).save(Path(folder, "a.png"))
    ...     read_image(Path(folder, "a.png")).getpixel((0, 0))
    (7, 7, 7)
    """
    with open_image(path) as image:
        return _convert(image, mode)
