"""Opening of embeddings and labels in any form; all of deadheat opens its inputs here.

An input is an array, a memory-mapped array, the path of a file, a pattern such as ``emb-*.npy``, or a list of these,
which is concatenated; a file may hold embeddings and labels. The result is `Samples`: embeddings as a `Source`, whose
rows have been checked piece by piece, and one label for each row.

    array, np.memmap ────────────────────> Array ───┐
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
from deadheat.inputs import features, files, label_sets
from deadheat.inputs.arrays import float_type, matrix, require_exact, require_filled
from deadheat.inputs.conversion import is_on_card, n_dim, plain, require_collected
from deadheat.inputs.disk import File, checked, pages, spooled
from deadheat.inputs.files import BOTH, EMBEDDINGS, LABELS, Content, FileLayout, Labels, Orders, is_path, paths_given
from deadheat.inputs.label_sets import LabelSets
from deadheat.inputs.labels import common_kind, flat, joined, require_together
from deadheat.inputs.labels import labels as checked_labels
from deadheat.inputs.source import Array, Shards, Source
from deadheat.inputs.sparse import is_sparse, sparse_rows
from deadheat.support import checks, scratch
from deadheat.support.arguments import VALUES, names_argument, naming
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

USUAL = FileLayout()  # arrays and columns have the names that they usually have

Embeddings = TypeVar("Embeddings")
AnyPath = str | os.PathLike[str]


class Samples(NamedTuple, Generic[Embeddings]):
    """Embeddings (n, dim) and the labels of their n rows."""

    embeddings: Embeddings
    labels: Any  # an array (n,), `LabelSets` or `Unlabelled`


class Unlabelled:
    """The labels of rows without labels, whose relevance is given pair by pair: their number alone."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n


class Pair(NamedTuple):
    """Queries, and the gallery that they are ranked against, or None for leave one out."""

    query: Samples[Source]
    gallery: Samples[Source] | None
    files: Orders = MappingProxyType({})  # the order of the files that patterns matched, by argument: `files.orders`
    remarks: tuple[str, ...] = ()  # sentences on how both were read


def open_samples(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    *,
    names: tuple[str, str] = ("embeddings", "labels"),
    layout: FileLayout = USUAL,
    several: bool = False,
) -> Samples[Source]:
    """Open embeddings and their labels, as `open_rows` and `open_labels` do, and check that they belong together.

    If `labels` is None, they are in the files of the embeddings. `names` are those of the arguments.
    """
    rows = names[0]
    with naming(rows):
        _reject_tables(embeddings)
    if labels is None:
        source, opened = _open_both(embeddings, names, layout)
    else:  # the labels first, because what is wrong with them is known sooner
        opened = open_labels(labels, names[1], layout)
        source = open_rows(embeddings, names[0], layout)
        rows = str(embeddings) if is_path(embeddings) else rows  # a file of their own is named, as it may be at fault
    opened = label_sets.as_sets(opened)
    if label_sets.are_several(opened) or (several and n_dim(opened) == 2):
        return Samples(source, label_sets.label_sets(opened, names[1], len(source), rows))
    return Samples(source, checked_labels(opened, len(source), names[1], rows))


def open_pair(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    layout: FileLayout = USUAL,
    names: tuple[str, str, str, str] = ("embeddings", "labels", "gallery", "gallery_labels"),
) -> Pair:
    """Open queries and gallery, each as `open_samples` does, with labels that can be compared.

    Without a gallery, it is leave one out. A gallery without `gallery_labels` must be files that hold labels too. If
    the labels of both come from files and those of one are strings, both become strings.
    """
    if gallery is None or (gallery_labels is None and not paths_given(gallery)):
        require_together(gallery, gallery_labels, names[2:])
    if layout != USUAL:
        registry.reject_unused_options(layout, [(embeddings, labels), (gallery, gallery_labels)])
    given = {names[0]: embeddings, names[2]: gallery}
    given |= {name: value for name, value in ((names[1], labels), (names[3], gallery_labels)) if are_label_files(value)}
    in_order = files.orders(given)
    both = any(map(label_sets.are_several, (labels, gallery_labels)))  # so that one row of labels is one row here too
    with features.remarks() as said:
        query = open_samples(embeddings, labels, names=names[:2], layout=layout, several=both)
        items = None
        if gallery is not None:
            items = open_samples(gallery, gallery_labels, names=names[2:], layout=layout, several=both)
    pair = Pair(query, items, in_order, tuple(dict.fromkeys(said)))
    if items is None:
        label_sets.require_no_relevance(query.labels, names[1])
        return pair
    several = [isinstance(part.labels, LabelSets) for part in (query, items)]
    if any(several) and not all(several):
        rule = (
            f"must both have one label a row, or both several, but {names[1 if several[0] else 3]} alone have several"
        )
        raise InvalidTypeError(f"{names[1]} and {names[3]}", rule)
    if any(several):
        of_both: Sequence[Any] = label_sets.aligned(query.labels, items.labels)
    elif all(value is None or are_label_files(value) for value in (labels, gallery_labels)):
        of_both = common_kind([query.labels, items.labels])
    else:
        return pair
    return pair._replace(query=query._replace(labels=of_both[0]), gallery=items._replace(labels=of_both[1]))


def open_unlabelled(embeddings: EmbeddingsLike, gallery: EmbeddingsLike | None, layout: FileLayout = USUAL) -> Pair:
    """Open queries and gallery without labels."""
    given = {"embeddings": embeddings} | ({} if gallery is None else {"gallery": gallery})
    with features.remarks() as said:
        sources = [open_rows(rows, name, layout) for name, rows in given.items()]
    query, *items = (Samples(source, Unlabelled(len(source))) for source in sources)
    return Pair(query, items[0] if items else None, files.orders(given), tuple(dict.fromkeys(said)))


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
        The file of embeddings: ``.npz``, ``.npy``, ``.csv``, ``.tsv``, ``.parquet``, ``.safetensors``, ``.h5``,
        ``.hdf5``, ``.fvecs``, ``.bvecs`` or ``.fbin``; or a pattern such as ``emb-*.npy``, which stands for all files
        that match it, in natural order: emb-2 before emb-10. In a table, all columns but that of the labels are the
        embedding (without columns that have no name, such as the index that pandas writes); in Parquet it may be one
        column of lists. Numbers in text become float64; bfloat16 and float8 become float32.
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
    for given in paths_given(path) or [path]:
        checks.path(given, "path")
    embeddings_key is None or checks.text(embeddings_key, "embeddings_key")
    labels_key is None or checks.text(labels_key, "labels_key")
    if not (label_column is None or isinstance(label_column, str) or type(label_column) is int):
        rule = f"must be the name of a column, or its place from 0, but is {checks.shown(label_column)}"
        raise InvalidTypeError("label_column", rule)
    header is None or checks.flag(header, "header")
    chosen, left_out = _patterns(columns, "columns"), _patterns(drop, "drop")
    layout = FileLayout(embeddings_key, labels_key, label_column, header, columns=chosen, drop=left_out)
    registry.reject_unused_options(layout, [(path, labels)])
    opened = open_samples(path, labels, layout=layout)
    return Samples(opened.embeddings.whole(), opened.labels)


@names_argument
def _patterns(given: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    patterns = [given] if isinstance(given, str) else checks.listed(given, VALUES, "patterns of names of columns")
    return tuple(checks.text(pattern, VALUES) for pattern in patterns)


def _reject_tables(value: Any) -> None:
    """Refuse a run, a dictionary and a whole data set in the place of an array, and say what to write."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    require_collected(first)
    held = getattr(first, "column_names", getattr(first, "columns", getattr(first, "_fields", None)))
    if held is None and not isinstance(first, Mapping) and not hasattr(first, "to_dict"):  # as mostly
        return
    if rows.is_run(value):
        raise InvalidTypeError(VALUES, "must be an array, but is a run or qrels: give these to dh.from_run")
    is_dataset = hasattr(value, "column_names") and hasattr(value, "features")  # of Hugging Face
    if is_dataset or isinstance(value, Mapping):
        names = list(value.column_names if is_dataset else value)
        hint = f": give one of them, such as data[{names[0]!r}]" if names else ""
        kind = f"{type(value).__name__} of {checks.few(names)}"
        raise InvalidTypeError(VALUES, f"must be an array or a column, but is a {kind}{hint}")


class Part(NamedTuple):
    """A part of an argument: the path of a file, or an array, and which of the parts it is, for messages."""

    value: Any
    argument: str
    which: str = ""

    @property
    def title(self) -> str:
        return self.argument + self.which

    def read(self, layout: FileLayout, parts: files.Parts) -> list[Any]:
        """Return embeddings, labels or both from the file of this part."""
        with naming(self.title):
            return registry.read(self.value, layout, parts)


def _parts(value: Any, argument: str) -> list[Part]:
    """Return the parts in a path or a list; each pattern is replaced by the files that match it."""
    parts = []
    for index, entry in enumerate([value] if is_path(value) else value):
        if is_path(entry):
            parts += [Part(scratch.own_copy(path), argument, f": {path}") for path in files.matching(entry, argument)]
        else:
            parts.append(Part(entry, argument, f"[{index}]"))
    return parts


def _open_both(embeddings: Any, names: tuple[str, str], layout: FileLayout) -> tuple[Source, Labels]:
    if not paths_given(embeddings):
        raise InvalidTypeError(names[1], "must be given: only files can hold labels too")
    parts = _parts(embeddings, names[0])
    contents = [part.read(layout, BOTH) for part in parts]
    sources = [_open_content(content, part) for (content, _), part in zip(contents, parts, strict=True)]
    of_labels = [part._replace(argument=names[1]) for part in parts]
    return _join_rows(sources, parts), _join_labels([labels for _, labels in contents], of_labels)


def open_rows(value: Any, argument: str, layout: FileLayout = USUAL) -> Source:
    """Check embeddings in arrays or files, and return a source of their rows.

    A list of paths or of two-dimensional arrays is concatenated; parts may have no rows. A list of rows is one array.
    """
    if isinstance(value, Source):
        return value
    with naming(argument):
        _reject_tables(value)
        several = isinstance(value, (list, tuple)) and any(
            is_path(entry) or isinstance(entry, Source) or n_dim(entry) == 2 for entry in value
        )
    parts = _parts(value, argument) if several or is_path(value) else [Part(value, argument)]
    return _join_rows([_open_part(part, layout) for part in parts], parts)


def open_labels(value: Any, argument: str, layout: FileLayout = USUAL) -> Any:
    """Return labels as `inputs.labels` takes them: read from files if `value` is a path, else unchanged.

    A list of one-dimensional arrays, or of paths (path objects, or strings with the ending of one format), is
    concatenated; any other list holds the labels themselves.
    """
    if hasattr(value, "features"):
        with naming(argument):
            _reject_tables(value)
    if not is_path(value) and not _are_label_parts(value):
        return value
    parts = _parts(value, argument)
    arrays = [part.read(layout, LABELS)[0] if is_path(part.value) else plain(part.value, part.title) for part in parts]
    return _join_labels(arrays, parts)


def labels_of_queries(value: QueryLabels, n_query: int, ids: Sequence[str] | None = None) -> Labels:
    """Return the labels of queries, checked: one for each in their order, or by their `ids` in a dictionary."""
    if isinstance(value, Mapping) and ids is not None:
        by_id = {str(query): label for query, label in value.items()}
        missing = next((query for query in ids if query not in by_id), None)
        if missing is not None:
            rule = f"must have a label for each query by its id, but has none for query {checks.shown(missing)}"
            raise InvalidValueError("labels", rule)
        value = [by_id[query] for query in ids]
    return checked_labels(open_labels(value, "labels"), n_query, "labels", "the profile")


def are_label_files(value: Any) -> bool:
    """Return whether all labels come from files."""
    return is_path(value) or (_are_label_parts(value) and all(map(is_path, value)))


def _open_part(part: Part, layout: FileLayout) -> Source:
    if isinstance(part.value, Source):
        return part.value
    if is_path(part.value):
        return _open_content(part.read(layout, EMBEDDINGS)[0], part)
    with naming(part.title):
        source = _open_array(part.value)
    source.title = part.title
    return source


def _open_content(content: Content, part: Part) -> Source:
    """Return a source of the content that a format has read from a file; it may have no rows."""
    with naming(part.title):
        source = spooled(content) if isinstance(content, Iterator) else _open_array(content, may_close=True)
    source.title = part.title
    return source


def _join_rows(sources: Sequence[Source], parts: Sequence[Part]) -> Source:
    filled = [index for index, source in enumerate(sources) if len(source)]
    if not filled:
        with naming(parts[0].title if len(parts) == 1 else parts[0].argument):
            require_filled(sources[0].shape)
    first = filled[0]
    dim = sources[first].shape[1]
    for index in filled:
        if sources[index].shape[1] != dim:
            rule = f"must have the dim of {parts[first].title}, {dim}, but has {sources[index].shape[1]} columns"
            raise InvalidValueError(parts[index].title, rule)
    if len(filled) == 1:
        return sources[first]
    source = Shards([sources[index] for index in filled])
    source.title = parts[0].argument
    return source


def _join_labels(arrays: Sequence[Any], parts: Sequence[Part]) -> Any:
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
    with naming(parts[0].argument):
        return joined([(array, part.title) for array, part in zip(compared, parts, strict=True)])


def _open_array(value: Any, may_close: bool = False) -> Source:
    """Return a source of an array, which may have no rows; `may_close` lets the file of a map be closed."""
    if is_sparse(value):
        return sparse_rows(value)
    array = matrix(value)
    if not len(array):
        return Array(np.asarray(array, dtype=float_type(array.dtype)))
    require_filled(array.shape)
    if isinstance(value, np.memmap) and pages(value) is not None:
        base: Any = value.base
        is_file = value.mode != "c" and base is pages(value) and value.filename  # the `offset` of a view is not its own
        if is_file and (may_close or not array.flags.c_contiguous):
            stored = File.of_map(value)
            return spooled(stored.transposed()) if stored.by_column else checked(stored)
    target = float_type(array.dtype)
    require_exact(array)
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
