"""TREC runs and qrels, read from files, dictionaries or tables into dictionaries of Python numbers.

Tables are those of other libraries: dictionaries (pytrec_eval, BEIR), data frames and iterables of named tuples
(ir_measures, ir_datasets, PyTerrier), and objects with a `to_dict` (ranx). None of these libraries is imported.

In a file, fields of a line are separated by blanks or tabs, blank lines and comments (# ...) are skipped, and gzip is
recognised. Ids are UTF-8 or any other bytes, which stay distinct ("surrogateescape", as in file names). A fast
reader is tried first; if anything in the file is unusual, it is read again line by line. Two other forms are recognised
by their beginning: JSON by a brace, and the qrels of BEIR by the names of their three columns.
"""

from __future__ import annotations

import codecs
import gzip
import io
import math
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

import deadheat._core as _core
from deadheat.errors import FileError, InputError, InvalidTypeError, InvalidValueError, reason
from deadheat.inputs import arrays
from deadheat.inputs.files import opened
from deadheat.inputs.predictions import read_predictions
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64

Mappings: TypeAlias = Mapping[str, Mapping[str, float]]  # query id -> document id -> score or grade
Table: TypeAlias = Mappings | Iterable[Any] | Any

# As ir_measures, PyTerrier, ranx and BEIR call them
_IDS = (("query_id", "qid", "q_id", "query-id"), ("doc_id", "docno", "docid", "corpus-id"))
_NUMBERS = {"run": ("score",), "qrels": ("relevance", "rel", "label", "score")}


def as_mapping(source: Table, argument: str) -> Mappings:
    """Return a run or qrels as dictionaries of dictionaries; ids and numbers are not checked.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class ScoredDoc(NamedTuple):
    ...     query_id: str
    ...     doc_id: str
    ...     score: float
    >>> as_mapping([ScoredDoc("q1", "d1", 0.5), ScoredDoc("q1", "d2", 0.25)], "run")
    {'q1': {'d1': 0.5, 'd2': 0.25}}
    """
    if isinstance(source, Mapping):
        return source
    if not callable(getattr(source, "columns", len)) or hasattr(source, "column_names"):
        rows = _rows_of_frame(source, argument)
    elif hasattr(source, "to_dict"):
        made: Mappings = source.to_dict()
        return made
    elif isinstance(source, Iterable) and not isinstance(source, (str, bytes)) and getattr(source, "ndim", 1) != 0:
        rows = _rows_of_tuples(source, argument)
    else:
        rule = "must be a path, dictionaries, a data frame or named tuples"
        raise InvalidTypeError(argument, f"{rule}, but is {type(source).__name__}")
    table: dict[Any, dict[Any, Any]] = {}
    for query, item, number in rows:
        row = table.setdefault(query, {})
        if item in row:
            raise InvalidValueError(argument, f"must list document {item!r} once for query {query!r}, but has it again")
        row[item] = number
    return table


def _rows_of_frame(frame: Any, argument: str) -> Iterator[tuple[Any, Any, Any]]:
    held = list(getattr(frame, "column_names", None) or frame.columns)  # Arrow's `columns` are the values
    names = _chosen(held.__contains__, argument, f"columns {', '.join(map(str, held))}")
    columns = (frame[name] for name in names)
    return zip(*(each.to_pylist() if hasattr(each, "to_pylist") else list(each) for each in columns), strict=True)


def _rows_of_tuples(rows: Iterable[Any], argument: str) -> Iterator[tuple[Any, Any, Any]]:
    """Yield named tuples, or other objects with such attributes, as plain tuples; the first decides the field names.

    An iterator is consumed.
    """
    names: tuple[str, ...] | None = None
    for row in rows:
        if names is None:
            names = _chosen(partial(hasattr, row), argument, f"{type(row).__name__} {row!r:.50}")
        query, item, number = (getattr(row, name, None) for name in names)
        yield query, item, number


def _chosen(has: Callable[[str], bool], argument: str, came: str) -> tuple[str, ...]:
    wanted = (*_IDS, _NUMBERS[argument])
    names = tuple(next(filter(has, spellings), None) for spellings in wanted)
    if None in names:
        rule = f"must have {', '.join(spellings[0] for spellings in wanted)}, but has {came}"
        raise InvalidTypeError(argument, rule)
    return names  # type: ignore[return-value]


Path: TypeAlias = str | os.PathLike[str]
Checked: TypeAlias = dict[str, dict[str, Any]]

_EXACT = 2**53  # below, a whole float is one integer
_BLOCK = 1 << 20  # bytes of lines that are read together


@dataclass(frozen=True)
class _Form:
    """The layout of a run or qrels: the fields of a line, and which of them is the number of a document."""

    argument: str
    fields: tuple[str, ...]
    number: str
    kind: type[float] | type[int]
    open_end: bool = False  # whether the last field may hold blanks, as the tag of a run
    separator: bytes | None = None  # of fields; None for blanks and tabs
    item: int = 2  # which field is the document

    def check(self, value: Any) -> float:
        """Return the number as a Python float or integer, or refuse it; a grade of 1.0 is 1."""
        if self.kind is int:
            return arrays.gain(value, self.number)
        value = value.item() if isinstance(value, np.generic) else value
        if not isinstance(value, (int, float)):
            raise InvalidTypeError(self.number, f"must be a number, but is {value!r:.50}")
        if isinstance(value, float) and not math.isfinite(value):
            raise InvalidValueError(self.number, f"must be finite, but is {value}; leave out documents that are junk")
        return value

    def parse(self, line: bytes) -> tuple[str, str, float]:
        """Return query, document and number of a line."""
        if b"\0" in line:
            raise ValueError("a NUL byte; damaged, or another kind of file?")
        parts = line.split(self.separator, len(self.fields) - 1 if self.open_end else -1)
        if len(parts) != len(self.fields):
            layout = " ".join(self.fields)
            swapped = {4: ": are these qrels, in the place of a run?", 6: ": is this a run, in the place of qrels?"}
            came = f"{len(parts)}{swapped.get(len(line.split()), '')}"
            raise ValueError(f"a line must have {len(self.fields)} fields ({layout}), but has {came}")
        query, item, text = (_text(parts[i].strip()) for i in (0, self.item, self.place))
        number: Any = text
        for kind in (self.kind, float):
            with suppress(ValueError):
                number = text if "_" in text else kind(text)  # 1_000 is a number to Python only
                break
        return query, item, self.check(number)

    def add(self, block: bytes, table: Checked) -> bool:
        """Add whole lines to a table; return False, with the table unusable, if a line needs the slow reader."""
        n_line = block.count(b"\n") + 1
        places, numbers = np.empty((n_line, 6), dtype=np.int64), np.empty(n_line)
        firsts = np.empty(n_line, dtype=np.int64)
        layout = (len(self.fields), self.place, self.open_end, self.kind is int)
        text = np.frombuffer(block, dtype=np.uint8)
        found, n_run = _core.find_fields(text, layout, places, numbers, firsts)
        values = self._values(block, places[:found], numbers[:found]) if found >= 0 else None
        if values is None or b"\0" in block or block.startswith(codecs.BOM_UTF8):
            return False
        items = _texts(block, places[:found, 2:4])
        for first, last in pairwise([*firsts[:n_run].tolist(), found]):
            row = table.setdefault(_text(block[slice(*places[first, :2])]), {})
            size = len(row) + last - first
            row.update(zip(items[first:last], values[first:last], strict=True))
            if len(row) != size:
                return False
        return True

    def _values(self, block: bytes, places: Int64, numbers: Float64) -> list[Any] | None:
        """Return the numbers of lines, parsed again where the fast reader gave NaN; None if `check` may refuse one."""
        slow = np.isnan(numbers)
        values: list[Any] = np.where(slow, 0, numbers).astype(np.int64 if self.kind is int else np.float64).tolist()
        for i in np.flatnonzero(slow).tolist():
            text = block[slice(*places[i, 4:])]
            try:
                values[i] = self.check((float if b"." in text else self.kind)(text))
            except ValueError:
                return None
            if b"_" in text:
                return None
        return values

    @property
    def place(self) -> int:
        """The index of the field with the number of a document."""
        return self.fields.index(self.number)


_RUN = _Form("run", ("qid", "Q0", "docid", "rank", "score", "tag"), "score", float, open_end=True)
_QRELS = _Form("qrels", ("qid", "iter", "docid", "rel"), "rel", int)
_BEIR = _Form("qrels", ("query-id", "corpus-id", "score"), "score", int, separator=b"\t", item=1)


def open_run(source: Path | Table, *, may_be_empty: bool = False) -> Checked:
    """Read a run from a file or a table: Python numbers by query and document; an invalid run raises."""
    return _open(source, _RUN, may_be_empty)


def open_qrels(source: Path | Table, *, may_be_empty: bool = False) -> Checked:
    """Read qrels from a file or a table: gains by query and document, whole ones as integers; invalid qrels raise."""
    return _open(source, _QRELS, may_be_empty)


def _open(source: Path | Table, form: _Form, may_be_empty: bool) -> Checked:
    rule = "must hold at least one query, but is empty"
    if isinstance(source, (str, os.PathLike)):
        checks.without_nul(source, form.argument)
        table = _checked(read_predictions(source), form) if _is_json(source) else _read(source, form)
        if not table and not may_be_empty:
            raise FileError(source, f" {rule}")
        return table
    table = _checked(as_mapping(source, form.argument), form)
    if not table and not may_be_empty:
        raise InvalidValueError(form.argument, rule)
    return table


def _checked(source: Mapping[str, Mapping[str, float]], form: _Form) -> Checked:
    name = form.argument
    table: Checked = {}
    for query, row in source.items():
        if not isinstance(query, str):
            raise InvalidTypeError(name, f"must have strings as query ids, but has {checks.shown(query)}{_hint(query)}")
        if not isinstance(row, Mapping):
            rule = "must hold a dictionary for each query"
            raise InvalidTypeError(name, f"{rule}, but has {type(row).__name__} for {query!r}")
        numbers = table[query] = {}
        for item, value in row.items():
            if not isinstance(item, str):
                came = f"has {checks.shown(item)} for {query!r}{_hint(item)}"
                raise InvalidTypeError(name, f"must have strings as document ids, but {came}")
            try:
                numbers[item] = form.check(value)
            except InputError as error:
                raise type(error)(f"{name}, query {query!r}, document {item!r}:", str(error)) from None
    return table


def _hint(key: Any) -> str:
    is_number = isinstance(key, (int, np.integer))
    return f"; str({key}) makes one, in the run and in the qrels" if is_number and abs(key) < _EXACT else ""


def _is_json(path: Path) -> bool:
    """Return whether a file begins with a brace, as JSON does."""
    with opened(path) as file:
        return file.read(64).lstrip().startswith(b"{")


def run_id(path: Path) -> str:
    """Return the tag of a run, up to a blank: that of its last line, as in trec_eval."""
    last = b""
    with _opened(path) as file:
        for block in _blocks(file):
            while block := block.rstrip():
                block, _, line = block.rpartition(b"\n")
                if not line.lstrip().startswith(b"#"):
                    last = line
                    break
    return _text(last.split()[len(_RUN.fields) - 1])


def _read(path: Path, form: _Form) -> Checked:
    table: Checked = {}
    with _opened(path) as file:
        for block in _blocks(file):
            if form is _QRELS and not table and _is_beir(block):
                return _read_one_by_one(path, _BEIR)
            if not form.add(block, table):
                return _read_one_by_one(path, form)
    return table


def _is_beir(block: bytes) -> bool:
    """Return whether a file begins with the column names of BEIR's qrels, or with other names of the same columns."""
    first = block.removeprefix(codecs.BOM_UTF8).partition(b"\n")[0]
    names = [_text(name).strip().lower() for name in first.split(b"\t")]
    known = (*_IDS, _NUMBERS["qrels"])
    return len(names) == 3 and all(name in spellings for name, spellings in zip(names, known, strict=True))


def _blocks(file: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield the bytes of a file, some whole lines at a time."""
    rest = b""
    while block := file.read(_BLOCK):
        whole, end, rest = (rest + block).rpartition(b"\n")
        if end:
            yield whole + end
    if rest:
        yield rest


def _read_one_by_one(path: Path, form: _Form) -> Checked:
    """Read a file line by line: comments and blank lines are skipped, and an error names its line."""
    table: Checked = {}
    with _opened(path) as lines:
        for count, text in enumerate(lines, 1):
            if form is _BEIR and count == 1:
                continue
            line = text.removeprefix(codecs.BOM_UTF8).strip() if count == 1 else text.strip()
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


def _texts(block: bytes, places: Int64) -> list[str]:
    ends = zip(*places.T.tolist(), strict=True)
    if block.isascii():
        text = block.decode("ascii")
        return [text[first:last] for first, last in ends]
    return [_text(block[first:last]) for first, last in ends]


def _text(field: bytes) -> str:
    """Decode an id; bytes that are not UTF-8 become lone surrogates, which are encoded as the same bytes again."""
    return field.decode("utf-8", "surrogateescape")


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedIOBase]:
    """Open a file for reading lines, through gzip if it begins as gzip does."""
    with opened(path) as plain:
        start = plain.peek(2)
        zipped = start.startswith(b"\x1f\x8b")
        if not zipped and b"\0" in start:  # as of embeddings, which may be large and have no line
            raise FileError(path, ", line 1: a NUL byte; damaged, or another kind of file?")
        try:
            yield gzip.GzipFile(fileobj=plain) if zipped else plain
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FileError(path, f" is damaged or truncated: {reason(error)}") from None
