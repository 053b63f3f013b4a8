"""Inputs of every kind, in memory or in files, give the same batches and the same training."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from helpers.training import PRIORS, D, N, make_data, make_net, same_state
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from torch.utils.data import Dataset, IterableDataset, TensorDataset

from scarce import MetaComplementaryClassifier, ScarceClassifier
from scarce.errors import FeatureError, MethodError
from scarce.features import Shards, read_features
from scarce.features.shards import ArrayShard
from scarce.methods import make_method
from scarce.priors import BestBin, Tice
from scarce.training import Callback, Recipe, predict_logits, train
from scarce.training._batches import as_source, float_dtype

INPUTS, LABELS = make_data()
WHOLE = np.rint(INPUTS * 10).astype(np.float32)  # integers, so that every dtype can hold them


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
def test_as_source_gives_same_batches_for_every_kind_of_input(kind):
    order = [torch.tensor([3, 0, 3]), torch.tensor([49])]
    source = as_source(KINDS[kind](WHOLE))
    got = list(source.batches(order, torch.float32))
    assert len(source) == N
    assert [batch.dtype for batch in got] == [torch.float32] * 2
    assert [batch.tolist() for batch in got] == [WHOLE[index.numpy()].tolist() for index in order]


def trained_state_and_logits(inputs):
    model = make_net()
    train(model, make_method("scarce"), inputs, LABELS, Recipe(epochs=2, batch_size=16), priors=PRIORS)
    return model.state_dict(), predict_logits(model, inputs)


@pytest.mark.parametrize("kind", KINDS)
def test_train_gives_same_model_for_every_kind_of_input(kind):
    dense, logits = trained_state_and_logits(WHOLE)
    other, other_logits = trained_state_and_logits(KINDS[kind](WHOLE))
    assert same_state(other, dense)
    assert torch.equal(other_logits, logits)


def test_as_source_accepts_read_only_arrays_without_warning(tmp_path):
    """Warnings are errors in these tests."""
    images = memmap(tmp_path, np.full((N, 1, D), 51, np.uint8))
    source = as_source(images)
    batch = next(source.batches([torch.arange(N)], torch.float32))
    assert batch.unique().tolist() == [pytest.approx(0.2)]
    assert images.max() == 51
    assert same_state(
        trained_state_and_logits(memmap(tmp_path, INPUTS))[0], trained_state_and_logits(INPUTS)[0]
    )


@pytest.mark.parametrize("make", [np.asarray, torch.from_numpy])
def test_as_source_scales_byte_images_but_not_byte_tables(make):
    table = np.array([[0, 51], [255, 102]], np.uint8)
    rows = [torch.tensor([1, 0])]
    (as_table,) = as_source(make(table)).batches(rows, torch.float32)
    assert as_table.tolist() == [[255, 102], [0, 51]]
    (as_images,) = as_source(make(table.reshape(2, 1, 2))).batches(rows, torch.float64)
    assert as_images.tolist() == [[[1.0, 102 / 255]], [[0.0, 51 / 255]]]
    (four_axes,) = as_source(make(table.reshape(2, 1, 1, 2))).batches(rows, torch.float64)
    assert four_axes.shape == (2, 1, 1, 2)
    assert table.tolist() == [[0, 51], [255, 102]]


def test_as_source_does_not_scale_int16_images():
    images = np.full((2, 2, 2), 200, np.int16)
    (batch,) = as_source(images).batches([torch.tensor([0])], torch.float32)
    assert batch.unique().tolist() == [200]


def test_train_agrees_for_bytes_and_scaled_floats():
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
        (
            [[1.0, 2.0]],
            "inputs is a list; pass an array, a tensor, a sparse matrix, Shards or a torch Dataset",
        ),
        (None, "inputs is a NoneType"),
        (np.array([["a", "b"]]), "inputs holds <U1 values; expected numbers"),
        (np.array([[None, 1]]), "inputs holds object values; expected numbers"),
        (np.array([[1j]]), "inputs holds complex128 values"),
        (np.array(3.0), "inputs is a single number; pass an array with one row per example"),
        (
            torch.eye(2).to_sparse(),
            "inputs is a sparse tensor; pass a dense one, or a SciPy sparse matrix",
        ),
        (Stream(), "Stream has no length; expected a Dataset with __getitem__ and __len__: add __len__"),
    ],
)
def test_as_source_rejects_invalid_inputs(inputs, message):
    with pytest.raises(FeatureError, match=message):
        as_source(inputs)


def test_as_source_rejects_dataset_item_that_is_not_a_tensor():
    source = as_source(Items(INPUTS, lambda row: {"input": row}))
    with pytest.raises(
        FeatureError, match="an item of Items is a dict; return a tensor, or a tuple that begins"
    ):
        next(source.batches([torch.tensor([0])], torch.float32))


def test_fingerprint_distinguishes_data():
    assert as_source(INPUTS).fingerprint() == as_source(INPUTS.copy()).fingerprint()
    assert as_source(INPUTS).fingerprint() == as_source(torch.from_numpy(INPUTS)).fingerprint()
    changed = INPUTS.copy()
    changed[7, 2] += 1
    assert as_source(changed).fingerprint() != as_source(INPUTS).fingerprint()
    assert as_source(INPUTS[1:]).fingerprint() != as_source(INPUTS).fingerprint()


def test_float_dtype_is_dtype_of_weights():
    assert float_dtype(torch.nn.Linear(1, 1).half()) == torch.float16
    assert float_dtype(torch.nn.Identity()) == torch.float32


RECIPE = Recipe(epochs=2, batch_size=16)
ENDS = [7, 7, 30]


def mapped(folder, array=INPUTS):
    np.save(folder / "x.npy", array)
    return read_features(folder / "x.npy").values


def npy_shards(folder, array=INPUTS):
    for number, part in enumerate(np.split(array, ENDS)):
        np.save(folder / f"{number}.npy", part)
    return read_features(folder).values


def parquet_shards(folder, array=INPUTS):
    for number, part in enumerate(np.split(array, ENDS)):
        pq.write_table(
            pa.table({f"c{place}": part[:, place] for place in range(D)}), folder / f"{number}.parquet"
        )
    return read_features(folder).values


FROM_DISK = [mapped, npy_shards, parquet_shards]


def trained(inputs, **options):
    model = make_net()
    train(model, make_method("scarce"), inputs, LABELS, RECIPE, priors=PRIORS, **options)
    return model


def classifier(**options):
    return ScarceClassifier(module="linear", recipe=RECIPE, priors=PRIORS, **options)


@pytest.mark.parametrize("store", [mapped, npy_shards])
@pytest.mark.parametrize("dtype", ["float32", "float64", ">f4", "int16", "bool"])
def test_train_agrees_for_files_and_arrays(tmp_path, store, dtype):
    array = np.rint(INPUTS * 10).astype(dtype)
    inputs = store(tmp_path, array)
    assert same_state(trained(inputs).state_dict(), trained(array).state_dict())
    one, other = classifier().fit(inputs, LABELS), classifier().fit(array, LABELS)
    assert same_state(one.model_.state_dict(), other.model_.state_dict())
    assert np.array_equal(one.predict_proba(array), other.predict_proba(inputs))


def test_fit_agrees_for_byte_images_in_files_and_arrays(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (N, 2, 3), dtype=np.uint8)
    fitted = classifier().fit(images, LABELS)
    for store in (mapped, npy_shards):
        inputs = store(tmp_path, np.asfortranarray(images))
        again = classifier().fit(inputs, LABELS)
        assert again.byte_inputs_
        assert same_state(again.model_.state_dict(), fitted.model_.state_dict())
        for part in tmp_path.iterdir():
            part.unlink()
    floats = mapped(tmp_path, images.astype(np.float32))
    with pytest.raises(
        FeatureError, match=r"fitted on uint8 images.* float32 up to 25\d: pass them as uint8"
    ):
        fitted.predict(floats)


class RowOrderLog(Callback):
    """Records the order in which rows are read."""

    def __init__(self, monkeypatch):
        self.rows = []
        take = Shards.take
        monkeypatch.setattr(Shards, "take", lambda shards, rows: self.rows.extend(rows) or take(shards, rows))


def test_train_reads_parquet_shards_one_at_a_time(tmp_path, monkeypatch):
    inputs = parquet_shards(tmp_path)
    orders = RowOrderLog(monkeypatch)
    model = trained(inputs)
    epochs = np.split(np.array(orders.rows), 2)
    for rows in epochs:
        assert sorted(rows) == list(range(N))
        pieces = np.searchsorted(ENDS, rows, side="right")
        assert np.count_nonzero(np.diff(pieces)) == 2  # of three that hold rows
    assert epochs[0].tolist() != epochs[1].tolist()
    assert same_state(trained(inputs).state_dict(), model.state_dict())
    assert torch.equal(predict_logits(model, inputs), predict_logits(model, INPUTS))


@pytest.mark.parametrize("store", FROM_DISK)
def test_predictions_and_reports_agree_for_files_and_arrays(tmp_path, store):
    inputs = store(tmp_path)
    fitted = classifier(early_stopping=True).fit(inputs, LABELS)
    assert np.array_equal(fitted.predict_proba(inputs), fitted.predict_proba(INPUTS))
    report = fitted.report(inputs, LABELS)
    assert report.as_dict() == fitted.report(INPUTS, LABELS).as_dict()
    assert report.alarms[0].name == "trained-on-these"
    assert fitted.n_features_in_ == D


def test_fingerprint_does_not_depend_on_storage(tmp_path):
    alike = {as_source(inputs).fingerprint() for inputs in (INPUTS, mapped(tmp_path))}
    (tmp_path / "x.npy").unlink()
    alike.add(as_source(npy_shards(tmp_path)).fingerprint())
    assert len(alike) == 1
    one, other = (Shards([UnmappedRows(INPUTS[:cut]), UnmappedRows(INPUTS[cut:])]) for cut in (10, 20))
    # Training visits their rows in different orders.
    assert as_source(one).fingerprint() != as_source(other).fingerprint()


class UnmappedRows(ArrayShard):
    is_mapped = False


@pytest.mark.slow
def test_train_on_shards_resumes_from_checkpoint(tmp_path):
    inputs = parquet_shards(tmp_path)

    def run(epochs, checkpoint):
        model = make_net()
        recipe = Recipe(epochs=4, batch_size=16)
        callbacks = [StopAfter(epochs)]
        try:
            train(
                model,
                make_method("scarce"),
                inputs,
                LABELS,
                recipe,
                priors=PRIORS,
                checkpoint=checkpoint,
                callbacks=callbacks,
            )
        except KeyboardInterrupt:
            return None
        return model.state_dict()

    whole = run(9, tmp_path / "one.checkpoint")
    assert run(3, tmp_path / "two.checkpoint") is None
    assert same_state(run(9, tmp_path / "two.checkpoint"), whole)


class StopAfter(Callback):
    def __init__(self, epoch):
        self.epoch = epoch

    def on_epoch_end(self, run, record):
        if run.epoch == self.epoch:
            raise KeyboardInterrupt


@pytest.mark.filterwarnings("ignore::scarce.errors.PriorWarning")  # a single epoch learns little
@pytest.mark.parametrize("store", FROM_DISK)
def test_prior_estimates_agree_for_files_and_arrays(tmp_path, store):
    X, labels = make_data(200)
    inputs = store(tmp_path, X)
    if store is not parquet_shards:  # their rows are visited in another order
        network = BestBin(folds=1, bootstrap=0, recipe=Recipe(epochs=1))
        assert np.array_equal(network.estimate(inputs, labels).values, network.estimate(X, labels).values)
    features = Tice(n_rows=100)
    assert np.array_equal(
        features.estimate(inputs, labels).raw, features.estimate(X.astype(float), labels).raw
    )


@pytest.mark.filterwarnings("ignore::scarce.errors.PriorWarning")
def test_estimators_that_need_all_rows_reject_shards(tmp_path):
    X, labels = make_data(200)
    inputs = npy_shards(tmp_path, X)
    with pytest.raises(
        MethodError, match=r"needs all rows in memory, but X is Shards\(200 × 5 .*scorer='network'"
    ):
        BestBin(scorer="linear", bootstrap=0).estimate(inputs, labels)
    with pytest.raises(MethodError, match="stays on disk and is not converted to one array"):
        MetaComplementaryClassifier(LogisticRegression(), priors="uniform").fit(inputs, labels)
    one_file = mapped(tmp_path, X)  # scikit-learn accepts a memory-mapped array
    assert np.isfinite(BestBin(scorer="linear", bootstrap=0).estimate(one_file, labels).values).all()
    meta = MetaComplementaryClassifier(LogisticRegression(), priors="uniform").fit(one_file, labels)
    assert meta.predict(one_file).shape == (200,)


def test_classifier_rejects_shards_of_wrong_shape(tmp_path):
    inputs = npy_shards(tmp_path)
    fitted = classifier().fit(INPUTS, LABELS)
    with pytest.raises(ValueError, match="X has 3 features, but ScarceClassifier is expecting 5"):
        fitted.predict(inputs[:, :3])
    with pytest.raises(FeatureError, match=r"X has shape \(0, 5\)"):
        fitted.predict(inputs[[]])
    with pytest.raises(FeatureError, match="X has 49 rows and y has 50"):
        classifier().fit(inputs[1:], LABELS)
