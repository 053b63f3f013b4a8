"""From the outputs of a network to one vector per image or text."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from scarce.errors import FileError

PROJECTED = "projected"
CLASS_TOKEN = "class token"
POOLER = "pooler"
MEAN = "mean"
NORMALIZED = "normalized"
_CLASS_TOKENS = ("cls_token", "class_embedding", "class_token")
_DEFAULT_LAYERS = 4


def image_pooling(model: nn.Module, missing: Collection[str]) -> str:
    """Return how the vectors of images are made from the outputs of a network.

    ``projected`` are the image features of a model of images and texts such as CLIP. Otherwise, it is the last hidden state of
    the class token of a vision transformer; the output of the pooler, such as the mean over positions of a convolutional
    network, unless its weights are `missing`; or the mean over all tokens.
    """
    if hasattr(model, "get_image_features"):
        return PROJECTED
    if any(name.rpartition(".")[2] in _CLASS_TOKENS for name, _ in model.named_parameters()):
        return CLASS_TOKEN
    return MEAN if any("pooler" in name for name in missing) else POOLER


def default_layers(model: nn.Module, folder: Path, n_layers: int) -> int:
    """Return the last four layers, or fewer if there are fewer; one for CLIP, and if the model says to use the first token."""
    is_single = hasattr(model, "get_text_features") or _uses_first_token(folder)
    return 1 if is_single else min(_DEFAULT_LAYERS, n_layers)


def text_pooling(model: nn.Module, folder: Path, layers: int) -> str:
    """Return how the vectors of texts are made: the text features of CLIP, or the mean over tokens or the first token.

    The first token is used only by models that say so in ``1_Pooling/config.json``, as sentence-transformers write it. With
    several layers, it is the mean over tokens in each of the last ones.
    """
    if layers > 1:
        return f"{MEAN} of {layers} layers, {NORMALIZED}"
    if hasattr(model, "get_text_features"):
        return PROJECTED
    return f"{CLASS_TOKEN if _uses_first_token(folder) else MEAN}, {NORMALIZED}"


def _uses_first_token(folder: Path) -> bool:
    return _read_settings(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token") is True


def max_tokens(folder: Path, default: int, limit: int) -> int:
    """Return how many tokens of a text a model reads: what sentence-transformers store, else `default`; at most `limit`."""
    stored = _read_settings(folder / "sentence_bert_config.json").get("max_seq_length")
    return min(stored if isinstance(stored, int) and stored > 0 else default, limit)


def pool_images(model: Any, pooling: str, pixels: Tensor) -> Tensor:
    """Return the vectors (n, d) of images (n, 3, h, w)."""
    if pooling == PROJECTED:
        return _projected(model.get_image_features(pixel_values=pixels))
    outputs = model(pixel_values=pixels)
    if pooling == CLASS_TOKEN:
        return outputs.last_hidden_state[:, 0]  # type: ignore[no-any-return]
    pooled = outputs.get("pooler_output")
    if pooling == POOLER and pooled is not None:
        return pooled.flatten(1)  # type: ignore[no-any-return]
    hidden = outputs.last_hidden_state  # n × tokens × d, or n × d × height × width
    return hidden.mean(dim=1) if hidden.ndim == 3 else hidden.flatten(2).mean(dim=2)  # type: ignore[no-any-return]


def pool_texts(model: Any, pooling: str, layers: int, tokens: Mapping[str, Tensor]) -> Tensor:
    """Return the vectors (n, layers · d) of texts; means are over the tokens that are not padding."""
    if pooling == PROJECTED:
        return _projected(model.get_text_features(**tokens))
    outputs = model(**tokens, output_hidden_states=layers > 1)
    hidden = [outputs.last_hidden_state] if layers == 1 else outputs.hidden_states[-layers:]
    if pooling.startswith(CLASS_TOKEN):
        pooled = [layer[:, 0] for layer in hidden]
    else:
        weight = tokens["attention_mask"][..., None].to(hidden[0].dtype)
        n_tokens = weight.sum(dim=1).clamp(min=1)
        pooled = [(layer * weight).sum(dim=1) / n_tokens for layer in hidden]
    return torch.cat([torch.nn.functional.normalize(layer, dim=1) for layer in pooled], dim=1)


def _projected(outputs: Any) -> Tensor:
    found = outputs if isinstance(outputs, Tensor) else outputs.pooler_output
    return found.flatten(1)


def _read_settings(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(f"{path} is damaged ({error}); download or save the model again.") from error
    return settings if isinstance(settings, dict) else {}
