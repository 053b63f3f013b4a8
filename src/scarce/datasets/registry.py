"""The data sets by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from scarce.datasets import _sources as sources
from scarce.datasets._cifar import read_cifar10, read_cifar20
from scarce.datasets._clcifar import read_clcifar10, read_clcifar20, read_human_cifar10
from scarce.datasets._digits import read_digits
from scarce.datasets._files import FileSet
from scarce.datasets.image_dataset import SplitArrays
from scarce.datasets.mnist import read_mnist_like
from scarce.errors import FileError


@dataclass(frozen=True)
class DatasetFacts:
    """The facts of a data set that are known before it is read.

    Attributes
    ----------
    title : str
        The content, in a few words.
    n_train, n_test, n_classes : int
        The numbers of training images, test images and classes.
    shape : tuple of int
        The shape of an image: (height, width) or (3, height, width).
    needs : tuple of tuples of FileSet
        The sets of files it needs, with alternatives for each.
    read : callable
        Reads the located sets of files, in that order.

    See Also
    --------
    available_datasets : The facts of every data set.
    load_dataset : Read a data set.

    Examples
    --------
    >>> facts = available_datasets()["mnist"]
    >>> facts.n_train, facts.n_classes, facts.shape
    (60000, 10, (28, 28))
    """

    title: str
    n_train: int
    n_test: int
    n_classes: int
    shape: tuple[int, ...]
    needs: tuple[tuple[FileSet, ...], ...]
    read: Callable[..., SplitArrays]


_DIGITS = tuple(map(str, range(10)))
# fmt: off
_CLOTHES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)
_KANA = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")
# fmt: on
_N_KMNIST_PARTIAL = 7011
_CIFAR10 = (sources.CIFAR10_BINARY, sources.CIFAR10_PYTHON)
_CIFAR100 = (sources.CIFAR100_PYTHON, sources.CIFAR100_BINARY)
_GRAY_SHAPE, _COLOR_SHAPE = (28, 28), (3, 32, 32)

DATASETS: dict[str, DatasetFacts] = {
    "digits": DatasetFacts("handwritten digits of scikit-learn", 1198, 599, 10, (8, 8), (), read_digits),
    "mnist": DatasetFacts(
        "handwritten digits",
        60_000, 10_000, 10, _GRAY_SHAPE, ((sources.MNIST,),), partial(read_mnist_like, classes=_DIGITS),
    ),
    "kmnist": DatasetFacts(
        "handwritten Japanese characters",
        60_000, 10_000, 10, _GRAY_SHAPE, ((sources.KMNIST,),), partial(read_mnist_like, classes=_KANA),
    ),
    "kmnist-partial": DatasetFacts(
        "the first training images of KMNIST, for small runs",
        _N_KMNIST_PARTIAL, 10_000, 10, _GRAY_SHAPE, ((sources.KMNIST_PARTIAL, sources.KMNIST),),
        partial(read_mnist_like, classes=_KANA, n_train=_N_KMNIST_PARTIAL),
    ),
    "fashion-mnist": DatasetFacts(
        "articles of clothing",
        60_000, 10_000, 10, _GRAY_SHAPE, ((sources.FASHION_MNIST,),), partial(read_mnist_like, classes=_CLOTHES),
    ),
    "cifar10": DatasetFacts("animals and vehicles", 50_000, 10_000, 10, _COLOR_SHAPE, (_CIFAR10,), read_cifar10),
    "cifar20": DatasetFacts(
        "CIFAR-100 in the twenty classes of CLCIFAR-20", 50_000, 10_000, 20, _COLOR_SHAPE, (_CIFAR100,), read_cifar20
    ),
    "clcifar10": DatasetFacts(
        "CIFAR-10 with complementary labels by human annotators",
        50_000, 10_000, 10, _COLOR_SHAPE, ((sources.CLCIFAR10,), _CIFAR10), read_clcifar10,
    ),
    "clcifar20": DatasetFacts(
        "CIFAR-20 with complementary labels by human annotators",
        50_000, 10_000, 20, _COLOR_SHAPE, ((sources.CLCIFAR20,), _CIFAR100), read_clcifar20,
    ),
    "human-cifar10": DatasetFacts(
        "CIFAR-10 with labels drawn from the transition matrix of CLCIFAR-10",
        50_000, 10_000, 10, _COLOR_SHAPE, (_CIFAR10,), read_human_cifar10,
    ),
}  # fmt: skip


def available_datasets() -> Mapping[str, DatasetFacts]:
    """Return the facts of every data set, by name.

    Returns
    -------
    mapping of str to DatasetFacts
        A read-only mapping.

    See Also
    --------
    load_dataset : Read a data set.
    available_tables : The facts of the small tables.

    Examples
    --------
    >>> available_datasets()["mnist"].n_train
    60000
    """
    return MappingProxyType(DATASETS)


def facts_of(name: str) -> DatasetFacts:
    """Return the facts of a data set, or raise a `FileError` that names all data sets.

    Examples
    --------
    >>> facts_of("imagenet")
    Traceback (most recent call last):
    scarce.errors.FileError: there is no data set 'imagenet'; choose one of digits, mnist, ...
    """
    if name not in DATASETS:
        raise FileError(f"there is no data set {name!r}; choose one of {', '.join(DATASETS)}.")
    return DATASETS[name]
