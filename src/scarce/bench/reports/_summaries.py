"""The summary tables of a report: regret, failures, priors, calibration, model selection and costs."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from pandas import DataFrame

from scarce.bench.results._regret import Regret, regrets
from scarce.bench.results._selection import criteria, epoch_choices, method_choices
from scarce.bench.results.results import COLUMN, ExperimentResults, finite_values
from scarce.bench.runners.status import format_duration
from scarce.bench.trials.record import LAST_EPOCHS, TrialRecord

_ROW = [*COLUMN, "label"]


@dataclass(frozen=True)
class SummaryTable:
    """A table of strings: the first `n_text_columns` columns are words, the others are numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_text_columns: int
    note: str = ""


def make_summary_tables(results: ExperimentResults) -> tuple[SummaryTable, ...]:
    """Return the summary tables that have rows.

    Examples
    --------
    >>> from scarce.bench import Plan, collect, load_experiment
    >>> make_summary_tables(collect(Plan.from_experiment(load_experiment("quick-digits")), []))
    ()
    """
    tables = (
        _regret_table(results),
        _failure_table(results),
        _prior_table(results),
        _calibration_table(results),
        _epoch_table(results),
        _method_table(results),
        _cost_table(results),
    )
    return tuple(table for table in tables if table.rows)


def last_epochs(results: ExperimentResults) -> str:
    """Return, as text, the epochs over which the accuracy of a trial is averaged.

    Examples
    --------
    >>> from scarce.bench import Plan, collect, load_experiment
    >>> last_epochs(collect(Plan.from_experiment(load_experiment("quick-digits")), []))
    'last 10 epochs'
    """
    lengths = (len(record.curves.get("test_accuracy", ())) for record in results.done.record)
    counts = sorted({min(LAST_EPOCHS, length) for length in lengths if length}) or [LAST_EPOCHS]
    return "last epoch" if counts == [1] else f"last {' or '.join(map(str, counts))} epochs"


def _failure_table(results: ExperimentResults) -> SummaryTable:
    rows = [
        (*(getattr(trial, name) for name in _ROW), str(trial.seed), trial.record.error or "no reason given")
        for trial in results.failed.itertuples()
    ]
    return SummaryTable(
        "Failed trials",
        ("data", "setting", "model", "method", "seed", "error"),
        tuple(rows),
        n_text_columns=6,
    )


def _regret_table(results: ExperimentResults) -> SummaryTable:
    all_regrets = regrets(results) if results.kind == "classifiers" else []
    rows = [
        (
            regret.data,
            regret.setting,
            regret.best,
            *_percents(regret.best_accuracy, regret.accuracy, regret.value),
        )
        for regret in all_regrets
    ]
    if all_regrets:
        unbiased = [regret for regret in all_regrets if not regret.is_biased]
        if unbiased and len(unbiased) < len(all_regrets):
            rows.append(_mean_regret("mean, biased excluded", unbiased))
        rows.append(_mean_regret("mean of all", all_regrets))
        worst = max(all_regrets, key=lambda regret: regret.value)
        rows.append((f"worst: {worst.data}", worst.setting, worst.best, "", "", *_percents(worst.value)))
    return SummaryTable(
        "Regret of the default",
        ("data", "setting", "best row", "best", "auto", "regret"),
        tuple(rows),
        n_text_columns=3,
        note="The best mean accuracy of a column minus that of auto, in percentage points, over the seeds that auto has. The best "
        "row is chosen in hindsight, by accuracy on the test rows, so some regret is unavoidable.",
    )


def _mean_regret(name: str, group: Iterable[Regret]) -> tuple[str, ...]:
    return name, "", "", "", "", *_percents(fmean(regret.value for regret in group))


def _percents(*fractions: float) -> tuple[str, ...]:
    return tuple(f"{100 * fraction:.2f}" for fraction in fractions)


def _prior_table(results: ExperimentResults) -> SummaryTable:
    trials = results.done.dropna(subset="accuracy")
    errors = trials.record.map(_prior_error).astype(float)
    sources = trials.record.map(lambda record: record.priors.source).rename("source")
    means = errors.dropna().groupby([*(trials[name] for name in _ROW), sources], sort=False).mean()
    return SummaryTable(
        "Error of the priors",
        ("data", "setting", "model", "method", "priors", "mean absolute error"),
        tuple((*key, f"{error:.4f}") for key, error in means.items()),
        n_text_columns=5,
        note="Priors that were estimated before training or learned during it, compared with the class frequencies of the training "
        "data: the mean absolute error over classes and seeds.",
    )


def _prior_error(record: TrialRecord) -> float:
    """Return the mean absolute error of the priors; NaN if the true ones were given or are not known."""
    priors = record.priors
    if not priors.true or priors.source.startswith("frequencies"):
        return float("nan")
    return fmean(abs(a - b) for a, b in zip(priors.values or [], priors.true, strict=True))


def _calibration_table(results: ExperimentResults) -> SummaryTable:
    names = ["test_accuracy", "confidence", "calibration_error"]
    done = results.done
    last = {name: [_last_value(record, name) for record in done.record] for name in names}
    means = done.assign(**last).dropna(subset=names).groupby(_ROW, sort=False)[names].mean()
    return SummaryTable(
        "Calibration",
        ("data", "setting", "model", "method", "accuracy", "confidence", "calibration error"),
        tuple((*key, *_percents(*numbers)) for key, numbers in means.iterrows()),
        n_text_columns=4,
        note="In per cent after the last epoch, the mean over seeds. Confidence: the mean of the highest probability. Calibration "
        "error: the expected calibration error, with 15 bins of equal width.",
    )


def _last_value(record: TrialRecord, name: str) -> float:
    values = finite_values(record.curves.get(name, ()))
    return values[-1] if values else float("nan")


def _epoch_table(results: ExperimentResults) -> SummaryTable:
    rows = [
        (
            choice.data,
            _criterion_text(choice.criterion),
            str(choice.n),
            *_percents(choice.chosen, choice.last, choice.oracle),
        )
        for choice in epoch_choices(results).itertuples()
    ]
    return SummaryTable(
        "Choosing the epoch without true labels",
        ("data", "criterion", "trials", "chosen epoch", "last epochs", "best epoch"),
        tuple(rows),
        n_text_columns=2,
        note=f"Mean test accuracy, in per cent: at the epoch that the criterion chooses, over the {last_epochs(results)} (no "
        "selection, as in the tables), and at the best epoch by true labels. Only trials for which the criterion is defined are "
        "counted. Criteria use complementary labels of the same test images.",
    )


def _method_table(results: ExperimentResults) -> SummaryTable:
    choices = method_choices(results)
    used = [name for name in criteria(results) if name in set(choices.criterion)]
    rows = []
    # In the order of the tables: first by data and model.
    for _, grid in choices.groupby(["data", "model"], sort=False):
        for (data, model, setting), column in grid.groupby(["data", "model", "setting"], sort=False):
            by_criterion = column.set_index("criterion")
            texts = by_criterion.chosen + "\n" + (100 * by_criterion.accuracy).map("{:.2f}".format)
            best = column.iloc[0]
            rows.append(
                (
                    *(data, model, setting),
                    *(texts.get(name, "–") for name in used),
                    f"{best.best}\n{100 * best.best_accuracy:.2f}",
                )
            )
    return SummaryTable(
        "Choosing the method without true labels",
        ("data", "model", "setting", *map(_criterion_text, used), "best by true labels"),
        tuple(rows),
        n_text_columns=4 + len(used),
        note=f"The best method by each criterion (mean over seeds and {last_epochs(results)}), among the methods for which it "
        "is defined, and its test accuracy in per cent. Criteria use complementary labels of the same test images.",
    )


def _criterion_text(criterion: str) -> str:
    return criterion.replace("_", " ")


def _cost_table(results: ExperimentResults) -> SummaryTable:
    rows = [_cost_row(label, trials) for label, trials in results.recorded.groupby("label", sort=False)]
    if len(rows) > 1:
        rows.append(_cost_row("all", results.recorded))
    return SummaryTable(
        "Cost",
        ("method", "trials", "total time", "seconds per trial", "peak memory, MB"),
        tuple(rows),
        n_text_columns=1,
        note="Memory is the peak of the whole process, which may have run other trials before.",
    )


def _cost_row(label: str, trials: DataFrame) -> tuple[str, ...]:
    return (
        label,
        str(len(trials)),
        format_duration(trials.seconds.sum()),
        f"{trials.seconds.mean():.1f}",
        f"{trials.peak_memory_mb.max():,.0f}",
    )
