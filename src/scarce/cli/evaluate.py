"""``scarce evaluate``: the accuracy of a model, even without true labels."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scarce.cli._inputs import get_embedding, join_labels, load_model, read_confirmed, read_inputs
from scarce.cli._options import (
    ClassesOption,
    ConflictOption,
    EmbedOption,
    FeaturesArgument,
    FormOption,
    IdColumnOption,
    ImageSizeOption,
    JoinOption,
    ModelArgument,
)
from scarce.cli._output import data_stream, show_alarms, show_note, show_report
from scarce.cli._parsing import parse_classes
from scarce.errors import LabelError, MethodError

if TYPE_CHECKING:
    from scarce.estimators import ScarceClassifier
    from scarce.labels import ComplementaryLabels
    from scarce.metrics import ComplementaryReport, ErrorRates
    from scarce.priors import PriorEstimate


def evaluate(
    model: ModelArgument,
    features: FeaturesArgument,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Complementary labels of examples that the model was not trained on.",
            show_default=False,
        ),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="True classes, if you have any: .csv, .parquet, .npy or idx.",
            show_default=False,
        ),
    ] = None,
    form: FormOption = None,
    classes: ClassesOption = None,
    conflict: ConflictOption = "raise",
    priors: Annotated[
        str | None,
        typer.Option(
            metavar="PRIORS",
            help="Class priors: uniform; numbers such as cat=0.3,dog=0.7; a JSON file from `scarce priors`; an estimator such as "
            "best-bin; or estimate, which estimates them from the labels. By default, the priors given to `scarce train`, "
            "else estimate.",
            show_default=False,
        ),
    ] = None,
    label_noise: Annotated[
        str | None,
        typer.Option(
            metavar="X",
            help="The fraction of wrong answers, or of examples that exclude their own class, such as 0.05. For answers, two "
            "numbers set the rates of wrong no and wrong yes: 0.05,0.02. By default, the error rates of answers are estimated, and "
            "exclusions are assumed to be correct.",
            show_default=False,
        ),
    ] = None,
    join: JoinOption = "exact",
    id_column: IdColumnOption = None,
    image_size: ImageSizeOption = None,
    embed: EmbedOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Estimate the accuracy of a model, even without true labels.

    The accuracy is estimated from complementary labels, with an interval that accounts for uncertain class priors and
    wrong labels. True classes are needed only to check the estimate. Alarms warn when it should not be trusted.
    """
    if labels is None and truth is None:
        raise LabelError("there is nothing to evaluate on; pass --labels FILE, --truth FILE, or both.")
    if labels is None and (priors is not None or label_noise is not None):
        raise LabelError(
            "--priors and --label-noise are for complementary labels; pass --labels FILE, or leave them out."
        )
    from scarce.features._arrays import take_rows
    from scarce.labels import read_labels

    classifier, names = load_model(model)
    inputs = read_inputs(
        features, id_column, image_size, names, classifier.input_shape_, get_embedding(classifier), embed
    )
    show_note(inputs, beside_data=as_json)
    predicted = classifier.predict(inputs.values)
    facts: dict[str, Any] = {}
    report = None
    if labels is not None:
        class_names = parse_classes(classes)
        if class_names is None:
            class_names = classifier.classes_
        known = read_labels(labels, form=form, classes=class_names, conflict=conflict)
        known, rows = join_labels(_reorder_classes(known, classifier, labels), inputs, join)
        report, facts = _evaluate_without_truth(
            classifier, known, take_rows(inputs.values, rows), predicted[rows], priors, label_noise
        )
    if truth is not None:
        confirmed, rows = join_labels(read_confirmed(truth, id_column, classifier.classes_), inputs, join)
        has_truth = confirmed.confirmed >= 0  # --join left keeps rows without a true class
        is_correct = predicted[rows][has_truth] == classifier.classes_[confirmed.confirmed[has_truth]]
        facts |= {"true_accuracy": float(is_correct.mean()), "n_true": int(is_correct.size)}
    if labels is not None and truth is not None:
        difference = abs(facts["true_accuracy"] - facts["accuracy"])
        facts["within_two_standard_errors"] = bool(difference <= 2 * facts["standard_error"])
        facts["within_interval"] = bool(facts["low"] <= facts["true_accuracy"] <= facts["high"])
    if as_json:
        print(json.dumps(facts, indent=2, ensure_ascii=False), file=data_stream())
    else:
        _show(facts, report)


def _reorder_classes(
    labels: "ComplementaryLabels", model: "ScarceClassifier", path: Path
) -> "ComplementaryLabels":
    from scarce._validation import abbreviate
    from scarce.labels.io import with_classes

    if set(map(str, labels.classes)) != set(map(str, model.classes_)):
        raise LabelError(
            f"{path} has the classes {abbreviate(labels.classes)}, but the model was trained for {abbreviate(model.classes_)}; "
            "pass labels of the same classes."
        )
    return with_classes(labels, model.classes_)


def _evaluate_without_truth(
    model: "ScarceClassifier",
    labels: "ComplementaryLabels",
    inputs: Any,
    predicted: Any,
    priors: str | None,
    label_noise: str | None,
) -> "tuple[ComplementaryReport, dict[str, Any]]":
    """Return the report from complementary labels, and its numbers with further metrics as a dict."""
    from scarce.metrics import (
        LabelModel,
        approximated_accuracy,
        complementary_risk,
        covering_rate,
        fit_label_model,
    )
    from scarce.metrics.label_model import has_random_answers
    from scarce.priors import PriorEstimate, priors_from_answers

    error_rates = None if label_noise is None else _parse_error_rates(label_noise, labels)
    known: PriorEstimate | LabelModel | None
    if priors == "answers" and not has_random_answers(labels):
        priors_from_answers(labels)  # raises an error that says what is missing
    if priors in ("estimate", "answers"):  # even if `scarce train` was given priors
        known = fit_label_model(labels, errors=error_rates, learned_errors=model.learned_error_rates())
    else:
        known = _resolve_priors(priors, labels, inputs)
    report = model.report(inputs, labels, known, error_rates=error_rates)
    probabilities = model.predict_proba(inputs)
    return report, report.as_dict() | {
        "risk": complementary_risk(model.logits(inputs), labels, report.label_model.priors),
        "covering_rate": covering_rate(predicted, labels),
        "approximated_accuracy": approximated_accuracy(probabilities, labels),
        "n_exclusions": len(labels.indices),
    }


def _resolve_priors(text: str | None, labels: "ComplementaryLabels", inputs: Any) -> "PriorEstimate | None":
    """Return the priors of the option ``--priors``; None without it."""
    if text is None:
        return None
    from scarce.cli._parsing import parse_priors
    from scarce.priors import PriorEstimate, resolve_priors

    given = parse_priors(text)
    if isinstance(given, PriorEstimate):
        return given.arranged(labels.classes)
    return resolve_priors(given, labels, inputs)


def _parse_error_rates(text: str, labels: "ComplementaryLabels") -> "ErrorRates":
    from scarce.metrics import ErrorRates

    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2):
        raise MethodError(
            f"--label-noise {text!r} is not understood; expected a number such as 0.05, or two: 0.05,0.02."
        )
    if labels.answers is None:
        if len(numbers) == 2:
            raise MethodError(
                f"--label-noise {text!r} has two numbers, which are for answers; these labels are exclusions: pass one."
            )
        return ErrorRates(numbers[0], 0.0)
    return ErrorRates(numbers[0], numbers[-1])


def _show(facts: dict[str, Any], report: "ComplementaryReport | None") -> None:
    if report is not None:
        kind = "answers" if report.label_model.source == "answers" else "exclusions"
        print(f"from {facts['n_examples']:,} examples with {report.n_labels:,} {kind}:")
        show_report(report)
        print(f"uncorrected risk              {facts['risk']:.4f}")
        print(f"covering rate                 {facts['covering_rate']:.4f}")
        print(f"approximated accuracy         {facts['approximated_accuracy']:.4f}")
        show_alarms(report)
    if "true_accuracy" in facts:
        print(f"from {facts['n_true']:,} true labels:")
        print(f"true accuracy                 {facts['true_accuracy']:.4f}")
    if "within_interval" in facts:
        verdict = "lies" if facts["within_interval"] else "does not lie"
        print(f"the true accuracy {verdict} within the interval")
