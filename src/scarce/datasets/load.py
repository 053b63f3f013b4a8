"""Loading a data set by its name."""

from contextlib import ExitStack
from pathlib import Path

from scarce.datasets._fetch import ensure, fetch
from scarce.datasets._files import LocatedFiles, find_file_set
from scarce.datasets._folders import created_dir
from scarce.datasets.image_dataset import Annotation, ImageDataset, SplitArrays, labels_from_annotations
from scarce.datasets.registry import DatasetFacts, facts_of
from scarce.errors import FileError, MethodError

__all__ = ["fetch_dataset", "find_dataset", "load_dataset"]


def load_dataset(
    name: str,
    data_dir: str | Path | None = None,
    download: bool = True,
    *,
    annotation: Annotation | None = None,
) -> ImageDataset:
    """Load a data set by its name.

    Its files are looked for in `data_dir`, in the folder that the environment variable ``SCARCE_DATA`` names, in
    the system's, and in the user's cache, by their usual names, gzipped or not; and checked.

    Parameters
    ----------
    name : str
        A key of `available_datasets`.
    data_dir : path, optional
        The folder to look in first, and to put downloads into.
    download : bool
        Download what is not found.
    annotation : {0, 1, 2, "union"}, optional
        Of data sets that people annotated: the labels by one of the three, or (by default) the set union.

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
            f"annotation={annotation!r} is for data sets that people annotated; leave it out for {name}."
        )
    return ImageDataset(name, **arrays._asdict(), labels=labels)


def find_dataset(name: str, data_dir: str | Path | None = None) -> tuple[LocatedFiles, ...]:
    """Return which of the files that a data set needs are there, and where; without checking them.

    Examples
    --------
    >>> find_dataset("digits")
    ()
    """
    return tuple(find_file_set(alternatives, data_dir) for alternatives in facts_of(name).needs)


def fetch_dataset(name: str, data_dir: str | Path | None = None) -> tuple[LocatedFiles, ...]:
    """Fetch what is missing or damaged of a data set, and return where its files are.

    They go to `data_dir`, which is made if need be, to the folder that ``SCARCE_DATA`` names, or to the user's cache.

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
    """Raise a `FileError` if files can be read but hold another data set; not all have checksums."""
    for images, n in ((arrays.X_train, facts.n_train), (arrays.X_test, facts.n_test)):
        if images.shape != (n, *facts.shape):
            raise FileError(
                f"the files of {name} hold images of shape {images.shape}; expected {(n, *facts.shape)}: they are "
                "those of another data set."
            )
    for numbers in (arrays.y_train, arrays.y_test, arrays.annotations):
        if numbers is not None and not (numbers.min() >= 0 and numbers.max() < facts.n_classes):
            raise FileError(
                f"the files of {name} hold classes from {numbers.min()} to {numbers.max()}; expected 0 to "
                f"{facts.n_classes - 1}: they are those of another data set."
            )
