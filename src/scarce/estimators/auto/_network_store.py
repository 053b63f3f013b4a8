"""The finished networks of an interrupted fit, one file each."""

from collections.abc import Iterable
from pathlib import Path

import torch
from torch import nn

from scarce._hashing import bytes_digest
from scarce._io.temporary import delete
from scarce.errors import FileError
from scarce.training._checkpoint import load_state, save_state


def networks_folder(checkpoint: str | Path) -> Path:
    """Return the folder beside a checkpoint file in which a stack keeps finished networks.

    Examples
    --------
    >>> networks_folder("model.checkpoint").name
    'model.checkpoint.networks'
    """
    return Path(f"{checkpoint}.networks")


class NetworkStore:
    """Networks by a digest of everything that they depend on, in a folder; without a folder, nothing is kept.

    Parameters
    ----------
    folder : Path, optional
        The folder; it is made when the first network is saved.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as parent:
    ...     store, key = NetworkStore(Path(parent, "networks")), NetworkStore.key([b"data", b"recipe"])
    ...     network = nn.Linear(2, 3)
    ...     before = store.load(key, network)
    ...     store.save(key, network)
    ...     before, store.load(key, nn.Linear(2, 3)), len(store)
    (False, True, 1)
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @staticmethod
    def key(parts: Iterable[bytes]) -> str:
        """Return the key of a network that depends on these bytes, and on the version of torch."""
        return bytes_digest([torch.__version__.encode(), *parts], short=True)

    def load(self, key: str, network: nn.Module) -> bool:
        """Load the weights of this network if it is finished, and return whether it is; a damaged file counts as not finished."""
        if self.folder is None or not self._path(key).exists():
            return False
        try:
            network.load_state_dict(load_state(self._path(key)))
        except (FileError, RuntimeError):
            return False
        return True

    def save(self, key: str, network: nn.Module) -> None:
        """Keep a finished network."""
        if self.folder is not None:
            save_state(self._path(key), network.state_dict())

    def __len__(self) -> int:
        return 0 if self.folder is None else sum(1 for _ in self.folder.glob("*.safetensors"))

    def delete(self) -> None:
        """Delete the folder."""
        if self.folder is not None:
            delete(self.folder)

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{key}.safetensors"
