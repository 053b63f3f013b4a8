"""The specification of a trial: everything that determines its result, and its key, a hash of that."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from scarce._hashing import settings_digest
from scarce.bench.spec._base import StrictModel
from scarce.bench.spec._splits import Split
from scarce.errors import MethodError
from scarce.training import Recipe

Kind = Literal["accuracy", "priors", "classifiers"]
ProtocolName = Literal["paper", "shortened", "own"]
RecipeName = Literal["annealed", "fast", "paper"]

_REVISIONS = ("method_revision", "labels_revision", "model_revision", "training_revision")


class Perturbed(StrictModel):
    """The true priors, multiplied by random factors with this standard deviation (`scarce.priors.perturbation`)."""

    perturb: Annotated[float, Field(ge=0)]

    @model_validator(mode="before")
    @classmethod
    def _check_name(cls, value: Any) -> Any:
        if isinstance(value, dict) and "corrupt" in value:
            raise ValueError("the field corrupt is now called perturb")
        return value


PriorSource = Literal["true", "uniform", "estimate", "learn"] | Perturbed
Revision = Annotated[int, Field(ge=1)]


def _check_recipe(settings: dict[str, Any]) -> dict[str, Any]:
    try:
        Recipe(**settings)
    except (MethodError, TypeError) as error:
        raise ValueError(str(error)) from None
    return settings


class TrialSpec(StrictModel):
    """Everything that determines the result of a trial.

    The key leaves out fields at their defaults, so a field that is added later does not change existing keys.

    Attributes
    ----------
    kind : {"accuracy", "priors", "classifiers"}
        Whether a network is trained, class priors are estimated, or a classifier is fitted.
    data, data_checksum : str
        The data set, and a checksum of its contents; None if it is not available.
    n_train, imbalance : int, float
        The number of training examples, and the ratio of the largest to the smallest class after subsampling.
    setting, process, setting_params
        How labels are generated: the name in tables, the process of `scarce.simulate` (None for the labels of the data set),
        and its parameters.
    method, method_params
        The method, the prior estimator or the classifier, and its parameters.
    model : str
        The network; empty if each classifier has its own.
    seed : int
        The seed of labels, weights and training.
    priors : str or Perturbed
        The class priors that the method is given.
    transition : {"uniform"} or None
        The transition matrix that the method is given.
    recipe : dict
        `Recipe.settings` without the seed.
    early_stopping : bool
        Whether a tenth of the training examples is held out to choose the epoch.
    split : {"70/30", "10-fold", "standard"} or None
        How the data of a classifier are divided into training and test rows.
    method_revision, labels_revision, model_revision, training_revision : int
        The revision of each part of the library that the numbers depend on.

    See Also
    --------
    Trial : A spec with its label and experiment.
    TrialRecord : The result of a trial.

    Examples
    --------
    >>> spec = TrialSpec(data="digits", data_checksum=None, n_train=1198, setting="uniform", process="uniform",
    ...                  method="scarce", model="mlp", seed=0, priors="true", recipe={"epochs": 2})
    >>> spec.key
    'ae9ee6c5e72e0edb'
    >>> spec.model_copy(update={"method_revision": 2}).key == spec.key
    False
    """

    kind: Kind = "accuracy"
    data: str
    data_checksum: str | None = None
    n_train: Annotated[int, Field(ge=1)]
    imbalance: float | None = None
    setting: str
    process: str | None = None
    setting_params: dict[str, Any] = Field(default_factory=dict)
    method: str
    method_params: dict[str, Any] = Field(default_factory=dict)
    model: str
    seed: Annotated[int, Field(ge=0)]
    priors: PriorSource = "true"
    transition: Literal["uniform"] | None = None
    recipe: Annotated[dict[str, Any], AfterValidator(_check_recipe)]
    early_stopping: bool = False
    split: Split | None = None
    method_revision: Revision = 1
    labels_revision: Revision = 1
    model_revision: Revision = 1
    training_revision: Revision = 1

    @property
    def key(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the spec as JSON with sorted keys."""
        return settings_digest(self.as_dict())

    @property
    def is_table(self) -> bool:
        """Whether the data are a table, and not images; the two have different names, except for ``digits``."""
        return self.split not in (None, "standard")

    @property
    def cell(self) -> str:
        """A hash of the spec without the revisions and the checksum of the data."""
        settings = self.as_dict()
        return settings_digest(
            {name: settings[name] for name in settings.keys() - {"data_checksum", *_REVISIONS}}
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that differ from their defaults, ready for JSON."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def is_current(self, planned: Self) -> bool:
        """Return whether a trial was run with the planned revisions and, if their checksum is known, on the planned data.

        Examples
        --------
        >>> spec = TrialSpec(data="digits", data_checksum="abc", n_train=9, setting="uniform", method="nn", model="mlp",
        ...                  seed=0, recipe={})
        >>> spec.is_current(spec.model_copy(update={"data_checksum": None}))
        True
        >>> spec.is_current(spec.model_copy(update={"training_revision": 2}))
        False
        """
        same_data = planned.data_checksum in (None, self.data_checksum)
        return same_data and all(getattr(self, name) == getattr(planned, name) for name in _REVISIONS)

    def make_recipe(self) -> Recipe:
        """Return the recipe, with the seed of the trial."""
        return Recipe(**self.recipe, seed=self.seed)
