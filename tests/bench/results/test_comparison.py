"""Two stores side by side."""

import pytest
from helpers.bench_records import failed_record, fill, record_of, small_experiment, trials_of, with_spec
from scipy.stats import ttest_rel

from scarce.bench.results.comparison import compare
from scarce.bench.spec.trial import Perturbed

BEFORE = (0.80, 0.82, 0.81)
AFTER = (0.84, 0.85, 0.83)


@pytest.fixture
def stores(tmp_path):
    before = small_experiment(methods=["ga", "scarce"], settings="uniform", seeds=3)
    after = small_experiment(methods=["nn", "scarce"], settings="uniform", seeds=4)
    first = [record_of(trial, BEFORE[trial.spec.seed], seconds=10.0) for trial in trials_of(before)]
    second = []
    for trial in trials_of(after):
        seed = trial.spec.seed
        second.append(
            failed_record(trial, "no")
            if seed == 3
            else record_of(trial, AFTER[seed], seconds=5.0 + seed * 2.5)
        )
    return fill(tmp_path / "before", first), fill(tmp_path / "after", second)


def row_of(text, label):
    (row,) = [line.split() for line in text.splitlines() if line.split()[3:4] == [label]]
    return row


def test_cells_of_both_are_compared_over_common_seeds(stores):
    text = compare(*stores)
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


def test_cells_of_only_one_are_listed(stores):
    text = compare(*stores)
    assert "only in A:\n  mnist, uniform, mlp, ga" in text
    assert "only in B:\n  mnist, uniform, mlp, nn" in text


def test_a_store_is_like_itself(stores):
    row = row_of(compare(stores[0], stores[0]), "scarce")
    assert row[-4:] == ["0.00", "1.000", "3", "1.00"]


def test_cells_without_common_seeds_have_means_alone(stores, tmp_path):
    record = next(
        record for record in stores[1].records() if record.label == "scarce" and record.status == "done"
    )
    other = with_spec(record, seed=7)
    assert row_of(compare(stores[0], fill(tmp_path / "other", [other])), "scarce")[-4:] == [
        "–",
        "–",
        "0",
        "–",
    ]


def test_all_numbers_of_a_row_are_of_the_common_seeds(stores, tmp_path):
    one = [record for record in stores[1].records() if record.label == "scarce" and record.spec.seed == 0]
    row = row_of(compare(stores[0], fill(tmp_path / "one", one)), "scarce")
    assert row[-6:] == ["80.00", "84.00", "+4.00", "–", "1", "0.50"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"recipe": {"epochs": 7}}, "epochs 200 in A, 7 in B"),
        ({"n_train": 100, "imbalance": 8.0}, "imbalance none in A, 8.0 in B; n_train 60000 in A, 100 in B"),
        ({"priors": Perturbed(perturb=0.1)}, "priors true in A, {'perturb': 0.1} in B"),
        ({"method_revision": 2}, "the code of scarce"),
        ({"data_checksum": "new"}, "the files of mnist"),
    ],
)
def test_what_differs_between_the_trials_is_told(stores, tmp_path, changes, told):
    assert "they differ" not in compare(*stores)
    others = []
    for record in stores[1].records():
        recipe = record.spec.recipe | changes.get("recipe", {})
        others.append(with_spec(record, **changes | {"recipe": recipe}))
    assert f"\nthey differ: {told}\n" in compare(stores[0], fill(tmp_path / "others", others))


@pytest.mark.parametrize("width", [64, 40, 20])
def test_the_table_is_as_narrow_as_the_terminal(stores, width):
    table = compare(*stores, width).split("\n\n")[1]
    assert max(map(len, table.splitlines())) <= width
    assert {"81.00", "84.00", "+3.00"} <= {word.strip(";") for word in table.split()}


def test_earlier_trials_of_the_same_cells_are_told_and_left_out(stores):
    first, second = stores
    longer = small_experiment(methods="scarce", settings="uniform", seeds=2, protocol="shortened", epochs=300)
    records = [record_of(trial, 0.99, seconds=10.0, finished="2026-01-02") for trial in trials_of(longer)]
    text = compare(fill(first.path, records), second)
    assert f"A: {first.path} (without 2 earlier trials of the same cells)\nB: {second.path} (" in text
    assert row_of(text, "scarce")[4] == "93.00"  # of 99, 99 and, for the last seed, 81
