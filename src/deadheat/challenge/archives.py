"""Embeddings out of what a stranger handed in: a ``.npz`` or ``.npy`` file, of which nothing is trusted.

Whatever a file declares is checked before anything is unpacked, and what is unpacked is never more than was declared.
Python objects are never loaded. Of an archive, only the array ``embeddings`` is looked at.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from deadheat.challenge.rules import MEGABYTE, Rules
from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs.formats import npy

NAME = "embeddings"
_END = 22  # bytes of the record that ends an archive, as NumPy writes it
_LISTING = 1 << 20  # bytes of an archive's table of contents: NumPy writes about 60 for each array
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def from_archive(path: Path, rules: Rules) -> NDArray[Any]:
    """The embeddings in a ``.npz`` file.

    Raises
    ------
    ValueError
        If it is no such file, or they are not what the rules ask for.
    """
    with open(path, "rb") as file:
        _require_small_listing(file)
        with _reading():
            archive = zipfile.ZipFile(file)
        with archive:
            entry = next((each for each in archive.infolist() if each.filename in (NAME, f"{NAME}.npy")), None)
            if entry is None:
                raise InvalidValueError(NAME, "must be the name of an array in the file, but there is none")
            if entry.compress_type not in _PACKED or entry.flag_bits & 1:
                raise InvalidValueError(NAME, "must be stored or deflated, as NumPy does it, but are packed otherwise")
            with _reading():
                member = archive.open(entry)
            with member:
                return _array(member, entry.file_size, rules)


def from_array(path: Path, rules: Rules) -> NDArray[Any]:
    """The embeddings in a ``.npy`` file, which a command has written."""
    with open(path, "rb") as file:
        return _array(file, os.fstat(file.fileno()).st_size, rules)


def _require_small_listing(file: IO[bytes]) -> None:
    """Refuse archives whose table of contents alone would fill the memory, or is not where NumPy puts it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END - 20))
    end = file.read()
    record = end[-_END:]
    if len(record) < _END or record[:4] != b"PK\5\6" or record[-2:] != b"\0\0" or end[:4] == b"PK\6\7":
        raise InvalidValueError("file", "must be a .npz file as NumPy writes it (pickles are never loaded)")
    if int.from_bytes(record[12:16], "little") > _LISTING:
        raise InvalidValueError("file", "must hold few arrays, but its table of contents has over 1 MB")
    file.seek(0)


def _array(file: IO[bytes], n_byte: int, rules: Rules) -> NDArray[Any]:
    """An array whose header says that it is what the rules ask for, and which has as many bytes as that."""
    with _reading():
        header = npy.header(file)
    if header is None:
        raise InvalidValueError(NAME, "must be numbers, but are Python objects, which are never loaded")
    shape, dtype = header.shape, header.dtype
    if dtype.kind not in "fiub" or dtype.subdtype is not None:
        raise InvalidValueError(NAME, f"must be numbers, but have dtype {dtype!s:.60}")
    if len(shape) != 2 or shape[0] != rules.n_sample or not 1 <= shape[1] <= rules.dim:
        rule = f"must have shape ({rules.n_sample}, dim) with dim of 1 to {rules.dim}, but have {shape!s:.60}"
        raise InvalidValueError(NAME, rule)
    if header.n_byte != n_byte:
        came = f"shape {shape} needs {header.n_byte} bytes, and there are {n_byte}"
        raise InvalidValueError(NAME, f"must be whole, but are truncated or damaged: {came}")
    with _reading():
        file.seek(0)
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        file.read(1)  # past the end, where zipfile compares the checksum
    return array


@contextmanager
def _reading() -> Iterator[None]:
    """Whatever NumPy, zipfile and zlib say of a file is for programmers, and could repeat what is in it."""
    try:
        with npy.reading(Path(NAME)):
            yield
    except FileError:
        rule = "must be an array of numbers as NumPy writes it, but cannot be read; truncated or damaged?"
        raise InvalidValueError(NAME, rule) from None


def most_bytes(rules: Rules) -> int:
    """Of a file that is handed in."""
    return rules.upload * MEGABYTE
