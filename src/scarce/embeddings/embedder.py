"""`Embedder`: a pretrained model that turns images or texts into vectors."""

import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from scarce._validation import check_integer, check_option
from scarce.embeddings._model_files import ModelFiles, find_model
from scarce.embeddings._pooling import (
    POOLER,
    default_layers,
    image_pooling,
    max_tokens,
    pool_images,
    pool_texts,
    text_pooling,
)
from scarce.embeddings._transformers import quiet, require
from scarce.errors import FeatureError, FileError, MethodError
from scarce.features import EmbeddingInfo
from scarce.features._images import read_image
from scarce.features.embedding_info import EmbeddingKind

_MAX_TOKENS = 512
_UNKNOWN_LENGTH = 10**6  # a tokenizer without a limit says 10³⁰


class Embedder:
    """A pretrained model of the package transformers, which turns images or texts into vectors.

    The weights must be safetensors; code that comes with a model is never run. Texts are cut after the number of tokens that the
    model was trained with, at most 512. Images are resized and normalized as ``preprocessor_config.json`` says.

    Parameters
    ----------
    model : str or path
        A folder that ``save_pretrained`` wrote, or NAME or NAME@REVISION of a model in the cache of the hub.
    kind : {"image", "text"}
        What to embed.
    download : bool
        Download a model of the hub that is not in the cache. Otherwise no connection is opened.
    layers : int, optional
        For texts: how many of the last layers to take the mean over tokens of, side by side. By default 4, which also keeps how
        texts are phrased [1]_, or the class token if the model says so. 1 gives the vectors of sentence-transformers, which are
        trained to compare what texts are about.
    device : str
        Device to compute on, such as ``"cpu"`` or ``"cuda"``.

    Attributes
    ----------
    info : EmbeddingInfo
        The name, revision and checksum of the model, and the pooling: ``"projected"`` for the image or text features of models of
        both, such as CLIP; ``"class token"`` for vision transformers; ``"pooler"`` for networks such as ResNet or ConvNeXt, whose
        pooler is the mean over positions; ``"mean"`` over all tokens if there is neither; and for texts ``"mean, normalized"``
        over all tokens, in rows of norm 1, ``"mean of 4 layers, normalized"``, where each layer has norm 1, or ``"class token,
        normalized"`` if the model says so.

    Raises
    ------
    FileError
        If the model is not found, is not a model of this kind, or has no safetensors weights.
    ScarceError
        If transformers is not installed.

    See Also
    --------
    embed_images, embed_texts : Embed a folder or a table, with a file that is resumed after an interruption.

    References
    ----------
    .. [1] J. Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", NAACL 2019,
       section 5.3, https://aclanthology.org/N19-1423/.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from transformers import ResNetConfig, ResNetModel
    >>> config = ResNetConfig(embedding_size=4, hidden_sizes=[4, 8], depths=[1, 1], layer_type="basic")
    >>> with TemporaryDirectory() as folder:         # a tiny model with random weights
    ...     ResNetModel(config).save_pretrained(folder)
    ...     _ = Path(folder, "preprocessor_config.json").write_text(
    ...         '{"image_processor_type": "ViTImageProcessor", "size": {"height": 16, "width": 16}}')
    ...     embedder = Embedder(folder, "image")
    >>> embedder.embed([Image.new("RGB", (20, 30)), Image.new("L", (9, 9))]).shape, embedder.info.pooling
    ((2, 8), 'pooler')
    """

    info: EmbeddingInfo

    def __init__(
        self,
        model: str | Path,
        kind: EmbeddingKind,
        *,
        layers: int | None = None,
        download: bool = False,
        device: str = "cpu",
    ) -> None:
        check_option("kind", kind, ("image", "text"))
        if layers is not None:
            layers = check_integer("layers", layers, low=1)
            if kind == "image":
                raise MethodError(f"layers={layers} is for texts; leave it out for images.")
        require("transformers")
        files = find_model(str(model), download=download)
        self._device = _check_device(device)
        with quiet():
            self._prepare = _load_processor(files, kind)
            self._model, missing = _load_model(files)
        n_layers = getattr(self._model.config, "num_hidden_layers", None) or 1
        if layers is None:
            layers = default_layers(self._model, files.folder, n_layers) if kind == "text" else 1
        pooling = (
            image_pooling(self._model, missing)
            if kind == "image"
            else text_pooling(self._model, files.folder, layers)
        )
        _check_complete(files, missing, pooling)
        if kind == "text":
            self._layers = layers
            self._max_tokens = _max_tokens(files, self._prepare, self._model)
            if layers > n_layers:
                raise MethodError(
                    f"layers={layers}, but {files.name} has {n_layers}; expected at most that many: pass fewer."
                )
        self._model = self._model.to(self._device)
        self.info = EmbeddingInfo(
            kind, str(files.name), files.revision, files.checksum(), pooling, layers, versions=_versions()
        )

    def embed(self, items: Sequence[Any]) -> NDArray[np.float32]:
        """Return the vectors of some images or texts, computed in one batch.

        Parameters
        ----------
        items : sequence of path, PIL.Image.Image or str
            n images, as files or in memory, or n texts.

        Returns
        -------
        array of float32, shape (n, d)
            One vector per item.
        """
        with quiet(), torch.inference_mode():
            vectors = self._embed_images(items) if self.info.kind == "image" else self._embed_texts(items)
        found: NDArray[np.float32] = vectors.float().cpu().numpy()
        if not np.isfinite(found).all():
            row = int(np.argmin(np.isfinite(found).all(axis=1)))
            raise FeatureError(
                f"{self.info.model} returns numbers that are not finite for item {row} of a batch; expected finite vectors: "
                "choose another model."
            )
        return found

    def _embed_images(self, items: Sequence[Any]) -> torch.Tensor:
        images = [read_image(Path(item)) if isinstance(item, (str, Path)) else item for item in items]
        pixels = self._prepare([image.convert("RGB") for image in images], return_tensors="pt")[
            "pixel_values"
        ]
        return pool_images(self._model, self.info.pooling, pixels.to(self._device))

    def _embed_texts(self, items: Sequence[Any]) -> torch.Tensor:
        tokens = self._prepare(
            list(items), padding=True, truncation=True, max_length=self._max_tokens, return_tensors="pt"
        )
        on_device = {name: value.to(self._device) for name, value in tokens.items()}
        return pool_texts(self._model, self.info.pooling, self._layers, on_device)

    def __repr__(self) -> str:
        return f"Embedder({self.info.model!r}, {self.info.kind!r})"


def _check_device(device: str) -> torch.device:
    try:
        return torch.zeros(1, device=device).device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise MethodError(
            f"device={device!r} cannot be used ({_first_line(error)}); expected 'cpu', or 'cuda' with a graphics card."
        ) from None


def _load_processor(files: ModelFiles, kind: EmbeddingKind) -> Any:
    transformers = require("transformers")
    what = "image processor" if kind == "image" else "tokenizer"
    try:
        if kind == "image":
            return transformers.AutoImageProcessor.from_pretrained(
                files.folder, local_files_only=True, trust_remote_code=False, backend="pil"
            )
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            files.folder, local_files_only=True, trust_remote_code=False
        )
    except Exception as error:  # transformers raises errors of many kinds
        raise FileError(
            f"{files.name} cannot embed {kind}s: it has no {what} that can be loaded ({_first_line(error)}); choose a model of "
            f"{kind}s."
        ) from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def _load_model(files: ModelFiles) -> tuple[Any, list[str]]:
    """Return the network, and the names of weights that the file does not have."""
    transformers = require("transformers")
    try:
        model, report = transformers.AutoModel.from_pretrained(
            files.folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=torch.float32,
            output_loading_info=True,
        )
    except MemoryError:
        raise
    except Exception as error:  # transformers raises errors of many kinds
        raise FileError(
            f"{files.name} cannot be loaded as a model of transformers {version('transformers')} ({_first_line(error)}); choose "
            "another model, or save it again."
        ) from error
    if getattr(model.config, "is_encoder_decoder", False):
        model = model.get_encoder()
    return model.eval().requires_grad_(False), sorted(map(str, report["missing_keys"]))


def _check_complete(files: ModelFiles, missing: Sequence[str], pooling: str) -> None:
    """Raise unless all weights that the vectors depend on were in the file; transformers draws missing ones at random."""
    needed = [name for name in missing if "pooler" not in name or pooling == POOLER]
    if needed:
        raise FileError(
            f"{files.name} lacks {len(needed)} of the weights of its network, the first {needed[0]!r}; expected a file with all of "
            "them: download or save the model again."
        )


def _max_tokens(files: ModelFiles, tokenizer: Any, model: Any) -> int:
    config = getattr(model.config, "text_config", None) or model.config
    positions = getattr(config, "max_position_embeddings", None) or _MAX_TOKENS
    limit = (
        tokenizer.model_max_length if tokenizer.model_max_length < _UNKNOWN_LENGTH else min(positions, 510)
    )
    return max_tokens(files.folder, limit, min(positions, _MAX_TOKENS))


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:200].rstrip(".")


def _versions() -> dict[str, str]:
    names = ("scarce", "transformers", "torch", "pillow")
    return {name: version(name) for name in names} | {"python": platform.python_version()}
