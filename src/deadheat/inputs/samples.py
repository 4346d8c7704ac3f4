"""The door of the inputs: embeddings and labels together, however they are handed over, of queries and of a gallery.

In come arrays, files, patterns and lists; out come `Samples`, checked: embeddings as a `Source` and one label for each
of its rows. A file may hold both, and then its labels need not be given.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from numpy.typing import NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.labels import alike, require_together
from deadheat.inputs.labels import labels as checked_labels
from deadheat.inputs.layout import Labels, Layout
from deadheat.inputs.patterns import Orders, is_path, orders, paths_in
from deadheat.inputs.source import Source
from deadheat.inputs.sources import (
    USUAL,
    EmbeddingsLike,
    LabelsLike,
    Part,
    are_label_files,
    join_labels,
    join_rows,
    open_content,
    open_labels,
    open_rows,
    row_parts,
)
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat.inputs import formats
else:
    formats = lazy("deadheat.inputs.formats")

Embeddings = TypeVar("Embeddings")
AnyPath = str | os.PathLike[str]


class Samples(NamedTuple, Generic[Embeddings]):
    """Embeddings (n, dim) and their labels (n,)."""

    embeddings: Embeddings
    labels: Labels


class Pair(NamedTuple):
    """The queries, and the gallery that they are ranked against; None for leave one out.

    `files` has the order of files that came by patterns, by argument: see `patterns.orders`.
    """

    query: Samples[Source]
    gallery: Samples[Source] | None
    files: Orders = MappingProxyType({})


def open_samples(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    *,
    name: str = "embeddings",
    labels_name: str = "labels",
    layout: Layout = USUAL,
) -> Samples[Source]:
    """Open embeddings and their labels, and check both.

    Parameters
    ----------
    embeddings : array-like (n, dim), memory-mapped array, path, pattern, list of these, or Source
    labels : array-like (n,), path, pattern or list of these, optional
        If not given, they are in the files of `embeddings`.
    name, labels_name : str
        What the caller calls the arguments.
    layout : Layout
        Where in a file things are: as in `deadheat.read`.

    Raises
    ------
    InputError, OSError
        As `open_rows` and `open_labels` do; if labels are neither given nor in a file; or if there is not one of them
        for each row.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(3):
    ...         np.savez(Path(folder, f"{part}.npz"), embeddings=np.full((2, 4), part), labels=[part, 0])
    ...     samples = open_samples(Path(folder, "*.npz"))
    >>> samples.embeddings.shape, samples.labels
    ((6, 4), array([0, 0, 1, 0, 2, 0]))
    >>> open_samples(np.zeros((3, 2)), [0, 1])
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: labels must have one entry per row of embeddings, but got 2 labels for 3 rows
    """
    if labels is None:
        source, opened = _open_both(embeddings, name, labels_name, layout)
    else:  # the labels first, because what is wrong with them is known sooner
        opened = open_labels(labels, labels_name, layout)
        source = open_rows(embeddings, name, layout)
    return Samples(source, checked_labels(opened, len(source), labels_name, name))


def open_pair(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    layout: Layout = USUAL,
    names: tuple[str, str, str, str] = ("embeddings", "labels", "gallery", "gallery_labels"),
) -> Pair:
    """Open queries and gallery, each as `open_samples` does, with labels that can be compared.

    `names` is what the caller calls the arguments.

    Without a gallery it is leave one out. A gallery without labels must be files that hold them too. Where the labels
    of both come from files, they are strings in both as soon as they are in one.

    Examples
    --------
    >>> pair = open_pair([[0.0], [1.0]], ["a", "b"], [[2.0]], ["a"])
    >>> pair.query.labels, pair.gallery.embeddings.shape
    (array(['a', 'b'], dtype=object), (1, 1))
    """
    if gallery is None or (gallery_labels is None and not _are_files(gallery)):
        require_together(gallery, gallery_labels, names[2:])
    _require_heeded(layout, [(embeddings, labels), (gallery, gallery_labels)])
    label_files = {
        name: value
        for name, value in ((names[1], labels), (names[3], gallery_labels))
        if value is not None and are_label_files(value)  # and no labels that look like paths
    }
    files = orders(**{names[0]: embeddings, names[2]: gallery}, **label_files)
    query = open_samples(embeddings, labels, name=names[0], labels_name=names[1], layout=layout)
    if gallery is None:
        return Pair(query, None, files)
    items = open_samples(gallery, gallery_labels, name=names[2], labels_name=names[3], layout=layout)
    if all(given is None or are_label_files(given) for given in (labels, gallery_labels)):
        query_labels, item_labels = alike([query.labels, items.labels])
        query, items = query._replace(labels=query_labels), items._replace(labels=item_labels)
    return Pair(query, items, files)


def read(
    path: AnyPath,
    labels: AnyPath | None = None,
    *,
    embeddings_key: str | None = None,
    labels_key: str | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
) -> Samples[NDArray[Any]]:
    """Read embeddings and labels from files, into memory.

    `deadheat.evaluate` reads the same files by the same rules; this is for a look at what it reads, and for files whose
    arrays or columns have names of their own.

    Parameters
    ----------
    path : path
        The file of embeddings: ``.npz``, ``.npy``, ``.csv``, ``.tsv``, ``.parquet``, ``.arrow``, ``.feather``,
        ``.safetensors``, ``.h5``, ``.hdf5`` or ``.zarr``; or a pattern such as ``emb-*.npy``, which stands for all
        files that it fits, in natural order: emb-2 before emb-10. In a table, all columns but that of the labels are
        the embedding (without columns that have no name, such as the index that pandas writes); in Parquet and Arrow
        it may be one column of lists. Numbers in text become float64; bfloat16 and float8 become float32.
    labels : path, optional
        A file of labels, if they are not in `path`, or a pattern: ``.txt`` (one a line), or any of those above. Labels
        in text are integers if all of them are written as integers ("7", not "07"), else strings.
    embeddings_key, labels_key : str, optional
        Names of the arrays in a file that has several (``.npz``, ``.safetensors``, ``.h5``, ``.zarr``; in groups,
        ``group/name``); default, whichever of ``embeddings``, ``features``, ``x`` and ``labels``, ``y`` (in any case)
        is there, or else the only array of two dimensions and the only one of one. In Parquet and Arrow,
        `embeddings_key` is the column of lists.
    label_column : str or int, optional
        The column of labels in a table: its name, or its place counted from 0 (from -1 at the end); default, the
        one called ``labels``, ``label``, ``class`` or ``y``, or else the first that does not hold numbers.
    header : bool, optional
        Whether the first line of a table of text holds the names of the columns; default, guessed.

    Returns
    -------
    Samples
        `embeddings`, (n, dim), in the type that they have in the file, and `labels`, (n,).

    Raises
    ------
    OSError
        If a file cannot be read.
    FileError
        If what is in it is not embeddings and labels, or is damaged.
    InvalidValueError, InvalidTypeError
        If embeddings are not finite real numbers, or there is not one label, an integer or a string, for each of them.
    MissingPackageError
        If a file needs a package that is not installed: pyarrow, safetensors, h5py or zarr.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
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
    layout = Layout(embeddings_key, labels_key, label_column, header)
    _require_heeded(layout, [(path, labels)])
    opened = open_samples(path, labels, layout=layout)
    return Samples(opened.embeddings.whole(), opened.labels)


def _require_heeded(layout: Layout, samples: Sequence[tuple[Any, Any]]) -> None:
    """Refuse what is said of a layout that no file has: it would be ignored."""
    if layout == USUAL:
        return
    embeddings = [path for rows, _ in samples for path in paths_in(rows)]
    labels = [path for rows, given in samples for path in paths_in(rows if given is None else given)]
    found = formats.unheeded(layout, embeddings, labels)
    if found is not None:
        name, endings = found
        raise InvalidValueError(name, f"must be left out unless a file that it is for is read: {', '.join(endings)}")


def _are_files(embeddings: Any) -> bool:
    """Whether embeddings come from files, all of them; a pattern need not fit any."""
    parts = embeddings if isinstance(embeddings, (list, tuple)) else [embeddings]
    return len(parts) > 0 and all(map(is_path, parts))


def _open_both(embeddings: Any, name: str, labels_name: str, layout: Layout) -> tuple[Source, Labels]:
    """The embeddings in files, and the labels beside them."""
    if not _are_files(embeddings):
        raise InvalidTypeError(labels_name, "must be given: only files can hold them beside the embeddings")
    parts = row_parts(embeddings, name)
    contents = [formats.read_samples(part.value, layout, part.title) for part in parts]
    sources = [open_content(content, part) for (content, _), part in zip(contents, parts, strict=True)]
    of_labels = [Part(part.value, f"{labels_name}: {part.value}") for part in parts]
    return join_rows(sources, parts, name), join_labels([labels for _, labels in contents], of_labels, labels_name)
