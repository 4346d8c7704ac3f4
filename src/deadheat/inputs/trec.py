"""Runs and qrels, read from files, dictionaries or tables into dictionaries of Python numbers.

Tables are those of other libraries: dictionaries (pytrec_eval, BEIR), data frames and iterables of named tuples
(ir_measures, ir_datasets, PyTerrier), and objects with a `to_dict` (ranx). None of these libraries is imported. They
and files that name their columns are read by `rows`.

In a TREC file, fields of a line are separated by blanks or tabs, blank lines and comments (# ...) are skipped, and gzip
is recognised. Ids are UTF-8 or any other bytes, which stay distinct ("surrogateescape", as in file names). A fast
reader is tried first; if anything in the file is unusual, it is read again line by line.
"""

from __future__ import annotations

import codecs
import io
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

import deadheat._core as _core
from deadheat.errors import FileError, InputError, InvalidTypeError, InvalidValueError
from deadheat.inputs import arrays, rows
from deadheat.inputs.files import Path as Path
from deadheat.inputs.files import unzipped
from deadheat.inputs.row_columns import ColumnMap, RowColumns
from deadheat.inputs.rows import Row
from deadheat.inputs.rows import Table as Table
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument
from deadheat.support.arrays import Float64, Int64

Checked: TypeAlias = dict[str, dict[str, Any]]
Repeats: TypeAlias = Literal["max", "first"]
Documents: TypeAlias = Mapping[Any, Any] | Path

_EXACT = 2**53  # below, a whole float is one integer
_BLOCK = 1 << 20  # bytes of lines that are read together
_LIST = re.compile(r"\S[\s,;]+\S")  # of ids in one text
_NUMBER = re.compile(rb"[-+]?[0-9.]+([eE][-+]?[0-9]+)?")
_FIRST_TWO = re.compile(rb"^([^\s#]\S*)[ \t]+(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class LineForm:
    """The layout of a run or qrels: the fields of a line, and which of them is the number of a document."""

    argument: str
    fields: tuple[str, ...]
    number: str
    kind: type[float] | type[int]
    open_end: bool = False  # whether the last field may hold blanks, as the tag of a run
    item: int = 2  # which field is the document

    def check(self, value: Any) -> float:
        """Return the number as a Python float or integer, or refuse it; a grade of 1.0 is 1."""
        if self.kind is int:
            return arrays.gain(value, self.number)
        value = value.item() if isinstance(value, np.generic) else value
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise InvalidTypeError(self.number, checks.no_number(value, f"of type {type(value).__name__}"))
        if isinstance(value, float) and not math.isfinite(value):
            raise InvalidValueError(self.number, f"must be finite, but is {value}; leave out documents that are junk")
        return value

    def parse(self, line: bytes) -> tuple[str, str, float]:
        """Return query, document and number of a line."""
        if b"\0" in line:
            raise ValueError("a NUL byte; damaged, or another kind of file?")
        parts = line.split(None, len(self.fields) - 1 if self.open_end else -1)
        if len(parts) != len(self.fields):
            layout = " ".join(self.fields)
            swapped = {4: ": are these qrels, in the place of a run?", 6: ": is this a run, in the place of qrels?"}
            got = f"{len(parts)}{swapped.get(len(line.split()), '')}"
            raise ValueError(f"a line must have {len(self.fields)} fields ({layout}), but has {got}")
        query, item, text = (_text([*parts, b"1"][i]) for i in (0, self.item, self.place))
        number = self.check(self.number_in(text))
        return query, item, -number if self is _RANKS else number

    def number_in(self, text: str) -> Any:
        """Return the number that a text is, or the text itself, which `check` refuses."""
        for kind in (self.kind, float):
            with suppress(ValueError):
                return text if "_" in text else kind(text)  # 1_000 is a number to Python only
        return text

    def fitting(self, block: bytes, path: Path) -> LineForm:
        """Return the form of MS MARCO if the first line of a file has its number of fields, and else this one.

        A table of BLAST is refused, which has twelve columns, numbers from the third on: no tag of a run has seven.
        """
        lines = (line.split() for line in block.removeprefix(codecs.BOM_UTF8).split(b"\n"))
        first = next((line for line in lines if line and not line[0].startswith(b"#")), [])
        if self is _RUN and len(first) == 12 and all(map(_NUMBER.fullmatch, first[2:])):
            got = "has twelve columns, as a table of BLAST (-outfmt 6)"
            rule = 'number its columns, as columns={"query": 0, "document": 1, "score": 11} (--column query=0 ...)'
            raise FileError(path, f" must be a run, but {got}: {rule}")
        return {(_RUN, 3): _RANKS, (_QRELS, 2): _PAIRS}.get((self, len(first)), self)

    def add(
        self, block: bytes, table: Checked, best: Callable[[Any, Any], Any] | None = None,
        plain: rows.PlainForm | None = None,
    ) -> bool:  # fmt: skip
        """Add whole lines to a table; return False, with the table unusable, if a line needs the slow reader.

        `plain` is the form of lines in another layout than that of TREC.
        """
        if self.item != 2:
            block = _FIRST_TWO.sub(rb"\1 0 \2" if self is _RANKS else rb"\1 0 \2 1", block)  # as TREC has it
        n_line = block.count(b"\n") + 1
        places, numbers = np.empty((n_line, 6), dtype=np.int64), np.empty(n_line)
        firsts = np.empty(n_line, dtype=np.int64)
        text, whole = np.frombuffer(block, dtype=np.uint8), self.kind is int
        find, *form = plain or (_core.find_fields, max(4, len(self.fields)), max(3, self.place), self.open_end)
        result, n_run = find(text, (*form, whole), places, numbers, firsts)
        values = self._values(block, places[:result], numbers[:result]) if result >= 0 else None
        if values is None or b"\0" in block or block.startswith(codecs.BOM_UTF8):
            return False
        values = [-value for value in values] if self is _RANKS else values
        items = _texts(block, places[:result, 2:4])
        for first, last in pairwise([*firsts[:n_run].tolist(), result]):
            row = table.setdefault(_text(block[slice(*places[first, :2])]), {})
            size = len(row) + last - first
            pairs = zip(items[first:last], values[first:last], strict=True)
            row.update(((item, best(row.get(item, each), each)) for item, each in pairs) if best else pairs)
            if len(row) != size and not best:
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
        return self.fields.index(self.number) if self.number in self.fields else len(self.fields)


_RUN = LineForm("run", ("qid", "Q0", "docid", "rank", "score", "tag"), "score", float, open_end=True)
_QRELS = LineForm("qrels", ("qid", "iter", "docid", "rel"), "rel", int)
_RANKS = LineForm("run", ("qid", "pid", "rank"), "rank", float, item=1)  # MS MARCO
_PAIRS = LineForm("qrels", ("qid", "pid"), "rel", int, item=1)  # MS MARCO, every one relevant
_RANKED = LineForm("ranked_ids", (), "rank", float)
_RELEVANT = LineForm("relevant_ids", (), "grade", int)


class Opened(dict[str, dict[str, Any]]):
    """Numbers by query and document, with remarks for a report and the kinds of ids that were given."""

    remarks: tuple[str, ...] = ()
    kinds: frozenset[tuple[str, type]] = frozenset()
    alternatives: dict[str, list[tuple[str, ...]]] | None = None  # by query: documents of one judgement


class Chunks(NamedTuple):
    """The rules by which chunks of documents become documents."""

    repeats: Repeats | None = None
    documents: Mapping[str, str] | None = None  # the document of each chunk
    ascending: bool = False  # whether the lowest score is the best

    @classmethod
    def checked(cls, repeats: Any, documents: Any = None, order: str = "descending") -> Chunks:
        checks.choice("max" if repeats is None else repeats, get_args(Repeats), "repeats")
        ascending = checks.choice(order, ("descending", "ascending"), "order") == "ascending"
        if documents is None:
            return cls(repeats, None, ascending)
        if isinstance(documents, (str, os.PathLike)):
            checks.path(documents, "documents")
            return cls(repeats, rows.pairs_in(documents), ascending)
        if not isinstance(documents, Mapping):
            rule = "must be a dictionary from chunks to documents, or the path of one"
            raise InvalidTypeError("documents", f"{rule}, but is {checks.shown(documents)}")
        pairs = {(_id(chunk, "chunk"), _id(document, "document")) for chunk, document in documents.items()}
        if len(result := dict(pairs)) < len(pairs):
            twice = next(chunk for chunk, document in pairs if result[chunk] != document)
            raise InvalidValueError("documents", f"must have one document for each chunk, but has two for {twice!r}")
        return cls(repeats, result, ascending)

    @property
    def best(self) -> Callable[[Any, Any], Any] | None:
        """The better one of two scores of a document; None where a document has one."""
        return None if self.repeats is None else min if self.ascending else max

    def document(self, item: str) -> str:
        """Return the document of a chunk, or the item itself."""
        if self.documents is None:
            return item
        if item not in self.documents:
            raise InvalidValueError("documents", f"must have the document of each chunk, but has none for {item!r}")
        return self.documents[item]


PLAIN = Chunks()


def open_run(
    source: Path | Table, *, may_be_empty: bool = False, repeats: Repeats | None = None,
    documents: Documents | None = None, columns: ColumnMap | None = None, order: str = "descending",
) -> Checked:  # fmt: skip
    """Read a run from a file or a table: Python numbers by query and document; an invalid run raises.

    With `repeats` a document has the best of its scores. `documents` has the document of each chunk, and `columns`
    the names or places of columns. Scores of which the lowest is the best come with the sign changed.
    """
    if order != "descending" and isinstance(columns, Mapping) and "order" in columns:
        raise InvalidValueError("order", "must be left out where columns has it, but is given twice")
    return _open(source, _RUN, may_be_empty, Chunks.checked(repeats, documents, order), columns)


def open_qrels(
    source: Path | Table, *, may_be_empty: bool = False, columns: ColumnMap | None = None, alternatives: bool = False
) -> Checked:
    """Read qrels from a file or a table: gains by query and document, whole ones as integers; invalid qrels raise.

    With `alternatives`, a judgement may be of several documents: see `Opened.alternatives`.
    """
    table = _open(source, _QRELS, may_be_empty, columns=columns)
    if not alternatives and isinstance(table, Opened) and table.alternatives:
        rule = "must list documents, not alternatives of one judgement, which from_run and from_lists take"
        raise InvalidTypeError("qrels", f"{rule}, but query {checks.shown(next(iter(table.alternatives)))} has some")
    return table


def open_lists(
    ranked: Any, relevant: Any, *, repeats: Repeats | None = None, documents: Documents | None = None
) -> tuple[Checked, Checked]:
    """Open lists of ids as a run, whose scores are ranks with the sign changed, and its qrels."""
    result = (
        _collected(partial(rows.rows_of_lists, ranked, "ranked_ids"), _RANKED, Chunks.checked(repeats, documents)),
        _collected(partial(rows.rows_of_lists, relevant, "relevant_ids"), _RELEVANT),
    )
    named = isinstance(ranked, Mapping), isinstance(relevant, Mapping)
    if named[0] != named[1] or (not named[0] and len(result[0]) != len(result[1])):
        sizes = " and ".join(
            f"{len(side)} {('lists', 'ids')[by_id]}" for side, by_id in zip(result, named, strict=True)
        )
        raise InvalidValueError("ranked_ids and relevant_ids", f"must be of the same queries, but have {sizes} of them")
    for table, other, name in zip(result, result[::-1], ("ranked_ids", "relevant_ids"), strict=True):
        _require_split(table, name, other)
    return result


@names_argument
def _require_split(table: Checked, other: Checked) -> None:
    """Refuse several ids in one text: one entry a query, some with blanks or commas, which no id of the other has."""
    if any(len(row) > 1 for row in table.values()) or any(_LIST.search(item) for row in other.values() for item in row):
        return
    odd = next(((query, item) for query, row in table.items() for item in row if _LIST.search(item)), None)
    if odd is not None:
        rule = f"must be lists of ids, but query {checks.shown(odd[0])} has one text, {checks.shown(odd[1])}"
        raise InvalidValueError(VALUES, f"{rule}; split it if it holds several ids")


def remarks_of(*tables: Checked) -> list[str]:
    """Return the remarks of a report on how a run and its qrels were read."""
    kinds = {kind for table in tables for kind in getattr(table, "kinds", ())}
    mixed = [role for role in ("query", "document") if {(role, int), (role, str)} <= kinds]
    said = [f'Ids of a {role} are integers and text: 7 and "7" are one {role}.' for role in mixed]
    return [*said, *(remark for table in tables for remark in getattr(table, "remarks", ()))]


def _open(
    source: Path | Table, form: LineForm, may_be_empty: bool, chunks: Chunks = PLAIN, columns: ColumnMap | None = None
) -> Checked:
    named = RowColumns.checked(form.argument, form.number_in, columns)
    if isinstance(source, Opened) and chunks.documents is None:
        table = source
    elif isinstance(source, (str, os.PathLike)):
        checks.path(source, form.argument)
        result = rows.rows_in(source, named)
        table = (
            _read(source, form, chunks)
            if result is None
            else _read_plain_lines(source, form, chunks, named)
            or _collected(result[0], form, chunks, source, result[1])
        )
    else:
        table = _collected(partial(rows.rows_of, source, named), form, chunks, unit="row")
    table.remarks += tuple(remark for remark in named.remarks() if remark not in table.remarks)
    if chunks.ascending:
        if named.ranking - {"score"}:
            raise InvalidValueError("order", "must be left out where the run has no scores: ranks are best first")
        table = copy(table)
        table.update({query: {item: -score for item, score in row.items()} for query, row in table.items()})
    if not table and not may_be_empty:
        rule = "must hold at least one query, but is empty"
        if isinstance(source, (str, os.PathLike)):
            raise FileError(source, f" {rule}")
        raise InvalidValueError(form.argument, rule)
    return table


def _collected(
    read: Callable[[], Iterator[Row]], form: LineForm, chunks: Chunks = PLAIN, path: Path | None = None,
    unit: str = "line",
) -> Opened:  # fmt: skip
    """Check rows, and return their numbers by query and document; what is listed again with its number counts once."""
    table, n_again, kinds = Opened(), 0, set[tuple[str, type]]()
    for index, of_query, of_item, value in read():
        try:
            query = _id(of_query, "query", kinds)
            row = table.setdefault(query, {})
            if of_item is rows.NO_DOCUMENT:
                continue
            if isinstance(of_item, rows.Alternatives):
                _add_alternatives(table, query, [_id(each, "document", kinds) for each in of_item], form)
                continue
            item, number = chunks.document(_id(of_item, "document", kinds)), form.check(value)
            if item not in row:
                row[item] = number
            elif chunks.best is not None:
                row[item] = chunks.best(row[item], number)
            elif row[item] == number and not any(item in each for each in (table.alternatives or {}).get(query, ())):
                n_again += 1
            else:
                numbers = row[item], number
                raise InvalidValueError(form.argument, _again(read, query, item, numbers, unit, form, chunks))
        except InputError as error:
            if path is not None and index:
                raise FileError(path, f", {unit} {index}: {error}") from None
            if error.argument in (form.argument, "documents"):
                raise
            where = f"{form.argument}, query {checks.shown(of_query)}, document {checks.shown(of_item)}:"
            raise type(error)(where, str(error)) from None
    if n_again:
        said = ("1 line", "repeats", "counts") if n_again == 1 else (f"{n_again} lines", "repeat", "count")
        table.remarks = (f"{said[0]} of the {form.argument} {said[1]} what another line says, and {said[2]} once.",)
    table.kinds = frozenset(kinds if path is None else ())
    return table


def _add_alternatives(table: Opened, query: str, items: list[str], form: LineForm) -> None:
    """Add a judgement of several documents, each of which may be in no other of its query."""
    twice = next((item for item in items if item in table[query]), None)
    if not items or twice is not None:
        got = "has one without any" if twice is None else f"has {twice!r} in two"
        rule = "must have judgements that list alternatives, and no document in two of a query"
        raise InvalidValueError(form.argument, f"{rule}, but query {query!r} {got}")
    table[query] |= dict.fromkeys(items, 1)
    if len(items) > 1:
        table.alternatives = table.alternatives or {}
        table.alternatives.setdefault(query, []).append(tuple(items))


def _id(value: Any, role: str, kinds: set[tuple[str, type]] | None = None) -> str:
    """Return an id as text, and add its role and kind to `kinds`."""
    text = id_text(value, f"the id of a {role}")
    if kinds is not None:
        kinds.add((role, str if isinstance(value, str) else int))
    return text


@names_argument
def id_text(value: Any) -> str:
    """Return an id as text, which is the decimal text of an integer."""
    if isinstance(value, str):
        return value
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise InvalidTypeError(VALUES, f"must be a string or an integer, but is {checks.shown(value)}")
    return str(value)


def _again(
    read: Callable[[], Iterator[Row]], query: str, item: str, numbers: tuple[Any, Any], unit: str, form: LineForm,
    chunks: Chunks,
) -> str:  # fmt: skip
    """Return the rule that a document listed with two numbers breaks, with the place of the first where it has one."""
    places = (place for place, q, i, _ in read() if place and (str(q), chunks.document(str(i))) == (query, item))
    first = next(places, 0)
    known, number = (f"{form.number} {-int(each) if form.number == 'rank' else each}" for each in numbers)
    hint = '; repeats="max" (--repeats max) takes the best of its chunks' if form.kind is float else ""
    where = f" in {unit} {first}" if first else ""
    return f"must list document {item!r} once for query {query!r}, but has {known}{where} and {number}{hint}"


def run_id(path: Path) -> str | None:
    """Return the tag of a TREC run, up to a blank: that of its last line, as in trec_eval."""
    last = b""
    with unzipped(path) as file:
        for block in _blocks(file):
            while block := block.rstrip():
                block, _, line = block.rpartition(b"\n")
                if not line.lstrip().startswith(b"#"):
                    last = line
                    break
    fields = last.split()[len(_RUN.fields) - 1 :]
    return _text(fields[0]) if fields and rows.rows_in(path, RowColumns("run")) is None else None


def _read(path: Path, form: LineForm, chunks: Chunks = PLAIN) -> Opened:
    table = Opened()
    with unzipped(path) as file:
        for block in _blocks(file):
            form = form if table else form.fitting(block, path)
            if chunks.documents is not None or not form.add(block, table, chunks.best):
                table = _read_one_by_one(path, form, chunks)
                break
    if form is _RANKS and chunks.ascending:
        raise InvalidValueError("order", "must be left out where the run has ranks, which are best first")
    for query, row in table.items() if form is _RANKS else ():
        whole = chunks.repeats is None  # of chunks, ranks have gaps
        if max(row.values()) != -1 or (whole and sorted(row.values()) != list(range(-len(row), 0))):
            rule = "a line of three fields must end in a rank, as in MS MARCO, from 1 on without gaps"
            hint = "name the columns in the first line if these are scores"
            raise FileError(path, f": {rule}, but those of query {query!r} are others; {hint}")
    return table


def _read_plain_lines(path: Path, form: LineForm, chunks: Chunks, columns: RowColumns) -> Opened | None:
    """Read lines of JSON, or of a table with a header, as those of TREC; None if any of them needs the slow reader."""
    plain = None if chunks.documents is not None else rows.plain_lines(path, columns)
    if plain is None:
        return None
    table, has_header = Opened(), plain.find is _core.find_cells
    with unzipped(path) as file:
        if has_header:
            file.readline()
        for block in _blocks(file):
            if not _is_text(block, has_header) or not form.add(block, table, chunks.best, plain):
                return None
    return table


def _is_text(block: bytes, any_bytes: bool) -> bool:
    with suppress(UnicodeDecodeError):
        return any_bytes or block.isascii() or bool(block.decode())
    return False


def _blocks(file: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield the bytes of a file, some whole lines at a time."""
    rest = b""
    while block := file.read(_BLOCK):
        whole, end, rest = (rest + block).rpartition(b"\n")
        if end:
            yield whole + end
    if rest:
        yield rest


def _read_one_by_one(path: Path, form: LineForm, chunks: Chunks = PLAIN) -> Opened:
    """Read a file line by line: comments and blank lines are skipped, and an error names its line."""
    return _collected(partial(_lines, path, form), form, chunks, path)


def _lines(path: Path, form: LineForm) -> Iterator[Row]:
    with unzipped(path) as lines:
        for count, text in enumerate(lines, 1):
            line = text.removeprefix(codecs.BOM_UTF8).strip() if count == 1 else text.strip()
            if not line or line.startswith(b"#"):
                continue
            try:
                result = form.parse(line)
            except (TypeError, ValueError) as error:
                raise FileError(path, f", line {count}: {error}") from None
            yield count, *result


def _texts(block: bytes, places: Int64) -> list[str]:
    ends = zip(*places.T.tolist(), strict=True)
    if block.isascii():
        text = block.decode("ascii")
        return [text[first:last] for first, last in ends]
    return [_text(block[first:last]) for first, last in ends]


def _text(field: bytes) -> str:
    """Decode an id; bytes that are not UTF-8 become lone surrogates, which are encoded as the same bytes again."""
    return field.decode("utf-8", "surrogateescape")
