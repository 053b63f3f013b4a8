"""Save and load classifiers: a folder with weights (safetensors) and settings (JSON). Nothing is ever unpickled."""

import json
import platform
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

import scarce
from scarce._hashing import bytes_digest
from scarce._io.atomic import atomic_write_dir
from scarce._io.json import unique_keys
from scarce._io.paths import check_file, check_writable_dir
from scarce._io.temporary import find_dir
from scarce._validation import shorten
from scarce.errors import FileError, MethodError
from scarce.estimators._sanity import check_saved_weights
from scarce.estimators._settings_schema import check_settings
from scarce.estimators._training_rows import TrainingRows
from scarce.estimators._upgrade import upgrade_settings, upgrade_state
from scarce.estimators.auto import Choice
from scarce.estimators.auto._stacked_method import StackedMethod
from scarce.estimators.classifier import ScarceClassifier
from scarce.features import EmbeddingInfo
from scarce.labels import LabelSummary
from scarce.methods import Method, make_method
from scarce.models import Stack, Standardize, make_model, stack_from_description
from scarce.priors.io import priors_from_dict
from scarce.training import History, map_logits
from scarce.training._build import MakeModule
from scarce.training._runtime import check_device

_FORMAT = "scarce-classifier-5"
_RENAMED_FORMATS = ("scarce-classifier-1", "scarce-classifier-2", "scarce-classifier-3")
_EARLIER_FORMATS = (*_RENAMED_FORMATS, "scarce-classifier-4")  # 4 is 5 without the field "embedding"
_SETTINGS, _WEIGHTS = "classifier.json", "weights.safetensors"
_CUSTOM = "custom"
# Parameters that are stored elsewhere, or that belong to one training run and not to the classifier.
_UNSAVED_PARAMS = (
    "module",
    "method",
    "method_params",
    "priors",
    "transition",
    "recipe",
    "checkpoint",
    "random_state",
    "device",
    "verbose",
)


def save_classifier(classifier: ScarceClassifier, folder: Path, *, force: bool) -> None:
    """Write a fitted classifier to `folder` atomically; `force` overwrites an earlier one."""
    if not hasattr(classifier, "model_"):
        raise FileError("the classifier is not fitted; call fit before save.")
    check_writable_dir(folder, _SETTINGS, force=force)
    weights = _flatten(
        {"model": classifier.model_.state_dict(), "method": classifier.method_.prediction_state()}
    )
    with atomic_write_dir(folder) as temporary:
        try:
            save_file(weights, temporary / _WEIGHTS)
        except SafetensorError as error:
            raise FileError(f"{folder} cannot be written: {error}.") from error
        settings = _settings(classifier, temporary / _WEIGHTS)
        text = json.dumps(settings, indent=2, ensure_ascii=False, default=_to_json)
        (temporary / _SETTINGS).write_text(text, encoding="utf-8")


def load(
    folder: str | Path, *, module: nn.Module | MakeModule | None = None, device: str = "cpu"
) -> ScarceClassifier:
    """Load a classifier that `ScarceClassifier.save` or ``scarce train`` wrote.

    Parameters
    ----------
    folder : path
        The folder it was saved to.
    module : nn.Module or callable, optional
        The network, or a function of (input_shape, n_classes) that returns it. Required if the classifier was trained with a
        network of yours, because code is not saved.
    device : str
        Device for prediction, such as ``"cpu"`` or ``"cuda"``.

    Returns
    -------
    ScarceClassifier
        Fitted, with the same predictions as the one that was saved.

    Raises
    ------
    FileError
        If the folder does not exist, is damaged, or holds something else.
    MethodError
        If `module` is required but missing, or `device` cannot be used.

    See Also
    --------
    ScarceClassifier.save : Write the folder.

    Examples
    --------
    >>> import tempfile
    >>> from scarce.testing import three_blobs
    >>> X, y, labels = three_blobs()
    >>> clf = ScarceClassifier("scarce", "linear", epochs=20, learning_rate=0.1).fit(X, labels)
    >>> folder = Path(tempfile.mkdtemp()) / "blobs"
    >>> clf.save(folder)
    >>> bool((load(folder).predict(X) == clf.predict(X)).all())
    True
    >>> load("nowhere")
    Traceback (most recent call last):
    scarce.errors.FileError: nowhere does not exist; check the path.
    """
    folder = find_dir(Path(folder))
    check_device(device)
    if not folder.exists():
        raise FileError(f"{folder} does not exist; check the path.")
    settings = _read_settings(folder)
    weights_file = check_file(folder / _WEIGHTS)
    if bytes_digest([weights_file.read_bytes()]) != settings.get("weights_sha256"):
        raise FileError(
            f"{weights_file} is damaged: its checksum differs from the saved one; restore it from a copy, or train again."
        )
    try:
        weights = load_file(weights_file)
        check_settings(settings, weights)
        classifier = _rebuild(settings, weights, module)
    except (
        SafetensorError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        RuntimeError,
        OSError,
    ) as error:
        if isinstance(error, (FileError, MethodError)):
            raise
        reason = str(error).strip().partition("\n")[0]
        raise FileError(
            f"{folder} cannot be read as a saved classifier ({reason}); restore it from a copy, or train again."
        ) from error
    return classifier.set_params(device=device)  # type: ignore[no-any-return]


def _settings(classifier: ScarceClassifier, weights_file: Path) -> dict[str, Any]:
    params = {name: value for name, value in classifier.get_params().items() if name not in _UNSAVED_PARAMS}
    stack = classifier.model_.description() if isinstance(classifier.model_, Stack) else None
    module = "mlp" if classifier.module == "auto" and stack is None else classifier.module
    choice: Choice | None = getattr(classifier, "choice_", None)
    classes = classifier.classes_
    names = getattr(classifier, "feature_names_in_", None)
    embedding: EmbeddingInfo | None = getattr(classifier, "embedding_", None)
    return {
        "format": _FORMAT,
        "versions": {
            "scarce": scarce.__version__,
            "torch": torch.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "weights_sha256": bytes_digest([weights_file.read_bytes()]),
        "module": module if isinstance(module, str) else _CUSTOM,
        "stack": stack,
        "standardized": isinstance(classifier.model_, nn.Sequential)
        and isinstance(classifier.model_[0], Standardize),
        "method": classifier.method_.facts.name,
        "method_params": classifier.method_.params,
        "choice": choice.as_dict() if choice else None,
        "method_state": classifier.method_.extra_state(),
        "params": params,
        "classes": {
            "kind": "text" if classes.dtype.kind in "OU" else classes.dtype.str,
            "names": classes.tolist(),
        },
        "input_shape": list(classifier.input_shape_),
        "byte_inputs": classifier.byte_inputs_,
        "feature_names": None if names is None else names.tolist(),
        "priors": classifier.prior_estimate_.as_dict(),
        "labels": classifier.label_summary_.as_dict(),
        "history": classifier.history_.records,
        "training_rows": classifier.training_rows_.as_dict() if classifier.training_rows_ else None,
        "embedding": embedding.as_dict() if embedding else None,
    }


def _read_settings(folder: Path) -> dict[str, Any]:
    path = folder / _SETTINGS
    if folder.is_file() or not path.exists():
        raise FileError(
            f"{folder} is not a saved classifier: it has no {_SETTINGS}; choose a folder written by `scarce train` or "
            "ScarceClassifier.save."
        )
    try:
        settings = json.loads(check_file(path).read_text(encoding="utf-8"), object_pairs_hook=unique_keys)
    except FileError:
        raise
    except (ValueError, RecursionError, OSError) as error:
        raise FileError(f"{path} is damaged ({error}); restore it from a copy, or train again.") from error
    if isinstance(settings, dict) and settings.get("format") in [_FORMAT, *_EARLIER_FORMATS]:
        return settings
    found = settings.get("format") if isinstance(settings, dict) else type(settings).__name__
    if isinstance(found, str) and re.fullmatch(r"scarce-classifier-[1-9]\d*", found):
        fix = "it was written by a newer version: update scarce."
    else:
        fix = "it was written by another program: choose a folder written by `scarce train` or ScarceClassifier.save."
    raise FileError(f"{path} has the format {shorten(found)}, expected {_FORMAT!r}; {fix}")


def _rebuild(
    settings: dict[str, Any], weights: dict[str, Tensor], module: nn.Module | MakeModule | None
) -> ScarceClassifier:
    is_earlier = settings["format"] in _RENAMED_FORMATS
    if is_earlier:
        settings = upgrade_settings(settings)
    name = settings["module"]
    if name == _CUSTOM and module is None:
        raise MethodError(
            "the classifier was trained with a network of yours, and code is not saved; pass it: scarce.load(folder, module=...)."
        )
    classifier = ScarceClassifier(
        method=settings["method"], module=name if module is None else module,
        method_params=settings["method_params"] or None, **settings["params"],
    )  # fmt: skip
    state = _unflatten(weights)
    make = partial(_make_model, settings, state["model"], module)
    check_saved_weights(state["model"], make if module is None else None)
    model = make()
    model.load_state_dict(state["model"])
    if settings.get("stack") is not None:
        method: Method = StackedMethod()
    else:
        method = make_method(settings["method"], **settings["method_params"])
    method.restore(upgrade_state(method, state["method"]) if is_earlier else state["method"])
    method.load_extra_state(settings["method_state"])
    classifier.model_, classifier.method_ = model.eval(), method
    _restore_attributes(classifier, settings)
    _check_predicts(classifier)
    return classifier


def _check_predicts(classifier: ScarceClassifier) -> None:
    """Raise a `ValueError` if network and method do not turn one row of zeros into q probabilities."""
    row = torch.zeros(1, *classifier.input_shape_)
    q, method = len(classifier.classes_), classifier.method_
    for function in (method.scores, method.probabilities):
        found = map_logits(classifier.model_, row, function).shape
        if found != (1, q):
            raise ValueError(f"its predictions have the shape {tuple(found)}, expected {(1, q)}")


def _make_model(
    settings: dict[str, Any], state: dict[str, Tensor], module: nn.Module | MakeModule | None
) -> nn.Module:
    """Return a model of the structure that was saved, into which its tensors can be loaded."""
    shape, n_classes = tuple(settings["input_shape"]), len(settings["classes"]["names"])
    model: nn.Module
    if settings.get("stack") is not None:
        model = stack_from_description(settings["stack"])
    elif isinstance(module, nn.Module):
        model = module
    else:
        model = (
            make_model(settings["module"], shape, n_classes) if module is None else module(shape, n_classes)
        )
    if settings["standardized"]:
        zeros = torch.zeros(shape, dtype=state["0.mean"].dtype)
        rest = zeros.clone() if "0.rest" in state else None
        model = nn.Sequential(Standardize(zeros, torch.ones_like(zeros), rest), model)
    return model


def _restore_attributes(classifier: ScarceClassifier, settings: dict[str, Any]) -> None:
    """Set the fitted attributes that are not tensors."""
    if settings.get("choice") is not None:
        classifier.choice_ = Choice.from_dict(settings["choice"])
    elif settings.get("method_choice") is not None:  # written by an earlier version
        classifier.choice_ = Choice.from_method(settings["method"], settings["method_choice"])
    kind = settings["classes"]["kind"]
    classifier.classes_ = np.array(settings["classes"]["names"], dtype=None if kind == "text" else kind)
    classifier.input_shape_ = tuple(settings["input_shape"])
    classifier.byte_inputs_ = settings["byte_inputs"]
    classifier.n_features_in_ = classifier.input_shape_[0]
    if settings["feature_names"] is not None:
        classifier.feature_names_in_ = np.array(settings["feature_names"], dtype=object)
    classifier.prior_estimate_ = priors_from_dict(settings["priors"])
    classifier.priors_ = classifier.prior_estimate_.values
    classifier.__dict__.update(classifier.method_.fitted_attributes())
    classifier.history_ = History(settings["history"])
    rows = settings.get("training_rows")  # earlier versions did not store them
    classifier.training_rows_ = None if rows is None else TrainingRows.from_dict(rows)
    if settings.get("embedding") is not None:
        classifier.embedding_ = EmbeddingInfo.from_dict(settings["embedding"])
    summary = {
        key: tuple(value) if isinstance(value, list) else value for key, value in settings["labels"].items()
    }
    classifier.label_summary_ = LabelSummary(**summary)  # type: ignore[arg-type]


def _flatten(state: dict[str, dict[str, Tensor]]) -> dict[str, Tensor]:
    return {
        f"{part}.{name}": value.cpu().contiguous().clone()
        for part, tree in state.items()
        for name, value in tree.items()
    }


def _unflatten(weights: dict[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    state: dict[str, dict[str, Tensor]] = {"model": {}, "method": {}}
    for name, value in weights.items():
        part, _, rest = name.partition(".")
        state[part][rest] = value
    return state


def _to_json(value: Any) -> Any:
    """Return a NumPy number as a Python number, and any other value as text."""
    return value.item() if isinstance(value, np.generic) else str(value)
