"""What is known of features that a pretrained model computed: which model, which weights, which pooling."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from scarce._io.schema import Mismatch, fields, integer, mapping, one_of, optional, text
from scarce._validation import check_option
from scarce.errors import FeatureError

EmbeddingKind = Literal["image", "text"]
_CHECKSUM_DIGITS = 12  # of those shown in messages


@dataclass(frozen=True)
class EmbeddingInfo:
    """Which pretrained model computed features, and how; two that are the same turn equal inputs into equal features.

    Attributes
    ----------
    kind : {"image", "text"}
        What the model was given.
    model : str
        The name on the hub, or the folder of the model.
    revision : str or None
        The commit hash of a model from the hub; None for a folder.
    checksum : str
        The SHA-256 of the weights and of the settings that transformers reads.
    pooling : str
        How the outputs of the model became one vector per example; see `scarce.embeddings.Embedder`.
    layers : int
        How many of the last layers of a model of texts were used.
    text_column : str or None
        The column of a table that holds the texts.
    versions : mapping of str to str
        The versions of the libraries that computed the features.

    See Also
    --------
    scarce.embeddings.Embedder : Computes such features.
    Features : Features with their `EmbeddingInfo`.

    Examples
    --------
    >>> info = EmbeddingInfo("text", "models/minilm", None, "5f0c" * 16, "mean, normalized")
    >>> str(info)
    'models/minilm (checksum 5f0c5f0c5f0c, mean, normalized)'
    >>> info.is_same(EmbeddingInfo("text", "/copy/of/minilm", None, "5f0c" * 16, "mean, normalized"))
    True
    """

    kind: EmbeddingKind
    model: str
    revision: str | None
    checksum: str
    pooling: str
    layers: int = 1
    text_column: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_option("kind", self.kind, get_args(EmbeddingKind))

    def is_same(self, other: "EmbeddingInfo") -> bool:
        """Return whether both name the same weights, settings and pooling, wherever the model was and whatever it was called."""
        return (self.kind, self.checksum, self.pooling) == (other.kind, other.checksum, other.pooling)

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes as a dict that JSON can store."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Any) -> "EmbeddingInfo":
        """Return what `as_dict` returned, or raise `FeatureError` if a field is missing or of the wrong type."""
        try:
            check_embedding_info(record, "embedding")
        except Mismatch as error:
            raise FeatureError(f"{error}; embed the examples again.") from None
        return cls(**record)

    def __str__(self) -> str:
        where = f"revision {self.revision[:_CHECKSUM_DIGITS]}, " if self.revision else ""
        return f"{self.model} ({where}checksum {self.checksum[:_CHECKSUM_DIGITS]}, {self.pooling})"


check_embedding_info = fields(
    {
        "kind": one_of(*get_args(EmbeddingKind)),
        "model": text,
        "revision": optional(text),
        "checksum": text,
        "pooling": text,
    },
    {"layers": integer(1), "text_column": optional(text), "versions": mapping(text)},
)
"""The schema of `EmbeddingInfo.as_dict`."""
