"""Inputs of every kind give the same batches, and what is no input is named."""

import numpy as np
import pytest
import torch
from helpers.training import PRIORS, D, N, make_data, make_net, same_state
from scipy import sparse
from torch.utils.data import Dataset, IterableDataset, TensorDataset

from scarce.errors import FeatureError
from scarce.methods import make_method
from scarce.training import Recipe, predict_logits, train
from scarce.training.sources import as_source, float_dtype

INPUTS, LABELS = make_data()
WHOLE = np.rint(INPUTS * 10).astype(np.float32)  # whole numbers, so that integers can hold them


class Items(Dataset):
    """Rows one by one, bare or as the first part of a tuple."""

    def __init__(self, rows, wrap):
        self.rows, self.wrap = rows, wrap

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.wrap(self.rows[index])


def memmap(tmp_path, array):
    np.save(tmp_path / "inputs.npy", array)
    return np.load(tmp_path / "inputs.npy", mmap_mode="r")


def read_only(array):
    copy = array.copy()
    copy.flags.writeable = False
    return copy


KINDS = {
    "float64": lambda a: a.astype(np.float64),
    "float16": lambda a: a.astype(np.float16),
    "int64": lambda a: a.astype(np.int64),
    "int8": lambda a: a.astype(np.int8),
    "other byte order": lambda a: a.astype(">f4"),
    "long double": lambda a: a.astype(np.longdouble),
    "columns first": np.asfortranarray,
    "backwards": lambda a: a[::-1].copy()[::-1],
    "read only": read_only,
    "tensor": torch.from_numpy,
    "tensor of doubles": lambda a: torch.from_numpy(a).double(),
    "tensor with gradient": lambda a: torch.from_numpy(a.copy()).requires_grad_(),
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_matrix,
    "sparse array of ints": lambda a: sparse.csr_array(a.astype(np.int32)),
    "dataset": lambda a: Items(torch.from_numpy(a), lambda row: row),
    "dataset of arrays": lambda a: Items(a, lambda row: row),
    "dataset of tuples": lambda a: Items(a, lambda row: (row, 7, "name")),
    "dataset of doubles": lambda a: Items(a.astype(np.float64), lambda row: [row, 0]),
    "tensor dataset": lambda a: TensorDataset(torch.from_numpy(a), torch.arange(len(a))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_batches_of_a_dense_array(kind):
    order = [torch.tensor([3, 0, 3]), torch.tensor([49])]
    source = as_source(KINDS[kind](WHOLE))
    got = list(source.batches(order, torch.float32))
    assert len(source) == N
    assert [batch.dtype for batch in got] == [torch.float32] * 2
    assert [batch.tolist() for batch in got] == [WHOLE[index.numpy()].tolist() for index in order]


def trained(inputs):
    model = make_net()
    train(model, make_method("scarce"), inputs, LABELS, Recipe(epochs=2, batch_size=16), priors=PRIORS)
    return model.state_dict(), predict_logits(model, inputs)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_trains_the_same_model(kind):
    dense, logits = trained(WHOLE)
    other, other_logits = trained(KINDS[kind](WHOLE))
    assert same_state(other, dense)
    assert torch.equal(other_logits, logits)


def test_arrays_that_cannot_be_written_cause_no_warning_and_stay_as_they_are(tmp_path):
    """Warnings are errors in these tests."""
    images = memmap(tmp_path, np.full((N, 1, D), 51, np.uint8))
    source = as_source(images)
    batch = next(source.batches([torch.arange(N)], torch.float32))
    assert batch.unique().tolist() == [pytest.approx(0.2)]
    assert images.max() == 51
    assert same_state(trained(memmap(tmp_path, INPUTS))[0], trained(INPUTS)[0])


@pytest.mark.parametrize("make", [np.asarray, torch.from_numpy])
def test_images_of_bytes_are_scaled_and_tables_of_bytes_are_not(make):
    table = np.array([[0, 51], [255, 102]], np.uint8)
    rows = [torch.tensor([1, 0])]
    (as_table,) = as_source(make(table)).batches(rows, torch.float32)
    assert as_table.tolist() == [[255, 102], [0, 51]]
    (as_images,) = as_source(make(table.reshape(2, 1, 2))).batches(rows, torch.float64)
    assert as_images.tolist() == [[[1.0, 102 / 255]], [[0.0, 51 / 255]]]
    (four_axes,) = as_source(make(table.reshape(2, 1, 1, 2))).batches(rows, torch.float64)
    assert four_axes.shape == (2, 1, 1, 2)
    assert table.tolist() == [[0, 51], [255, 102]]


def test_images_of_other_numbers_are_left_as_they_are():
    images = np.full((2, 2, 2), 200, np.int16)
    (batch,) = as_source(images).batches([torch.tensor([0])], torch.float32)
    assert batch.unique().tolist() == [200]


def test_bytes_and_scaled_floats_train_the_same_model():
    images = np.random.default_rng(0).integers(0, 256, (N, 1, D), dtype=np.uint8)
    nets = [torch.nn.Sequential(torch.nn.Flatten(), make_net()) for _ in range(2)]
    for net, inputs in zip(nets, (images, images.astype(np.float32) / 255), strict=True):
        train(net, make_method("scarce"), inputs, LABELS, Recipe(epochs=1, batch_size=16), priors=PRIORS)
    assert same_state(nets[0].state_dict(), nets[1].state_dict())


class Stream(IterableDataset):
    def __iter__(self):
        return iter(INPUTS)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([[1.0, 2.0]], "inputs is a list; expected an array, a tensor, a sparse matrix or a torch Dataset"),
        (None, "inputs is a NoneType"),
        (np.array([["a", "b"]]), "inputs holds <U1 values; expected numbers"),
        (np.array([[None, 1]]), "inputs holds object values; expected numbers"),
        (np.array([[1j]]), "inputs holds complex128 values"),
        (np.array(3.0), "inputs is a single number; expected an array with one row per example"),
        (
            torch.eye(2).to_sparse(),
            "inputs is a sparse tensor; expected a dense one, or a sparse matrix of scipy",
        ),
        (Stream(), "Stream has no length; expected a Dataset with __len__ and __getitem__"),
    ],
)
def test_what_is_no_input_is_named(inputs, message):
    with pytest.raises(FeatureError, match=message):
        as_source(inputs)


def test_an_item_that_is_no_tensor_is_named():
    source = as_source(Items(INPUTS, lambda row: {"input": row}))
    with pytest.raises(
        FeatureError, match="an item of Items is a dict; expected a tensor, or a tuple that begins"
    ):
        next(source.batches([torch.tensor([0])], torch.float32))


def test_fingerprints_tell_data_apart():
    assert as_source(INPUTS).fingerprint() == as_source(INPUTS.copy()).fingerprint()
    assert as_source(INPUTS).fingerprint() == as_source(torch.from_numpy(INPUTS)).fingerprint()
    changed = INPUTS.copy()
    changed[7, 2] += 1
    assert as_source(changed).fingerprint() != as_source(INPUTS).fingerprint()
    assert as_source(INPUTS[1:]).fingerprint() != as_source(INPUTS).fingerprint()


def test_the_type_of_a_model_is_that_of_its_weights():
    assert float_dtype(torch.nn.Linear(1, 1).half()) == torch.float16
    assert float_dtype(torch.nn.Identity()) == torch.float32
