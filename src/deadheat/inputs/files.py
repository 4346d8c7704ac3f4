"""Files that an argument names by paths and patterns such as ``emb-*.npy``, and the layout of their content.

The files that match a pattern are taken in natural order, which is printed wherever it could matter.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import NDArray

from deadheat.errors import DeadheatError, FileError, InvalidValueError, reason
from deadheat.inputs import limits
from deadheat.support import checks, scratch
from deadheat.support.arguments import VALUES, names_argument
from deadheat.support.lazy import glob, lazy

gzip: Any = lazy("gzip")
zlib: Any = lazy("zlib")

Labels: TypeAlias = NDArray[Any]
Content: TypeAlias = NDArray[Any] | Iterator[NDArray[Any]]
Path: TypeAlias = str | os.PathLike[str]
Parts: TypeAlias = tuple[str, ...]  # of a file: one of these three

EMBEDDINGS, LABELS, BOTH = ("embeddings",), ("labels",), ("embeddings", "labels")


class FileLayout(NamedTuple):
    """The places of embeddings and labels in a file, None where not given: see `deadheat.read`.

    `left_out` are columns of tables, by name or by place from 0, that are neither labels nor part of the embedding.
    `columns` are patterns of names; others are no part of the embedding. Nor are those that a pattern of `drop` fits.
    `content` names the numbers that are read in place of labels, such as a confidence; labels are never taken for them.
    `is_table` says that ``.txt``, which else has a label on each line, has columns between blanks.
    """

    embeddings_key: str | None = None
    labels_key: str | None = None
    label_column: str | int | None = None
    header: bool | None = None
    left_out: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] | None = None
    content: str = "labels"
    is_table: bool = False


LABEL_NAMES = ("labels", "label", "class", "y")  # usual names, in lower case
_USUAL = {"labels": LABEL_NAMES, "confidence": ("confidence", "confidences", "sigma")}


def usual_names(content: str) -> tuple[str, ...]:
    """Return the usual names, in lower case, of labels or of numbers that are read in their place."""
    return _USUAL.get(content, (content,))


Orders = Mapping[str, tuple[str, ...]]

_held: dict[str, bytes] = {}  # texts in memory, by the path that each stands for


@contextmanager
def held(path: str | os.PathLike[str], content: bytes) -> Iterator[None]:
    """Let a path stand for a text in memory, such as that of standard input, until the block ends."""
    _held[os.fspath(path)] = content
    try:
        yield
    finally:
        del _held[os.fspath(path)]


def opened(path: Path) -> io.BufferedReader:
    """Open a file of text to read, or the text that is `held` for its path."""
    content = _held.get(os.fspath(path))
    return limits.opened(path) if content is None else io.BufferedReader(io.BytesIO(content))


@contextmanager
def unzipped(path: Path) -> Iterator[io.BufferedIOBase]:
    """Open a file for reading lines, through gzip if it begins as gzip does."""
    with opened(path) as plain:
        start = plain.peek(2)
        zipped = start.startswith(b"\x1f\x8b")
        if not zipped and b"\0" in start and not start.startswith(b"PAR1"):  # embeddings, large and without a line
            raise FileError(path, ", line 1: a NUL byte; damaged, or another kind of file?")
        try:
            yield io.BufferedReader(_Unzipped(path, plain), 1 << 16) if zipped else plain
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FileError(path, f" is damaged or truncated: {reason(error)}") from None


def fields_of_lines(path: Path, most: int | None = None) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line that has any: between tabs, else commas, else blanks.

    `most` is the number of fields between blanks; the last of them keeps its blanks.
    """
    with unzipped(path) as file:
        for number, line in enumerate(file, 1):
            text = line.decode("utf-8-sig", "surrogateescape").strip()
            if text:
                between = "\t" if "\t" in text else "," if "," in text else None
                fields = text.split(between, most - 1 if most and between is None else -1)
                yield number, [field.strip() for field in fields]


def require_there(path: str | os.PathLike[str]) -> None:
    """Raise the system's error for a file that does not exist; a URL is not checked."""
    if os.fspath(path) not in _held and not scratch.is_url(os.fspath(path)):
        os.stat(path)


class _Unzipped(io.RawIOBase):
    """The bytes that a gzip file unpacks to, up to the limit for its size."""

    def __init__(self, path: Path, plain: io.BufferedReader) -> None:
        self._path, self._plain, self._zipped = path, plain, gzip.GzipFile(fileobj=plain)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_read: int = self._zipped.readinto(buffer)
        limits.require_bytes(self._path, "", self._zipped.tell(), self._plain.tell(), limits.current().text)
        return n_read


@contextmanager
def unreadable(path: str | os.PathLike[str], kind: str = "") -> Iterator[None]:
    """Turn a library's error on a damaged file into a `FileError` of one line; pass on the system's errors."""
    try:
        yield
    except DeadheatError:
        raise
    except Exception as error:
        of_system = isinstance(error, OSError) and (
            not kind or os.path.normpath(str(error.filename)) == os.path.normpath(path)
        )
        no_memory = isinstance(error, MemoryError) and not type(error).__module__.startswith("pyarrow")
        if of_system or no_memory:  # pyarrow has no memory for what a damaged file says that it needs
            raise
        named = f" as {kind}" if kind else ""
        raise FileError(path, f" cannot be read{named}; truncated or damaged? {reason(error)}") from None


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


@names_argument
def fitting(path: str | os.PathLike[str]) -> list[str]:
    """Return the files that match a pattern, in natural order; the path itself if it is no pattern, or is a file."""
    text = checks.path(path, VALUES)
    if scratch.is_url(text):
        limits.require_file(text)
        return sorted(scratch.matching(text), key=natural)
    if os.path.exists(text) or not glob.has_magic(text):
        return [text]
    return sorted(glob.glob(text, recursive=True), key=natural)


@names_argument
def matching(path: str | os.PathLike[str]) -> list[str]:
    """Return the files that match a pattern, as `fitting` does, and refuse a pattern that matches none."""
    paths = fitting(path)
    if not paths:
        raise InvalidValueError(VALUES, f"must be files that are there, but none fits {os.fspath(path)!r}")
    return paths


def natural(text: str) -> tuple[list[str | int], str]:
    """Return a sort key for natural order, in which numbers within names are compared by size.

    Examples
    --------
    >>> sorted(["emb-10.npy", "emb-2.npy", "emb-02.npy"], key=natural)
    ['emb-02.npy', 'emb-2.npy', 'emb-10.npy']
    """
    parts = re.split("([0-9]+)", text)  # text and digits in turn, so that like meets like
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], text


def orders(arguments: Mapping[str, Any]) -> Orders:
    """Return the files of each argument in which a pattern matches more than one, in the order that deadheat chose."""
    result = {}
    for name, value in arguments.items():
        files = [fitting(path, name) for path in paths_given(value)]
        if any(len(some) > 1 for some in files):
            result[name] = tuple(path for some in files for path in some)
    return result


def paths_in(value: Any) -> list[str]:
    """Return the files of an argument, with patterns expanded; none if it is not all paths."""
    return [path for given in paths_given(value) for path in fitting(given, "path")]


def paths_given(value: Any) -> list[str | os.PathLike[str]]:
    """Return the paths and patterns of an argument; none if it is not all paths."""
    paths = [value] if is_path(value) else list(value) if isinstance(value, (list, tuple)) else []
    return paths if all(map(is_path, paths)) else []


def sentences(files: Orders) -> Iterable[str]:
    """Yield the orders in words, one line per argument, with file names alone and at most seven of them."""
    for name, paths in files.items():
        shown = [os.path.basename(path) for path in paths]
        if len(shown) > 7:
            shown[5:-1] = ["..."]
        yield f"{name}: {len(paths)} files in this order: {', '.join(shown)}."
