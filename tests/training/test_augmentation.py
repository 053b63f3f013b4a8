"""Augmentations of batches of images."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from scarce.errors import FeatureError, MethodError
from scarce.methods import make_method
from scarce.models import make_model
from scarce.simulate import uniform
from scarce.training import Recipe, train
from scarce.training._augmentation import (
    AUGMENTATIONS,
    affine,
    augment,
    draw_affine_maps,
    draw_shifts,
    random_crop,
    random_flip,
    random_shift,
    shift,
)

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
SIDES = st.integers(1, 9)
SHAPES = st.tuples(SIDES, SIDES) | st.tuples(st.integers(1, 4), SIDES, SIDES)


def map_of(n, angle=0.0, scale=1.0, shear=0.0, down=0.0, right=0.0, dtype=torch.float32):
    """The parameters of the same affine map for n images."""
    return torch.tensor([angle, scale, shear, down, right], dtype=dtype)[:, None].expand(5, n)


def slow_affine(image, angle, scale, shear, down, right):
    """Transform one array of shape (..., h, w) by scipy, with the inverse of the matrix in the docstring."""
    cos, sin = np.cos(angle), np.sin(angle)
    forward = scale * np.array([[cos, -sin], [sin, cos]]) @ np.array([[1, shear], [0, 1]])
    inverse = np.linalg.inv(forward)[::-1, ::-1]  # scipy's axes are (y, x)
    center = (np.array(image.shape[-2:]) - 1) / 2
    offset = center - inverse @ (center + np.array([down, right]))
    planes = image.reshape(-1, *image.shape[-2:])
    moved = [
        ndimage.affine_transform(plane, inverse, offset, order=1, mode="nearest", prefilter=False)
        for plane in planes
    ]
    return np.stack(moved).reshape(image.shape)


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


def test_shift_by_one_pixel_repeats_the_border():
    image = torch.tensor([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]])
    moved = shift(image.expand(3, 3, 3), torch.tensor([1, 0, -1]), torch.tensor([0, 1, -1]))
    assert moved[0].tolist() == [[1, 2, 3], [1, 2, 3], [4, 5, 6]]
    assert moved[1].tolist() == [[1, 1, 2], [4, 4, 5], [7, 7, 8]]
    assert moved[2].tolist() == [[5, 6, 6], [8, 9, 9], [8, 9, 9]]


@pytest.mark.parametrize("shape", [(7, 6), (3, 7, 6)])
def test_shift_equals_slow_loop(shape):
    torch.manual_seed(0)
    images, (height, width) = torch.rand(20, *shape), shape[-2:]
    down, right = torch.randint(-9, 10, (2, 20))
    moved = shift(images, down, right)
    for image, out, a, b in zip(images, moved, down.tolist(), right.tolist(), strict=True):
        for i in range(height):
            for j in range(width):
                row, column = min(max(i - a, 0), height - 1), min(max(j - b, 0), width - 1)
                assert torch.equal(out[..., i, j], image[..., row, column])


def test_random_shifts_are_uniform_up_to_two_pixels_of_28():
    torch.manual_seed(0)
    down, right = draw_shifts(50_000, torch.zeros(1, 28, 28))
    counts = torch.bincount(5 * (down + 2) + right + 2, minlength=25)
    assert len(counts) == 25  # independent: all pairs are equally likely
    assert ((counts / 50_000 - 1 / 25).abs() < 0.005).all()
    assert [pixels.max().item() for pixels in draw_shifts(1000, torch.zeros(1, 3, 64, 5))] == [5, 1]
    images = torch.rand(3, 28, 28)
    torch.manual_seed(0)
    moved = random_shift(images)
    torch.manual_seed(0)
    assert torch.equal(moved, shift(images, *draw_shifts(3, images)))


def test_random_affine_maps_are_uniform_and_independent():
    torch.manual_seed(0)
    maps = draw_affine_maps(20_000, torch.zeros(1, 30, 20)).double()
    low = torch.tensor([-np.radians(14), 0.9, -0.15, -3, -2])
    high = torch.tensor([np.radians(14), 1.1, 0.15, 3, 2])
    unit = (maps - low[:, None]) / (high - low)[:, None]
    assert unit.min() > -1e-6
    assert unit.max() < 1 + 1e-6
    quantiles = unit.quantile(torch.tensor([0.1, 0.5, 0.9]).double(), dim=1).T
    assert (quantiles - torch.tensor([0.1, 0.5, 0.9])).abs().max() < 0.02
    assert (torch.corrcoef(unit) - torch.eye(5)).abs().max() < 0.03


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7, 6), (3, 7, 6)])
def test_affine_without_change_is_the_identity(shape, dtype):
    torch.manual_seed(0)
    images = torch.rand(4, *shape).to(dtype)
    moved = affine(images, *map_of(4))
    assert moved.dtype == dtype
    torch.testing.assert_close(moved, images)


def test_affine_by_whole_pixels_is_a_shift():
    torch.manual_seed(0)
    images, down, right = torch.rand(6, 2, 5, 7), *torch.randint(-3, 4, (2, 6))
    zero = torch.zeros(6)
    moved = affine(images, zero, 1 + zero, zero, down.float(), right.float())
    torch.testing.assert_close(moved, shift(images, down, right))


def test_affine_by_hand():
    image = torch.tensor([[[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]])
    clockwise = affine(image, *map_of(1, angle=np.pi / 2))
    torch.testing.assert_close(clockwise, torch.tensor([[[7.0, 4, 1], [8, 5, 2], [9, 6, 3]]]))
    twice_as_large = affine(image, *map_of(1, scale=2.0))
    torch.testing.assert_close(twice_as_large, torch.tensor([[[3.0, 3.5, 4], [4.5, 5, 5.5], [6, 6.5, 7]]]))
    # The row below the middle moves one pixel to the right, the row above one to the left.
    sheared = affine(image, *map_of(1, shear=1.0))
    torch.testing.assert_close(sheared, torch.tensor([[[2.0, 3, 3], [4, 5, 6], [7, 7, 8]]]))


@pytest.mark.parametrize("shape", [(9, 9), (8, 11), (3, 9, 6)])
def test_affine_equals_slow_loop(shape):
    torch.manual_seed(0)
    images = torch.rand(30, *shape, dtype=torch.float64)
    maps = draw_affine_maps(30, images)
    maps[:, 20:] *= 5  # far outside of what is drawn
    moved = affine(images, *maps)
    for image, out, one in zip(images.numpy(), moved.numpy(), maps.T.tolist(), strict=True):
        np.testing.assert_allclose(out, slow_affine(image, *one), atol=1e-10)


@pytest.mark.parametrize("name", ["shift", "affine"])
def test_augmentations_with_repeated_border_keep_constant_images(name):
    torch.manual_seed(0)
    images = torch.tensor([0.0, 0.3, 1.0])[:, None, None, None].repeat(20, 3, 8, 7)
    torch.testing.assert_close(augment(images, (name,)), images)


def test_affine_draws_the_same_maps_for_every_dtype():
    images = torch.rand(8, 3, 12, 10, dtype=torch.float64)
    results = []
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        torch.manual_seed(0)
        results.append(augment(images.to(dtype), ("affine",)).double())
    torch.testing.assert_close(results[1], results[0], rtol=0, atol=1e-5)
    torch.testing.assert_close(results[2], results[0], rtol=0, atol=0.01)


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_augmentation_depends_on_seed_only(name):
    images = torch.rand(16, 3, 10, 9)
    before = images.clone()

    def moved(seed):
        torch.manual_seed(seed)
        return augment(images, (name,))

    assert torch.equal(moved(0), moved(0))
    assert not torch.equal(moved(0), moved(1))
    assert torch.equal(images, before)


@pytest.mark.parametrize("name", AUGMENTATIONS)
@pytest.mark.parametrize("shape", [(10, 9), (3, 10, 9)])
@pytest.mark.parametrize("rows", [slice(0, 8), slice(8, 15), slice(4, 5)])
def test_augmentation_of_local_rows_is_that_of_the_whole_batch(name, shape, rows):
    images = torch.rand(15, *shape, dtype=torch.float64)
    torch.manual_seed(0)
    whole, after = augment(images, (name,)), torch.rand(1)
    torch.manual_seed(0)
    local, also_after = augment(images[rows], (name,), 15, rows), torch.rand(1)
    torch.testing.assert_close(local, whole[rows], rtol=0, atol=1e-12)
    assert torch.equal(after, also_after)


@given(
    st.integers(1, 6),
    SHAPES,
    st.sampled_from(DTYPES),
    st.lists(st.sampled_from([*AUGMENTATIONS]), max_size=4),
)
def test_augment_keeps_shape_dtype_and_range(n, shape, dtype, names):
    images = torch.rand(n, *shape).to(dtype)
    moved = augment(images, tuple(names))
    assert moved.shape == images.shape
    assert moved.dtype == dtype
    low = 0 if "crop" in names else images.min() - 1e-3
    assert moved.min() >= low
    assert moved.max() <= images.max() + 1e-3


@given(st.integers(1, 4), SHAPES, st.integers(0, 2**31))
def test_augment_does_not_depend_on_memory_layout(n, shape, seed):
    images = torch.rand(n, *shape, dtype=torch.float64)
    strided = images.movedim(0, -1).contiguous().movedim(-1, 0)
    results = []
    for layout in (images, strided):
        torch.manual_seed(seed)
        results.append(augment(layout, tuple(AUGMENTATIONS)))
    torch.testing.assert_close(*results, rtol=0, atol=1e-12)


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

    plain = weights(())
    for names in (("crop", "flip"), ("shift",), ("affine",)):
        assert torch.equal(weights(names), weights(names))
        assert not torch.equal(weights(names), plain)


def test_augment_rejects_tables():
    with pytest.raises(FeatureError, match=r"augmentation=\('crop',\) is for images"):
        augment(torch.zeros(2, 5), ("crop",))


def test_recipe_rejects_unknown_augmentation():
    with pytest.raises(
        MethodError, match="augmentation='blur' is unknown; expected 'crop', 'flip', 'shift' or 'affine'"
    ):
        Recipe(augmentation=("blur",))
