"""Read features and true classes from files: arrays, tables, idx files, and folders of images or shards."""

from scarce._io.idx import read_idx
from scarce.features.embedding_info import EmbeddingInfo
from scarce.features.reader import Features, read_features
from scarce.features.shards import Shards
from scarce.features.truth import read_truth

__all__ = ["EmbeddingInfo", "Features", "Shards", "read_features", "read_idx", "read_truth"]
