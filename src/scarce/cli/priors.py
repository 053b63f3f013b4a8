"""``scarce priors``: class priors, estimated from complementary labels."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from scarce.cli._inputs import join_labels
from scarce.cli._options import (
    ClassesOption,
    ConflictOption,
    DeviceOption,
    FeaturesArgument,
    ForceOption,
    FormOption,
    IdColumnOption,
    ImageSizeOption,
    JoinOption,
    LabelsOption,
    ModelName,
    SeedOption,
    set_option,
)
from scarce.cli._output import show_note, show_priors
from scarce.cli._parsing import parse_classes, parse_settings, translate_type_errors
from scarce.cli._runtime import needs_bench_extra, use_one_thread
from scarce.errors import FileError, MethodError

# Listed here because the registry imports torch.
EstimatorName = Literal["answers", "best-bin", "dedpul", "elkan-noto", "kernel-mean", "tice"]


def priors(
    features: FeaturesArgument,
    labels: LabelsOption,
    estimator: Annotated[
        EstimatorName,
        typer.Option(
            metavar="NAME",
            help="best-bin, dedpul, elkan-noto, kernel-mean or tice; or answers, the fraction of yes among the answers.",
        ),
    ] = "best-bin",
    settings: Annotated[list[str] | None, set_option("estimator", "bootstrap=0")] = None,
    module: Annotated[
        ModelName,
        typer.Option(metavar="NAME", help="The network that best-bin, dedpul and elkan-noto train."),
    ] = "mlp",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The JSON file to write, for `scarce train --priors`.", show_default=False
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file for a figure of the estimates: .png, .svg or .pdf.",
            show_default=False,
        ),
    ] = None,
    form: FormOption = None,
    classes: ClassesOption = None,
    conflict: ConflictOption = "raise",
    join: JoinOption = "exact",
    id_column: IdColumnOption = None,
    image_size: ImageSizeOption = None,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    force: ForceOption = False,
) -> None:
    """Estimate class priors from complementary labels.

    Each estimate has an interval. The raw estimates should sum to about one; if they do not, the excluded classes were
    not chosen at random, or there are too few labels.
    """
    params, class_names = parse_settings(settings), parse_classes(classes)
    for name in ("seed", "module"):
        if name in params:
            raise MethodError(f"--set {name}=... is not supported here; use --{name}.")
    if estimator == "answers" and params:
        raise MethodError(f"--estimator answers takes no parameters, got --set {', '.join(params)}.")
    from scarce._io.atomic import atomic_write
    from scarce._io.paths import check_file, check_writable, is_dir

    is_dir(features), check_file(labels)  # before importing torch, which takes seconds
    for path in (out, figure):
        if path is not None:
            check_writable(path, force=force, inputs=(features, labels))
    if out is not None and out == figure:
        raise FileError(f"--out and --figure are both {out}; choose two different names.")
    if figure is not None and figure.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise FileError(
            f"--figure {figure} has an unknown format; expected a name that ends in .png, .svg or .pdf."
        )
    if figure is not None:
        with needs_bench_extra("priors --figure"):
            import matplotlib  # noqa: F401
    from scarce.features import read_features
    from scarce.features._arrays import take_rows
    from scarce.labels import read_labels
    from scarce.priors import make_estimator, priors_from_answers
    from scarce.priors.io import save_priors
    from scarce.training._build import build_model
    from scarce.training._runtime import check_device

    use_one_thread()
    check_device(device)
    table = read_features(features, id_column=id_column, image_size=image_size)
    show_note(table)
    known = read_labels(labels, form=form, classes=class_names, conflict=conflict)
    known, rows = join_labels(known, table, join)
    X = take_rows(table.values, rows)
    if estimator == "answers":
        estimate = priors_from_answers(known)
    else:
        with translate_type_errors(params):
            prior_estimator = make_estimator(estimator, **{**params, "seed": seed})
        estimate = prior_estimator.estimate(
            X,
            known,
            make_model=lambda n: build_model(module, X, known.n_classes, seed=n),
            device=device,
            verbose=sys.stderr.isatty(),
        )
    show_priors(estimate)
    if out is not None:
        save_priors(estimate, out, force=force)
        print(f"saved the priors to {out}; use them with: scarce train ... --priors {out}")
    if figure is not None:
        plot = estimate.plot()
        with atomic_write(figure, force=force) as temporary:
            plot.savefig(temporary, dpi=150)
        print(f"saved the figure to {figure}")
