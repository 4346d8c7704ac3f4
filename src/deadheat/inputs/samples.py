"""Opening of embeddings and labels in any form; all of deadheat opens its inputs here.

An input is an array, a memory-mapped array, the path of a file, a pattern such as ``emb-*.npy``, or a list of these,
which is concatenated; a file may hold embeddings and labels. The result is `Samples`: embeddings as a `Source`, whose
rows have been checked piece by piece, and one label for each row.

    array ───────────────────────────────> Array ───┐
    np.memmap ───────────────────────────> Mapped ──┤
    sparse matrix ───────────────────> SparseRows ──┤
    path: an array (.npz, .csv) ─────────> Array ───┤
          a map (.npy, .safetensors) ────> File ────┼──> read, take, pieces: float32 or float64 rows, C-contiguous
          pieces (.parquet) ───copied────> File ────┤
    several of these ────────────────────> Shards ──┘
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import features, label_sets
from deadheat.inputs.arrays import float_type, matrix, require_exact, require_filled
from deadheat.inputs.conversion import is_on_card, n_dim, plain, require_collected
from deadheat.inputs.disk import File, Mapped, checked, pages, spooled
from deadheat.inputs.files import Content, Labels, Layout, Orders, is_path, matching, orders, paths_given, paths_in
from deadheat.inputs.label_sets import LabelSets
from deadheat.inputs.labels import common_kind, flat, joined, require_together
from deadheat.inputs.labels import labels as checked_labels
from deadheat.inputs.source import Array, Shards, Source
from deadheat.inputs.sparse import is_sparse, sparse_rows
from deadheat.support import checks, scratch
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat.inputs import rows
    from deadheat.inputs.formats import registry
else:
    rows = lazy("deadheat.inputs.rows")
    registry = lazy("deadheat.inputs.formats.registry")

Files: TypeAlias = str | os.PathLike[str] | Sequence[str] | Sequence[os.PathLike[str]]
LabelsLike: TypeAlias = ArrayLike | Files
QueryLabels: TypeAlias = LabelsLike | Mapping[Any, Any]  # also by the id of the query
EmbeddingsLike: TypeAlias = ArrayLike | Source | Files | Sequence[Source]

USUAL = Layout()  # arrays and columns have the names that they usually have

Embeddings = TypeVar("Embeddings")
AnyPath = str | os.PathLike[str]


class Samples(NamedTuple, Generic[Embeddings]):
    """Embeddings (n, dim) and the labels of their n rows."""

    embeddings: Embeddings
    labels: Any  # an array (n,), or `LabelSets`


class Pair(NamedTuple):
    """Queries, and the gallery that they are ranked against, or None for leave one out.

    `files` gives, by argument, the order of the files that patterns matched: see `files.orders`. `remarks` are
    sentences on how both were read.
    """

    query: Samples[Source]
    gallery: Samples[Source] | None
    files: Orders = MappingProxyType({})
    remarks: tuple[str, ...] = ()


def open_samples(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    *,
    name: str = "embeddings",
    labels_name: str = "labels",
    layout: Layout = USUAL,
    several: bool = False,
) -> Samples[Source]:
    """Open embeddings and their labels, as `open_rows` and `open_labels` do, and check that they belong together.

    If `labels` is None, they are in the files of the embeddings. `name` and `labels_name` are names for messages.

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
    _reject_tables(embeddings, name)
    if labels is None:
        source, opened = _open_both(embeddings, name, labels_name, layout)
    else:  # the labels first, because what is wrong with them is known sooner
        opened = open_labels(labels, labels_name, layout)
        source = open_rows(embeddings, name, layout)
        name = str(embeddings) if is_path(embeddings) else name  # a file of their own is named, as it may be at fault
    opened = label_sets.as_sets(opened)
    if label_sets.are_several(opened) or (several and n_dim(opened) == 2):
        return Samples(source, label_sets.label_sets(opened, len(source), labels_name, name))
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

    Without a gallery, it is leave one out. A gallery without `gallery_labels` must be files that hold labels too. If
    the labels of both come from files and those of one are strings, both become strings.

    Examples
    --------
    >>> pair = open_pair([[0.0], [1.0]], ["a", "b"], [[2.0]], ["a"])
    >>> pair.query.labels, pair.gallery.embeddings.shape
    (array(['a', 'b'], dtype=object), (1, 1))
    """
    if gallery is None or (gallery_labels is None and not paths_given(gallery)):
        require_together(gallery, gallery_labels, names[2:])
    _reject_unused_options(layout, [(embeddings, labels), (gallery, gallery_labels)])
    given = {names[0]: embeddings, names[2]: gallery}
    given |= {name: value for name, value in ((names[1], labels), (names[3], gallery_labels)) if are_label_files(value)}
    files = orders(given)
    both = any(map(label_sets.are_several, (labels, gallery_labels)))  # so that one row of labels is one row here too
    with features.remarks() as said:
        query = open_samples(embeddings, labels, name=names[0], labels_name=names[1], layout=layout, several=both)
        items = None if gallery is None else open_samples(
            gallery, gallery_labels, name=names[2], labels_name=names[3], layout=layout, several=both
        )  # fmt: skip
    pair = Pair(query, items, files, tuple(dict.fromkeys(said)))
    if items is None:
        label_sets.require_no_relevance(query.labels, names[1])
        return pair
    several = [isinstance(part.labels, LabelSets) for part in (query, items)]
    if any(several):
        if not all(several):
            of_both = f"{names[1]} and {names[3]}"
            came = f"{names[1 if several[0] else 3]} alone have several"
            raise InvalidTypeError(of_both, f"must both have one label a row, or both several, but {came}")
        of_query, of_items = label_sets.aligned(query.labels, items.labels)
        return pair._replace(query=query._replace(labels=of_query), gallery=items._replace(labels=of_items))
    if all(given is None or are_label_files(given) for given in (labels, gallery_labels)):
        query_labels, item_labels = common_kind([query.labels, items.labels])
        query, items = query._replace(labels=query_labels), items._replace(labels=item_labels)
    return pair._replace(query=query, gallery=items)


@plain_floats
def read(
    path: AnyPath,
    labels: AnyPath | None = None,
    *,
    embeddings_key: str | None = None,
    labels_key: str | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
    columns: str | Sequence[str] | None = None,
    drop: str | Sequence[str] | None = None,
) -> Samples[NDArray[Any]]:
    """Read embeddings and labels from files, into memory.

    `deadheat.evaluate` reads the same files by the same rules; this function shows what it reads, and reads files whose
    arrays or columns have other names.

    Parameters
    ----------
    path : path
        The file of embeddings: ``.npz``, ``.npy``, ``.csv``, ``.tsv``, ``.parquet``, ``.safetensors``, ``.h5`` or
        ``.hdf5``; or a pattern such as ``emb-*.npy``, which stands for all files that match it, in natural order: emb-2
        before emb-10. In a table, all columns but that of the labels are the embedding (without columns that have no
        name, such as the index that pandas writes); in Parquet it may be one column of lists. Numbers in text become
        float64; bfloat16 and float8 become float32.
    labels : path, optional
        A file of labels, if they are not in `path`, or a pattern: ``.txt`` (one a line), or any of those above. Labels
        in text are integers if all of them are written as integers ("7", not "07"), else strings.
    embeddings_key, labels_key : str, optional
        Names of the arrays in a file that has several (``.npz``, ``.safetensors``, ``.h5``; in groups,
        ``group/name``); default, whichever of ``embeddings``, ``features``, ``x`` and ``labels``, ``y`` (in any case)
        is there, or else the only array of two dimensions and the only one of one. In Parquet,
        `embeddings_key` is the column of lists.
    label_column : str or int, optional
        The column of labels in a table: its name, or its place counted from 0 (from -1 at the end); default, the
        one called ``labels``, ``label``, ``class`` or ``y``, or else the first that does not hold numbers.
    header : bool, optional
        Whether the first line of a table of text holds the names of the columns; default, guessed.
    columns, drop : str or list of str, optional
        Patterns of the names of the columns of a table that are the embedding, such as ``"dim_*"``, and of those that
        are not, such as ``["id", "fold"]``; of a table without names, places from 0 as text.

    Returns
    -------
    Samples
        `embeddings`, (n, dim), in the type that they have in the file, and `labels`, (n,).

    Raises
    ------
    OSError
        If a file cannot be read.
    FileError
        If the content of a file is damaged, or is not embeddings and labels.
    InvalidValueError, InvalidTypeError
        If embeddings are not finite real numbers, or there is not one label, an integer or a string, for each of them.
    MissingPackageError
        If a file needs a package that is not installed: pyarrow, safetensors or h5py.

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
    labels is None or checks.path(labels, "labels")
    for each in paths_given(path) or [path]:
        checks.path(each, "path")
    for name, key in (("embeddings_key", embeddings_key), ("labels_key", labels_key)):
        key is None or checks.text(key, name)
    if not (label_column is None or isinstance(label_column, str) or type(label_column) is int):
        came = checks.shown(label_column)
        raise InvalidTypeError("label_column", f"must be the name of a column, or its place from 0, but is {came}")
    header is None or checks.flag(header, "header")
    chosen, left_out = (_patterns(each, name) for each, name in ((columns, "columns"), (drop, "drop")))
    layout = Layout(embeddings_key, labels_key, label_column, header, columns=chosen, drop=left_out)
    _reject_unused_options(layout, [(path, labels)])
    opened = open_samples(path, labels, layout=layout)
    return Samples(opened.embeddings.whole(), opened.labels)


def _patterns(given: str | Sequence[str] | None, name: str) -> tuple[str, ...] | None:
    if given is None:
        return None
    patterns = [given] if isinstance(given, str) else checks.listed(given, name, "patterns of names of columns")
    return tuple(checks.text(each, name) for each in patterns)


def _reject_tables(value: Any, name: str) -> None:
    """Refuse a run, a dictionary and a whole data set in the place of an array, and say what to write."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    require_collected(first, name)
    held = getattr(first, "column_names", getattr(first, "columns", getattr(first, "_fields", None)))
    if held is None and not isinstance(first, Mapping) and not hasattr(first, "to_dict"):  # as mostly
        return
    if rows.is_run(value):
        raise InvalidTypeError(name, "must be an array, but is a run or qrels: give these to dh.Task.from_run")
    is_dataset = hasattr(value, "column_names") and hasattr(value, "features")  # of Hugging Face
    if is_dataset or isinstance(value, Mapping):
        names = list(value.column_names if is_dataset else value)
        came = f"is a {type(value).__name__} of {checks.few(names)}"
        hint = f": give one of them, such as data[{names[0]!r}]" if names else ""
        raise InvalidTypeError(name, f"must be an array or a column, but {came}{hint}")


def _reject_unused_options(layout: Layout, samples: Sequence[tuple[Any, Any]]) -> None:
    if layout == USUAL:
        return
    embeddings = [path for rows, _ in samples for path in paths_in(rows)]
    labels = [path for rows, given in samples for path in paths_in(rows if given is None else given)]
    registry.reject_unused_options(layout, embeddings, labels)


def _open_both(embeddings: Any, name: str, labels_name: str, layout: Layout) -> tuple[Source, Labels]:
    if not paths_given(embeddings):
        raise InvalidTypeError(labels_name, "must be given: only files can hold labels too")
    parts = _row_parts(embeddings, name)
    contents = [registry.read(part.value, layout, part.title, "samples") for part in parts]
    sources = [_open_content(content, part) for (content, _), part in zip(contents, parts, strict=True)]
    of_labels = [Part(part.value, f"{labels_name}: {part.value}") for part in parts]
    return _join_rows(sources, parts, name), _join_labels([labels for _, labels in contents], of_labels, labels_name)


class Part(NamedTuple):
    """A part of an argument (the path of a file, or an array) and its name in messages."""

    value: Any
    title: str


def open_rows(value: Any, name: str, layout: Layout = USUAL) -> Source:
    """Check embeddings in arrays or files, and return a source of their rows.

    A list of paths or of two-dimensional arrays is concatenated; parts may have no rows. A list of rows is one array.

    Raises
    ------
    OSError, FileError
        If a file cannot be read, is damaged or holds Python objects.
    InvalidTypeError, InvalidValueError
        If no file fits a pattern, no format is known by the ending of a file's name, parts differ in dim, there is not
        a single number, or a value is not a finite real number that float64 holds.

    Examples
    --------
    >>> source = open_rows([np.zeros((2, 3), np.float16), np.ones((1, 3))], "gallery")
    >>> source.shape, source.dtype
    ((3, 3), dtype('float64'))
    >>> source.take(np.array([2, 0]))
    array([[1., 1., 1.],
           [0., 0., 0.]])
    """
    if isinstance(value, Source):
        return value
    _reject_tables(value, name)
    parts = _row_parts(value, name)
    return _join_rows([_open_part(part, layout) for part in parts], parts, name)


def open_labels(value: Any, name: str, layout: Layout = USUAL) -> Any:
    """Return labels as `inputs.labels` takes them: read from files if `value` is a path, else unchanged.

    A list of one-dimensional arrays, or of paths (path objects, or strings with the ending of one format), is
    concatenated; any other list holds the labels themselves.

    Examples
    --------
    >>> open_labels([np.array([7, 9]), np.array([7])], "labels")
    array([7, 9, 7])
    """
    if hasattr(value, "features"):
        _reject_tables(value, name)
    if not is_path(value) and not _are_label_parts(value):
        return value
    parts = _files(value, name) if is_path(value) else _parts(value, name)
    read = [registry.read(each, layout, of, "labels") if is_path(each) else plain(each, of) for each, of in parts]
    return _join_labels(read, parts, name)


def labels_of_queries(value: QueryLabels, n_query: int, ids: Sequence[str] | None = None) -> Labels:
    """Return the labels of queries, checked: one for each in their order, or by their `ids` in a dictionary.

    Examples
    --------
    >>> labels_of_queries({"q2": "who", "q1": "when"}, 2, ["q1", "q2"])
    array(['when', 'who'], dtype=object)
    """
    if isinstance(value, Mapping) and ids is not None:
        by_id = {str(query): label for query, label in value.items()}
        missing = next((query for query in ids if query not in by_id), None)
        if missing is not None:
            came = f"has none for query {checks.shown(missing)}"
            raise InvalidValueError("labels", f"must have a label for each query by its id, but {came}")
        value = [by_id[query] for query in ids]
    return checked_labels(open_labels(value, "labels"), n_query, "labels", "the profile")


def are_label_files(value: Any) -> bool:
    """Return whether all labels come from files."""
    return is_path(value) or (_are_label_parts(value) and all(map(is_path, value)))


def _row_parts(value: Any, name: str) -> list[Part]:
    """Return the parts of embeddings; each pattern is replaced by the files that match it."""
    if is_path(value):
        return _files(value, name)
    is_list = isinstance(value, (list, tuple))
    if is_list and any(is_path(entry) or isinstance(entry, Source) or n_dim(entry) == 2 for entry in value):
        return _parts(value, name)
    return [Part(value, name)]


def _open_content(content: Content, part: Part) -> Source:
    """Return a source of the content that a format has read from a file; it may have no rows."""
    if isinstance(content, Iterator):
        return spooled(content, part.title)
    return _open_array(content, part.title, may_close=True)


def _join_rows(sources: Sequence[Source], parts: Sequence[Part], name: str) -> Source:
    filled = [place for place, source in enumerate(sources) if len(source)]
    if not filled:
        require_filled(sources[0].shape, parts[0].title if len(parts) == 1 else name)
    first = filled[0]
    dim = sources[first].shape[1]
    for place in filled:
        if sources[place].shape[1] != dim:
            came = f"has {sources[place].shape[1]} columns"
            raise InvalidValueError(parts[place].title, f"must have the dim of {parts[first].title}, {dim}, but {came}")
    return sources[first] if len(filled) == 1 else Shards([sources[place] for place in filled])


def _join_labels(arrays: Sequence[Any], parts: Sequence[Part], name: str) -> Any:
    """Concatenate the labels of an argument's parts; if all are in files and some are text, all become text."""
    if any(isinstance(array, list) for array in arrays):  # sets of labels
        return [row for array in arrays for row in array]
    arrays = [flat(array) for array in arrays]
    if any(array.ndim == 2 for array in arrays) and len({array.shape[1:] for array in arrays}) == 1:
        return np.concatenate(arrays)  # one row of labels a row
    for array, part in zip(arrays, parts, strict=True):
        if array.ndim != 1:
            raise InvalidValueError(part.title, f"must be one-dimensional, but has shape {array.shape}")
    compared = common_kind(arrays) if all(is_path(part.value) for part in parts) else arrays
    return joined([(array, part.title) for array, part in zip(compared, parts, strict=True)], name)


def _parts(values: Sequence[Any], name: str) -> list[Part]:
    """Return the parts in a list; each pattern is replaced by the files that match it."""
    parts = []
    for place, entry in enumerate(values):
        parts += _files(entry, name) if is_path(entry) else [Part(entry, f"{name}[{place}]")]
    return parts


def _files(path: str | os.PathLike[str], name: str) -> list[Part]:
    return [Part(scratch.own_copy(path), f"{name}: {path}") for path in matching(path, name)]


def _open_part(part: Part, layout: Layout) -> Source:
    if isinstance(part.value, Source):
        return part.value
    if is_path(part.value):
        return _open_content(registry.read(part.value, layout, part.title, "embeddings"), part)
    return _open_array(part.value, part.title)


def _open_array(value: Any, title: str, may_close: bool = False) -> Source:
    """Return a source of an array, which may have no rows; `may_close` lets the file of a map be closed."""
    if is_sparse(value):
        return sparse_rows(value, title)
    array = matrix(value, title)
    if not len(array):
        return Array(np.asarray(array, dtype=float_type(array.dtype, title)))
    require_filled(array.shape, title)
    if isinstance(value, np.memmap) and pages(value) is not None:
        base: Any = value.base
        is_file = may_close and base is pages(value) and value.filename  # the `offset` of a view is not its own
        stored = File.of_map(value, title) if is_file else Mapped(value, title)
        return spooled(stored.transposed(), title) if stored.by_column else checked(stored)
    target = float_type(array.dtype, title)
    require_exact(array, title)
    may_be_codes = array.dtype in (np.bool_, np.uint8)  # whose bits stay bits
    is_list = isinstance(value, (list, tuple)) and not may_be_codes
    source = Array(np.ascontiguousarray(array, dtype=target) if is_list else array)
    if is_on_card(value) and not value.is_inference():  # which would not count how often it is written to
        source.tensor = value, value._version
    return source


def _are_label_parts(value: Any) -> bool:
    """Return whether a list holds paths or arrays of labels, and not the labels themselves."""
    if not isinstance(value, (list, tuple)) or not len(value) or label_sets.are_several(value):
        return False
    if all(isinstance(part, str) for part in value):
        if "." not in value[0] or not registry.holds_labels(value[0]):  # the first decides, of many labels
            return False
        return len({registry.ending_of(part) for part in value}) == 1
    return all(
        registry.holds_labels(part) if isinstance(part, str) else isinstance(part, os.PathLike) or n_dim(part) == 1
        for part in value
    )
