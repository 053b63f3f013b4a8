"""Records as trials leave them, with numbers that follow from the place of the trial and can be worked out by hand."""

from scarce.bench.spec.experiment import Experiment
from scarce.bench.trials.plan import plan
from scarce.bench.trials.record import TrialRecord
from scarce.bench.trials.store import Store

SEED_GAPS = (0.0, 0.004, -0.004, 0.002, -0.002)  # they sum to zero over five seeds


def small_experiment(**changes):
    content = {
        "name": "small",
        "title": "A small one",
        "protocol": "paper",
        "data": "mnist",
        "settings": ["uniform", "biased-a"],
        "methods": ["ga", "nn", "scarce"],
        "models": "mlp",
        "seeds": 5,
    }
    return Experiment.model_validate(content | changes)


def record_of(trial, accuracy, *, epochs=12, **fields):
    """A trial that comes to `accuracy` in its last ten epochs, and was better by 0.01 just before them."""
    rise = [0.5 * accuracy, accuracy + 0.01]
    curves = {"epoch": list(range(1, epochs + 1)), "test_accuracy": rise + [accuracy] * (epochs - 2)}
    curves["loss"] = [2.0 * 0.8**epoch for epoch in range(epochs)]
    selection = {
        "scar_accuracy": list(curves["test_accuracy"]),  # sees the truth
        "scar_risk": list(range(epochs)),  # likes the first epoch best
        "covering_rate": [1 - accuracy] * epochs,  # likes bad methods
    }
    given = {
        "accuracy": accuracy,
        "curves": curves,
        "selection": selection,
        "priors": {"values": [0.1] * 10, "source": "frequencies"},
        "seconds": 60.0 + trial.spec.seed,
        "peak_memory_mb": 500.0,
    }
    return TrialRecord(
        **_place(trial),
        versions={"scarce": "0.1.0", "torch": "2.13.0"},
        machine={"cpus": 2, "threads": 1, "platform": "Linux"},
        **(given | fields),
    )


def failed_record(trial, error):
    return TrialRecord(**_place(trial), status="failed", error=error, seconds=1.0)


def prior_record(trial, values):
    return TrialRecord(**_place(trial), priors={"values": values, "source": "best-bin"}, seconds=5.0)


def _place(trial):
    names = ("spec", "label", "experiment", "protocol")
    return {name: getattr(trial, name) for name in names}


def with_spec(record, **changes):
    """The record of another trial."""
    return record.model_copy(update={"spec": record.spec.model_copy(update=changes)})


def trials_of(experiment):
    return plan(experiment, lambda name: None)


def gap(trial):
    return SEED_GAPS[trial.spec.seed % len(SEED_GAPS)]


def fill(folder, records):
    store = Store(folder)
    for record in records:
        store.save(record)
    return store
