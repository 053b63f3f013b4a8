"""A folder of images as one array."""

import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from scarce._io.paths import check_dir
from scarce._limits import check_bytes
from scarce.errors import FeatureError, FileError

Size = tuple[int, int]
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


def parse_size(size: "str | Size") -> Size:
    """Return height and width, given as text such as ``"32x32"`` or as two numbers.

    Examples
    --------
    >>> parse_size("32x48")
    (32, 48)
    """
    numbers = re.fullmatch(r"\s*(\d+)\s*[x×]\s*(\d+)\s*", size) if isinstance(size, str) else None
    pair = tuple(map(int, numbers.groups())) if numbers else size
    if isinstance(pair, str) or len(pair) != 2 or not all(1 <= side <= 10_000 for side in pair):
        raise FeatureError(f"the image size is {size!r}; expected height x width in pixels, such as 32x32.")
    return pair[0], pair[1]


def read_images(folder: str | Path, size: Size | None = None) -> tuple[NDArray[np.uint8], NDArray[np.str_]]:
    """Read all images in a folder and its subfolders, in the order of their paths.

    Parameters
    ----------
    folder : path
        The folder; files without an image suffix are ignored.
    size : (height, width), optional
        Resize every image to this size; required if the images differ in size.

    Returns
    -------
    images : array of uint8 of shape (n, height, width) or (n, 3, height, width)
        Gray values if all images are grayscale, else RGB.
    ids : array of str of shape (n,)
        The paths relative to `folder`, with ``/`` as separator.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for name, shade in (("b", 9), ("a", 5)):
    ...         Image.new("L", (3, 2), shade).save(Path(folder, f"{name}.png"))
    ...     images, ids = read_images(folder)
    >>> images.shape, images[:, 0, 0].tolist(), ids.tolist()
    ((2, 2, 3), [5, 9], ['a.png', 'b.png'])
    """
    folder = check_dir(folder)
    paths = find_images(folder)
    ids = sorted(paths)
    if not ids:
        raise FileError(
            f"{folder} contains neither images ({IMAGE_SUFFIXES}) nor shards (.npy, .parquet); check the path."
        )
    sizes: dict[Size, str] = {}
    is_gray = True
    for name in ids:  # read the headers first, so that errors are found before any pixels are read
        with open_image(paths[name]) as image:
            sizes.setdefault((image.height, image.width), name)
            is_gray = is_gray and image.mode in _GRAY_MODES
    if size is None and len(sizes) > 1:
        (first_size, first), (second_size, second) = list(sizes.items())[:2]
        raise FeatureError(
            f"{folder}: the images differ in size: {first} is {first_size[0]}x{first_size[1]}, {second} is "
            f"{second_size[0]}x{second_size[1]}; pass image_size=(32, 32) (--image-size 32x32) to resize them."
        )
    height, width = size or next(iter(sizes))
    shape = (len(ids), height, width) if is_gray else (len(ids), 3, height, width)
    check_bytes(math.prod(shape), folder, "pass a smaller image_size= (--image-size)")
    images = np.empty(shape, np.uint8)
    for row, name in enumerate(ids):
        pixels = _pixels(paths[name], "L" if is_gray else "RGB", (width, height))
        images[row] = pixels if is_gray else pixels.transpose(2, 0, 1)
    return images, np.array(ids)


def find_images(folder: Path) -> dict[str, Path]:
    """Return the image files in a folder and its subfolders, by their paths relative to it."""
    found = (path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in found}


@contextmanager
def open_image(path: Path) -> Iterator[Image.Image]:
    """Open an image file of a known format, upright; its pixels are read on demand."""
    try:
        with (
            warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning),
            path.open("rb") as file,
            Image.open(file, formats=_FORMATS) as image,
        ):
            ImageOps.exif_transpose(image, in_place=True)  # cameras store the orientation, not rotated pixels
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


def _pixels(path: Path, mode: str, size: tuple[int, int]) -> NDArray[np.uint8]:
    converted = read_image(path, mode)
    if converted.size != size:
        converted = converted.resize(size, Image.Resampling.BILINEAR)
    return np.asarray(converted)


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
        # Convert through RGBA, because a palette may contain transparency.
        return image.convert("RGBA").convert(mode) if image.mode == "P" else image.convert(mode)
