"""The shape that the images of a folder are brought to, and a sentence that says what is done to them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scarce.errors import FeatureError

Size = tuple[int, int]
Shape = tuple[int, ...]
MAX_KEPT_SIDE = 64
"""Images of one size stay as they are up to this many pixels per side."""
_DEFAULT_SIDE = 32  # what the residual network and the DenseNet are made for


@dataclass(frozen=True)
class ImageHeader:
    """What the header of an image file says: its size as it is shown, and whether it is grayscale."""

    size: Size
    is_gray: bool


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


def check_input_shape(input_shape: Shape, folder: Path, size: Size | None) -> None:
    """Raise `FeatureError` if images of a folder cannot have the shape that a classifier expects, or another size is asked for.

    Examples
    --------
    >>> check_input_shape((3, 32, 32), Path("photos"), (64, 64))
    Traceback (most recent call last):
    scarce.errors.FeatureError: image_size is 64x64, but the model was trained on images of 32x32; leave image_size ...
    """
    if len(input_shape) == 1:
        raise FeatureError(
            f"{folder} is a folder of images, but the model was trained on rows of {input_shape[0]:,} numbers; pass features "
            "of the kind that it was trained on."
        )
    if len(input_shape) == 3 and input_shape[0] not in (1, 3):
        raise FeatureError(
            f"{folder} is a folder of images, which have 1 or 3 channels, but the model was trained on {input_shape[0]}; pass "
            "an array (.npy) of such images."
        )
    if size not in (None, input_shape[-2:]):
        raise FeatureError(
            f"image_size is {_text(size)}, but the model was trained on images of {_text(input_shape[-2:])}; "
            "leave image_size (--image-size) out."
        )


def choose_shape(headers: Sequence[ImageHeader], size: Size | None = None) -> Shape:
    """Return the shape that all images get: (h, w) if all are grayscale, else (3, h, w).

    Without a `size`, images that share one size of at most 64 pixels per side keep it. All others become square: 32 × 32, or as
    large as the smallest side of any image if every image has a side below 32.

    Examples
    --------
    >>> choose_shape([ImageHeader((48, 64), True)] * 2), choose_shape([ImageHeader((480, 640), True)] * 2)
    ((48, 64), (32, 32))
    >>> choose_shape([ImageHeader((480, 640), True), ImageHeader((20, 24), False)])
    (3, 32, 32)
    """
    if size is None:
        sizes = {header.size for header in headers}
        size = next(iter(sizes))
        if len(sizes) > 1 or max(size) > MAX_KEPT_SIDE:
            short_sides = [min(size) for size in sizes]
            side = _DEFAULT_SIDE if max(short_sides) >= _DEFAULT_SIDE else min(short_sides)
            size = side, side
    return size if all(header.is_gray for header in headers) else (3, *size)


def describe_changes(
    headers: Sequence[ImageHeader], shape: Shape, *, is_asked: bool, is_model: bool
) -> str | None:
    """Return what bringing images to a shape changes, as one sentence, or None if there is nothing to say.

    Parameters
    ----------
    headers : sequence of ImageHeader
        The images.
    shape : tuple of int
        The shape that they get.
    is_asked : bool
        Whether the user chose the size. Then only cropping is worth a sentence.
    is_model : bool
        Whether it is the shape that a classifier expects.

    Examples
    --------
    >>> mixed = [ImageHeader((480, 640), False), ImageHeader((4032, 3024), False)]
    >>> print(describe_changes(mixed, (3, 32, 32), is_asked=False, is_model=False))
    the 2 images differ in size (height x width from 480x640 to 4032x3024); each was scaled so that its short side is 32 pixels ...
    """
    size = shape[-2], shape[-1]
    sizes = sorted({header.size for header in headers}, key=lambda size: (size[0] * size[1], size))
    n, n_cropped = len(headers), sum(_is_cropped(header.size, size) for header in headers)
    images = "the image" if n == 1 else f"the {n:,} images"
    sentences = []
    if sizes != [size] and (n_cropped or not is_asked):
        sentence = f"{images} {_range_of(sizes, n)}; {_scaling(n, n_cropped, size)}"
        if is_model:
            sentence += ", as the model expects"
        elif not is_asked:
            sentence += "; image_size (--image-size) changes this"
        sentences.append(sentence)
    n_color = sum(not header.is_gray for header in headers)
    if n_color and shape[:-2] != (3,):
        what = images if n_color == n else f"{n_color:,} of the {n:,} images"
        verb = "is in color and was" if n_color == 1 else "are in color and were"
        sentences.append(f"{what} {verb} converted to gray, as the model expects")
    return "; ".join(sentences) or None


def _range_of(sizes: list[Size], n: int) -> str:
    if len(sizes) == 1:
        return f"{'has' if n == 1 else 'have'} {_text(sizes[0])} pixels (height x width)"
    return f"differ in size (height x width from {_text(sizes[0])} to {_text(sizes[-1])})"


def _scaling(n: int, n_cropped: int, size: Size) -> str:
    subject = "it" if n == 1 else "each"
    if not n_cropped:
        return f"{subject} was scaled to {_text(size)}"
    if size[0] == size[1]:
        pixels = "1 pixel" if size[0] == 1 else f"{size[0]} pixels"
        return f"{subject} was scaled so that its short side is {pixels} and cropped at the center to {_text(size)}"
    return f"{subject} was scaled to cover {_text(size)} and cropped to that at the center"


def _is_cropped(size: Size, target: Size) -> bool:
    """Return whether scaling to cover the target leaves at least one pixel to cut off."""
    scale = max(target[0] / size[0], target[1] / size[1])
    return any(round(side * scale) > wanted for side, wanted in zip(size, target, strict=True))


def _text(size: Sequence[int] | None) -> str:
    return "x".join(map(str, size or ()))
