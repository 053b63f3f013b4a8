"""Augmentations of image batches, as tensor operations with torch's default random generator.

Every ``random_…`` draws a few numbers per image for all rows of a batch, and applies those of the rows it was given. Processes
that share a batch and start from the same random state therefore transform a row as a single process does.
"""

import math
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import grid_sample, pad

from scarce.errors import FeatureError

_PADDING_PIXELS = 4
_SHIFT = 0.075
_ANGLE = math.radians(14)
_SCALE = 0.1
_SHEAR = 0.15
_AFFINE_SHIFT = 0.1
_ALL = slice(None)


class Augmentation(Protocol):
    """A random transformation of images; see `random_crop`."""

    def __call__(self, images: Tensor, n_rows: int | None = None, local_rows: slice = _ALL) -> Tensor: ...


def random_crop(images: Tensor, n_rows: int | None = None, local_rows: slice = _ALL) -> Tensor:
    """Pad every image with four black pixels on all sides, then crop it at random to its original size.

    Parameters
    ----------
    images : Tensor of shape (B', h, w) or (B', c, h, w)
        The images; the rows of a batch that this process computes.
    n_rows : int, optional
        B, the number of rows of the whole batch; by default B'.
    local_rows : slice
        Which rows of the batch `images` holds; by default all.

    Examples
    --------
    >>> random_crop(torch.ones(2, 3, 8, 8)).shape
    torch.Size([2, 3, 8, 8])
    """
    n = len(images) if n_rows is None else n_rows
    top, left = torch.randint(0, 2 * _PADDING_PIXELS + 1, (2, n, 1), device=images.device)[:, local_rows, 0]
    return _cut(pad(images, (_PADDING_PIXELS,) * 4), top, left, images.shape)


def random_flip(images: Tensor, n_rows: int | None = None, local_rows: slice = _ALL) -> Tensor:
    """Flip every image left to right with probability 1/2.

    Parameters
    ----------
    images, n_rows, local_rows
        See `random_crop`.

    Examples
    --------
    >>> random_flip(torch.ones(2, 8, 8)).shape
    torch.Size([2, 8, 8])
    """
    n = len(images) if n_rows is None else n_rows
    flipped = torch.rand(n, device=images.device)[local_rows] < 0.5
    return torch.where(flipped.view(-1, *[1] * (images.dim() - 1)), images.flip(-1), images)


def random_shift(images: Tensor, n_rows: int | None = None, local_rows: slice = _ALL) -> Tensor:
    """Shift every image by whole pixels, at most 7.5 % of each side (rounded, at least one pixel).

    With m_h = max(1, round(0.075 h)) and likewise m_w, the shift (a, b) is uniform on {−m_h, …, m_h} × {−m_w, …, m_w}: two
    pixels at most for 28 × 28. See `shift` for the equation. The pixels of the border are repeated.

    Parameters
    ----------
    images, n_rows, local_rows
        See `random_crop`.

    Examples
    --------
    >>> random_shift(torch.ones(2, 3, 8, 8)).shape
    torch.Size([2, 3, 8, 8])
    """
    down, right = draw_shifts(len(images) if n_rows is None else n_rows, images)
    return shift(images, down[local_rows], right[local_rows])


def draw_shifts(n_rows: int, images: Tensor) -> tuple[Tensor, Tensor]:
    """Draw the parameters of `shift` for `n_rows` images of this size and on this device.

    Examples
    --------
    >>> down, right = draw_shifts(1000, torch.ones(1, 28, 8))
    >>> down.unique().tolist(), right.unique().tolist()
    ([-2, -1, 0, 1, 2], [-1, 0, 1])
    """
    furthest = [max(1, round(_SHIFT * side)) for side in images.shape[-2:]]
    down, right = (torch.randint(-pixels, pixels + 1, (n_rows,), device=images.device) for pixels in furthest)
    return down, right


def shift(images: Tensor, down: Tensor, right: Tensor) -> Tensor:
    """Shift image b by whole pixels, down_b rows downwards and right_b columns to the right.

    out_b(i, j) = in_b(clip(i − down_b, 0, h − 1), clip(j − right_b, 0, w − 1)): outside of the image, its border is repeated.

    Parameters
    ----------
    images : Tensor of shape (B, h, w) or (B, c, h, w)
        The images.
    down, right : integer Tensor of shape (B,)
        The shifts in pixels, between −h and h, and between −w and w.

    Examples
    --------
    >>> shift(torch.tensor([[[1, 2], [3, 4.0]]]), torch.tensor([0]), torch.tensor([1])).tolist()
    [[[1.0, 1.0], [3.0, 3.0]]]
    """
    n, (height, width) = len(images), images.shape[-2:]
    rows = (torch.arange(height, device=images.device) - down[:, None]).clamp_(0, height - 1)
    columns = (torch.arange(width, device=images.device) - right[:, None]).clamp_(0, width - 1)
    flat = images.reshape(n, -1, height * width)
    pixels = (rows[:, :, None] * width + columns[:, None, :]).view(n, 1, -1)
    return flat.gather(2, pixels.expand(flat.shape)).view(images.shape)


def random_affine(images: Tensor, n_rows: int | None = None, local_rows: slice = _ALL) -> Tensor:
    """Rotate, scale, shear and shift every image at random, with bilinear interpolation.

    The angle is uniform on ± 14°, the scale on 1 ± 0.1, the shear on ± 0.15, and the shift in each direction on ± 10 % of the
    side, all independent. See `affine` for the equation. The pixels of the border are repeated.

    Parameters
    ----------
    images, n_rows, local_rows
        See `random_crop`.

    Examples
    --------
    >>> random_affine(torch.ones(2, 3, 8, 8)).shape
    torch.Size([2, 3, 8, 8])
    """
    return affine(images, *draw_affine_maps(len(images) if n_rows is None else n_rows, images)[:, local_rows])


def draw_affine_maps(n_rows: int, images: Tensor) -> Tensor:
    """Draw the parameters of `affine` for `n_rows` images of this size and on this device, of shape (5, n_rows).

    They are the same for every dtype.

    Examples
    --------
    >>> maps = draw_affine_maps(1000, torch.ones(1, 28, 20))
    >>> [round(number, 1) for number in maps.amax(dim=1).tolist()]  # 14° are 0.244
    [0.2, 1.1, 0.1, 2.8, 2.0]
    """
    height, width = images.shape[-2:]
    drawn = 2 * torch.rand(5, n_rows, device=images.device, dtype=torch.float32) - 1
    angle, scale, shear, down, right = drawn.to(_affine_dtype(images))
    return torch.stack(
        [
            _ANGLE * angle,
            1 + _SCALE * scale,
            _SHEAR * shear,
            _AFFINE_SHIFT * height * down,
            _AFFINE_SHIFT * width * right,
        ]
    )


def affine(
    images: Tensor, angle: Tensor, scale: Tensor, shear: Tensor, down: Tensor, right: Tensor
) -> Tensor:
    """Transform image b by its own affine map, with bilinear interpolation.

    Let p = (x, y) be a pixel, relative to the center of the image, x to the right and y downwards, and t = (right, down). Then

        out(p) = in(M⁻¹ (p − t)),   M = scale · [cos −sin; sin cos] · [1 shear; 0 1],

    so that the input at p moves to M p + t: sheared, rotated clockwise, scaled and shifted. Outside of the image, its border
    is repeated, so that a light background stays light and constant images stay constant. float16 and bfloat16 are
    interpolated in float32.

    Parameters
    ----------
    images : Tensor of shape (B, h, w) or (B, c, h, w)
        The images.
    angle : Tensor of shape (B,)
        Angles in radians.
    scale, shear : Tensor of shape (B,)
        Factors.
    down, right : Tensor of shape (B,)
        Shifts in pixels.

    Examples
    --------
    >>> zero = torch.zeros(1)
    >>> affine(torch.tensor([[[1, 2], [3, 4.0]]]), zero, 1 + zero, zero, zero, 0.5 + zero).tolist()
    [[[1.0, 1.5], [3.0, 3.5]]]
    """
    n, (height, width), dtype = len(images), images.shape[-2:], _affine_dtype(images)
    x = _from_center(width, images, dtype) - right[:, None]
    y = _from_center(height, images, dtype) - down[:, None]
    cos, sin = (angle.cos() / scale)[:, None], (angle.sin() / scale)[:, None]
    shear = shear[:, None]
    # The source of every pixel, in units in which the image is from −1 to 1. Its two coordinates in separate planes, each by
    # one broadcast sum, are faster than affine_grid, which multiplies matrices of three columns.
    across, along = 2 / width, 2 / height
    from_x = torch.stack([across * (cos + shear * sin) * x, -along * sin * x])
    from_y = torch.stack([across * (sin - shear * cos) * y, along * cos * y])
    grid = from_x[:, :, None, :] + from_y[:, :, :, None]
    flat = images.reshape(n, -1, height, width).to(dtype)
    moved = grid_sample(flat, grid.movedim(0, -1), padding_mode="border", align_corners=False)
    return moved.to(images.dtype).view(images.shape)


def _from_center(side: int, images: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the coordinates of pixels along a side, relative to its middle."""
    return torch.arange(side, device=images.device, dtype=dtype) - (side - 1) / 2


def _affine_dtype(images: Tensor) -> torch.dtype:
    return torch.float64 if images.dtype == torch.float64 else torch.float32


def _cut(padded: Tensor, top: Tensor, left: Tensor, shape: torch.Size) -> Tensor:
    """Cut one window of images of this shape, (B, ..., h, w), out of each padded image."""
    height, width = shape[-2:]
    padded_height, padded_width = padded.shape[-2:]
    # Every row of a window is contiguous, which makes this three times faster than an index for each pixel.
    starts = torch.arange(padded[..., 0, 0].numel(), device=padded.device).view(shape[:-2])
    starts = starts * padded_height + top.view(-1, *[1] * (len(shape) - 3))
    rows = starts[..., None] + torch.arange(height, device=padded.device)
    begin = rows * padded_width + left.view(-1, *[1] * (len(shape) - 2))
    return padded.flatten().unfold(0, width, 1).index_select(0, begin.flatten()).view(shape)


AUGMENTATIONS: dict[str, Augmentation] = {
    "crop": random_crop,
    "flip": random_flip,
    "shift": random_shift,
    "affine": random_affine,
}


def augment(
    inputs: Tensor, names: tuple[str, ...], n_rows: int | None = None, local_rows: slice = _ALL
) -> Tensor:
    """Apply augmentations by name, in order; only images can be augmented.

    Parameters
    ----------
    inputs : Tensor of shape (B', ...)
        The rows of a batch that this process computes.
    names : tuple of str
        Keys of `AUGMENTATIONS`.
    n_rows : int, optional
        B, the number of rows of the whole batch; by default B'.
    local_rows : slice
        Which rows of the batch `inputs` holds; by default all.

    Examples
    --------
    >>> augment(torch.ones(2, 3), ("flip",))
    Traceback (most recent call last):
    scarce.errors.FeatureError: augmentation=('flip',) is for images, but the inputs have the shape (3,); leave it out (--augment).
    """
    if names and inputs.dim() < 3:
        raise FeatureError(
            f"augmentation={names} is for images, but the inputs have the shape {tuple(inputs.shape[1:])}; "
            "leave it out (--augment)."
        )
    for name in names:
        inputs = AUGMENTATIONS[name](inputs, n_rows, local_rows)
    return inputs
