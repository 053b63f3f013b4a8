"""Features and true classes from a user's files: arrays, tables, idx files, and folders of images or of shards."""

from scarce._io.idx import read_idx
from scarce.features.reader import Features, read_features
from scarce.features.shards import Shards
from scarce.features.truth import read_truth

__all__ = ["Features", "Shards", "read_features", "read_idx", "read_truth"]
