"""``scarce evaluate``: how good a model is, also without true labels."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scarce.cli.inputs import join_labels, load_model, read_confirmed, read_inputs
from scarce.cli.options import (
    ClassesOption,
    ConflictOption,
    FeaturesArgument,
    FormOption,
    IdColumnOption,
    ImageSizeOption,
    JoinOption,
    ModelArgument,
)
from scarce.cli.settings import parse_classes
from scarce.errors import LabelError

if TYPE_CHECKING:
    from scarce.estimators import ScarceClassifier
    from scarce.labels import ComplementaryLabels

__all__ = ["evaluate"]


def evaluate(
    model: ModelArgument,
    features: FeaturesArgument,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Complementary labels of examples that were not trained on.",
            show_default=False,
        ),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="True classes (.csv, .parquet, .npy, idx), if there are any.",
            show_default=False,
        ),
    ] = None,
    form: FormOption = None,
    classes: ClassesOption = None,
    conflict: ConflictOption = "raise",
    join: JoinOption = "exact",
    id_column: IdColumnOption = None,
    image_size: ImageSizeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Tell how good a model is, even without true labels.

    The accuracy is estimated from complementary labels, with its standard error; true classes are only needed to
    check the estimate.
    """
    if labels is None and truth is None:
        raise LabelError("there is nothing to compare with; pass --labels FILE, --truth FILE, or both.")
    from scarce.datasets.shards import pick
    from scarce.labels import read_labels

    classifier, names = load_model(model)
    inputs = read_inputs(features, id_column, image_size, names)
    predicted = classifier.predict(inputs.values)
    facts: dict[str, Any] = {}
    if labels is not None:
        given = parse_classes(classes)
        known = read_labels(
            labels, form=form, classes=classifier.classes_ if given is None else given, conflict=conflict
        )
        known, rows = join_labels(_in_order_of(classifier, known, labels), inputs, join)
        facts |= _without_truth(classifier, known, pick(inputs.values, rows), predicted[rows])
    if truth is not None:
        confirmed, rows = join_labels(read_confirmed(truth, id_column, classifier.classes_), inputs, join)
        has_truth = confirmed.confirmed >= 0  # --join left keeps rows without
        right = predicted[rows][has_truth] == classifier.classes_[confirmed.confirmed[has_truth]]
        facts |= {"true_accuracy": float(right.mean()), "n_true": int(right.size)}
    if labels is not None and truth is not None:
        distance = abs(facts["true_accuracy"] - facts["accuracy"])
        facts["within_two_standard_errors"] = bool(distance <= 2 * facts["standard_error"])
    if as_json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        _show(facts)


def _in_order_of(
    model: "ScarceClassifier", labels: "ComplementaryLabels", path: Path
) -> "ComplementaryLabels":
    from scarce.labels.classes import some
    from scarce.labels.table_forms import with_classes

    if set(map(str, labels.classes)) != set(map(str, model.classes_)):
        raise LabelError(
            f"{path} has the classes {some(labels.classes)}, but the model was trained for {some(model.classes_)}; "
            "these must be the same."
        )
    return with_classes(labels, model.classes_)


def _without_truth(
    model: "ScarceClassifier", labels: "ComplementaryLabels", inputs: Any, predicted: Any
) -> dict[str, Any]:
    """Return all that complementary labels tell of a model."""
    from scarce.metrics import (
        approximated_accuracy,
        complementary_accuracy,
        complementary_risk,
        covering_rate,
    )

    estimate = complementary_accuracy(predicted, labels, model.priors_)
    return {
        "accuracy": estimate.value,
        "standard_error": estimate.standard_error,
        "low": estimate.low,
        "high": estimate.high,
        "level": estimate.level,
        "unseen": [str(name) for name in estimate.unseen],
        "risk": complementary_risk(model.logits(inputs), labels, model.priors_),
        "covering_rate": covering_rate(predicted, labels),
        "approximated_accuracy": approximated_accuracy(model.predict_proba(inputs), labels),
        "n_examples": labels.n_examples,
        "n_exclusions": len(labels.indices),
    }


def _show(facts: dict[str, Any]) -> None:
    from scarce.labels.classes import some

    if "accuracy" in facts:
        print(f"from {facts['n_examples']:,} examples with {facts['n_exclusions']:,} exclusions:")
        print(
            f"  accuracy without true labels  {facts['accuracy']:.4f} ± {facts['standard_error']:.4f} "
            f"({facts['level']:.0%} interval {facts['low']:.4f} to {facts['high']:.4f})"
        )
        print(f"  uncorrected risk              {facts['risk']:.4f}")
        print(f"  covering rate                 {facts['covering_rate']:.4f}")
        print(f"  approximated accuracy         {facts['approximated_accuracy']:.4f}")
        if facts["unseen"]:
            print(
                f"  predicted, but excluded by no example, so that mistakes go unnoticed: {some(facts['unseen'])}"
            )
    if "true_accuracy" in facts:
        print(f"from {facts['n_true']:,} true labels:")
        print(f"  true accuracy                 {facts['true_accuracy']:.4f}")
    if "within_two_standard_errors" in facts:
        verdict = "lies" if facts["within_two_standard_errors"] else "does not lie"
        print(f"  the true accuracy {verdict} within two standard errors of the estimate")
