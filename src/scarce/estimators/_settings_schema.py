"""The schema of ``classifier.json``, which is checked before anything in it is used."""

import math
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from torch import Tensor

from scarce._io.schema import (
    Check,
    Mismatch,
    anything,
    either,
    fields,
    flag,
    integer,
    list_of,
    mapping,
    names,
    number,
    one_of,
    optional,
    plain,
    text,
)
from scarce._validation import shorten
from scarce.features.embedding_info import check_embedding_info

_MAX_AXIS, _MAX_VALUES = 2**31, 2**27  # of the inputs of one example
_ANY_NUMBER = number(finite=False)

_PARAMS = {
    "labels": one_of("complementary", "ordinary"),
    "optimizer": optional(text),
    "precision": optional(text),
    "augmentation": optional(list_of(text)),
    **dict.fromkeys(("epochs", "batch_size", "micro_batch"), optional(number(1))),
    **dict.fromkeys(
        ("learning_rate", "weight_decay", "input_noise", "dropout"), optional(number(0, math.inf))
    ),
    "time_limit": optional(_ANY_NUMBER),
    **dict.fromkeys(("validation_fraction", "patience"), number(0, math.inf)),
    **dict.fromkeys(
        ("compile", "early_stopping", "standardize", "warm_start", "distributed"),
        optional(either("a flag", flag, number())),
    ),
}
_CONVOLUTIONAL = ("lenet", "resnet", "densenet")
_LAYERS = {
    "scale-columns": fields({"layer": text, "columns": integer(1), "limit": optional(number())}),
    "nystroem": fields({"layer": text, "landmarks": list_of(integer(1), 2)}),
    "linear": fields({"layer": text, "inputs": integer(1), "outputs": integer(1)}),
    "mlp": fields({"layer": text, "inputs": integer(1), "hidden": integer(1), "outputs": integer(1)}),
    "scale-pixels": fields({"layer": text}),
    **dict.fromkeys(
        _CONVOLUTIONAL, fields({"layer": text, "input_shape": list_of(integer(1)), "outputs": integer(1)})
    ),
}
_CHOICE = fields(
    {
        "candidates": list_of(
            fields(
                {
                    **dict.fromkeys(("name", "mechanism", "learner"), text),
                    **dict.fromkeys(("weight", "seconds"), number(0)),
                    "score": optional(_ANY_NUMBER),
                },
                {"error": optional(text)},
            )
        ),
        "criterion": text,
        "gate": optional(
            fields(
                {"statistic": _ANY_NUMBER, "excess": _ANY_NUMBER, "n_pairs": integer(), "rejects_scar": flag}
            )
        ),
        "priors": list_of(number(0, 1)),
        "reason": text,
    },
    {"error_rates": optional(list_of(number(0, 1), 2))},
)
_METRIC = either(
    "a number, text, or a list of numbers", _ANY_NUMBER, flag, text, one_of(None), list_of(_ANY_NUMBER)
)


def check_settings(settings: dict[str, Any], weights: Mapping[str, Tensor]) -> None:
    """Raise a `Mismatch` if the settings of a saved classifier do not have the expected structure.

    Parameters
    ----------
    settings : dict
        The content of ``classifier.json``.
    weights : mapping
        Its tensors; the layers of a stack cannot be larger.
    """
    _SETTINGS(settings, "")
    kind, classes = settings["classes"]["kind"], settings["classes"]["names"]
    _check_kind(kind, classes)
    q, shape = len(classes), settings["input_shape"]
    if not 1 <= len(shape) <= 3 or math.prod(shape) > _MAX_VALUES:
        raise Mismatch(
            "input_shape", shorten(shape), f"one to three sizes with a product of at most {_MAX_VALUES}"
        )
    optional(list_of(text, shape[0]))(settings["feature_names"], "feature_names")
    list_of(number(0, 1), q)(settings["priors"].get("values"), "priors.values")
    _labels(q)(settings["labels"], "labels")
    if settings.get("stack") is not None:
        _check_stack(settings["stack"], weights, shape, q)


_SETTINGS = fields(
    {
        "format": text,
        "weights_sha256": text,
        "module": text,
        "standardized": flag,
        "method": text,
        "method_params": mapping(plain),
        "params": fields({}, _PARAMS),
        "classes": fields({"kind": text, "names": names}),
        "input_shape": list_of(integer(1, _MAX_AXIS)),
        "byte_inputs": flag,
        "feature_names": optional(list_of(text)),
        "priors": mapping(either("a list, text or null", list_of(anything), text, one_of(None))),
        "labels": mapping(anything),
        "history": list_of(mapping(_METRIC)),
    },
    {
        "versions": mapping(text),
        "stack": optional(fields({"members": list_of(list_of(mapping(anything)))})),
        "choice": optional(_CHOICE),
        "method_choice": optional(text),  # of an earlier format, like the annotators
        "annotators": optional(list_of(text)),
        "method_state": mapping(plain),
        "training_rows": optional(fields({"hashes": text, "is_complete": flag})),
        "embedding": optional(check_embedding_info),
    },
)


def _check_kind(kind: str, classes: list[Any]) -> None:
    """Check that the type of the class names is one of numbers or text, and holds all of them."""
    item: Check
    if kind == "text":
        item = text
    elif not re.fullmatch(r"[<>|=]([iu][1248]|f[248]|b1)", kind):
        raise Mismatch("classes.kind", shorten(kind), "'text' or a type of numbers such as '<i8'")
    elif np.dtype(kind).kind in "iu":
        limits = np.iinfo(kind)
        item = integer(int(limits.min), int(limits.max))
    else:
        item = flag if kind.endswith("b1") else number()
    list_of(item)(classes, "classes.names")


def _labels(q: int) -> Check:
    """Return the check of a `LabelSummary` of q classes."""
    counts = ("n_examples", "n_classes", "n_exclusions", "n_confirmed", "n_answers", "n_skipped")
    return fields(
        {
            **dict.fromkeys(counts, integer()),
            "n_examples": integer(1),
            "n_classes": integer(q, q),
            "examples_by_exclusions": list_of(integer()),
            "classes": list_of(either("a name", text, number(), flag), q),
            "counts": list_of(integer(), q),
            "rates": list_of(number(0, 1), q),
        }
    )


def _check_stack(stack: dict[str, Any], weights: Mapping[str, Tensor], shape: list[int], q: int) -> None:
    """Check the layers of all members of a stack; a layer that is larger than the tensors would only take memory."""
    n_values = sum(tensor.numel() for tensor in weights.values())
    for position, layers in enumerate(stack["members"]):
        for number_of_layer, layer in enumerate(layers):
            where = f"stack.members.{position}.{number_of_layer}"
            one_of(*_LAYERS)(layer.get("layer"), f"{where}.layer")
            _LAYERS[layer["layer"]](layer, where)
            if layer["layer"] == "scale-pixels":
                continue
            if layer["layer"] in _CONVOLUTIONAL:
                for name, found, expected in (
                    ("input_shape", layer["input_shape"], shape),
                    ("outputs", layer["outputs"], q),
                ):
                    if found != expected:
                        raise Mismatch(f"{where}.{name}", shorten(found), f"{expected}, as in the settings")
                continue
            sizes = layer.get("landmarks") or [value for name, value in layer.items() if name != "limit"][1:]
            for width, height in pairwise([1, *sizes]):
                if width * height > n_values:
                    raise Mismatch(
                        where, shorten(layer), f"a layer of at most {n_values} values, as many as are stored"
                    )
