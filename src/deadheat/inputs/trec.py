"""TREC runs and qrels: in come files, dictionaries or tables, out go dictionaries of Python numbers.

Files are text in UTF-8, fields separated by blanks or tabs, blank lines and comments (# ...) skipped; gzip is
recognised.
"""

from __future__ import annotations

import codecs
import gzip
import math
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from deadheat.errors import FileError, InputError, InvalidTypeError, InvalidValueError
from deadheat.inputs.trec_tables import Table, as_mapping
from deadheat.support import checks

Path: TypeAlias = str | os.PathLike[str]
Checked: TypeAlias = dict[str, dict[str, Any]]

_HIGHEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class _Form:
    """What a run or qrels looks like: the fields of a line, and which of them is the number of a document."""

    argument: str
    fields: tuple[str, ...]
    number: str
    kind: type[float] | type[int]

    def check(self, value: Any) -> float:
        """The number as a Python float or integer."""
        value = value.item() if isinstance(value, np.generic) else value
        if not isinstance(value, (int, self.kind)):
            kind = "an integer" if self.kind is int else "a number"
            raise InvalidTypeError(self.number, f"must be {kind}, but is {value!r:.50}")
        if isinstance(value, float) and not math.isfinite(value):
            raise InvalidValueError(self.number, f"must be finite, but is {value}")
        if self.kind is int and value > _HIGHEST:
            raise InvalidValueError(self.number, f"must be below 2^63, but is {value}")
        return value

    def parse(self, line: bytes) -> tuple[str, str, float]:
        """Query, document and number of a line."""
        parts = line.split()
        if len(parts) != len(self.fields):
            layout = " ".join(self.fields)
            raise ValueError(f"a line must have {len(self.fields)} fields ({layout}), but has {len(parts)}")
        try:
            query, item, text = (parts[i].decode() for i in (0, 2, self.fields.index(self.number)))
        except UnicodeDecodeError:
            raise ValueError("not text in UTF-8; damaged, or another kind of file?") from None
        return query, item, self.check(_number(text, self.kind))


_RUN = _Form("run", ("qid", "Q0", "docid", "rank", "score", "tag"), "score", float)
_QRELS = _Form("qrels", ("qid", "iter", "docid", "rel"), "rel", int)


def open_run(source: Path | Table, *, may_be_empty: bool = False) -> Checked:
    """A run from a file or a table: Python numbers by query and document; what breaks its form raises."""
    return _open(source, _RUN, may_be_empty)


def open_qrels(source: Path | Table, *, may_be_empty: bool = False) -> Checked:
    """Qrels from a file or a table: integers by query and document; what breaks their form raises."""
    return _open(source, _QRELS, may_be_empty)


def _number(text: str, kind: type[float] | type[int]) -> Any:
    """The number that a text is, or the text if it is none; 1_000 is one to Python only."""
    try:
        return text if "_" in text else kind(text)
    except ValueError:
        return text


def _open(source: Path | Table, form: _Form, may_be_empty: bool) -> Checked:
    """A run or qrels as dictionaries of Python numbers, from a file or a table."""
    rule = "must hold at least one query, but is empty"
    if isinstance(source, (str, os.PathLike)):
        checks.without_nul(source, form.argument)
        table = _read(source, form)
        if not table and not may_be_empty:
            raise FileError(source, f" {rule}")
        return table
    table = _checked(as_mapping(source, form.argument), form)
    if not table and not may_be_empty:
        raise InvalidValueError(form.argument, rule)
    return table


def _checked(source: Mapping[str, Mapping[str, float]], form: _Form) -> Checked:
    """A copy of dictionaries, checked."""
    name = form.argument
    table: Checked = {}
    for query, row in source.items():
        if not isinstance(query, str):
            raise InvalidTypeError(name, f"must have strings as query ids, but has {query!r}")
        if not isinstance(row, Mapping):
            raise InvalidTypeError(
                name, f"must hold a dictionary for each query, but has {type(row).__name__} for {query!r}"
            )
        numbers = table[query] = {}
        for item, value in row.items():
            if not isinstance(item, str):
                raise InvalidTypeError(name, f"must have strings as document ids, but has {item!r} for {query!r}")
            try:
                numbers[item] = form.check(value)
            except InputError as error:
                raise type(error)(f"{name}, query {query!r}, document {item!r}:", str(error)) from None
    return table


def _read(path: Path, form: _Form) -> Checked:
    """The lines of a file."""
    table: Checked = {}
    with _opened(path) as lines:
        for count, line in enumerate(lines, 1):
            line = line.removeprefix(codecs.BOM_UTF8).strip() if count == 1 else line.strip()
            if not line or line.startswith(b"#"):
                continue
            try:
                query, item, number = form.parse(line)
                row = table.setdefault(query, {})
                if item in row:
                    raise ValueError(f"document {item!r} must be listed once for query {query!r}, but is again")
            except (TypeError, ValueError) as error:
                raise FileError(path, f", line {count}: {error}") from None
            row[item] = number
    return table


@contextmanager
def _opened(path: Path) -> Iterator[Iterable[bytes]]:
    """The lines of a file, through gzip if it begins like that."""
    with open(path, "rb") as plain:
        zipped = plain.peek(2).startswith(b"\x1f\x8b")
        try:
            yield gzip.GzipFile(fileobj=plain) if zipped else plain
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FileError(path, f" is damaged or truncated: {error}") from None
