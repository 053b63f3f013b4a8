"""Rows held out by seed or by fold."""

from scarce.bench.spec._splits import train_test_rows


def test_train_test_rows_split_by_seed_or_fold() -> None:
    train, test = train_test_rows(336, "70/30", 3)
    assert (len(train), len(test)) == (235, 101)
    assert sorted([*train, *test]) == list(range(336))
    assert train.tolist() != train_test_rows(336, "70/30", 4)[0].tolist()
    folds = [train_test_rows(1122, "10-fold", fold) for fold in range(10)]
    assert sorted(row for _, test in folds for row in test) == list(range(1122))
    assert all(sorted([*train, *test]) == list(range(1122)) for train, test in folds)
    assert {len(test) for _, test in folds} == {112, 113}
