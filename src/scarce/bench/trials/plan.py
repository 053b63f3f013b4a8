"""The plan of an experiment: its trials, the selection of some of them, and which records belong to them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from scarce._validation import check_option
from scarce.bench.spec.experiment import Experiment
from scarce.bench.spec.trial import ProtocolName, TrialSpec
from scarce.bench.trials._data import data_checksum, how_to_get
from scarce.bench.trials._specs import trial_specs
from scarce.bench.trials.record import TrialRecord
from scarce.errors import MethodError

AXES = ("data", "setting", "method", "model", "seed")


@dataclass(frozen=True)
class Trial:
    """One run of an experiment.

    Parameters
    ----------
    spec : TrialSpec
        Everything that determines the result.
    label : str
        The row in tables; several labels may share a method.
    experiment : str
        The name of the experiment.
    protocol : {"paper", "shortened", "own"}
        Whether the experiment repeats one of the paper, shortens it, or is not in the paper.

    See Also
    --------
    Plan : The trials of an experiment.
    run_trial : Run one trial.

    Examples
    --------
    >>> spec = TrialSpec(data="digits", n_train=9, setting="uniform", method="scarce", model="mlp", seed=0, recipe={})
    >>> str(Trial(spec, "SCARCE", "quick", "shortened"))
    'digits, uniform, SCARCE, mlp, seed 0'
    """

    spec: TrialSpec
    label: str
    experiment: str
    protocol: ProtocolName

    @property
    def key(self) -> str:
        """The hash of the spec."""
        return self.spec.key

    @property
    def axes(self) -> dict[str, str]:
        """The position of the trial on every axis."""
        return {axis: str(self.label if axis == "method" else getattr(self.spec, axis)) for axis in AXES}

    def names(self, axis: str) -> set[str]:
        """Return the names by which the trial can be selected on an axis; a method has its label and its own name."""
        return {self.axes[axis], *([self.spec.method] if axis == "method" else [])}

    def __str__(self) -> str:
        *names, seed = self.axes.values()
        return f"{', '.join(filter(None, names))}, seed {seed}"


@dataclass(frozen=True)
class Plan:
    """The trials of an experiment, sorted by seed; iterating over the plan yields them.

    Pass it to a runner or to `get_status`, which need `with_data`, or to `collect`, which does not.

    Attributes
    ----------
    experiment : Experiment
        The experiment, from `load_experiment`.
    trials : tuple of Trial
        The planned trials.
    missing : dict
        How to get each data set that is not available, by name; filled by `with_data`.

    See Also
    --------
    load_experiment : Read an experiment.
    run_local : Run the trials of a plan.
    collect : Combine a plan with the records of its trials.

    Examples
    --------
    >>> from scarce.bench import load_experiment
    >>> plan = Plan.from_experiment(load_experiment("quick-digits"))
    >>> len(plan), str(plan.trials[0])
    (24, 'digits, uniform, nn, mlp, seed 0')
    >>> len(plan.select(method=["scarce", "ga"], setting="uniform"))
    6
    """

    experiment: Experiment
    trials: tuple[Trial, ...]
    missing: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_experiment(cls, experiment: Experiment) -> "Plan":
        """Return the plan of an experiment.

        The trials have no checksums of their data, so the data need not be available; see `with_data`.

        Parameters
        ----------
        experiment : Experiment
            From `load_experiment`.

        Returns
        -------
        Plan
            All trials, sorted by seed.

        Raises
        ------
        MethodError
            If two trials have the same name or the same spec.
        """
        trials = [
            Trial(spec, label, experiment.name, experiment.protocol)
            for spec, label in trial_specs(experiment)
        ]
        counts = Counter(tuple(trial.axes.values()) for trial in trials)
        duplicate = next((trial for trial in trials if counts[tuple(trial.axes.values())] > 1), None)
        if duplicate is not None:
            raise MethodError(
                f"two trials are called {duplicate}; give one of them another label or setting name."
            )
        by_key: dict[str, Trial] = {}
        for trial in trials:
            known = by_key.setdefault(trial.key, trial)
            if known is not trial:
                raise MethodError(
                    f"{known} and {trial} are the same trial under two names; leave one out, or change its parameters."
                )
        return cls(experiment, tuple(sorted(trials, key=lambda trial: trial.spec.seed)))

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __len__(self) -> int:
        return len(self.trials)

    def select(self, **only: str | int | Iterable[str | int]) -> "Plan":
        """Return the plan restricted to the trials with the given names.

        Parameters
        ----------
        **only : str, int or iterable of these
            One or more names on any of the axes ``data``, ``setting``, ``method``, ``model`` and ``seed``; other axes are not
            restricted. A method is selected by its label or its name.

        Returns
        -------
        Plan
            The selected trials, in the same order.

        Raises
        ------
        MethodError
            If the axis is unknown, or no trial has one of the names.

        Examples
        --------
        >>> from scarce.bench import load_experiment
        >>> plan = Plan.from_experiment(load_experiment("quick-digits"))
        >>> [str(trial) for trial in plan.select(method="scarce", setting="scar-a", seed=[0, 2])]
        ['digits, scar-a, scarce, mlp, seed 0', 'digits, scar-a, scarce, mlp, seed 2']
        >>> plan.select(method="scarcy")
        Traceback (most recent call last):
        scarce.errors.MethodError: no trial has the method 'scarcy'; there are nn, ga, l-w, scarce.
        """
        trials = self.trials
        for axis, given in only.items():
            check_option("axis", axis, AXES)
            names = [str(name) for name in ([given] if isinstance(given, str | int) else given)]
            for name in names:
                if not any(name in trial.names(axis) for trial in trials):
                    available = dict.fromkeys(trial.axes[axis] for trial in trials)
                    raise MethodError(f"no trial has the {axis} {name!r}; there are {', '.join(available)}.")
            trials = tuple(trial for trial in trials if trial.names(axis) & set(names))
        return replace(self, trials=trials)

    def with_data(self, data_dir: str | Path | None = None, *, download: bool = True) -> "Plan":
        """Return the plan with a checksum of the data in every spec, which a trial needs to be run.

        Parameters
        ----------
        data_dir : str or Path, optional
            The folder to search first.
        download : bool
            Whether to download missing data. Otherwise their trials have no checksum, and `missing` says how to get them.

        Returns
        -------
        Plan
            The same trials with checksums.

        Raises
        ------
        FileError
            If data are damaged, or, with `download`, missing and cannot be downloaded.

        Examples
        --------
        >>> from scarce.bench import load_experiment
        >>> plan = Plan.from_experiment(load_experiment("quick-digits"))
        >>> plan.trials[0].spec.data_checksum is None, len(plan.with_data().trials[0].spec.data_checksum)
        (True, 64)
        """
        sources = dict.fromkeys((trial.spec.data, trial.spec.is_table) for trial in self.trials)
        hints = (
            {}
            if download
            else {name: how_to_get(name, is_table=is_table, data_dir=data_dir) for name, is_table in sources}
        )
        missing = {name: hint for name, hint in hints.items() if hint is not None}
        checksums = {
            (name, is_table): data_checksum(name, is_table=is_table, data_dir=data_dir, download=download)
            for name, is_table in sources
            if name not in missing
        }
        trials = (
            replace(trial, spec=trial.spec.model_copy(update={"data_checksum": checksum}))
            for trial in self.trials
            for checksum in [checksums.get((trial.spec.data, trial.spec.is_table))]
        )
        return replace(self, trials=tuple(trials), missing=missing)

    def find_records(self, records: Iterable[TrialRecord]) -> dict[str, TrialRecord]:
        """Return the record of each planned trial by its `TrialSpec.cell`.

        If a trial has several records, the latest of the current revision counts or, without one, the latest. They are matched
        without checksums, so the data need not be available.

        Parameters
        ----------
        records : iterable of TrialRecord
            In the order in which they were finished.

        Returns
        -------
        dict of str to TrialRecord
            The records by cell; trials without a record are left out.
        """
        planned = {trial.spec.cell: trial.spec for trial in self.trials}
        earlier: dict[str, TrialRecord] = {}
        current: dict[str, TrialRecord] = {}
        for record in records:
            cell = record.spec.cell
            if cell in planned:
                (current if record.spec.is_current(planned[cell]) else earlier)[cell] = record
        return earlier | current
