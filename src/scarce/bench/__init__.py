"""Experiments: plan trials, run them, collect their records, and report on them.

Needs ``scarce[bench]``.

Examples
--------
>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from scarce.bench import Plan, Store, collect, load_experiment, run_local
>>> plan = Plan.from_experiment(load_experiment("quick-digits").changed(epochs=1, seeds=1))
>>> plan = plan.select(method=["scarce", "ga"], setting="uniform").with_data()
>>> with TemporaryDirectory() as folder:
...     store = Store(Path(folder))
...     outcomes = list(run_local(plan, store))
...     results = collect(plan, store)
>>> results.trials[["label", "status"]].values.tolist()
[['ga', 'done'], ['scarce', 'done']]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scarce.bench.reports import show_report as show_report
    from scarce.bench.reports import write_report as write_report
    from scarce.bench.results.comparison import compare_stores as compare_stores
    from scarce.bench.results.results import ExperimentResults as ExperimentResults
    from scarce.bench.results.results import collect as collect
    from scarce.bench.runners.dask import run_on_cluster as run_on_cluster
    from scarce.bench.runners.local import Outcome as Outcome
    from scarce.bench.runners.local import run_local as run_local
    from scarce.bench.runners.status import Status as Status
    from scarce.bench.runners.status import get_status as get_status
    from scarce.bench.spec.experiment import Experiment as Experiment
    from scarce.bench.spec.experiment import available_experiments as available_experiments
    from scarce.bench.spec.experiment import load_experiment as load_experiment
    from scarce.bench.spec.trial import TrialSpec as TrialSpec
    from scarce.bench.trials.execution import run_trial as run_trial
    from scarce.bench.trials.packed import PackedStore as PackedStore
    from scarce.bench.trials.packed import open_store as open_store
    from scarce.bench.trials.packed import pack as pack
    from scarce.bench.trials.plan import Plan as Plan
    from scarce.bench.trials.plan import Trial as Trial
    from scarce.bench.trials.record import TrialRecord as TrialRecord
    from scarce.bench.trials.store import Store as Store

# Imported on first use: running trials needs neither matplotlib nor jinja2, and all of them need the extra.
_MODULES = {
    "Experiment": "spec.experiment",
    "ExperimentResults": "results.results",
    "Outcome": "runners.local",
    "PackedStore": "trials.packed",
    "Plan": "trials.plan",
    "Status": "runners.status",
    "Store": "trials.store",
    "Trial": "trials.plan",
    "TrialRecord": "trials.record",
    "TrialSpec": "spec.trial",
    "available_experiments": "spec.experiment",
    "collect": "results.results",
    "compare_stores": "results.comparison",
    "get_status": "runners.status",
    "load_experiment": "spec.experiment",
    "open_store": "trials.packed",
    "pack": "trials.packed",
    "run_local": "runners.local",
    "run_on_cluster": "runners.dask",
    "run_trial": "trials.execution",
    "show_report": "reports",
    "write_report": "reports",
}

__all__ = [*_MODULES]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'scarce.bench' has no attribute {name!r}")
    return getattr(import_module(f"scarce.bench.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
