"""Classifiers that are fitted in several threads at once are those of a serial loop, bit for bit."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from helpers.training import same_state
from sklearn.model_selection import GridSearchCV

from scarce import ScarceClassifier
from scarce.estimators import cross_fitted_report
from scarce.metrics import make_complementary_scorer
from scarce.simulate import uniform_multiple

N, D, Q, ROUNDS = 60, 5, 3, 3
SEEDS = range(8)
NOISY = {"module": "mlp", "epochs": 4, "batch_size": 16, "dropout": 0.4, "input_noise": 0.3}
CASES = {
    "default stack": lambda seed: ScarceClassifier(random_state=seed),
    "scarce with dropout and noise": lambda seed: ScarceClassifier(
        "scarce", priors="uniform", **NOISY, random_state=seed
    ),
    "refine with dropout and noise": lambda seed: ScarceClassifier("refine", **NOISY, random_state=seed),
    "estimated priors": lambda seed: ScarceClassifier(
        "scarce", "mlp", "estimate", epochs=3, batch_size=16, dropout=0.4, random_state=seed
    ),
    "augmented images": lambda seed: ScarceClassifier(
        "scarce",
        "linear",
        "uniform",
        epochs=3,
        batch_size=32,
        augmentation=("crop", "flip"),
        random_state=seed,
    ),
}

# Seeds and rounds of the cases that take seconds per fit.
SLOW = {"default stack": (range(4), 1), "estimated priors": (range(4), 1)}


def make_data(images=False):
    rng = np.random.default_rng(0)
    truth = np.arange(N) % Q
    X = (rng.normal(size=(N, D)) + 2 * np.eye(Q, D)[truth]).astype(np.float32)
    if images:
        X = np.broadcast_to(X[:, :1, None], (N, 8, 8)) + rng.normal(size=(N, 8, 8)).astype(np.float32)
    return X, uniform_multiple(truth, seed=0)


def same_fit(one, other):
    return same_state(one.model_.state_dict(), other.model_.state_dict()) and same_state(
        one.method_.state_dict(), other.method_.state_dict()
    )


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("label", CASES)
def test_fits_in_threads_are_those_of_a_serial_loop(label):
    make, (X, labels) = CASES[label], make_data(images=label == "augmented images")
    seeds, rounds = SLOW.get(label, (SEEDS, ROUNDS))
    serial = [make(seed).fit(X, labels) for seed in seeds]
    assert not same_fit(serial[0], serial[1])
    different = []
    for turn in range(rounds):
        with ThreadPoolExecutor(4) as pool:
            fits = list(pool.map(lambda seed: make(seed).fit(X, labels), seeds))
        different += [(turn, seed) for seed in seeds if not same_fit(fits[seed], serial[seed])]
    assert different == []


def test_grid_search_in_threads_has_the_scores_of_a_serial_one():
    X, labels = make_data()
    grid = {"learning_rate": [0.003, 0.03], "random_state": [0, 1]}
    scores = []
    for n_jobs in (1, 4):
        search = GridSearchCV(
            CASES["scarce with dropout and noise"](0),
            grid,
            scoring=make_complementary_scorer(),
            cv=3,
            n_jobs=n_jobs,
        )
        with joblib.parallel_config("threading"):
            scores.append(search.fit(X, labels).cv_results_["mean_test_score"])
    assert np.isfinite(scores[0]).all()
    assert scores[0].tolist() == scores[1].tolist()


def test_reports_that_fit_again_in_threads_end_and_are_equal():
    X, labels = make_data()
    fitted = CASES["scarce with dropout and noise"](0).fit(X, labels)
    values = joblib.Parallel(4, backend="threading")(
        joblib.delayed(lambda: cross_fitted_report(fitted, X, labels).accuracy.value)() for _ in range(4)
    )
    assert set(values) == {cross_fitted_report(fitted, X, labels).accuracy.value}
