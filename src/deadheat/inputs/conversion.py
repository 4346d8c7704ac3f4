"""Exact conversion of lists, data frames, tensors and Arrow columns to NumPy arrays; what is not exact is refused.

Inputs that NumPy would accept silently are refused here with one line: a mask, a missing value, an integer rounded
because of floats, and an object that is not an array, such as a sparse matrix. Numbers of a type that NumPy does not
have (bfloat16, float8, int4) become float32, or integers of 8 bits, which hold each of them.

Arrow columns come from any object with Arrow's protocol (pyarrow, Polars, a stream of batches), and from files. They
become (n,), or (n, dim) if they hold lists of one length; a missing value and a list of another length are refused with
their row. That needs pyarrow.
"""

from __future__ import annotations

import numbers
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np

from deadheat.errors import DeadheatError, InvalidTypeError, InvalidValueError
from deadheat.inputs import features
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument
from deadheat.support.arrays import Array, Int64
from deadheat.support.lazy import lazy, require

pyarrow: Any = lazy("pyarrow")  # once `require` has found it
types: Any = lazy("pyarrow.types")
compute: Any = lazy("pyarrow.compute")

_EXACT = 2.0**53  # from here on a float64 may be an integer that was rounded
_MOST_SPARSE = 1 << 31  # rows or columns of a sparse matrix, which takes memory for each
_RAGGED = "must be a matrix, but its rows differ in length or kind"
_OF_LISTS = "must hold numbers, text or lists of numbers"


@names_argument
def plain(values: Any, *, ragged: str = _RAGGED, unmasked: str = "") -> Array:
    """Convert values to an array of a type that holds them; bfloat16 and shorter floats become float32.

    Values may be an array of another library (PyTorch, JAX, CuPy, anything with `__array__` or `__dlpack__`), wherever
    it is; a data frame of pandas, Polars or pyarrow; a column of one of these, or of Hugging Face's datasets, of
    numbers, text or lists of one length; anything with `__arrow_c_stream__` or `__arrow_c_array__`. For messages,
    `ragged` is the rule for rows that differ in length, and `unmasked` the alternative to a mask.
    """
    with converting(values):
        return _plain(values, ragged, unmasked)


@names_argument
def integers(values: Any) -> Int64:
    """Return integers of any type as int64, if that changes no value; no numbers at all are integers."""
    array = plain(values)
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidTypeError(VALUES, f"must hold integers, but has dtype {array.dtype}")
    if array.dtype == np.uint64 and array.max(initial=0) > np.iinfo(np.int64).max:
        raise InvalidValueError(VALUES, f"must hold integers below 2^63, but holds {array.max()}")
    return array.astype(np.int64)


@contextmanager
def converting(values: Any, argument: str = VALUES) -> Iterator[None]:
    """Refuse values whose own methods, or NumPy's for them, raise an error; that error is the cause."""
    try:
        yield
    except DeadheatError:
        raise
    except Exception as error:
        rule = f"must be readable, but this {type(values).__name__} raised {checks.cause(error)}"
        raise InvalidTypeError(argument, rule) from error


def _plain(values: Any, ragged: str, unmasked: str) -> Array:
    _require_unmasked(values, unmasked)
    require_collected(values)
    if hasattr(values, "todense"):
        raise InvalidTypeError(VALUES, f"must be dense, but is a sparse {type(values).__name__}: give values.toarray()")
    if _is_dataset_column(values):
        if values.source.format["type"] is None:  # it would be Python's numbers: as Arrow it comes without that detour
            values = values.source.with_format("arrow")[:][values.column_name]
        else:
            values = values[:]
        return _plain(values, ragged, unmasked)
    if not is_frame(values) and speaks_arrow(values):
        values = from_arrow(values)
        if not is_frame(values):
            return column_array(values)
    if is_frame(values):
        lists = _column_of_lists(values)
        if lists is not None:
            return _plain(lists, ragged, unmasked)
        rows = _from_frame(values)
        features.look_at(_names(values), rows, "drop them from the frame")
        return rows
    return _from_rows(on_host(values), ragged)


def is_array(values: Any) -> bool:
    """Return whether something is an array or a column of any library, and not a list."""
    known = isinstance(values, (np.ndarray, np.generic)) or _is_dataset_column(values)
    return known or is_foreign(values) or speaks_arrow(values)


def n_dim(values: Any) -> int | None:
    """Return the number of dimensions that something has as an array; None if that is unknown."""
    if isinstance(known := getattr(values, "ndim", None), (int, np.integer)):
        return int(known)
    if is_frame(values) or hasattr(values, "schema"):  # from_arrow would use up a stream of batches
        return 2
    if speaks_arrow(values):
        kind = getattr(from_arrow(values), "type", None)
        return 1 if kind is not None and not is_list_type(kind) else 2
    return None


def _require_unmasked(values: Any, instead: str) -> None:
    """Refuse masked arrays, also as rows of a list: NumPy would go on without the mask."""
    masked = sys.modules.get("numpy.ma")  # where it is not imported, there are none
    parts = values if isinstance(values, (list, tuple)) else [values]
    if masked is not None and any(isinstance(part, masked.MaskedArray) for part in parts):
        raise InvalidTypeError(VALUES, f"must be a plain array, but is a masked one{instead and f'; {instead}'}")


def require_collected(values: Any) -> None:
    """Refuse a lazy frame, which has no values yet."""
    if hasattr(values, "collect") and not hasattr(values, "__array__"):
        rule = f"must have values, but is a {type(values).__name__}: give frame.collect()"
        raise InvalidTypeError(VALUES, rule)


def _is_dataset_column(values: Any) -> bool:
    """Return whether something is a column of Hugging Face's datasets."""
    return hasattr(values, "column_name") and hasattr(getattr(values, "source", None), "with_format")


def _from_rows(values: Any, ragged: str) -> Array:
    """Return an array of something that NumPy accepts, or of rows that it accepts one by one."""
    if isinstance(values, (list, tuple)) and len(values) and is_foreign(values[0]):
        values = [plain(row, f"{VALUES}[{index}]") for index, row in enumerate(values)]
    try:
        array = widened(np.asarray(values))
    except (ValueError, TypeError):
        raise InvalidValueError(VALUES, ragged + _uneven(values)) from None
    if array.dtype.kind == "O" and array.ndim == 1 and any(map(is_row, array)):  # a column of lists
        odd = next((row for row, entry in enumerate(array) if not is_row(entry)), None)
        if odd is not None:
            rule = f"must have a list of numbers in each row, but row {odd} has {checks.shown(array[odd])}"
            raise InvalidValueError(VALUES, rule)
        if isinstance(values, list):  # NumPy has not taken its rows for rows
            raise InvalidValueError(VALUES, ragged)
        return _from_rows(array.tolist(), ragged)
    if array.dtype.kind == "O" and array.ndim == 2:
        missing = np.argwhere(array == None)  # noqa: E711 - of each entry
        if len(missing):
            raise _missing_value(missing[0][0])
    if array.dtype.kind == "O" and array.size:
        first = array.flat[0]
        if isinstance(first, numbers.Number) and not isinstance(first, (int, float, complex, np.generic)):  # a Fraction
            rule = f"must hold integers or floats, but holds a {type(first).__name__}"
            raise InvalidTypeError(VALUES, f"{rule}: np.array(..., dtype=float) converts it")
    if not hasattr(values, "__array__"):
        _require_unrounded(array, values)
    return array


def _uneven(rows: Sequence[Any]) -> str:
    """Return, for a message, the first row whose length is not that of row 0; empty if there is none."""
    try:
        lengths = [len(row) for row in rows]
    except TypeError:
        return ""
    odd = next((row for row, length in enumerate(lengths) if length != lengths[0]), None)
    return "" if odd is None else f": row {odd} has {lengths[odd]} entries and row 0 has {lengths[0]}"


def _require_unrounded(array: Array, values: Any) -> None:
    """Refuse lists with integers that NumPy rounded, because other entries are floats or of the other sign."""
    if array.dtype.kind != "f" or array.ndim == 0:
        return
    doubtful = (np.abs(array.astype(np.float64, copy=False)) >= _EXACT).any(axis=tuple(range(1, array.ndim)))
    for row in np.flatnonzero(doubtful).tolist():
        _require_kept(array[row], np.array(values[row], dtype=object).ravel().tolist())


def _require_kept(array: Array, given: list[Any]) -> None:
    """Refuse integers that an array has rounded."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in given]
    for value, kept in zip(plain, array.ravel().tolist(), strict=True):
        if isinstance(value, int) and value != kept:
            raise InvalidValueError(VALUES, f"must fit one type, but {array.dtype} does not hold {value}")


# Frames ---------------------------------------------------------------------------------------------------------------


def is_frame(values: Any) -> bool:
    return hasattr(values, "__array__") and hasattr(values, "columns")


def is_row(entry: Any) -> bool:
    """Return whether an entry of a column is a list or an array."""
    sequence = hasattr(entry, "__len__") and hasattr(entry, "__getitem__")
    return sequence and not isinstance(entry, (str, bytes, dict))


def _column_of_lists(frame: Any) -> Any | None:
    """Return the only column of a frame, if it holds lists; else None."""
    if frame.shape[1] != 1:
        return None
    (column,) = _columns(frame)
    entries = np.asarray(column)
    return column if entries.ndim == 2 or (entries.dtype.kind == "O" and any(map(is_row, entries))) else None


def _from_frame(frame: Any) -> Array:
    """Return the columns of a data frame as a matrix; nullable ones too, if no value is missing."""
    whole = np.asarray(frame)
    if whole.ndim != 2 or whole.dtype.kind not in "Of":
        return whole
    columns = [*map(np.asarray, _columns(frame))]
    odd = next((index for index, column in enumerate(columns) if column.dtype.kind not in "biuf"), None)
    if odd is not None:
        lists = columns[odd].dtype.kind == "O" and any(map(is_row, columns[odd]))
        kind = "holds lists: give it alone" if lists else f"has dtype {columns[odd].dtype}"
        rule = f"must hold real numbers and none missing, but column {_names(frame)[odd]!r} {kind}"
        raise InvalidTypeError(VALUES, rule)
    wide = [index for index, column in enumerate(columns) if column.dtype.kind in "iu" and column.dtype.itemsize == 8]
    if whole.dtype.kind == "f" and not wide:
        return whole
    together = np.stack(columns, axis=1)
    for index in wide:
        _require_kept(together[:, index], columns[index].tolist())
    return together


def _names(frame: Any) -> list[Any]:
    return list(getattr(frame, "column_names", frame.columns))


def _columns(frame: Any) -> list[Any]:
    for method in ("iter_columns", "itercolumns"):
        if hasattr(frame, method):
            return list(getattr(frame, method)())
    return [column for _, column in frame.items()]


# Arrays of other libraries --------------------------------------------------------------------------------------------


def is_foreign(values: Any) -> bool:
    """Return whether something is an array of another library, which NumPy may not be able to convert."""
    protocols = ("__array__", "__dlpack__", "__cuda_array_interface__")
    return not isinstance(values, (np.ndarray, np.generic)) and any(hasattr(values, name) for name in protocols)


def card_of(values: Any) -> Any | None:
    """Return the CUDA device of a PyTorch tensor, or of the first in a list; None for anything else."""
    first = values[0] if isinstance(values, (list, tuple)) and len(values) else values
    return first.device if is_on_card(first) else None


def is_on_card(value: Any) -> bool:
    """Return whether a value is itself a PyTorch tensor on a CUDA device."""
    return getattr(value, "is_cuda", False) is True


@names_argument
def on_host(values: Any) -> Any:
    """Return an array of another library, on any device, as a NumPy array; return anything else unchanged."""
    with converting(values):
        if hasattr(values, "detach") and hasattr(values, "cpu"):
            return _from_torch(values)
        if hasattr(values, "__cuda_array_interface__"):
            return _from_device(values)
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return _from_dlpack(values)
    return values


@names_argument
def compressed_rows(values: Any) -> Any:
    """Return a sparse matrix of SciPy as compressed rows whose indices are checked, with each entry once.

    The matrix of the caller stays as it is, also without the marks that SciPy keeps in it.
    """
    with converting(values):
        if max(values.shape) > _MOST_SPARSE:
            raise InvalidValueError(VALUES, f"must have at most 2^31 rows and columns, but has shape {values.shape}")
        if values.format in ("csr", "csc", "bsr"):
            values = type(values)((values.data, values.indices, values.indptr), shape=values.shape)
            values.check_format()
        elif values.format == "coo":
            values = type(values)((values.data, values.coords), shape=values.shape)
        rows = values.tocsr(copy=True)
        rows.sum_duplicates()
        return rows


def widened(array: Array) -> Array:
    """Convert an array of an ml_dtypes type (JAX, TensorFlow) to a NumPy type that holds the same numbers."""
    if array.dtype.type.__module__.partition(".")[0] != "ml_dtypes":
        return array
    kind = array.dtype.name
    with np.errstate(invalid="ignore"):  # a NaN is refused later
        return array.astype(np.uint8 if kind.startswith("uint") else np.int8 if kind.startswith("int") else np.float32)


def _from_torch(tensor: Any) -> Array:
    """Convert a PyTorch tensor, on any device, of any type, with or without a gradient."""
    if str(getattr(tensor, "layout", "torch.strided")) != "torch.strided" or getattr(tensor, "is_nested", False):
        raise InvalidTypeError(VALUES, "must be dense, but is a sparse or nested tensor: give tensor.to_dense()")
    if getattr(tensor, "is_quantized", False):
        raise InvalidTypeError(VALUES, "must hold plain numbers, but is a quantized tensor: give tensor.dequantize()")
    if getattr(tensor, "is_meta", False):
        raise InvalidTypeError(VALUES, "must hold numbers, but is a tensor on the device 'meta', which has none")
    here = tensor.detach().cpu()
    if hasattr(here, "resolve_conj"):
        here = here.resolve_conj().resolve_neg()  # views whose signs are not yet applied
    try:
        return here.numpy()  # type: ignore[no-any-return]
    except TypeError:  # bfloat16 and shorter, which NumPy does not have and float32 holds
        return here.float().numpy()  # type: ignore[no-any-return]


def _from_device(values: Any) -> Any:
    """Copy an array on a CUDA device to the host, by its own method or by DLPack."""
    for method in ("get", "copy_to_host", "to_numpy"):  # of CuPy, Numba and RAPIDS
        try:
            copy = getattr(values, method)()
        except (AttributeError, TypeError):  # a data frame's `get` wants a key
            continue
        return np.asarray(copy)
    if hasattr(values, "__dlpack__"):
        return _from_dlpack(values)
    kind = type(values).__name__
    raise InvalidTypeError(VALUES, f"must have a way to NumPy, but is a {kind} on a device without one")


def _from_dlpack(values: Any) -> Array:
    try:
        try:
            return np.from_dlpack(values, device="cpu")
        except TypeError:  # an older protocol, which does not know of devices
            return np.from_dlpack(values)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        said = f"DLPack says of this {type(values).__name__}: {' '.join(str(error).split()).rstrip('.')}"
        raise InvalidTypeError(VALUES, f"must be an array that NumPy can take, but {said}") from None


# Arrow ----------------------------------------------------------------------------------------------------------------


def speaks_arrow(values: Any) -> bool:
    """Return whether something is best read as Arrow: it has the protocol, and no direct way to NumPy as pandas has."""
    if not (hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__")):
        return False
    if type(values).__module__.partition(".")[0] == "pandas":
        return False
    return not hasattr(values, "__array__") or find_spec("pyarrow") is not None


def from_arrow(values: Any) -> Any:
    """Return a `pyarrow.ChunkedArray` of an object with Arrow's protocol; a `pyarrow.Table` if columns have names."""
    require("pyarrow", "files", f"{VALUES}: reading Arrow")
    chunked = pyarrow.chunked_array(values if hasattr(values, "__arrow_c_stream__") else [pyarrow.array(values)])
    return pyarrow.Table.from_struct_array(chunked) if types.is_struct(chunked.type) else chunked


def is_list_type(kind: Any) -> bool:
    """Return whether an Arrow type is one of lists that can be a matrix."""
    kind = getattr(kind, "storage_type", kind)  # of an extension type, such as one of tensors
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def column_array(column: Any, *, first: int = 0, width: int | None = None) -> Array:
    """Convert a `pyarrow.ChunkedArray` to (n,), or to (n, dim) if it holds lists, of `width` or all of one length.

    `first` is the number of its first row.
    """
    try:
        parts = []
        for chunk in column.chunks or [pyarrow.array([], column.type)]:
            rows = _chunk_array(chunk, first, width)
            first, width = first + len(rows), rows.shape[1] if rows.ndim == 2 and len(rows) else width
            parts.append(rows)
    except pyarrow.ArrowException:
        raise InvalidTypeError(VALUES, f"{_OF_LISTS}, but holds {column.type}") from None
    filled = [part for part in parts if len(part)] or parts[:1]
    return filled[0] if len(filled) == 1 else np.concatenate(filled)


def _chunk_array(chunk: Any, first: int, width: int | None) -> Array:
    """Convert one chunk of a column, which begins at row `first`."""
    if isinstance(chunk, pyarrow.ExtensionArray):
        chunk = chunk.storage
    _require_present(chunk, first)
    if types.is_dictionary(chunk.type):
        return _looked_up(chunk, first)
    if is_list_type(chunk.type):
        return _lists(chunk, first, width)
    if types.is_nested(chunk.type):
        raise InvalidTypeError(VALUES, f"{_OF_LISTS}, but holds {chunk.type}")
    return np.asarray(chunk.to_numpy(zero_copy_only=False))


def _looked_up(chunk: Any, first: int) -> Array:
    """Return the values of a dictionary column; an entry of its dictionary may be missing too."""
    indices = chunk.indices.to_numpy(zero_copy_only=False)
    missing = chunk.dictionary.is_null().to_numpy(zero_copy_only=False)
    if missing.any() and missing[indices].any():
        raise _missing_value(first + int(np.argmax(missing[indices])))
    names = np.asarray(chunk.dictionary.to_numpy(zero_copy_only=False))
    return names[indices] if len(indices) else names[:0]


def _lists(column: Any, first: int, width: int | None) -> Array:
    numbers = column.flatten()
    if isinstance(numbers, pyarrow.ExtensionArray):
        numbers = numbers.storage
    kind = numbers.type
    if len(numbers) and not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise InvalidTypeError(VALUES, f"must hold lists of numbers, but holds {column.type}")
    widths = compute.list_value_length(column).to_numpy(zero_copy_only=False)
    if width is None:
        width = int(widths[0]) if len(widths) else max(0, getattr(column.type, "list_size", 0))
    if (widths != width).any():
        row = int(np.flatnonzero(widths != width)[0])
        rule = f"must hold lists of one length, but row {first + row} has {widths[row]} numbers and row 0 has {width}"
        raise InvalidValueError(VALUES, rule)
    _require_present(numbers, first, width)
    return np.asarray(numbers.to_numpy(zero_copy_only=False)).reshape(len(column), width)


def _require_present(values: Any, first: int, width: int = 1) -> None:
    """Refuse missing values among flattened rows of `width` values each."""
    if values.null_count:
        index = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        raise _missing_value(first + index // width)


def _missing_value(row: int) -> InvalidValueError:
    return InvalidValueError(VALUES, f"must have no missing values, but row {row} has one")
