"""Load a data set by its name."""

from contextlib import ExitStack
from pathlib import Path

from scarce.datasets._fetch import ensure, fetch
from scarce.datasets._files import LocatedFiles, find_file_set
from scarce.datasets._folders import created_dir
from scarce.datasets.image_dataset import Annotation, ImageDataset, SplitArrays, labels_from_annotations
from scarce.datasets.registry import DatasetFacts, facts_of
from scarce.errors import FileError, MethodError


def load_dataset(
    name: str,
    data_dir: str | Path | None = None,
    download: bool = True,
    *,
    annotation: Annotation | None = None,
) -> ImageDataset:
    """Load a data set by its name.

    Its files are searched for in `data_dir`, in the folder of the environment variable ``SCARCE_DATA``, in
    ``/usr/share/datasets`` and in the user's cache, by their usual names, gzipped or not. Their checksums are checked.

    Parameters
    ----------
    name : str
        A key of `available_datasets`.
    data_dir : path, optional
        The folder to search first, and to download to.
    download : bool
        Whether to download files that are not found.
    annotation : {0, 1, 2, "union"}, optional
        For data sets with three annotators per image: the labels of one annotator, or (the default) their union.

    Returns
    -------
    ImageDataset
        Images of shape (n, height, width) or (n, 3, height, width), true classes of shape (n,), and complementary labels if
        human annotators gave any.

    Raises
    ------
    FileError
        If the data set is unknown, or its files are missing or damaged.
    FetchError
        If a file cannot be downloaded.

    See Also
    --------
    available_datasets : The names that this function takes.
    load_table : Load a small table, a set of texts or real candidate sets.
    fetch_dataset : Download a data set without reading it.
    scarce.simulate.simulate : Draw complementary labels from true classes.

    References
    ----------
    MNIST: Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, "Gradient-based learning applied to document recognition",
    Proceedings of the IEEE 1998, https://doi.org/10.1109/5.726791.

    KMNIST: T. Clanuwat, M. Bober-Irizar, A. Kitamoto, A. Lamb, K. Yamamoto, D. Ha, "Deep learning for classical Japanese
    literature", NeurIPS 2018 workshop, https://arxiv.org/abs/1812.01718.

    Fashion-MNIST: H. Xiao, K. Rasul, R. Vollgraf, "Fashion-MNIST: a novel image dataset for benchmarking machine learning
    algorithms", 2017, https://arxiv.org/abs/1708.07747.

    CIFAR-10, CIFAR-100: A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009,
    https://www.cs.toronto.edu/~kriz/learning-features-2009-TR.pdf.

    CLCIFAR: H.-H. Wang, T.-H. Mai, N.-X. Ye, W.-I. Lin, H.-T. Lin, "CLImage: human-annotated datasets for
    complementary-label learning", 2023, https://arxiv.org/abs/2305.08295.

    Examples
    --------
    >>> data = load_dataset("digits")
    >>> data
    ImageDataset('digits', 1,198 + 599 images of 8 × 8, 10 classes)
    >>> load_dataset("imagenet")
    Traceback (most recent call last):
    scarce.errors.FileError: there is no data set 'imagenet'; choose one of digits, mnist, ...
    """
    facts = facts_of(name)
    arrays = facts.read(*(ensure(alternatives, data_dir, download) for alternatives in facts.needs))
    _check_contents(name, facts, arrays)
    labels = None
    if arrays.annotations is not None:
        chosen: Annotation = "union" if annotation is None else annotation
        labels = labels_from_annotations(arrays.annotations, facts.n_classes, chosen)
    elif annotation is not None:
        raise MethodError(
            f"annotation={annotation!r} is for data sets with several annotators; leave it out for {name}."
        )
    return ImageDataset(name, **arrays._asdict(), labels=labels)


def find_dataset(name: str, data_dir: str | Path | None = None) -> tuple[LocatedFiles, ...]:
    """Locate the files of a data set, without checking or downloading them.

    Parameters
    ----------
    name : str
        A key of `available_datasets`.
    data_dir : path, optional
        The folder to search first.

    Returns
    -------
    tuple of LocatedFiles
        One for each set of files that the data set needs; empty if it comes with scikit-learn.

    See Also
    --------
    fetch_dataset : Download the files that are missing.
    load_dataset : Read the data set.

    Examples
    --------
    >>> find_dataset("digits")
    ()
    """
    return tuple(find_file_set(alternatives, data_dir) for alternatives in facts_of(name).needs)


def fetch_dataset(name: str, data_dir: str | Path | None = None) -> tuple[LocatedFiles, ...]:
    """Download the missing and damaged files of a data set, and return the location of all its files.

    Downloads go to `data_dir`, which is created if it does not exist, else to the folder of the environment variable
    ``SCARCE_DATA``, else to the user's cache.

    Parameters
    ----------
    name : str
        A key of `available_datasets`.
    data_dir : path, optional
        The folder to search first, and to download to.

    Returns
    -------
    tuple of LocatedFiles
        One for each set of files that the data set needs; empty if it comes with scikit-learn.

    Raises
    ------
    FetchError
        If a file cannot be downloaded.

    See Also
    --------
    find_dataset : Locate the files without downloading them.
    load_dataset : Read the data set, downloading it if needed.

    Examples
    --------
    >>> fetch_dataset("digits")
    ()
    """
    facts = facts_of(name)
    with ExitStack() as stack:
        if data_dir is not None and facts.needs:
            try:
                stack.enter_context(created_dir(Path(data_dir)))
            except OSError as error:
                raise FileError(
                    f"{data_dir} cannot be created as a folder: {error.strerror or error}."
                ) from error
        return tuple(fetch(alternatives, data_dir) for alternatives in facts.needs)


def _check_contents(name: str, facts: DatasetFacts, arrays: SplitArrays) -> None:
    """Raise a `FileError` if the files belong to another data set; not all files have checksums."""
    for images, n in ((arrays.X_train, facts.n_train), (arrays.X_test, facts.n_test)):
        if images.shape != (n, *facts.shape):
            raise FileError(
                f"the files of {name} hold images of shape {images.shape}; expected {(n, *facts.shape)}: they "
                "belong to another data set; delete them, or choose another data_dir= (--data-dir)."
            )
    for numbers in (arrays.y_train, arrays.y_test, arrays.annotations):
        if numbers is not None and not (numbers.min() >= 0 and numbers.max() < facts.n_classes):
            raise FileError(
                f"the files of {name} hold classes from {numbers.min()} to {numbers.max()}; expected 0 to "
                f"{facts.n_classes - 1}: they belong to another data set; delete them, or choose another data_dir= "
                "(--data-dir)."
            )
