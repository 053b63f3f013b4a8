"""Embed images and texts with pretrained models: vectors to train on, with the model that computed them."""

from scarce.embeddings.embedder import Embedder
from scarce.embeddings.files import embed_images, embed_texts

__all__ = ["Embedder", "embed_images", "embed_texts"]
