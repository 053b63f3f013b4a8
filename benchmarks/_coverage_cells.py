"""The cells of the coverage study: label kinds, data, models and repeats; no output files or tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from scarce.datasets import load_dataset, load_table
from scarce.labels import ComplementaryLabels
from scarce.metrics import (
    ErrorRates,
    LabelModel,
    complementary_accuracy,
    complementary_report,
    fit_label_model,
)
from scarce.simulate import (
    ask,
    biased,
    biased_a,
    from_transition,
    scar_unequal,
    uniform,
    uniform_transition,
    with_errors,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Record = dict[str, Any]
Key = tuple[Any, ...]

NAME = "coverage"
DATA = ("mnist", "digits", "ecoli", "vehicle", "vowel", "segment")
MODELS = ("good", "mediocre", "collapsed")
MAX_ROWS, FEW_ROWS = 1000, 300
MNIST_TRAIN, MNIST_TEST = 3000, 2000
SEED = 20240
COLLAPSED_FRACTION, COLLAPSED_PRIOR = (
    0.9,
    0.88,
)  # fraction of rows predicted as one class, and the learned prior of that class
MIN_MEDIOCRE_ACCURACY = 0.55
MIN_COVERAGE, FAR_OFF, MIN_ALARMED, MAX_FALSE_ALARMS = 0.93, 0.10, 0.90, 0.05  # the goals
MAX_LOSS, MIN_CLOSE = 0.03, 0.90
P_CLEAR = 0.01  # p-value below which a cell clearly misses a goal


# Label kinds


@dataclass(frozen=True)
class Variant:
    """What the estimator is given, and whether its assumptions about the labels hold."""

    name: str
    holds: bool
    priors_given: bool = False
    errors: ErrorRates | None = None

    def fit(self, labels: ComplementaryLabels, priors: Floats) -> LabelModel:
        """Fit the label model with what this variant is given."""
        return fit_label_model(labels, priors if self.priors_given else None, errors=self.errors)


@dataclass(frozen=True)
class LabelKind:
    """A process that draws labels from true classes, and the variants of the estimator that it is tested with."""

    title: str
    draw: Callable[..., ComplementaryLabels]
    variants: tuple[Variant, ...]


def draw_biased(y: Ints, *, classes: int, seed: int) -> ComplementaryLabels:
    """Draw one biased label per example: with "biased-a" for ten classes, otherwise with a random matrix."""
    return (biased_a if classes == 10 else biased)(y, classes=classes, seed=seed)


def draw_wrong(y: Ints, *, classes: int, seed: int, error_rate: float) -> ComplementaryLabels:
    """Draw one uniform label per example, a fraction of them wrong."""
    transition = with_errors(uniform_transition(classes), error_rate)
    return from_transition(y, transition, classes=classes, seed=seed)


def _priors_variants(holds: bool, suffix: str = "", errors: ErrorRates | None = None) -> tuple[Variant, ...]:
    given = Variant(f"given{suffix}", holds, priors_given=True, errors=errors)
    return given, Variant(f"estimated{suffix}", holds, errors=errors)


KNOWN = ", errors known"
THREE = partial(ask, questions=3)
LABELS: Mapping[str, LabelKind] = {
    "uniform": LabelKind("uniform", uniform, _priors_variants(True)),
    "scar": LabelKind("SCAR, zero or more, unequal", scar_unequal, _priors_variants(True)),
    "biased": LabelKind("biased", draw_biased, _priors_variants(False)),
    "wrong": LabelKind(
        "uniform, 5 % wrong",
        partial(draw_wrong, error_rate=0.05),
        _priors_variants(False) + _priors_variants(True, KNOWN, ErrorRates(0.05, 0.0)),
    ),
    "answers": LabelKind("3 answers", THREE, (Variant("answers", True),)),
    "answers-errors": LabelKind(
        "3 answers, errors 5 % / 3 %",
        partial(THREE, false_negative_rate=0.05, false_positive_rate=0.03),
        (Variant("answers", True), Variant(f"answers{KNOWN}", True, errors=ErrorRates(0.05, 0.03))),
    ),
    "one-answer-errors": LabelKind(
        "1 answer, errors 5 % / 5 %",
        partial(ask, questions=1, false_negative_rate=0.05, false_positive_rate=0.05),
        (Variant("answers", True), Variant(f"answers{KNOWN}", True, errors=ErrorRates(0.05, 0.05))),
    ),
}


# Data and models


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of a model for the rows of the population."""

    codes: Ints
    confidence: Floats
    learned_priors: Floats


@dataclass(frozen=True, eq=False)
class Population:
    """True classes of the evaluation rows, and the predictions of every model for them."""

    name: str
    y: Ints
    n_classes: int
    models: Mapping[str, Predictions]

    @property
    def priors(self) -> Floats:
        """Class frequencies, shape (q,)."""
        return np.bincount(self.y, minlength=self.n_classes) / len(self.y)

    def truth(self, model: str) -> float:
        """Return the accuracy of a model on the whole population."""
        return float((self.models[model].codes == self.y).mean())


def seed_of(*values: Any) -> int:
    """Return a seed that depends only on these values."""
    return crc32(repr((SEED, *values)).encode())


def load_rows(name: str, data_dir: Path) -> tuple[Floats, Floats, Ints, Ints, int]:
    """Return training features, evaluation features, their classes, and the number of classes."""
    if name == "mnist":
        data = load_dataset("mnist", data_dir, download=False)
        rng = np.random.default_rng(seed_of(name, "rows"))
        train = rng.choice(len(data.y_train), MNIST_TRAIN, replace=False)
        test = rng.choice(len(data.y_test), MNIST_TEST, replace=False)
        flat = [images.reshape(len(images), -1) / 255 for images in (data.X_train[train], data.X_test[test])]
        return *flat, data.y_train[train], data.y_test[test], 10
    table = load_table(name, data_dir)
    halves = train_test_split(
        table.X, table.y, test_size=0.5, stratify=table.y, random_state=seed_of(name) % 2**31
    )
    return *halves, len(table.classes)


def _predict(model: ClassifierMixin, X: Floats, priors: Floats) -> Predictions:
    probabilities = model.predict_proba(X)
    return Predictions(
        model.classes_[probabilities.argmax(axis=1)].astype(np.int64), probabilities.max(axis=1), priors
    )


def collapse(good: Predictions, to_class: int, rng: np.random.Generator) -> Predictions:
    """Return predictions of one class for most rows, with a high learned prior for it."""
    q = len(good.learned_priors)
    codes = np.where(rng.random(len(good.codes)) < COLLAPSED_FRACTION, to_class, good.codes)
    learned_priors = np.full(q, (1 - COLLAPSED_PRIOR) / (q - 1))
    learned_priors[to_class] = COLLAPSED_PRIOR
    return Predictions(codes, good.confidence, learned_priors)


def train_models(name: str, data_dir: Path) -> Population:
    """Train eight models of different quality with true labels; two of them collapse."""
    X, X_test, y, y_test, q = load_rows(name, data_dir)
    rng = np.random.default_rng(seed_of(name, "models"))
    seed = seed_of(name, "training") % 2**31
    priors = np.bincount(y, minlength=q) / len(y)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    few = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:3] for k in range(q)])
    columns = rng.permutation(np.flatnonzero(X.std(axis=0) > 0))

    def fit(model: ClassifierMixin, rows: Any = slice(None), cols: Any = slice(None)) -> Predictions:
        return _predict(model.fit(X[rows][:, cols], y[rows]), X_test[:, cols], priors)

    def on_columns() -> Predictions:
        """Use the fewest columns that reach the accuracy of a mediocre model."""
        for n in range(1, len(columns) + 1):
            predictions = fit(LogisticRegression(max_iter=300), cols=columns[:n])
            if (predictions.codes == y_test).mean() >= MIN_MEDIOCRE_ACCURACY:
                break
        return predictions

    good = fit(MLPClassifier((64,), max_iter=300, random_state=seed))
    first, second = rng.permutation(q)[:2]
    models = {
        "good": good,
        "mediocre": on_columns(),
        "collapsed": collapse(good, int(first), rng),
        "logistic": fit(LogisticRegression(max_iter=300)),
        "few rows": fit(LogisticRegression(max_iter=300), rows=few),
        "tree": fit(DecisionTreeClassifier(max_depth=4, random_state=seed)),
        "naive Bayes": fit(GaussianNB(var_smoothing=0.1)),
        "collapsed too": collapse(good, int(second), rng),
    }
    return Population(name, y_test, q, models)


# Repeats


def draw_repeat(
    population: Population, kind: str, n_rows: int, repeat: int
) -> tuple[Ints, ComplementaryLabels]:
    """Draw rows with replacement, and fresh labels for them."""
    seed = seed_of(population.name, kind, n_rows, repeat)
    rows = np.random.default_rng(seed).integers(0, len(population.y), n_rows)
    return rows, LABELS[kind].draw(population.y[rows], classes=population.n_classes, seed=seed)


def n_rows_of(population: Population) -> int:
    """Return the number of rows per repeat: 1000, but at most twice the population."""
    return min(MAX_ROWS, 2 * len(population.y))


def evaluate(model: Predictions, rows: Ints, labels: ComplementaryLabels, fitted: LabelModel) -> Record:
    """Return the estimate, its interval and its alarms."""
    report = complementary_report(
        model.codes[rows],
        labels,
        fitted,
        confidence=model.confidence[rows],
        learned_priors=model.learned_priors,
    )
    accuracy = report.accuracy
    return {
        "value": accuracy.value,
        "low": accuracy.low,
        "high": accuracy.high,
        "alarms": {alarm.name for alarm in report.alarms},
    }


def summarize(results: Sequence[Record], truth: float) -> Record:
    """Return coverage, bias, width and alarms of all repeats of a cell."""
    value, low, high = (np.array([result[name] for result in results]) for name in ("value", "low", "high"))
    alarmed = np.array([bool(result["alarms"]) for result in results])
    far, covered = np.abs(value - truth) > FAR_OFF, (low <= truth) & (truth <= high)
    names = sorted(set().union(*(result["alarms"] for result in results)))
    return {
        "truth": round(truth, 4),
        "coverage": float(covered.mean()),
        "below": float((high < truth).mean()),  # the interval is below the truth
        "bias": round(float(value.mean() - truth), 4),
        "spread": round(float(value.std()), 4),
        "width": round(float((high - low).mean()), 4),
        "alarmed": float(alarmed.mean()),
        "alarms": {name: float(np.mean([name in result["alarms"] for result in results])) for name in names},
        "n_far": int(far.sum()),
        "far_alarmed": float(alarmed[far].mean()) if far.any() else None,
        "n_missed": int((far & ~alarmed).sum()),
        "n_misleading": int((far & ~covered).sum()),  # far off, and the interval does not cover the truth
        "n_misled": int((far & ~covered & ~alarmed).sum()),
    }


def coverage_cells(
    population: Population, kind: str, wanted: Iterable[tuple[str, str]], repeats: int
) -> Iterator[Record]:
    """Run the wanted cells (variant, model) of one data set and label kind, all on the same draws."""
    wanted, n_rows = list(wanted), n_rows_of(population)
    results: dict[tuple[str, str], list[Record]] = {cell: [] for cell in wanted}
    variants = [v for v in LABELS[kind].variants if any(v.name == name for name, _ in wanted)]
    for repeat in range(repeats):
        rows, labels = draw_repeat(population, kind, n_rows, repeat)
        for variant in variants:
            fitted = variant.fit(labels, population.priors)
            for name, model in wanted:
                if name == variant.name:
                    results[name, model].append(evaluate(population.models[model], rows, labels, fitted))
    holds = {variant.name: variant.holds for variant in variants}
    for (name, model), found in results.items():
        yield {
            "part": "coverage",
            "data": population.name,
            "labels": kind,
            "priors": name,
            "model": model,
            "repeats": repeats,
            "n_rows": n_rows,
            "holds": holds[name],
            **summarize(found, population.truth(model)),
        }


def selection_cell(population: Population, kind: str, n_rows: int, repeats: int) -> Record:
    """Choose the model with the highest estimated accuracy in every repeat."""
    truth = {name: population.truth(name) for name in population.models}
    best, chosen = max(truth.values()), []
    for repeat in range(repeats):
        rows, labels = draw_repeat(population, kind, n_rows, repeat)
        fitted = fit_label_model(labels)
        value = {
            name: complementary_accuracy(model.codes[rows], labels, fitted).value
            for name, model in population.models.items()
        }
        chosen.append(max(value, key=value.__getitem__))
    lost = np.array([best - truth[name] for name in chosen])
    return {
        "within": float((lost <= MAX_LOSS + 1e-9).mean()),
        "mean_loss": round(float(lost.mean()), 4),
        "largest_loss": round(float(lost.max()), 4),
        "truth": {name: round(value, 4) for name, value in truth.items()},
        "chosen": {name: chosen.count(name) / repeats for name in truth if name in chosen},
    }
