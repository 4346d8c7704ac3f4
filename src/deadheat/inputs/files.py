"""Embeddings and labels from files.

In comes a path; out come two arrays, a table of numbers and one label for each of its rows, not yet checked any
further: that is for `inputs`. Embeddings that need not fit in memory come out as a `Source` instead. NumPy files are
read here and in `_npy`, tables of text and Parquet in `_tabular`. A pickle is never loaded, and whatever is wrong with
a file is said in one line that names it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.inputs import npy, sources, tabular
from deadheat.inputs.sources import Source

EMBEDDING_KEYS = ("embeddings", "embedding", "features", "x")
LABEL_KEYS = ("labels", "label", "y")

Array = NDArray[Any]


class Samples(NamedTuple):
    """Embeddings (n, dim) and their labels (n,), as they lay in a file."""

    embeddings: Array | Source
    labels: Array


def read(
    path: str | os.PathLike[str],
    labels: str | os.PathLike[str] | None = None,
    *,
    embeddings_key: str | None = None,
    labels_key: str | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
) -> Samples:
    """Read embeddings and labels from a ``.npz``, ``.npy``, ``.csv``, ``.tsv`` or ``.parquet`` file.

    Parameters
    ----------
    path : path
        The file of embeddings. In a table, all columns but that of the labels are the embedding (without columns
        that have no name, such as the index that pandas writes); in Parquet it may be one column of lists. Numbers
        in text become float64.
    labels : path, optional
        A file of labels, if they are not in `path`: ``.npy``, ``.npz``, ``.txt`` (one a line), or a table.
    embeddings_key, labels_key : str, optional
        Names of the arrays in a ``.npz`` file; default, whichever of ``embeddings``, ``features``, ``x`` and
        ``labels``, ``y`` (in any case) is there, or else the only array of two dimensions and the only one of one.
        In Parquet, `embeddings_key` is the column of lists.
    label_column : str or int, optional
        The column of labels in a table: its name, or its place counted from 0 (from -1 at the end); default, the
        one called ``labels``, ``label``, ``class`` or ``y``, or else the first that does not hold numbers.
    header : bool, optional
        Whether the first line of a table of text holds the names of the columns; default, guessed.

    Returns
    -------
    Samples
        `embeddings` and `labels`.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If what is in it is not embeddings and labels, or is damaged.
    ModuleNotFoundError
        If a ``.parquet`` file needs pyarrow.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "points.csv")
    ...     _ = path.write_text("label,x,y\\ncat,0,1\\ndog,2,3\\n")
    ...     samples = read(path)
    >>> samples.embeddings
    array([[0., 1.],
           [2., 3.]])
    >>> samples.labels
    array(['cat', 'dog'], dtype='<U3')
    """
    path = Path(path)
    ending = path.suffix.lower()
    given = None if labels is None else _read_labels(Path(labels), labels_key, label_column, header)
    if ending == ".npz":
        return _read_npz(path, embeddings_key, labels_key, given)
    if ending == ".npy":
        if given is None:
            raise ValueError(f"{path} holds embeddings only: give a file of labels too")
        return Samples(npy.read(path), given)
    if ending in tabular.TABLES:
        table = tabular.read(path, header, list_column=embeddings_key)
        found, place = tabular.split(table, label_column, with_labels=given is None)
        return Samples(tabular.numbers(table, found), tabular.labels(table, place) if given is None else given)
    known = ", ".join([".npz", ".npy", *tabular.TABLES])
    raise ValueError(f"{path} must be a file of embeddings that ends in one of {known}, but ends in {ending!r}")


def open_samples(
    path: str | os.PathLike[str],
    labels: str | os.PathLike[str] | None = None,
    *,
    embeddings_key: str | None = None,
    labels_key: str | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
) -> Samples:
    """As `read`, but the embeddings of ``.npy`` and ``.parquet`` files stay on disk, and `path` can be a pattern.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "emb.npy"), np.zeros((2, 4)))
    ...     np.save(Path(folder, "labels.npy"), np.arange(2))
    ...     open_samples(Path(folder, "emb.npy"), Path(folder, "labels.npy")).embeddings.shape
    (2, 4)
    """
    how: dict[str, Any] = {"labels_key": labels_key, "label_column": label_column, "header": header}
    if not is_out_of_core(path):
        return read(path, labels, embeddings_key=embeddings_key, **how)
    found = labels_beside(path, labels, **how)
    return Samples(
        embeddings_source(path, embeddings_key=embeddings_key, label_column=label_column, with_labels=labels is None),
        found,
    )


def embeddings_source(
    path: str | os.PathLike[str],
    name: str = "embeddings",
    *,
    embeddings_key: str | None = None,
    label_column: str | int | None = None,
    with_labels: bool = False,
) -> Source:
    """Open the embeddings in ``.npy`` or ``.parquet`` files, of which little is in memory at any time.

    Parameters
    ----------
    path : path
        A file, or a pattern such as ``emb-*.npy``, which stands for all files that it fits, in order of name.
    name : str
        What messages call the embeddings, beside the file.
    embeddings_key, label_column
        As for `read`.
    with_labels : bool
        Whether a column of a Parquet file must hold the labels: then it is not part of the embedding, whatever its
        name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(3):
    ...         np.save(Path(folder, f"emb-{part}.npy"), np.full((2, 4), part, dtype=np.float16))
    ...     source = embeddings_source(Path(folder, "emb-*.npy"))
    ...     source.shape, source.dtype, source.read(1, 3)[:, 0]
    ((6, 4), dtype('float32'), array([0., 1.], dtype=float32))
    """
    return sources.open_rows(path, name, list_column=embeddings_key, column=label_column, with_labels=with_labels)


def labels_beside(
    path: str | os.PathLike[str],
    labels: str | os.PathLike[str] | None = None,
    *,
    labels_key: str | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
) -> Array:
    """Read the labels of what `embeddings_source` opens, and nothing else.

    Parameters
    ----------
    path : path
        The file of embeddings, or a pattern; of Parquet files, one column is read if `labels` is not given.
    labels : path, optional
        A file of labels, as for `read`, or a pattern that stands for several ``.npy`` files, in the order of their
        names.
    labels_key, label_column, header
        As for `read`.
    """
    if labels is not None:
        if Path(labels).suffix.lower() == ".npy":
            return np.asarray(sources.open_labels(labels, "labels"))
        return _read_labels(Path(labels), labels_key, label_column, header)
    if Path(path).suffix.lower() != ".parquet":
        raise ValueError(f"{path} holds embeddings only: give a file of labels too")
    parts = [tabular.parquet_labels(Path(part), label_column) for part in sources.fitting(path, "embeddings")]
    return np.asarray(sources.open_labels(parts, "labels"))


def is_out_of_core(path: str | os.PathLike[str]) -> bool:
    """Whether `embeddings_source` is for a file, or a pattern, of this name."""
    return Path(path).suffix.lower() in sources.ENDINGS


def alike(labels: Array, others: Array) -> tuple[Array, Array]:
    """Labels of two files, both as strings if one of them is: a class called 7 in one is "7" in the other."""
    if "U" in (labels.dtype.kind, others.dtype.kind) and labels.dtype.kind != others.dtype.kind:
        return labels.astype(np.str_), others.astype(np.str_)
    return labels, others


def _read_labels(path: Path, key: str | None, column: str | int | None, header: bool | None) -> Array:
    ending = path.suffix.lower()
    if ending == ".npy":
        return npy.flat(npy.read(path))
    if ending == ".npz":
        with _archive(path) as archive:
            return npy.flat(_member(archive, key or _find_labels(archive, path), path))
    if ending == ".txt":
        return tabular.read_lines(path)
    if ending in tabular.TABLES:
        table = tabular.read(path, header)
        return tabular.labels(table, tabular.only_label_place(table, column))
    known = ", ".join([".npy", ".npz", ".txt", *tabular.TABLES])
    raise ValueError(f"{path} must be a file of labels that ends in one of {known}, but ends in {ending!r}")


def _read_npz(path: Path, embeddings_key: str | None, labels_key: str | None, labels: Array | None) -> Samples:
    with _archive(path) as archive:
        key = embeddings_key or _find_embeddings(archive, path)
        embeddings = _member(archive, key, path)
        if labels is None:
            labels = npy.flat(_member(archive, labels_key or _find_labels(archive, path), path))
    return Samples(embeddings, labels)


def _find_embeddings(archive: Any, path: Path) -> str:
    """The key of the embeddings: a usual name, or the only array of two dimensions."""
    return _find(archive, path, "embeddings", EMBEDDING_KEYS, lambda array: array.ndim == 2 and 1 not in array.shape)


def _find_labels(archive: Any, path: Path) -> str:
    """The key of the labels: a usual name, or the only array that is a row or a column."""
    return _find(archive, path, "labels", LABEL_KEYS, lambda array: array.ndim in (1, 2) and npy.flat(array).ndim == 1)


def _find(archive: Any, path: Path, what: str, usual: tuple[str, ...], fits: Any) -> str:
    lower = {key.lower(): key for key in reversed(archive.files)}
    for name in usual:
        if name in lower:
            return str(lower[name])
    fitting = [key for key in archive.files if _fits(archive, key, path, fits)]
    if len(fitting) == 1:
        return str(fitting[0])
    option = "--embeddings-key" if what == "embeddings" else "--labels-key"
    which = f"none of its arrays is called {', '.join(usual[:-1])} or {usual[-1]}"
    raise ValueError(f"{path}: {which}; name the {what} ({option}), one of {_listed(archive.files)}")


def _fits(archive: Any, key: str, path: Path, fits: Any) -> bool:
    """Whether an array has the shape; one that cannot be read has not."""
    try:
        return bool(fits(_member(archive, key, path)))
    except ValueError:
        return False


def _member(archive: Any, key: str, path: Path) -> Array:
    """One array of an archive; never a pickled one."""
    if key not in archive.files:
        raise ValueError(f"{path} has no array {key!r}, only {_listed(archive.files)}")
    with npy.reading(path, f" array {key!r}"):
        return np.asarray(archive[key])


@contextmanager
def _archive(path: Path) -> Iterator[Any]:
    """An open ``.npz`` file."""
    with open(path, "rb") as file:
        with npy.reading(path):
            archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError(f"{path} is not a .npz file, whatever its name says")
        with archive:
            yield archive


def _listed(keys: list[str]) -> str:
    return ", ".join(map(repr, keys)) or "none at all"
