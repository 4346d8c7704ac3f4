"""Files that hold several arrays by name (``.npz``, HDF5, safetensors): embeddings, labels and others.

Arrays are selected by name and shape, so that only the requested one is read. A format opens its files as `Arrays`;
`ArrayFormat` is common to all formats. ``.npz`` is in `numpy_files`, the others are here:

- *HDF5* (h5py): an array that is stored in one piece is mapped and stays on disk; one in chunks, compressed or not, is
  read in strips of rows. One that is elsewhere (a link, external or virtual storage) is refused: it may be any file.
- *Safetensors* (safetensors, and ml_dtypes for bfloat16 and float8): the package checks a file and says what is in it;
  the format promises that a tensor is stored row after row, in one piece, so that it can be mapped. There is no text in
  such files: labels are integers, or in a file of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from deadheat.errors import FileError
from deadheat.inputs import limits
from deadheat.inputs.files import LABEL_NAMES, Content, FileLayout, Parts, usual_names
from deadheat.support.arguments import setting
from deadheat.support.arrays import Array
from deadheat.support.lazy import json, lazy, require

h5py: Any = lazy("h5py")  # once `require` has found it

_NAMES = ("embeddings", "embedding", "features", "x")  # usual names, in lower case
PIECE = 8 << 20  # bytes of a strip, about

Shape: TypeAlias = tuple[int, ...]


class Arrays(NamedTuple):
    """An open file: functions that return the shape of each array, None if it has none, and read arrays by name."""

    shapes: Mapping[str, Callable[[], Shape | None]]
    embeddings: Callable[[str], Content]
    labels: Callable[[str], Array]


@dataclass(frozen=True)
class ArrayFormat:
    """The reader of a format whose files `opened` opens."""

    opened: Callable[[Path], AbstractContextManager[Arrays]]

    def read(self, path: Path, layout: FileLayout, parts: Parts) -> list[Any]:
        """Return arrays with the given names or usual ones; else the only matrix, and the only row or column."""
        with self.opened(path) as file:
            return [getattr(file, part)(chosen(file, part, layout, path)) for part in parts]


def chosen(file: Arrays, what: str, layout: FileLayout, path: Path) -> str:
    """Return the name of the embeddings or labels: the one asked for, a usual one, or the only one that fits."""
    asked = layout.embeddings_key if what == "embeddings" else layout.labels_key
    title = what if what == "embeddings" else layout.content
    no_labels = what == "labels" and title != "labels"
    names = [name for name in file.shapes if not (no_labels and name.lower() in LABEL_NAMES)]
    if asked is not None and asked not in file.shapes:
        raise FileError(path, f" has no array {asked!r}, only {', '.join(map(repr, file.shapes)) or 'none at all'}")
    if asked is not None:
        return asked
    lower = {name.lower(): name for name in reversed(names)}
    usual = _NAMES if what == "embeddings" else usual_names(title)
    for name in usual:
        if name in lower:
            return lower[name]
    fitting = [name for name in names if _fits(file.shapes[name](), what)]
    if len(fitting) == 1:
        return fitting[0]
    listed = ", ".join(map(repr, names)) or "none at all"
    called = " or ".join(filter(None, [", ".join(usual[:-1]), usual[-1]]))
    advice = f"name the {title} ({setting(f'{title}_key')}), one of {listed}"
    raise FileError(path, f": none of its arrays is called {called}; {advice}")


def _fits(shape: Shape | None, what: str) -> bool:
    """Return whether an array is a matrix; or, for labels, a row or a column."""
    if shape is None:
        return False
    is_matrix = len(shape) == 2 and 1 not in shape
    return is_matrix if what == "embeddings" else len(shape) == 1 or (len(shape) == 2 and 1 in shape)


def strips(shape: Shape, itemsize: int, chunks: Shape | None = None) -> Iterator[slice]:
    """Cut an array into strips of rows: whole chunks, as many as `PIECE` bytes hold, and at least one."""
    n_byte = max(1, math.prod(shape[1:]) * itemsize)
    along = chunks[0] if chunks else 1
    step = max(1, PIECE // (n_byte * along)) * along
    return (slice(start, min(start + step, shape[0])) for start in range(0, shape[0], step))


# HDF5 -----------------------------------------------------------------------------------------------------------------


class _HDF5File(NamedTuple):
    """An open file, whose arrays are read by name."""

    path: Path
    raw: IO[bytes]
    file: Any  # on top of `raw`, so that the library cannot follow its names to others

    def names(self) -> list[str]:
        """Return the names of all arrays and links, without opening any of them."""
        most, is_hard = limits.current(), dict[bytes, bool]()

        def note(name: bytes, link: Any) -> str | None:
            is_hard[name] = link.type == h5py.h5l.TYPE_HARD
            if len(is_hard) > most.members:
                return f" must have at most {most.members} arrays and groups, but has more"
            return (
                f" must have at most {most.nesting} groups in each other" if name.count(b"/") > most.nesting else None
            )

        refused = self.file.id.links.visit(note, info=True)
        if refused is not None:
            raise FileError(self.path, refused)
        is_dataset, kind_of = h5py.h5o.TYPE_DATASET, partial(h5py.h5o.get_info, self.file.id)
        names = [name for name, hard in is_hard.items() if not hard or kind_of(name).type == is_dataset]
        return [name.decode("utf-8", "surrogateescape") for name in names]

    def array(self, key: str) -> Any:
        """Open an array whose numbers are in this file; others are refused before HDF5 looks for them."""
        name = key.encode("utf-8", "surrogateescape")
        if self.file.id.links.get_info(name).type == h5py.h5l.TYPE_HARD:
            stored = h5py.h5d.open(self.file.id, name)
            made = stored.get_create_plist()
            if made.get_layout() != h5py.h5d.VIRTUAL and not made.get_external_count():
                return h5py.Dataset(stored)
        rule = "must be in this file itself, but is a link, or external or virtual storage"
        raise FileError(self.path, f" array {key!r} {rule}: write its numbers (file[{key!r}] = array)")

    def shape(self, key: str) -> Shape | None:
        """Return the shape of an array; None if it has none here."""
        try:
            return self.array(key).shape  # type: ignore[no-any-return]
        except FileError:
            return None

    def checked(self, key: str) -> Any:
        """Open an array, and refuse one that is too large for its file; chunks are unpacked whole."""
        array, part = self.array(key), f" array {key!r}"
        shape = array.shape or ()
        whole = [-(-n // chunk) * chunk for n, chunk in zip(shape, array.chunks or (1,) * len(shape), strict=True)]
        limits.require_columns(self.path, part, math.prod(shape[1:]))
        n_byte = math.prod(whole) * array.id.get_type().get_size()
        limits.require_bytes(self.path, part, n_byte, limits.bytes_held(self.raw))
        return array

    def embeddings(self, key: str) -> Content:
        """Return an array, mapped if it is stored as NumPy stores it, else in strips."""
        array = self.array(key)
        if array.dtype.kind == "O":
            held = "text" if _is_text(array) else "lists"
            raise FileError(self.path, f" array {key!r} must hold numbers, but holds {held}")
        if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "fiub":
            return self.whole(key)
        in_pieces = array.chunks is not None or array.id.get_offset() is None
        if in_pieces or not array.id.get_type().equal(h5py.h5t.py_create(array.dtype, logical=True)):
            return _hdf5_strips(self.path, key)
        return np.memmap(self.raw, array.dtype, "r", array.id.get_offset(), array.shape)

    def whole(self, key: str) -> Array:
        """Read a whole array; text of variable length becomes strings, and must be UTF-8."""
        array = self.checked(key)
        if array.shape is None:
            raise FileError(self.path, f" array {key!r} is empty")
        if not _is_text(array):
            return np.asarray(array[()])
        try:
            return np.asarray(array.asstr()[()], dtype=np.str_)
        except UnicodeDecodeError:
            raise FileError(self.path, f" array {key!r} must hold text in UTF-8") from None


@contextmanager
def _hdf5(path: Path) -> Iterator[_HDF5File]:
    require("h5py", "files", f"{path}: reading HDF5")
    with limits.opened(path) as raw, h5py.File(raw, "r") as file:
        yield _HDF5File(path, raw, file)


@contextmanager
def _opened_hdf5(path: Path) -> Iterator[Arrays]:
    with _hdf5(path) as file:
        yield Arrays({key: partial(file.shape, key) for key in file.names()}, file.embeddings, file.whole)


def _hdf5_strips(path: Path, key: str) -> Iterator[Array]:
    with _hdf5(path) as file:
        array = file.checked(key)
        for rows in strips(array.shape, array.dtype.itemsize, array.chunks):
            yield array[rows]


def _is_text(array: Any) -> bool:
    """Return whether an array holds text of variable length."""
    text = h5py.check_string_dtype(array.dtype)
    return text is not None and text.length is None


# Safetensors ----------------------------------------------------------------------------------------------------------

_NUMPY = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2", "U32": "<u4", "I32": "<i4", "U64": "<u8",
    "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8",
}  # fmt: skip
_SHORT = {  # what NumPy does not have, under the names of ml_dtypes
    "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz",
}  # fmt: skip


@contextmanager
def _opened_safetensors(path: Path) -> Iterator[Arrays]:
    """Open a file, of which only the header is read."""
    package = require("safetensors", "files", f"{path}: reading safetensors")
    with limits.opened(path) as raw, package.safe_open(limits.path_of(raw), framework="numpy") as opened:
        shapes = {key: partial(_tensor_shape, opened, key) for key in opened.keys()}  # noqa: SIM118 - it is no dictionary
        yield Arrays(
            shapes,
            lambda key: _tensor_embeddings(path, raw, key, opened.get_slice(key).get_dtype()),
            lambda key: _read(_mapped_tensor(path, raw, key, opened.get_slice(key).get_dtype())),
        )


def _tensor_shape(file: Any, key: str) -> Shape:
    return tuple(file.get_slice(key).get_shape())


def _tensor_embeddings(path: Path, raw: IO[bytes], key: str, kind: str) -> Content:
    array = _mapped_tensor(path, raw, key, kind)
    return _widened(array) if kind in _SHORT and array.ndim == 2 and array.size else array


def _mapped_tensor(path: Path, raw: IO[bytes], key: str, kind: str) -> Array:
    """Map a tensor as it is stored, in a type of NumPy or ml_dtypes."""
    if kind in _SHORT:
        short = require("ml_dtypes", "files", f"{path}: reading {kind}")
        dtype = np.dtype(getattr(short, _SHORT[kind]))
    elif kind in _NUMPY:
        dtype = np.dtype(_NUMPY[kind])
    else:
        raise FileError(path, f", tensor {key!r} must be of a type that float64 holds, but has type {kind}")
    raw.seek(0)  # a file begins with the length of its header, which is JSON; then come numbers
    length = int.from_bytes(raw.read(8), "little")
    entry = json.loads(raw.read(length))[key]
    shape = tuple(entry["shape"])
    limits.require_columns(path, f" tensor {key!r}", math.prod(shape[1:]))
    limits.require_bytes(path, f" tensor {key!r}", math.prod(shape) * dtype.itemsize, limits.bytes_held(raw))
    if not math.prod(shape):
        return np.empty(shape, dtype=dtype)
    return np.memmap(raw, dtype, "r", 8 + length + entry["data_offsets"][0], shape)


def _read(array: Any, rows: slice = slice(None)) -> Array:
    """Read some rows of a mapped tensor: where the file was cut off, a map would end the process."""
    part = array[rows] if array.ndim else array
    if part.ndim == 0 or not part.size:
        return np.array(part)
    begin = array.offset + rows.indices(len(array))[0] * array.strides[0]
    content = np.fromfile(array.filename, np.uint8, part.nbytes, offset=begin)
    result: Array = content.view(array.dtype).reshape(part.shape)
    return result


def _widened(array: Array) -> Iterator[Array]:
    """Yield numbers of a type that NumPy does not have as float32, which holds them, a few rows at a time."""
    for rows in strips(array.shape, 4):
        with np.errstate(invalid="ignore"):
            yield _read(array, rows).astype(np.float32)


HDF5, SAFETENSORS = ArrayFormat(_opened_hdf5), ArrayFormat(_opened_safetensors)
