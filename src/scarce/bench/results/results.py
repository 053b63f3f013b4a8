"""The results of an experiment: its planned trials and their records in one table, from which reports are made."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pandas import DataFrame

from scarce.bench.spec.trial import Kind, Perturbed, ProtocolName, TrialSpec
from scarce.bench.trials.packed import PackedStore
from scarce.bench.trials.plan import Plan
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store
from scarce.datasets.registry import facts_of

COLUMN = ["data", "setting", "model"]
"""The axes that together are a column of the report's tables."""


@dataclass(frozen=True, eq=False)
class ExperimentResults:
    """The planned trials of an experiment, in the order of the plan, and their results.

    Attributes
    ----------
    name, title, description : str
        The name, title and description of the experiment.
    protocol : {"paper", "shortened", "own"}
        Whether the trials follow the paper.
    kind : {"accuracy", "priors", "classifiers"}
        Whether networks were trained, class priors estimated, or classifiers compared.
    trials : DataFrame
        One row per planned trial, with the columns ``data``, ``setting``, ``model``, ``label`` (the row in reports), ``method``,
        ``seed``, ``paper`` (the method whose published number is comparable, or an empty string), ``status`` (done, failed or
        missing), ``accuracy`` (a fraction, or NaN), ``seconds``, ``peak_memory_mb``, ``outdated`` (whether the record is of an
        earlier revision or of other data) and ``record`` (the `TrialRecord`, or None).

    See Also
    --------
    collect : Combine a plan with the records of its trials.
    write_report : Write tables and figures of the results.

    Examples
    --------
    >>> from scarce.bench import Plan, load_experiment
    >>> results = collect(Plan.from_experiment(load_experiment("quick-digits")), [])
    >>> results.trials.groupby(["setting", "label"], sort=False).size().unstack()
    label    nn  ga  l-w  scarce
    setting
    uniform   3   3    3       3
    scar-a    3   3    3       3
    """

    name: str
    title: str
    protocol: ProtocolName
    kind: Kind
    description: str
    trials: DataFrame

    @property
    def done(self) -> DataFrame:
        """The trials with a result."""
        return self.trials[self.trials.status == "done"]

    @property
    def failed(self) -> DataFrame:
        """The trials that ended in an error."""
        return self.trials[self.trials.status == "failed"]

    @property
    def missing(self) -> DataFrame:
        """The trials that have not been run."""
        return self.trials[self.trials.status == "missing"]

    @property
    def recorded(self) -> DataFrame:
        """The trials with a record."""
        return self.trials[self.trials.status != "missing"]

    @property
    def labels(self) -> tuple[str, ...]:
        """The rows of the tables."""
        return tuple(self.trials.label.unique())


def collect(plan: Plan, store: Store | PackedStore | Iterable[TrialRecord]) -> ExperimentResults:
    """Return the planned trials together with their records.

    Records are matched by their specs without the checksums of the data, so the data need not be available.

    Parameters
    ----------
    plan : Plan
        The trials to include.
    store : Store, PackedStore or iterable of TrialRecord
        A store, or records in the order in which they were finished.

    Returns
    -------
    ExperimentResults
        One row per planned trial, with its record if it has one.

    See Also
    --------
    write_report : Write tables and figures of the results.
    compare_stores : Compare the results of two stores.

    Examples
    --------
    >>> from pathlib import Path
    >>> from scarce.bench import load_experiment
    >>> results = collect(Plan.from_experiment(load_experiment("quick-digits")), Store(Path("nowhere")))
    >>> results.labels, len(results.missing)
    (('nn', 'ga', 'l-w', 'scarce'), 24)
    """
    records = store.records() if isinstance(store, Store | PackedStore) else store
    found = plan.find_records(records)
    # The data may be unavailable, so the version of the data in the latest trial counts as current.
    latest = sorted(found.values(), key=lambda record: record.finished)
    checksums = {(record.spec.data, record.spec.is_table): record.spec.data_checksum for record in latest}
    rows = [_row(trial.spec, trial.label, found.get(trial.spec.cell), checksums) for trial in plan]
    experiment = plan.experiment
    return ExperimentResults(
        experiment.name,
        experiment.title,
        experiment.protocol,
        experiment.kind,
        experiment.description,
        DataFrame(rows),
    )


def _row(
    spec: TrialSpec, label: str, record: TrialRecord | None, checksums: dict[tuple[str, bool], str | None]
) -> dict[str, Any]:
    planned = spec.model_copy(update={"data_checksum": checksums.get((spec.data, spec.is_table))})
    return {
        **{name: getattr(spec, name) for name in (*COLUMN, "method", "seed")},
        "label": label,
        "paper": _method_in_paper(spec),
        "status": record.status if record else "missing",
        "accuracy": float("nan") if record is None or record.accuracy is None else record.accuracy,
        "seconds": record.seconds if record else float("nan"),
        "peak_memory_mb": record.peak_memory_mb if record else float("nan"),
        "outdated": record is not None and not record.spec.is_current(planned),
        "record": record,
    }


def _method_in_paper(spec: TrialSpec) -> str:
    """Return the method if the paper has a comparable number: no variant, all data, true priors, no early stopping; else ""."""
    if spec.kind == "classifiers":
        return ""
    is_part_of_data = spec.imbalance is not None or spec.n_train != facts_of(spec.data).n_train
    if is_part_of_data or spec.early_stopping or spec.method_params:
        return ""
    if spec.kind == "priors":
        is_paper_setting = spec.process == "scar" and spec.setting_params == {"rates": 0.5}
        return "best-bin" if is_paper_setting and spec.method == "best-bin" else ""
    is_variant = bool(spec.setting_params) or spec.process not in (spec.setting, None)
    has_true_priors = spec.priors in ("true", Perturbed(perturb=0.0))
    return spec.method if has_true_priors and not is_variant else ""


def finite_values(values: Sequence[float | None]) -> list[float]:
    """Return the finite values of a stored curve; a record holds None in place of the others.

    Examples
    --------
    >>> finite_values([0.5, None, 0.75])
    [0.5, 0.75]
    """
    return [value for value in values if value is not None]
