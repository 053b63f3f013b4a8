"""Find the files of a pretrained model, in a folder or in the cache of the hub, and identify them by a checksum."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scarce._hashing import bytes_digest
from scarce.embeddings._transformers import require
from scarce.errors import FetchError, FileError

_CHUNK_BYTES = 2**20
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?(@[\w.-]+)?")
_HUB_PATTERNS = ["*.json", "*.safetensors", "*.txt", "*.model", "1_Pooling/*"]
_SETTINGS = (
    "config.json",
    "preprocessor_config.json",
    "sentence_bert_config.json",
    "tokenizer_config.json",
    "1_Pooling/config.json",
)
# The first of these that exists defines the tokens of a text.
_TOKENIZERS = (
    ("tokenizer.json",),
    ("vocab.json", "merges.txt"),
    ("vocab.txt",),
    ("spiece.model",),
    ("tokenizer.model",),
)
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.h5", "*.msgpack")


@dataclass(frozen=True)
class ModelFiles:
    """A pretrained model on disk: its folder, and the commit hash if it is a snapshot of the hub."""

    name: str
    folder: Path
    revision: str | None

    def checksum(self) -> str:
        """Return the SHA-256 of the weights and of the settings that change what the model returns."""
        tokenizer = next(
            (names for names in _TOKENIZERS if all((self.folder / name).exists() for name in names)), ()
        )
        settings = [self.folder / name for name in (*_SETTINGS, *tokenizer)]
        weights = sorted(self.folder.glob("*.safetensors"))

        def chunks() -> Iterator[bytes]:
            for path in (path for path in (*weights, *settings) if path.exists()):
                yield f"{path.name}:{path.stat().st_size}:".encode()
                with path.open("rb") as file:
                    yield from iter(lambda: file.read(_CHUNK_BYTES), b"")

        return bytes_digest(chunks())


def find_model(name: str, *, download: bool = False) -> ModelFiles:
    """Return the files of a model: of a folder, or of NAME or NAME@REVISION in the cache of the hub.

    Only `download` opens a connection. Weights that are not safetensors are refused, because other formats can run code.

    Examples
    --------
    >>> find_model("no such/folder")
    Traceback (most recent call last):
    scarce.errors.FileError: 'no such/folder' is neither a folder nor the name of a model on the hub, such as google/vit-base-...
    """
    if Path(name).is_dir():
        found = ModelFiles(str(Path(name).absolute()), Path(name), _snapshot_revision(Path(name)))
    elif _HUB_NAME.fullmatch(name):
        folder = _find_snapshot(name, download)
        found = ModelFiles(name.partition("@")[0], folder, folder.name)
    else:
        raise FileError(
            f"{name!r} is neither a folder nor the name of a model on the hub, such as google/vit-base-patch16-224 or "
            "google/vit-base-patch16-224@REVISION; correct it."
        )
    _check_safetensors(found)
    return found


def _snapshot_revision(folder: Path) -> str | None:
    """Return the commit hash if a folder is a snapshot in the cache of the hub."""
    return folder.name if folder.parent.name == "snapshots" else None


def _find_snapshot(name: str, download: bool) -> Path:
    repo, _, revision = name.partition("@")
    hub = require("huggingface_hub")
    try:
        folder = hub.snapshot_download(
            repo,
            revision=revision or None,
            local_files_only=not download,
            allow_patterns=_HUB_PATTERNS,
            ignore_patterns=["onnx/*", "openvino/*"],
        )
    except Exception as error:  # of the hub, of the network, or of the disk
        if not download:
            raise FileError(
                f"{name} is neither a folder nor in the cache of the hub; expected one of both: download it with --download, or "
                "pass the folder of a model."
            ) from None
        reason = " ".join(str(error).split())[:200]
        raise FetchError(
            f"{name} could not be downloaded ({reason}); check the name and the connection."
        ) from error
    return Path(folder)


def _check_safetensors(found: ModelFiles) -> None:
    if not (found.folder / "config.json").exists():
        raise FileError(
            f"{found.name} has no config.json; expected a model in the format of transformers, as save_pretrained writes it: check "
            "the path."
        )
    if any(found.folder.glob("*.safetensors")):
        return
    pickled = next((path.name for pattern in _PICKLED for path in sorted(found.folder.glob(pattern))), None)
    what = f"its weights are in {pickled}, which is not read" if pickled else "it has no weights"
    raise FileError(
        f"{found.name} has no .safetensors file ({what}, because other formats can run code); choose a model or a revision with "
        "model.safetensors, or convert it where you trust it: save_pretrained."
    )
