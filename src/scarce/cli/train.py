"""``scarce train``: features and labels in, a saved classifier out."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scarce.cli._embedding import embed_inputs, make_embedder
from scarce.cli._inputs import Join, join_labels, read_confirmed
from scarce.cli._options import (
    ClassesOption,
    ConflictOption,
    DeviceOption,
    DownloadOption,
    FeaturesArgument,
    ForceOption,
    FormOption,
    IdColumnOption,
    ImageSizeOption,
    JoinOption,
    LabelsOption,
    LayersOption,
    RecipeName,
    SeedOption,
    TextOption,
    set_option,
)
from scarce.cli._output import (
    show_alarms,
    show_labels,
    show_note,
    show_priors,
    show_report,
    show_training,
    show_truth,
)
from scarce.cli._parsing import parse_classes, parse_priors, parse_settings, translate_type_errors
from scarce.cli._resuming import fit_resumably, locked
from scarce.cli._runtime import is_launched_by_torchrun, rank, use_one_thread
from scarce.errors import LabelError, MethodError, ScarceError

if TYPE_CHECKING:
    from scarce.estimators import ScarceClassifier
    from scarce.features import Features


def train(
    context: typer.Context,
    features: FeaturesArgument,
    labels: LabelsOption,
    out: Annotated[
        Path, typer.Option(metavar="MODEL", help="The folder to write the model to.", show_default=False)
    ],
    form: FormOption = None,
    classes: ClassesOption = None,
    conflict: ConflictOption = "raise",
    join: JoinOption = "exact",
    id_column: IdColumnOption = None,
    image_size: ImageSizeOption = None,
    embed: Annotated[
        str | None,
        typer.Option(
            metavar="NAME_OR_FOLDER",
            help="Embed FEATURES, a folder of images or a table of texts, with a pretrained model, and train on the vectors: a "
            "folder with a model of transformers, or NAME or NAME@REVISION of one in the cache of the hub.",
            show_default=False,
        ),
    ] = None,
    text: TextOption = None,
    layers: LayersOption = None,
    download: DownloadOption = False,
    ordinary: Annotated[
        bool, typer.Option("--ordinary", help="The labels file holds true classes, not complementary labels.")
    ] = False,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="auto compares learners on held-out labels and stacks the best; `scarce methods` lists single methods.",
        ),
    ] = "auto",
    settings: Annotated[list[str] | None, set_option("method", "alpha=0.5")] = None,
    module: Annotated[
        Literal["auto", "linear", "nystroem", "mlp", "lenet", "resnet", "densenet"],
        typer.Option(
            metavar="NAME",
            help="The network: linear or mlp; for images also lenet, resnet or densenet. For --method auto, the only kind of "
            "learner to compare: linear, nystroem or mlp.",
        ),
    ] = "auto",
    priors: Annotated[
        str,
        typer.Option(
            metavar="PRIORS",
            help="Class priors: estimate, uniform, answers, the name of an estimator such as best-bin, "
            "cat=0.3,dog=0.7, or a JSON file from `scarce priors`.",
        ),
    ] = "estimate",
    transition: Annotated[
        str | None,
        typer.Option(
            metavar="MATRIX",
            help="p(class is excluded | true class), for methods that need it: uniform, confirmed (counted on examples whose class "
            "a yes confirms), or a .npy file with one row per true class.",
            show_default=False,
        ),
    ] = None,
    recipe: Annotated[
        RecipeName,
        typer.Option(
            metavar="NAME",
            help="annealed (40 epochs; the learning rate falls to zero), fast (10 epochs, from three times that rate) or paper "
            "(200 epochs at a constant rate). With annealed and fast, small data get more epochs.",
        ),
    ] = "annealed",
    epochs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Passes over the training data.", show_default=False),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Examples per step; 256 by default, 128 with fast.", show_default=False
        ),
    ] = None,
    optimizer: Annotated[
        Literal["adam", "sgd", "lbfgs"] | None,
        typer.Option(
            metavar="NAME",
            help="adam (the default), sgd, or lbfgs, which uses all examples at once, for --module linear.",
            show_default=False,
        ),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="The learning rate; 0.001 by default, 0.003 with fast.", show_default=False
        ),
    ] = None,
    weight_decay: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="The L2 penalty on the weights; 0.00001 by default.", show_default=False
        ),
    ] = None,
    augment: Annotated[
        str | None,
        typer.Option(
            metavar="affine,flip",
            help="Randomly change the training images: crop (shift by up to 4 pixels, filled with black), flip (mirror), shift "
            "(by up to 7.5 %), affine (rotate, scale, shear and shift).",
            show_default=False,
        ),
    ] = None,
    input_noise: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            min=0,
            help="Gaussian noise on the training features, in standard deviations of a column.",
            show_default=False,
        ),
    ] = None,
    dropout: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            min=0,
            help="The fraction of hidden units of mlp to drop in each step.",
            show_default=False,
        ),
    ] = None,
    micro_batch: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Compute each batch in pieces of this size: the same step with less memory.",
            show_default=False,
        ),
    ] = None,
    precision: Annotated[
        Literal["full", "bf16"],
        typer.Option(metavar="NAME", help="bf16 runs the network in bfloat16."),
    ] = "full",
    compile_: Annotated[
        bool, typer.Option("--compile", help="Compile the network with torch.compile; needs a C++ compiler.")
    ] = False,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    no_standardize: Annotated[
        bool,
        typer.Option(
            "--no-standardize",
            help="Do not scale the columns of a table to mean 0 and standard deviation 1.",
        ),
    ] = False,
    early_stopping: Annotated[
        bool | None,
        typer.Option(
            "--early-stopping/--no-early-stopping",
            help="Hold out some examples and keep the epoch that does best on them; needs no true classes. By default, "
            "--method auto decides by the number of labels, and other methods train to the end.",
        ),
    ] = None,
    validation_fraction: Annotated[
        float, typer.Option(metavar="X", help="The fraction of examples to hold out.")
    ] = 0.1,
    patience: Annotated[
        int, typer.Option(metavar="N", min=1, help="Epochs without improvement before stopping.")
    ] = 10,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="After this time, --method auto adds no more learners; it always fits at least one.",
            show_default=False,
        ),
    ] = None,
    no_estimate: Annotated[
        bool,
        typer.Option(
            "--no-estimate",
            help="Skip the estimate of the accuracy from held-out labels, which trains a network one to four more times.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Show all candidates that --method auto compared, with weights and scores."
        ),
    ] = False,
    force: ForceOption = False,
    restart: Annotated[
        bool, typer.Option("--restart", help="Delete the checkpoint of an interrupted run and start over.")
    ] = False,
) -> None:
    """Learn a classifier from complementary labels.

    Examples are matched by id if features and labels both have ids, else by order. To resume an interrupted run, repeat
    the command. To use more than one thread, set OMP_NUM_THREADS; to share each batch among several processes, run
    torchrun --nproc-per-node 2 -m scarce train ...
    """
    params, given_priors, class_names = parse_settings(settings), parse_priors(priors), parse_classes(classes)
    if ordinary and (form is not None or class_names is not None):
        raise LabelError("--form and --classes are for complementary labels; leave them out with --ordinary.")
    _check_embed_options(embed, text, layers, download, image_size)
    from scarce._io.arrays import read_array
    from scarce._io.paths import check_file, check_writable_dir, is_dir
    from scarce._io.temporary import clean_leftovers, delete

    check_writable_dir(out, "classifier.json", force=force)
    if rank() == 0:
        context.with_resource(locked(out))
        check_writable_dir(out, "classifier.json", force=force)  # another process may just have written it
    is_dir(features), check_file(labels)  # before importing torch, which takes seconds
    matrix = transition if transition in (None, "uniform", "confirmed") else read_array(transition)
    from scarce.estimators import ScarceClassifier
    from scarce.estimators.auto._network_store import networks_folder
    from scarce.features import read_features
    from scarce.features._arrays import take_rows
    from scarce.labels import read_labels
    from scarce.training._runtime import check_device, is_distributed

    if embed is not None:  # before use_one_thread: large networks are faster on several
        embedder = make_embedder(embed, features, text, layers, download=download, device=device)
        cache = Path(f"{out}.embeddings.npy")
        table = embed_inputs(features, embedder, cache, text=text, id_column=id_column, force=True)
        print(f"embedded {len(table.values):,} examples with {embedder.info}", flush=True)
    use_one_thread()
    check_device(device)
    if embed is None:
        table = read_features(features, id_column=id_column, image_size=image_size)
        show_note(table)
    if ordinary:
        target, rows = _read_ordinary(labels, table, join, id_column)
    else:
        target, rows = join_labels(
            read_labels(labels, form=form, classes=class_names, conflict=conflict), table, join
        )
    checkpoint = Path(f"{out}.checkpoint")
    classifier = ScarceClassifier(
        method, module, given_priors, "ordinary" if ordinary else "complementary", method_params=params or None, transition=matrix,
        recipe=recipe, epochs=epochs, batch_size=batch_size, optimizer=optimizer, learning_rate=learning_rate,
        input_noise=input_noise, dropout=dropout,
        weight_decay=weight_decay, augmentation=tuple(augment.split(",")) if augment else None,
        standardize=not no_standardize, early_stopping=early_stopping,
        validation_fraction=validation_fraction, patience=patience, time_limit=time_limit, checkpoint=checkpoint,
        device=device, micro_batch=micro_batch, precision=None if precision == "full" else precision,
        compile=compile_ or None, distributed=is_distributed(),
        random_state=seed, verbose=sys.stderr.isatty() and rank() == 0,
    )  # fmt: skip
    with translate_type_errors(params):
        known = classifier.describe(target)
    if not ordinary:
        show_labels(known.labels, known.priors)
    if restart and rank() == 0:
        checkpoint.unlink(missing_ok=True)
        delete(networks_folder(checkpoint))
    inputs = take_rows(table.values, rows)
    fit_resumably(classifier, inputs, target, table.names, checkpoint)
    if rank() > 0:
        return
    if table.embedding is not None:
        classifier.embedding_ = table.embedding
    classifier.save(out, force=force)
    checkpoint.unlink(missing_ok=True)
    clean_leftovers(checkpoint)
    if not ordinary and known.priors is None:
        show_priors(classifier.prior_estimate_)
    show_training(classifier, explain=explain)
    print(f"saved the model to {out}")
    if not no_estimate:
        _estimate_accuracy(classifier, inputs, target)


def _check_embed_options(
    embed: str | None, text: str | None, layers: int | None, download: bool, image_size: str | None
) -> None:
    given = {"--text": text is not None, "--layers": layers is not None, "--download": download}
    if embed is None:
        for name in (name for name, is_given in given.items() if is_given):
            raise MethodError(f"{name} is for --embed; pass --embed NAME_OR_FOLDER, or leave it out.")
    elif image_size is not None:
        raise MethodError(
            f"--image-size {image_size} does not go with --embed, which resizes images; leave it out."
        )
    elif is_launched_by_torchrun():
        raise MethodError(
            "--embed does not work with several processes; run scarce embed first, and train on its file."
        )


def _read_ordinary(path: Path, table: "Features", join: Join, id_column: str | None) -> tuple[Any, Any]:
    truth, rows = join_labels(read_confirmed(path, id_column), table, join)
    codes = truth.confirmed
    if (codes < 0).any():
        raise LabelError("--join left leaves rows without a true class; with --ordinary choose --join inner.")
    show_truth(truth.classes, [int((codes == code).sum()) for code in range(truth.n_classes)])
    return truth.classes[codes], rows


def _estimate_accuracy(classifier: "ScarceClassifier", inputs: Any, target: Any) -> None:
    """Estimate and print the accuracy; safe to interrupt, because the model is already saved."""
    from scarce.estimators import cross_fitted_report

    report = getattr(classifier, "held_out_report_", None)
    how = "from cross-validation"
    if report is None and classifier.distributed:
        print("to estimate the accuracy of the model, run `scarce evaluate` with labels of other examples")
        return
    if report is None:
        print(
            "estimating the accuracy: training again with some examples held out (--no-estimate skips this)",
            flush=True,
        )
        start_time = time.monotonic()
        try:
            report = cross_fitted_report(classifier, inputs, target)
        except KeyboardInterrupt:
            print("interrupted: the model is saved, but its accuracy is not estimated", file=sys.stderr)
            raise typer.Exit(130) from None
        except ScarceError as error:  # for instance, a fold lacks a class; the model itself is fine
            print(f"the accuracy is not estimated: {error}")
            return
        how = f"from held-out labels, in {time.monotonic() - start_time:.1f} s"
    print(f"estimated accuracy, {how}:")
    show_report(report)
    show_alarms(report)
