"""Load a small table, a set of texts or real candidate sets by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from scarce.datasets._files import DATA_VARIABLE, DataFile, FileSet, LocatedFiles, find_file_set
from scarce.datasets._table_files import (
    TableArrays,
    read_arff,
    read_candidate_sets,
    read_digit_table,
    read_questions,
)
from scarce.datasets.table_dataset import TableDataset
from scarce.errors import FileError


@dataclass(frozen=True)
class TableFacts:
    """The facts of a table that are known before it is read.

    Attributes
    ----------
    title : str
        The content, in a few words.
    n_examples, n_classes : int
        The numbers of examples and classes.
    folder, file : str
        Its place in a data folder; empty if it comes with scikit-learn.
    has_candidates : bool
        Whether it has real candidate sets.

    See Also
    --------
    available_tables : The facts of every table.
    load_table : Read a table.

    Examples
    --------
    >>> available_tables()["lost"].has_candidates
    True
    """

    title: str
    n_examples: int
    n_classes: int
    folder: str = ""
    file: str = ""
    has_candidates: bool = False


_TABLES: Mapping[str, TableFacts] = MappingProxyType(
    {
        "ecoli": TableFacts("where proteins are located in E. coli cells", 336, 8, "tables", "ecoli.arff"),
        "vehicle": TableFacts("silhouettes of vehicles", 846, 4, "tables", "vehicle.arff"),
        "vowel": TableFacts("spoken vowels", 990, 11, "tables", "vowel.arff"),
        "segment": TableFacts("patches of outdoor images", 2310, 7, "tables", "segment.arff"),
        "digits": TableFacts("handwritten digits of scikit-learn as rows of pixels", 1797, 10),
        "trec": TableFacts("questions, by the type of their answer", 5452, 6, "tables", "trec_train.txt"),
        "lost": TableFacts(
            "faces in a TV series, candidates from the script", 1122, 16, "partial-label", "lost.mat", True
        ),
        "msrcv2": TableFacts(
            "image segments, candidates from the image", 1758, 23, "partial-label", "MSRCv2.mat", True
        ),
    }
)
_READERS: Mapping[str, Callable[[bytes], TableArrays]] = {
    ".arff": read_arff,
    ".txt": read_questions,
    ".mat": read_candidate_sets,
}


def available_tables() -> Mapping[str, TableFacts]:
    """Return the facts of every table, by name.

    Returns
    -------
    mapping of str to TableFacts
        A read-only mapping.

    See Also
    --------
    load_table : Read a table.
    available_datasets : The facts of the image data sets.

    Examples
    --------
    >>> available_tables()["lost"].has_candidates
    True
    """
    return _TABLES


def table_facts(name: str) -> TableFacts:
    """Return the facts of a table, or raise a `FileError` that names all tables.

    Examples
    --------
    >>> table_facts("iris")
    Traceback (most recent call last):
    scarce.errors.FileError: there is no table 'iris'; choose one of ecoli, vehicle, ...
    """
    if name not in _TABLES:
        raise FileError(f"there is no table {name!r}; choose one of {', '.join(_TABLES)}.")
    return _TABLES[name]


def find_table(name: str, data_dir: str | Path | None = None) -> LocatedFiles | None:
    """Return the location of the file of a table; None if it comes with scikit-learn.

    Examples
    --------
    >>> find_table("digits") is None
    True
    """
    facts = table_facts(name)
    return (
        find_file_set([FileSet((facts.folder,), (DataFile(facts.file),))], data_dir) if facts.file else None
    )


def load_table(name: str, data_dir: str | Path | None = None) -> TableDataset:
    """Load a table by its name.

    Its file is searched for in `data_dir`, in the folder of the environment variable ``SCARCE_DATA``, in
    ``/usr/share/datasets`` and in the user's cache, under ``tables`` or ``partial-label``. It is not downloaded.

    Parameters
    ----------
    name : str
        A key of `available_tables`.
    data_dir : path, optional
        The folder to search first.

    Returns
    -------
    TableDataset
        Features of shape (n, d) or n texts, true classes of shape (n,), and candidate sets of shape (n, q) if there are any.

    Raises
    ------
    FileError
        If the table is unknown, or its file is missing or damaged.

    See Also
    --------
    available_tables : The names that this function takes.
    load_dataset : Load a data set of images.

    References
    ----------
    ``ecoli``, ``vehicle``, ``vowel``, ``segment``: the UCI Machine Learning Repository, https://archive.ics.uci.edu.

    ``trec``: X. Li, D. Roth, "Learning question classifiers", COLING 2002, https://aclanthology.org/C02-1150/.

    ``lost``: T. Cour, B. Sapp, B. Taskar, "Learning from partial labels", JMLR 2011,
    https://jmlr.org/papers/v12/cour11a.html.

    ``msrcv2``: L. Liu, T. Dietterich, "A conditional multinomial mixture model for superset label learning", NeurIPS 2012,
    https://papers.neurips.cc/paper_files/paper/2012/hash/aaebdb8bb6b0e73f6c3c54a0ab0c6415-Abstract.html.

    Examples
    --------
    >>> load_table("digits")
    TableDataset('digits', 1,797 examples, 10 classes)
    """
    facts, found = table_facts(name), find_table(name, data_dir)
    if found is None:
        return TableDataset(name, *read_digit_table())
    if found.missing:
        raise FileError(
            f"{name} was not found; expected the file {facts.folder}/{facts.file} in a folder named with data_dir= "
            f"(--data-dir) or ${DATA_VARIABLE}."
        )
    try:
        arrays = _READERS[Path(facts.file).suffix](found.read(facts.file))
    except FileError as error:
        raise FileError(f"{found.paths[facts.file]}: {error}") from error
    size = len(arrays.y), len(arrays.classes)
    if size != (facts.n_examples, facts.n_classes):
        raise FileError(
            f"{found.paths[facts.file]} holds {size[0]:,} examples of {size[1]} classes; expected {facts.n_examples:,} of "
            f"{facts.n_classes}: it belongs to another data set."
        )
    return TableDataset(name, *arrays)
