"""Augmentations of batches of images."""

import numpy as np
import pytest
import torch

from scarce.errors import FeatureError, MethodError
from scarce.methods import make_method
from scarce.models import make_model
from scarce.simulate import uniform
from scarce.training import Recipe, train
from scarce.training._augmentation import augment, random_crop, random_flip


def is_shift_of(cut, image):
    """Whether `cut` is `image` shifted by at most four pixels in each direction and filled with black."""
    padded = np.pad(image, [(0, 0)] * (image.ndim - 2) + [(4, 4), (4, 4)])
    height, width = image.shape[-2:]
    return any(
        np.array_equal(cut, padded[..., top : top + height, left : left + width])
        for top in range(9)
        for left in range(9)
    )


@pytest.mark.parametrize("shape", [(7, 6), (1, 7, 6), (3, 7, 6)])
def test_random_crop_shifts_each_image_independently(shape):
    torch.manual_seed(0)
    images = torch.rand(40, *shape)
    cuts = random_crop(images)
    assert all(is_shift_of(cut.numpy(), image.numpy()) for cut, image in zip(cuts, images, strict=True))
    same = torch.rand(1, *shape).expand(200, *shape)
    assert len({cut.numpy().tobytes() for cut in random_crop(same)}) > 50


@pytest.mark.parametrize("shape", [(5, 4), (3, 5, 4)])
def test_random_flip_mirrors_about_half_of_images(shape):
    torch.manual_seed(0)
    images = torch.rand(400, *shape)
    flipped = random_flip(images)
    mirrored = [torch.equal(a, b.flip(-1)) for a, b in zip(flipped, images, strict=True)]
    kept = [torch.equal(a, b) for a, b in zip(flipped, images, strict=True)]
    assert all(one != other for one, other in zip(mirrored, kept, strict=True))
    assert 150 < sum(mirrored) < 250


def test_train_augments_batches_reproducibly():
    images = np.random.default_rng(0).integers(0, 256, (64, 8, 8), dtype=np.uint8)
    labels = uniform(np.arange(64) % 4, seed=0)

    def weights(augmentation):
        torch.manual_seed(0)
        model = make_model("linear", (8, 8), 4)
        train(
            model,
            make_method("scarce"),
            images,
            labels,
            Recipe(epochs=2, augmentation=augmentation),
            priors=[0.25] * 4,
        )
        return model.output.weight

    assert torch.equal(weights(("crop", "flip")), weights(("crop", "flip")))
    assert not torch.equal(weights(("crop",)), weights(()))


def test_augment_rejects_tables():
    with pytest.raises(FeatureError, match=r"augmentation=\('crop',\) is for images"):
        augment(torch.zeros(2, 5), ("crop",))


def test_recipe_rejects_unknown_augmentation():
    with pytest.raises(MethodError, match="augmentation='blur' is unknown; expected 'crop', 'flip', 'shift' or 'affine'"):
        Recipe(augmentation=("blur",))
