"""Inputs of commands: features joined with labels and true classes, and saved models."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scarce.cli._embedding import check_embedding, embed_for_model
from scarce.cli._runtime import use_one_thread
from scarce.errors import FeatureError, LabelError, MethodError

if TYPE_CHECKING:
    from scarce.estimators import ScarceClassifier
    from scarce.features import EmbeddingInfo, Features
    from scarce.labels import ComplementaryLabels

Join = Literal["exact", "inner", "left"]


def join_labels(
    labels: "ComplementaryLabels", features: "Features", join: Join
) -> tuple["ComplementaryLabels", Any]:
    """Return the labels of the feature rows and the indices of those rows, joined by id if both have ids, else by order.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.features import Features
    >>> from scarce.labels import ComplementaryLabels
    >>> labels = ComplementaryLabels.from_single([2, 0], classes=3, ids=["a", "b"])
    >>> join_labels(labels, Features(np.zeros((2, 5)), np.array(["b", "a"])), "exact")[0].ids.tolist()
    ['b', 'a']
    """
    import numpy as np

    if labels.ids is not None and features.ids is not None:
        return labels.align(features.ids, join)
    side = "labels" if labels.ids is None else "features"
    if join != "exact":
        raise LabelError(f"--join {join} needs ids on both sides, but the {side} have none; leave it out.")
    if labels.n_examples != len(features.values):
        raise LabelError(
            f"there are {len(features.values)} rows of features and {labels.n_examples} labelled examples, and the "
            f"{side} have no ids to join them by; give the same number of both, in the same order, or add ids."
        )
    return labels, np.arange(labels.n_examples)


def read_confirmed(path: Path, id_column: str | None, classes: Any = None) -> "ComplementaryLabels":
    """Read true classes as labels that confirm a class and exclude none, so that `join_labels` can join them."""
    import numpy as np

    from scarce._io.paths import prefix_errors
    from scarce._truth import encode_truth
    from scarce.features import read_truth
    from scarce.labels import ComplementaryLabels

    is_table = path.suffix.lower() in (".csv", ".parquet")
    values, ids = read_truth(path, id_column if is_table else None)
    with prefix_errors(path):
        truth = encode_truth(values, classes)
        no_exclusions = np.zeros(len(values) + 1, int), np.zeros(0, int)
        return ComplementaryLabels(*no_exclusions, truth.classes, ids, truth.codes.astype(np.int32))


def load_model(path: Path) -> tuple["ScarceClassifier", list[str] | None]:
    """Return a saved classifier and its column names, or None if it was not trained on a table with names."""
    from scarce._io.paths import check_dir
    from scarce._io.temporary import find_dir

    check_dir(find_dir(path))  # before importing torch, which takes seconds
    from scarce.estimators import load

    use_one_thread()
    model = load(path)
    # Columns are matched by name in read_inputs; scikit-learn would warn about a bare array.
    names = model.__dict__.pop("feature_names_in_", None)
    return model, None if names is None else names.tolist()


def get_embedding(model: "ScarceClassifier") -> "EmbeddingInfo | None":
    """Return the pretrained model of the embeddings that a classifier was trained on; None if it was trained on other features."""
    return getattr(model, "embedding_", None)


def read_inputs(
    path: Path,
    id_column: str | None,
    image_size: str | None,
    names: list[str] | None,
    input_shape: tuple[int, ...],
    embedding: "EmbeddingInfo | None" = None,
    embed: str | None = None,
) -> "Features":
    """Read features for a model, with columns in the order, or images of the shape, that it was trained on.

    For a classifier of embeddings, `embedding` is their pretrained model, and `embed` where it is now: images and texts are
    embedded, and features of another model are refused.
    """
    from scarce._validation import abbreviate
    from scarce.features import read_features

    if embedding is None and embed is not None:
        raise MethodError(
            f"--embed {embed} is for models that were trained on embeddings, and this one was not; leave it out."
        )
    if embedding is not None and (embedded := embed_for_model(path, embedding, embed, id_column)):
        return embedded
    features = read_features(path, id_column=id_column, image_size=image_size, input_shape=input_shape)
    if embedding is not None:
        check_embedding(features, embedding, path)
    if names is None or features.names is None or features.names == names:
        return features
    missing = [name for name in names if name not in features.names]
    extra = [name for name in features.names if name not in names]
    if missing or extra:
        problems = [f"lacks {abbreviate(missing)}"] * bool(missing)
        problems += [f"also has {abbreviate(extra)}"] * bool(extra)
        raise FeatureError(
            f"{path} does not have the columns that the model was trained on: it {' and '.join(problems)}; give the "
            "same columns (in any order)."
        )
    order = [features.names.index(name) for name in names]
    return replace(features, values=features.values[:, order], names=names)
