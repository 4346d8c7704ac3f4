"""NumPy's own files: ``.npy`` holds one array, ``.npz`` several by name, or a sparse matrix. Every error is one line.

Only the requested arrays of an archive are unpacked; embeddings that would fill much of the memory, in pieces. What a
header claims is compared with what the file holds before memory is taken.
"""

from __future__ import annotations

import errno
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from deadheat.errors import MOST, FileError, printable, reason
from deadheat.inputs import limits
from deadheat.inputs.files import LABELS, Content, FileLayout, Parts
from deadheat.inputs.formats.keyed import ArrayFormat, Arrays, Shape, strips
from deadheat.support import scratch
from deadheat.support.arrays import Array
from deadheat.support.lazy import require

SHARE = 4  # embeddings that take more than one part in so many of the memory are unpacked in pieces

_MAGIC = b"\x93NUMPY"
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError)  # raised below NumPy on damaged files


class Header(NamedTuple):
    """The header of an array in a file of NumPy's format."""

    shape: Shape
    dtype: np.dtype[Any]
    begins: int  # bytes before the numbers
    by_column: bool  # whether they are stored column after column

    @property
    def n_byte(self) -> int:
        """The size of header and numbers in bytes, as a Python integer, which does not overflow."""
        return self.begins + math.prod(self.shape) * self.dtype.itemsize


def read(path: Path, layout: FileLayout, parts: Parts) -> list[Array]:
    """Return the array of a ``.npy`` file: labels in memory, embeddings as a map, which stays on disk."""
    with limits.opened(path) as file:
        head = _require_whole(path, file)
        with reading(path):
            if parts == LABELS or head is None or not math.prod(head.shape):
                return [np.asarray(np.load(file, allow_pickle=False))]
            return [np.memmap(file, head.dtype, "r", head.begins, head.shape, "F" if head.by_column else "C")]


def _require_whole(path: Path, file: IO[bytes]) -> Header | None:
    """Return the header of a file; refuse one of another kind, or of another size than its header says."""
    start = file.read(len(_MAGIC))
    if not _MAGIC.startswith(start):  # a file that is cut off within that is for NumPy to refuse
        pickled = " (pickles are never loaded)" if start.startswith(b"\x80") else ""
        raise FileError(path, f" is not a .npy file, despite its name{pickled}")
    file.seek(0)
    with reading(path):
        result = header(file)
    require_size(path, "", result, os.fstat(file.fileno()).st_size, limits.bytes_held(file))
    file.seek(0)
    return result


def require_size(path: Path, part: str, result: Header | None, n_byte: int, n_held: int) -> None:
    """Refuse an array that is cut off or too large for its file, before it takes memory, or is followed by more.

    Its header and its numbers have `n_byte` bytes together, for which the file holds `n_held`.
    """
    if result is None:
        return
    limits.require_columns(path, part, math.prod(result.shape[1:]))
    if result.n_byte == n_byte:
        limits.require_bytes(path, part, n_byte, n_held)
        return
    got = f"its shape {result.shape} needs {result.n_byte} bytes, and there are {n_byte}"
    if result.n_byte > n_byte:
        raise FileError(path, f"{part} cannot be read; truncated or damaged? {got}")
    raise FileError(path, f"{part} goes on after its array; several files in one? {got}")


def header(file: IO[bytes]) -> Header | None:
    """Return the header of an array; None if it holds Python objects, which have no size."""
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError("its version is that of no array of numbers or text")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        shape, by_column, dtype = read(file)
    except (ArithmeticError, LookupError, MemoryError, RuntimeError, SyntaxError, TypeError, ValueError, *_DAMAGED):
        raise ValueError("its header is none of an array") from None  # NumPy's message advises to trust it
    if any(not 0 <= length < 2**62 for length in shape):
        raise ValueError(f"its shape {shape} is none that an array can have")
    return None if dtype.hasobject else Header(shape, dtype, file.tell(), by_column)


@contextmanager
def reading(path: Path, part: str = "") -> Iterator[None]:
    """Turn the errors of NumPy, zipfile and zlib into a `FileError` of one line."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EINVAL:  # a damaged archive makes zipfile seek to before the file's beginning
            raise
        raise FileError(path, f"{part} cannot be read; truncated or damaged?") from None
    except MemoryError as error:
        raise MemoryError(printable(f"{path}{part}: {error}", MOST)) from None
    except (ArithmeticError, EOFError, LookupError, RuntimeError, TypeError, ValueError, *_DAMAGED) as error:
        said = reason(error)
        if "Object arrays" in said or "Python objects in dtype" in said:
            hint = "save numbers or strings of a fixed width (array.astype(str))"
            raise FileError(path, f"{part} holds Python objects, which are pickled and never loaded: {hint}") from None
        if "pickle" in said:
            said = "neither NumPy's format nor an archive (pickles are never loaded)"
        raise FileError(path, f"{part} cannot be read; truncated or damaged? {said}") from None


class _Archive(NamedTuple):
    """An open ``.npz`` file, whose arrays are read by name."""

    path: Path
    file: Any  # as NumPy opens it

    def entry(self, key: str) -> zipfile.ZipInfo:
        """Return an array's entry; NumPy leaves ``.npy`` out of names."""
        entry: zipfile.ZipInfo = self.file.zip.getinfo(key if key in self.file.zip.namelist() else f"{key}.npy")
        return entry

    def header(self, key: str) -> Header | None:
        """Return the header of an array without unpacking the rest."""
        with reading(self.path, f" array {key!r}"), self.file.zip.open(self.entry(key)) as file:
            return header(file)

    def shape(self, key: str) -> Shape | None:
        """Return the shape of an array; None if it cannot be read."""
        try:
            header = self.header(key)
        except FileError:
            return None
        return None if header is None else header.shape

    def checked(self, key: str) -> Header | None:
        """Return the header of an array; refuse one that does not fit its entry, or is too large for the file."""
        header, n_held = self.header(key), limits.bytes_held(self.file.zip.fp)
        require_size(self.path, f" array {key!r}", header, self.entry(key).file_size, n_held)
        return header

    def array(self, key: str) -> Array:
        """Read one array; never a pickled one."""
        self.checked(key)
        with reading(self.path, f" array {key!r}"):
            return np.asarray(self.file[key])

    def embeddings(self, key: str) -> Content:
        header = self.checked(key)
        in_rows = header is not None and not header.by_column and len(header.shape) == 2 and 0 not in header.shape
        if header is not None and in_rows and _is_large(header.n_byte, self.entry(key).compress_size):
            return _pieces(self.path, key)
        return self.array(key)

    def sparse(self) -> Any:
        """Return a sparse matrix, after its arrays and its shape have been compared with what the file holds."""
        scipy = require("scipy.sparse", "stats", f"{self.path}: reading a sparse matrix")
        headers = {key: self.checked(key) for key in self.file.files}
        n_byte = sum(header.n_byte for header in headers.values() if header is not None)
        if headers["shape"] is None or headers["shape"].shape != (2,):
            raise FileError(self.path, " must hold a sparse matrix of two dimensions")
        n_row, n_column = map(int, self.array("shape"))
        limits.require_columns(self.path, "", n_column)
        limits.require_bytes(self.path, "", n_byte + 8 * n_row, limits.bytes_held(self.file.zip.fp))
        with reading(self.path):
            self.file.zip.fp.seek(0)
            matrix = scipy.load_npz(self.file.zip.fp)
            getattr(matrix, "check_format", bool)()  # of each place, before SciPy converts it
        return matrix


@contextmanager
def _archive(path: Path) -> Iterator[_Archive]:
    with limits.opened(path) as file:
        with reading(path):
            archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise FileError(path, " is not a .npz file, despite its name")
        with archive:
            yield _Archive(path, archive)


@contextmanager
def _opened(path: Path) -> Iterator[Arrays]:
    with _archive(path) as archive:
        names = archive.file.files
        if {"format", "shape", "data"} <= set(names):  # of SciPy's `save_npz`
            matrix = archive.sparse()
            yield Arrays({"embeddings": lambda: matrix.shape}, lambda key: matrix, lambda key: matrix.toarray())
        else:
            yield Arrays({key: partial(archive.shape, key) for key in names}, archive.embeddings, archive.array)


def _is_large(n_byte: int, n_held: int) -> bool:
    """Return whether an array takes much of the memory, or far more than it has in the archive."""
    is_thin = n_byte > max(scratch.WORTH_A_FILE, limits.current().ratio * n_held)
    return is_thin or n_byte * SHARE > scratch.available_memory()


def _pieces(path: Path, key: str) -> Iterator[Array]:
    with _archive(path) as archive, reading(path, f" array {key!r}"), archive.file.zip.open(archive.entry(key)) as file:
        head = header(file)
        assert head is not None
        for rows in strips(head.shape, head.dtype.itemsize):
            content = file.read((rows.stop - rows.start) * head.shape[1] * head.dtype.itemsize)
            yield np.frombuffer(content, dtype=head.dtype).reshape(-1, head.shape[1])
        file.read(1)  # beyond the last one, where zipfile compares the checksum


NPZ = ArrayFormat(_opened)
