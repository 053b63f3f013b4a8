"""Augmentations of image batches, as tensor operations with torch's default random generator."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import pad

from scarce.errors import FeatureError

_PADDING_PIXELS = 4


def random_crop(images: Tensor) -> Tensor:
    """Pad every image with four black pixels on all sides, then crop it at random to its original size.

    Parameters
    ----------
    images : Tensor of shape (B, h, w) or (B, c, h, w)
        The images.

    Examples
    --------
    >>> random_crop(torch.ones(2, 3, 8, 8)).shape
    torch.Size([2, 3, 8, 8])
    """
    n, (height, width) = len(images), images.shape[-2:]
    padded = pad(images, (_PADDING_PIXELS,) * 4)
    top, left = torch.randint(0, 2 * _PADDING_PIXELS + 1, (2, n, 1), device=images.device)
    rows = top + torch.arange(height, device=images.device)
    columns = left + torch.arange(width, device=images.device)
    image_index = torch.arange(n, device=images.device)[:, None, None]
    cropped = padded.movedim(0, -3)[..., image_index, rows[:, :, None], columns[:, None, :]]
    return cropped.movedim(-3, 0)


def random_flip(images: Tensor) -> Tensor:
    """Flip every image left to right with probability 1/2.

    Parameters
    ----------
    images : Tensor of shape (B, h, w) or (B, c, h, w)
        The images.

    Examples
    --------
    >>> random_flip(torch.ones(2, 8, 8)).shape
    torch.Size([2, 8, 8])
    """
    flipped = torch.rand(len(images), device=images.device) < 0.5
    return torch.where(flipped.view(-1, *[1] * (images.dim() - 1)), images.flip(-1), images)


AUGMENTATIONS: dict[str, Callable[[Tensor], Tensor]] = {"crop": random_crop, "flip": random_flip}


def augment(inputs: Tensor, names: tuple[str, ...]) -> Tensor:
    """Apply augmentations by name, in order; only images can be augmented.

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
        inputs = AUGMENTATIONS[name](inputs)
    return inputs
