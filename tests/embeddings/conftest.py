"""Tiny models and photos, made once."""

from pathlib import Path

import pytest
from helpers.embedding_models import MINILM, make_photos, make_resnet, make_vit

from scarce.embeddings import Embedder


@pytest.fixture(scope="session")
def vit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_vit(tmp_path_factory.mktemp("vit"))


@pytest.fixture(scope="session")
def resnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_resnet(tmp_path_factory.mktemp("resnet"))


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "photos"
    make_photos(folder)
    return folder


@pytest.fixture(scope="session")
def images(vit: Path) -> Embedder:
    return Embedder(vit, "image")


@pytest.fixture(scope="session")
def texts() -> Embedder:
    return Embedder(MINILM, "text", layers=1)
