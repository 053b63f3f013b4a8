"""Two stores compared cell by cell."""

import pytest
from helpers.bench import (
    fill_store,
    make_failed_record,
    make_prior_record,
    make_record,
    plan_trials,
    replace_spec,
    small_experiment,
    small_prior_experiment,
)
from scipy.stats import ttest_rel

from scarce.bench.results.comparison import compare_stores
from scarce.bench.spec.trial import Perturbed
from scarce.bench.trials.store import Store

ONE_METHOD = {"methods": "scarce", "settings": "uniform", "seeds": 2}
BEFORE = (0.80, 0.82, 0.81)
AFTER = (0.84, 0.85, 0.83)


@pytest.fixture
def stores(tmp_path):
    before = small_experiment(methods=["ga", "scarce"], settings="uniform", seeds=3)
    after = small_experiment(methods=["nn", "scarce"], settings="uniform", seeds=4)
    first = [make_record(trial, BEFORE[trial.spec.seed], seconds=10.0) for trial in plan_trials(before)]
    second = []
    for trial in plan_trials(after):
        seed = trial.spec.seed
        second.append(
            make_failed_record(trial, "no")
            if seed == 3
            else make_record(trial, AFTER[seed], seconds=5.0 + seed * 2.5)
        )
    return fill_store(tmp_path / "before", first), fill_store(tmp_path / "after", second)


def row_of(text, label):
    (row,) = [line.split() for line in text.splitlines() if line.split()[3:4] == [label]]
    return row


def test_compare_uses_common_seeds(stores):
    text = compare_stores(*stores)
    p = ttest_rel(AFTER, BEFORE).pvalue
    # Means 81 and 84; differences 4, 3, 2; 22.5 seconds against 30.
    assert row_of(text, "scarce") == [
        "mnist",
        "uniform",
        "mlp",
        "scarce",
        "81.00",
        "84.00",
        "+3.00",
        f"{p:.3f}",
        "3",
        "0.75",
    ]
    assert max(map(len, text.split("\n\n", 1)[1].splitlines())) <= 100


def test_compare_lists_cells_of_only_one_store(stores):
    text = compare_stores(*stores)
    assert "only in A:\n  mnist, uniform, mlp, ga" in text
    assert "only in B:\n  mnist, uniform, mlp, nn" in text


def test_compare_finds_store_equal_to_itself(stores):
    row = row_of(compare_stores(stores[0], stores[0]), "scarce")
    assert row[-4:] == ["0.00", "1.000", "3", "1.00"]


def test_compare_shows_only_means_without_common_seeds(stores, tmp_path):
    record = next(
        record for record in stores[1].records() if record.label == "scarce" and record.status == "done"
    )
    other = replace_spec(record, seed=7)
    assert row_of(compare_stores(stores[0], fill_store(tmp_path / "other", [other])), "scarce")[-4:] == [
        "–",
        "–",
        "0",
        "–",
    ]


def test_compare_row_holds_only_common_seeds(stores, tmp_path):
    one = [record for record in stores[1].records() if record.label == "scarce" and record.spec.seed == 0]
    row = row_of(compare_stores(stores[0], fill_store(tmp_path / "one", one)), "scarce")
    assert row[-6:] == ["80.00", "84.00", "+4.00", "–", "1", "0.50"]


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"recipe": {"epochs": 7}}, "epochs 200 in A, 7 in B"),
        ({"n_train": 100, "imbalance": 8.0}, "imbalance none in A, 8.0 in B; n_train 60000 in A, 100 in B"),
        ({"priors": Perturbed(perturb=0.1)}, "priors true in A, {'perturb': 0.1} in B"),
        ({"method_revision": 2}, "the code of scarce"),
        ({"data_checksum": "new"}, "the files of mnist"),
    ],
)
def test_compare_names_differences_of_trials(stores, tmp_path, changes, difference):
    assert "they differ" not in compare_stores(*stores)
    others = []
    for record in stores[1].records():
        recipe = record.spec.recipe | changes.get("recipe", {})
        others.append(replace_spec(record, **changes | {"recipe": recipe}))
    assert f"\nthey differ: {difference}\n" in compare_stores(
        stores[0], fill_store(tmp_path / "others", others)
    )


@pytest.mark.parametrize("width", [64, 40, 20])
def test_compare_table_fits_terminal_width(stores, width):
    table = compare_stores(*stores, width).split("\n\n")[1]
    assert max(map(len, table.splitlines())) <= width
    assert {"81.00", "84.00", "+3.00"} <= {word.strip(";") for word in table.split()}


def test_compare_leaves_out_earlier_trials_of_same_cells(stores):
    first, second = stores
    longer = small_experiment(methods="scarce", settings="uniform", seeds=2, protocol="shortened", epochs=300)
    records = [make_record(trial, 0.99, seconds=10.0, finished="2026-01-02") for trial in plan_trials(longer)]
    text = compare_stores(fill_store(first.path, records), second)
    assert f"A: {first.path} (without 2 earlier trials of the same cells)\nB: {second.path} (" in text
    assert row_of(text, "scarce")[4] == "93.00"  # of 99, 99 and, for the last seed, 81


def test_compare_explains_stores_without_accuracies(tmp_path):
    priors = fill_store(
        tmp_path / "priors",
        [make_prior_record(trial, [0.5, 0.5]) for trial in plan_trials(small_prior_experiment())],
    )
    text = compare_stores(priors, priors)
    why = "(without 2 trials of estimated priors: only accuracies are compared)"
    assert f"A: {priors.path} {why}\nB: {priors.path} {why}\n" in text
    assert "no data, setting, model and method has accuracies in both stores" in text


def test_compare_counts_failed_trials(tmp_path):
    first, second = plan_trials(small_experiment(**ONE_METHOD))
    good = fill_store(tmp_path / "good", [make_record(first, 0.5), make_record(second, 0.5)])
    bad = fill_store(tmp_path / "bad", [make_record(first, 0.5), make_failed_record(second, "why")])
    assert compare_stores(good, bad).startswith(f"A: {good.path}\nB: {bad.path} (without 1 failed trial)\n\n")
    _, again = plan_trials(
        small_experiment(**ONE_METHOD, protocol="shortened", epochs=300)
    )  # with another recipe it did not fail
    fill_store(bad.path, [make_record(again, 0.5)])
    assert "failed trial" not in compare_stores(good, Store(bad.path))
