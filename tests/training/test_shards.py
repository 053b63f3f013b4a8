"""Training on files and Datasets gives what training on an array gives."""

import os
import random
import signal
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from helpers.training import PRIORS, D, N, make_data, make_net, same_state
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from torch.utils.data import Dataset, Subset

from scarce import MetaComplementaryClassifier, ScarceClassifier
from scarce.errors import FeatureError, MethodError
from scarce.features import Shards, read_features
from scarce.features.arrays import column_statistics, refuse_odd_numbers, row_chunks
from scarce.features.shards import InHand
from scarce.methods import make_method
from scarce.priors import BestBin, Tice
from scarce.training import Callback, Recipe, predict_logits, train
from scarce.training.order import epoch_order
from scarce.training.sources import as_source

INPUTS, LABELS = make_data()
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
def test_the_very_same_weights_as_from_an_array(tmp_path, store, dtype):
    array = np.rint(INPUTS * 10).astype(dtype)
    inputs = store(tmp_path, array)
    assert same_state(trained(inputs).state_dict(), trained(array).state_dict())
    one, other = classifier().fit(inputs, LABELS), classifier().fit(array, LABELS)
    assert same_state(one.model_.state_dict(), other.model_.state_dict())
    assert np.array_equal(one.predict_proba(array), other.predict_proba(inputs))


def test_columns_first_and_images_of_bytes(tmp_path):
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
        FeatureError, match=r"fitted on images of bytes.* float32 up to 25\d: pass them as uint8"
    ):
        fitted.predict(floats)


class Orders(Callback):
    """Remembers in which order rows were read."""

    def __init__(self, monkeypatch):
        self.rows = []
        take = Shards.take
        monkeypatch.setattr(Shards, "take", lambda shards, rows: self.rows.extend(rows) or take(shards, rows))


def test_tables_in_pieces_are_read_piece_by_piece(tmp_path, monkeypatch):
    inputs = parquet_shards(tmp_path)
    orders = Orders(monkeypatch)
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
def test_predictions_and_scores_are_those_of_an_array(tmp_path, store):
    inputs = store(tmp_path)
    fitted = classifier(early_stopping=True).fit(inputs, LABELS)
    assert np.array_equal(fitted.predict_proba(inputs), fitted.predict_proba(INPUTS))
    report = fitted.report(inputs, LABELS)
    assert report.as_dict() == fitted.report(INPUTS, LABELS).as_dict()
    assert report.alarms[0].name == "trained-on-these"
    assert fitted.n_features_in_ == D


@given(st.lists(st.integers(0, 6), min_size=1), st.integers(0, 9))
def test_an_order_holds_every_row_once_and_keeps_blocks_together(blocks, seed):
    order = epoch_order(blocks, torch.Generator().manual_seed(seed))
    assert sorted(order.tolist()) == list(range(sum(blocks)))
    which = np.repeat(np.arange(len(blocks)), blocks)[order.numpy()]
    assert np.count_nonzero(np.diff(which)) <= max(0, np.count_nonzero(blocks) - 1)


def test_the_order_of_one_block_is_a_random_permutation():
    one, other = (torch.Generator().manual_seed(3) for _ in range(2))
    assert torch.equal(epoch_order([20], one), torch.randperm(20, generator=other))


def test_orders_of_blocks_and_of_rows_within_them_are_all_drawn():
    generator = torch.Generator().manual_seed(0)
    drawn = {tuple(epoch_order([2, 1, 2], generator).tolist()) for _ in range(500)}
    assert len(drawn) == 6 * 2 * 2


@pytest.mark.parametrize("n_rows", [1, 5, 1000])
@pytest.mark.parametrize("shift", [0, 1e6])
def test_statistics_of_columns_in_chunks(monkeypatch, n_rows, shift):
    X = np.random.default_rng(0).normal(size=(n_rows, 3)) * [1, 1e-3, 50] + shift
    whole = column_statistics(X)
    assert np.array_equal(whole, [X.mean(axis=0), X.std(axis=0)])  # one chunk: to the last bit
    monkeypatch.setattr("scarce.features.arrays._AT_ONCE", 3 * 7)
    assert len(list(row_chunks(X))) == -(-n_rows // 7)
    for inputs in (X, Shards([InHand(X[:3]), InHand(X[3:])])):
        mean, deviation = column_statistics(inputs)
        assert_allclose(mean, whole[0], rtol=1e-12)
        # Of numbers near a million no more is known: their own rounding is 1e-10.
        assert_allclose(
            deviation, whole[1], rtol=1e-12 if not shift else 1e-7, atol=1e-16 if not shift else 1e-9
        )


def test_odd_numbers_are_found_in_any_chunk(monkeypatch, tmp_path):
    monkeypatch.setattr("scarce.features.arrays._AT_ONCE", 3 * D)
    X = INPUTS.copy()
    X[40, 2], X[44, 1] = np.nan, np.inf
    for inputs in (X, mapped(tmp_path, X), Shards([InHand(X[:41]), InHand(X[41:])])):
        with pytest.raises(FeatureError, match=r"X contains NaN at row 40, column 2 \(2 in all\)"):
            refuse_odd_numbers(inputs)
        with pytest.raises(FeatureError, match=r"NaN at row 40, column 2"):
            classifier().fit(inputs, LABELS)


def test_fingerprints_do_not_depend_on_where_the_rows_are(tmp_path):
    alike = {as_source(inputs).fingerprint() for inputs in (INPUTS, mapped(tmp_path))}
    (tmp_path / "x.npy").unlink()
    alike.add(as_source(npy_shards(tmp_path)).fingerprint())
    assert len(alike) == 1
    one, other = (Shards([Pieces(INPUTS[:cut]), Pieces(INPUTS[cut:])]) for cut in (10, 20))
    assert (
        as_source(one).fingerprint() != as_source(other).fingerprint()
    )  # they are trained on in another order


class Pieces(InHand):
    is_mapped = False


def test_a_run_goes_on_from_its_checkpoint(tmp_path):
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

    def on_epoch(self, run, record):
        if run.epoch == self.epoch:
            raise KeyboardInterrupt


@pytest.mark.filterwarnings("ignore::scarce.errors.PriorWarning")  # a single epoch learns little
@pytest.mark.parametrize("store", FROM_DISK)
def test_priors_from_files(tmp_path, store):
    X, labels = make_data(200)
    inputs = store(tmp_path, X)
    if store is not parquet_shards:  # which are trained on in another order
        network = BestBin(folds=1, bootstrap=0, recipe=Recipe(epochs=1))
        assert np.array_equal(network.estimate(inputs, labels).values, network.estimate(X, labels).values)
    features = Tice(n_rows=100)
    assert np.array_equal(
        features.estimate(inputs, labels).raw, features.estimate(X.astype(float), labels).raw
    )


@pytest.mark.filterwarnings("ignore::scarce.errors.PriorWarning")
def test_what_needs_all_rows_says_so(tmp_path):
    X, labels = make_data(200)
    inputs = npy_shards(tmp_path, X)
    with pytest.raises(
        MethodError, match=r"needs all rows in memory, and there are Shards\(200 × 5 .*scorer='network'"
    ):
        BestBin(scorer="linear", bootstrap=0).estimate(inputs, labels)
    with pytest.raises(MethodError, match="is read a few rows at a time and is not made one array"):
        MetaComplementaryClassifier(LogisticRegression(), priors="uniform").fit(inputs, labels)
    one_file = mapped(tmp_path, X)  # which scikit-learn can take as it is
    assert np.isfinite(BestBin(scorer="linear", bootstrap=0).estimate(one_file, labels).values).all()
    meta = MetaComplementaryClassifier(LogisticRegression(), priors="uniform").fit(one_file, labels)
    assert meta.predict(one_file).shape == (200,)


def test_shards_that_do_not_fit_the_model(tmp_path):
    inputs = npy_shards(tmp_path)
    fitted = classifier().fit(INPUTS, LABELS)
    with pytest.raises(ValueError, match="X has 3 features, but ScarceClassifier is expecting 5"):
        fitted.predict(inputs[:, :3])
    with pytest.raises(FeatureError, match=r"X has shape \(0, 5\)"):
        fitted.predict(inputs[[]])
    with pytest.raises(FeatureError, match="X has 49 rows and y has 50"):
        classifier().fit(inputs[1:], LABELS)


class Rows(Dataset):
    """Rows with noise drawn from every source of randomness that items commonly use."""

    def __len__(self):
        return N

    def __getitem__(self, row):
        noise = torch.rand(()) + np.random.random() + random.random()
        return torch.from_numpy(INPUTS[row]) + noise.float(), "what follows is not looked at"


class RowsAtOnce(Rows):
    def __getitems__(self, rows):
        return [self[row] for row in rows]


class Failing(Rows):
    def __init__(self, fail):
        self.fail = fail

    def __getitem__(self, row):
        return self.fail() if row == 21 else super().__getitem__(row)


def unequal():
    return torch.zeros(2)


def broken():
    raise KeyError("no such\nfile")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("dataset", [Rows(), RowsAtOnce(), Subset(Rows(), range(N))])
def test_workers_do_not_change_the_result(dataset):
    alone = trained(dataset).state_dict()
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()
    assert same_state(trained(dataset, workers=2).state_dict(), alone)
    assert random.getstate() == states[0]
    assert np.random.get_state()[1].tolist() == states[1]
    assert torch.equal(torch.get_rng_state(), states[2])
    assert not same_state(trained(INPUTS).state_dict(), alone)  # else there is no noise


def test_an_item_draws_anew_in_every_epoch_whatever_its_batch():
    source = as_source(Rows())
    rows = []
    for seed, index in ((1, [3, 4]), (1, [9, 3]), (2, [3, 4])):
        torch.manual_seed(seed)
        (batch,) = source.batches([torch.tensor(index)], torch.float64)
        rows.append(batch[index.index(3)])
    assert torch.equal(rows[0], rows[1])
    assert not torch.equal(rows[0], rows[2])


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    ("fail", "message"),
    [
        (broken, r"Failing failed at item 21 \(KeyError: 'no such"),
        (unequal, r"the items of Failing do not fit into one batch: there are .*Tensor of shape \(2,\)"),
        (dict, r"the items of Failing do not fit into one batch: there are .*dict of shape"),
    ],
)
def test_a_dataset_that_fails(workers, fail, message):
    with pytest.raises(FeatureError, match=message) as caught:
        trained(Failing(fail), workers=workers)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_worker_that_dies():
    handler = signal.getsignal(signal.SIGCHLD)
    with pytest.raises(FeatureError, match=r"the 2 processes that read Failing failed .* pass workers=0"):
        trained(Failing(die), workers=2)
    assert signal.getsignal(signal.SIGCHLD) == handler


@pytest.mark.parametrize("workers", [-1, 1.5, "two"])
def test_workers_must_be_a_number(workers):
    with pytest.raises(MethodError, match="workers"):
        as_source(Rows(), workers)
