"""Rows of a query, a document and a number: of tables by the names of their columns, and of files with such names.

`row_columns` finds the columns. A file is recognised by its beginning:

    {"q": {"d": 1}}                 JSON, as BEIR and MTEB keep results
    {"q": [{"id": "d", ...}]}       JSON of hits, as engines and vector stores return them
    {"query_id": "q", ...}          JSON lines: a row each, or a query each with its documents
    [{"query_id": "q", ...}]        JSON, a list of such
    query-id,corpus-id,score        a header of names, with tabs or commas between them
    PAR1                            Parquet
    anything else                   lines of TREC or MS MARCO, which `trec` reads, or columns that the caller numbers

Ids and numbers are not checked here.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import chain
from pathlib import Path as FilePath
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

import deadheat._core as _core
from deadheat.errors import FileError, InputError, InvalidTypeError
from deadheat.inputs.conversion import converting, require_collected
from deadheat.inputs.files import Path, fields_of_lines, unreadable, unzipped
from deadheat.inputs.formats.columns import read_columns
from deadheat.inputs.formats.tables import check_names
from deadheat.inputs.predictions import distinct, not_scores, scores_in
from deadheat.inputs.row_columns import HITS, RowColumns, plain, require_lengths
from deadheat.support import checks
from deadheat.support.arguments import naming
from deadheat.support.lazy import json

Row: TypeAlias = tuple[int, Any, Any, Any]  # line or row of a file, query, document, number
Table: TypeAlias = Mapping[Any, Mapping[Any, float]] | Iterable[Any] | Any  # query id -> document id -> number

_BLANKS = re.compile(r"\s*")
_NUMBER = re.compile(rb"[-+]?[0-9.]+([eE][-+]?[0-9]+)?|[-+]?(nan|inf|infinity)", re.IGNORECASE)
_ADVICE = "; give the id of each hit, or from_run({query: {id: score}}, qrels) to rank by scores, which may tie"
_DELIMITERS = ("\t", ",")
_NO_HITS = (str, int, float, set, frozenset, list, tuple, np.ndarray, np.generic)  # but for named tuples
_Parts: TypeAlias = tuple[list[Any], list[Any], str | None]
_AS_THEY_ARE = ""  # the name of numbers that are neither ranks nor distances
NO_DOCUMENT = object()  # the document of a query that has none


class Alternatives(tuple[Any, ...]):
    """The documents of one judgement, any of which is relevant, in the place of one."""


def is_run(source: Any) -> bool:
    """Return whether something in memory is a run or qrels: by its form, or by the names of its columns or fields."""
    if isinstance(source, Mapping):
        return any(isinstance(row, Mapping) for row in source.values())
    first = source[0] if isinstance(source, (list, tuple)) and source else source
    held = list(first) if isinstance(first, Mapping) else None
    for name in ("column_names", "columns", "_fields"):
        held = getattr(first, name, None) if held is None or callable(held) else held
    is_table = held is not None and not callable(held) and None not in RowColumns("run").found(map(str, held))[:2]
    return is_table or type(source).__module__.startswith("ranx.")


def rows_of(source: Table, columns: RowColumns) -> Iterator[Row]:
    """Return the rows of something in memory: dictionaries, a data frame, named tuples, or an object with `to_dict`."""
    with converting(source, columns.argument):
        yield from _rows_in(source, columns)


def _rows_in(source: Table, columns: RowColumns) -> Iterator[Row]:
    with naming(columns.argument):
        require_collected(source)
    if isinstance(source, Mapping):
        is_table = None not in columns.found(source)[:2] and all(map(_is_list, source.values()))
        return _rows_of_frame(source, columns) if is_table else _rows_of_mapping(source, columns)
    is_frame = not callable(getattr(source, "columns", len)) or hasattr(source, "column_names")
    if is_frame and hasattr(source, "features") and columns.found(cast(Any, source).column_names)[1] is None:
        return _rows_of_tuples(source, columns)  # a data set whose rows have lists of hits
    if is_frame and hasattr(source, "__getitem__"):
        return _rows_of_frame(source, columns)
    if hasattr(source, "to_dict"):
        return _rows_of_mapping(source.to_dict(), columns)
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes)) and getattr(source, "ndim", 1) != 0:
        return _rows_of_tuples(source, columns)
    rule = "must be a path, dictionaries, a data frame or named tuples"
    raise InvalidTypeError(columns.argument, f"{rule}, but is {type(source).__name__}")


def _rows_of_mapping(source: Mapping[Any, Any], columns: RowColumns) -> Iterator[Row]:
    """Yield the rows of documents and numbers by query, or of lists of hits."""
    for query, row in source.items():
        if columns.kind == "qrels" and isinstance(row, (set, frozenset)):
            hits: Any = list(row)
        else:
            hits = [] if row is None else _hits_in(row)
        if columns.kind == "qrels" and any(map(_is_judgement, hits or ())):
            yield from ((0, query, each, 1) for each in map(_judgement, hits))
            continue
        if hits is None or hasattr(row, "column_names"):
            hint = f": give it alone, [{query!r:.50}]" if hasattr(row, "column_names") else ""
            got = f"has {type(row).__name__} for {query!r:.50}{hint}"
            rule = f"must hold a dictionary, or a list of hits, for each query, but {got}"
            raise InvalidTypeError(columns.argument, rule)
        if len(hits) and (columns.asked[0] is not None or isinstance(hits, Mapping) or not _has_fields(hits[0])):
            columns.reject()
        yield from _rows_of_hits(0, query, hits, columns)


def _rows_of_frame(frame: Any, columns: RowColumns) -> Iterator[Row]:
    held = list(getattr(frame, "column_names", None) or getattr(frame, "columns", frame))  # Arrow's are the values
    names = columns.chosen(held)
    *ids, name = names
    parts = (frame[each] for each in (*ids, ids[0] if name is None else name))
    cells = (each.to_pylist() if hasattr(each, "to_pylist") else list(each) for each in parts)
    return _entries(((index, *row) for index, row in enumerate(zip(*cells, strict=True), 1)), names, held, columns)


def _entries(
    rows: Iterable[Row], names: Sequence[Any], held: Sequence[Any], columns: RowColumns, path: Path | None = None
) -> Iterator[Row]:
    """Yield the rows of cells, of which that of the document may be a list, or text with the separator of lists.

    Where a run has no number, a list is a ranking.
    """
    name, lacks = names[2], names[2] is None and not columns.may_lack_number(tuple(held))
    for line, query, item, value in rows:
        if columns.separator is not None:
            item, value = columns.cells(item, value)
        if not _is_list(item):
            if lacks:
                raise columns.lacking(held, path=path)
            yield line, query, item, columns.number(value, name)
        elif name is None:
            yield from _rows_of_hits(line, query, item, columns)
        else:
            values = value if _is_list(value) else [value] * len(item) if columns.argument == "qrels" else [value]
            require_lengths(item, values, columns.argument)
            pairs = zip(item, (columns.number(each, name) for each in values), strict=True)
            yield from ((line, query, *pair) for pair in pairs) if len(item) else [(line, query, NO_DOCUMENT, None)]


def _is_list(cell: Any) -> bool:
    return isinstance(cell, (list, tuple)) or getattr(cell, "ndim", 0) == 1


def _hits_in(response: Any) -> Any:
    """Return the documents of one query in a response: a list, or a dictionary without any; None if there is no one."""
    while not _is_list(response):
        if isinstance(response, Mapping):
            if {*map(type, response.values())} <= {int, float}:  # as mostly
                return response
            nested = {name: each for name, each in response.items() if isinstance(each, Mapping) or _is_list(each)}
            if not nested:
                return response
        else:
            nested = {name: getattr(response, name) for name in HITS if hasattr(response, name)}
        known = [each for name, each in nested.items() if plain(name) in map(plain, HITS)]
        if len(known or nested) != 1:
            return None
        response = (known or list(nested.values()))[0]
    return response


def _is_judgement(entry: Any) -> bool:
    """Return whether an entry of a judgement list is several alternatives."""
    is_list = isinstance(entry, list) and not _is_pair(entry)
    return (is_list or isinstance(entry, (set, frozenset))) and all(isinstance(each, (str, int)) for each in entry)


def _judgement(entry: Any) -> Any:
    return Alternatives(entry) if _is_judgement(entry) else entry


def _rows_of_hits(line: int, query: Any, hits: Any, columns: RowColumns) -> Iterator[Row]:
    """Yield the rows of one query: numbers by document, or a list of hits, whose order ranks where they have no score.

    A hit is an id, a pair of an id and a score, or anything with fields for both.
    """
    if isinstance(hits, Mapping):
        columns.rank_by("score" if hits else None)
        parts: _Parts = list(hits), list(hits.values()), "score" if columns.ascending else _AS_THEY_ARE
    else:
        parts = _parts_of_hits(query, hits.tolist() if isinstance(hits, np.ndarray) else list(hits), columns)
        columns.rank_by(parts[2], listed=bool(parts[0]))
    items, values, name = parts
    if name is None:
        values = [-rank for rank in range(1, len(items) + 1)] if columns.kind == "run" else [1] * len(items)
    elif name != _AS_THEY_ARE:
        values = [columns.number(value, name) for value in values]
    rows = [(line, query, item, value) for item, value in zip(items, values, strict=True)]
    yield from rows or [(line, query, NO_DOCUMENT, None)]


def _parts_of_hits(query: Any, hits: list[Any], columns: RowColumns) -> _Parts:
    """Return the ids and the numbers of hits, and the name of these; None for hits without any."""
    if hits and all(map(_is_pair, hits)) and any(isinstance(item, str) or _is_float(n) for item, n in hits):
        return [item for item, _ in hits], [value for _, value in hits], "score"
    if not hits or isinstance(hits[0], (str, int, np.integer)):
        return [item for item in hits if isinstance(item, str) or item != -1], [], None
    _, of_item, name = columns.found(held := _fields(hits[0]), in_hits=True)
    if of_item is None:
        fields = f" of {', '.join(map(str, held)) or 'nothing'}" if isinstance(hits[0], Mapping) else ""
        got = f"has a {type(hits[0]).__name__}{fields} for query {checks.shown(query)}"
        raise InvalidTypeError(columns.argument, f"must have the id of a document in each hit, but {got}")
    return [_field(hit, of_item) for hit in hits], [_field(hit, name) for hit in hits], name


def _is_pair(hit: Any) -> bool:
    """Return whether a hit is an id and a score."""
    is_tuple = isinstance(hit, (list, tuple)) and not hasattr(hit, "_fields") and len(hit) == 2
    return is_tuple and isinstance(hit[0], (str, int, np.integer)) and isinstance(hit[1], (int, float, np.number))


def _is_float(value: Any) -> bool:
    return isinstance(value, (float, np.floating))


def _has_fields(hit: Any) -> bool:
    return not isinstance(hit, _NO_HITS) or hasattr(hit, "_fields")


def _fields(hit: Any) -> list[Any]:
    return list(hit) if isinstance(hit, Mapping) else [name for name in dir(hit) if not name.startswith("__")]


def _field(hit: Any, name: Any) -> Any:
    return None if name is None else hit.get(name) if isinstance(hit, Mapping) else getattr(hit, name, None)


def _rows_of_tuples(rows: Iterable[Any], columns: RowColumns) -> Iterator[Row]:
    """Yield the rows of named tuples, of other objects with such attributes, or of dictionaries.

    The first decides the names. An iterator is consumed.
    """
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return iter(())
    rows = chain([first], rows)
    if isinstance(first, Mapping) and columns.found(first)[1] is None:
        return (row for each in enumerate(rows, 1) for row in _rows_of_record(*each, columns))
    held = [name for name in _fields(first) if isinstance(first, Mapping) or not name.startswith("_")]
    names = columns.found(held)
    if None in names[:2]:
        raise columns.lacking(held, first)
    columns.rank_by(names[2])
    cells = ((index, *(_field(row, name) for name in names)) for index, row in enumerate(rows, 1))
    return _entries(cells, names, held, columns)


def rows_of_lists(lists: Any, argument: str) -> Iterator[Row]:
    """Yield the rows of ids in lists, one for each query: minus the rank of ``ranked_ids``, or the grade of others.

    A query is called by its key, or by its place from 0. An entry of a ranked list that holds several ids is a tied
    group. The integer -1 is nothing, as in faiss. Hits with scores are ranked by these.
    """
    kind = "a list of ids for each query"
    is_ranked, columns = argument == "ranked_ids", RowColumns(argument)
    for query, row in lists.items() if isinstance(lists, Mapping) else enumerate(checks.listed(lists, argument, kind)):
        row = [] if row is None else row
        if is_ranked and isinstance(row, (Mapping, set, frozenset)):
            raise InvalidTypeError(argument, f"must be {kind}, best first, but a {type(row).__name__} has no order")
        entries = list(row.items()) if isinstance(row, Mapping) else checks.listed(row, argument, kind)
        if is_ranked and entries and _are_hits(entries, columns):
            yield from _rows_of_hits(0, query, entries, columns)
            continue
        if is_ranked:
            _require_ids(entries, f"{argument}, query {checks.shown(query)}:")
            groups = ([each] if isinstance(each, (str, bytes)) or not np.iterable(each) else each for each in entries)
            entries = [(item, -rank) for rank, group in enumerate(groups, 1) for item in group]
        elif not isinstance(row, Mapping):
            entries = [(_judgement(item), 1) for item in entries]
        there = [(0, query, *each) for each in entries if not isinstance(each[0], (int, np.integer)) or each[0] != -1]
        yield from there or [(0, query, NO_DOCUMENT, None)]


def _are_hits(entries: list[Any], columns: RowColumns) -> bool:
    """Return whether the entries of a list are pairs of an id and a score, or have fields for ids."""
    if _has_fields(entries[0]):
        return columns.found(_fields(entries[0]), in_hits=True)[1] is not None
    return all(map(_is_pair, entries)) and any(_is_float(score) for _, score in entries)


def _require_ids(entries: list[Any], where: str) -> None:
    """Refuse hits in the place of ids: dictionaries, named tuples, and pairs such as (rank, id) or (id, text)."""
    for entry in entries:
        names = list(entry) if isinstance(entry, Mapping) else list(getattr(entry, "_fields", ()))
        if names or isinstance(entry, Mapping):
            got = f"has a {type(entry).__name__} of {', '.join(map(str, names)) or 'nothing'}"
            raise InvalidTypeError(where, f"an entry must be an id, or a set of tied ids, but one {got}{_ADVICE}")
    ordered = [entry for entry in entries if isinstance(entry, (list, tuple, np.ndarray))]
    mixed = any(len({isinstance(item, str) for item in entry}) > 1 for entry in ordered)
    sizes = {len(entry) for entry in ordered}
    if mixed or (entries and len(ordered) == len(entries) and len(sizes) == 1 and max(sizes) > 1):
        got = f"{'one is' if mixed else 'each is'} {checks.shown(next(entry for entry in ordered if len(entry) > 1))}"
        raise InvalidTypeError(where, f"an entry must be an id, or a set of tied ids, but {got}{_ADVICE}")


def rows_in(path: Path, columns: RowColumns) -> tuple[Callable[[], Iterator[Row]], str] | None:
    """Recognise a file by its beginning, and return a function that reads its rows, and the word for one of them.

    A row without a place has number 0. None for lines of TREC or MS MARCO, whose columns have no names.
    """
    with unzipped(path) as file:
        start = file.readline(1 << 16).removeprefix(codecs.BOM_UTF8).strip()
        while (not start or (columns.by_place and start.startswith(b"#"))) and (line := file.readline(1 << 16)):
            start = line.strip()
    if start.startswith(b"PAR1"):
        return partial(_rows_of_parquet, path, columns), "row"
    if start.startswith(b"{") or re.match(rb"\[\s*(\{|$)", start):
        return partial(_rows_of_json, path, columns), "line"
    if columns.by_place:
        delimiter = next((each for each in _DELIMITERS if each.encode() in start), None)
        return partial(_rows_of_cells, path, columns, delimiter), "line"
    for delimiter in (*_DELIMITERS, *(";", "|") * bool(columns.named)):
        names = [name.strip(' "') for name in start.decode("utf-8", "replace").split(delimiter)]
        known = None not in columns.found(names)[:2] or bool({*columns.named} & {*names})
        if known or (len(names) > 1 and _has_names(start)):
            return partial(_rows_of_cells, path, columns, delimiter), "line"
    if columns.named or columns.separator or columns.ascending:
        rule = f"has no names of columns in its first line: give their places from 0 ({columns.title})"
        raise FileError(path, f" {rule}")
    return None


class PlainForm(NamedTuple):
    """The function of the core that finds the fields of lines, and what it takes their form to be."""

    find: Callable[..., tuple[int, int]]
    names: list[str] | int  # the keys of a line of JSON as they are written, or the delimiter of cells below a header
    kinds: list[int]


_MOST_PLAIN = 64  # columns of lines that are read by their first
_FIELDS = (0, 2, 4)  # `PlainField` in the core: query, document and number, and
_OTHER = 6


def plain_lines(path: Path, columns: RowColumns) -> PlainForm | None:
    """Return the form of the lines of a file, as its first line has it.

    It takes only what is read the same as three fields between blanks: no quotes, escapes or blanks in ids. None for
    ranks, lists, and files of other kinds.
    """
    if columns.separator is not None or columns.ascending or columns.by_place:
        return None
    with unzipped(path) as file:
        start = file.readline(1 << 16).rstrip(b"\r\n")
    if start.startswith(b"{"):
        with suppress(ValueError, RecursionError):
            keys = list(json.loads(start))
            kinds = _plain_kinds(keys, columns)
            return PlainForm(_core.find_json, [json.dumps(key) for key in keys], kinds) if kinds else None
        return None
    for delimiter in _DELIMITERS:
        kinds = _plain_kinds(start.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").split(delimiter), columns)
        if kinds:
            return PlainForm(_core.find_cells, ord(delimiter), kinds)
    return None


def _plain_kinds(held: list[str], columns: RowColumns) -> list[int]:
    """Return the kind of each column by its name; none if the three are not all there, or rank."""
    names = columns.found(held)
    if None in names or plain(names[2]) == "rank" or len({*held}) < len(held) or len(held) > _MOST_PLAIN:
        return []
    kinds = dict(zip(names, _FIELDS, strict=True))
    return [kinds.get(name, _OTHER) for name in held]


def _has_names(line: bytes) -> bool:
    """Return whether a line of several cells cannot be one of TREC or MS MARCO: a comment, a number or two fields."""
    fields = line.split()
    if line.startswith(b"#"):
        return False
    return len(fields) == 1 or (len(fields) > 2 and not any(map(_NUMBER.fullmatch, fields)))


def _rows_of_parquet(path: Path, columns: RowColumns) -> Iterator[Row]:
    def chosen(held: list[str]) -> list[str]:
        return [name for name in columns.chosen(held, path=path) if name is not None]

    with unreadable(path, "Parquet"):
        yield from _rows_of_frame(read_columns(FilePath(path), chosen), columns)


def _rows_of_cells(path: Path, columns: RowColumns, delimiter: str | None) -> Iterator[Row]:
    """Yield the rows of a table of text with names in its first line, or with columns that the caller has numbered."""
    with (
        unzipped(path) as file,
        closing(io.TextIOWrapper(cast(Any, file), "utf-8-sig", "surrogateescape", newline="")) as text,
    ):
        lines = _cells_of_lines(path, text, delimiter)
        if columns.by_place:
            lines = ((line, cells) for line, cells in lines if not (cells and cells[0].startswith("#")))
            first = next(lines, (0, []))
            lines, held = chain([first] * bool(first[1]), lines), [*map(str, range(len(first[1])))]
            names: list[Any] = [None if place is None else str(place) for place in columns.asked]
            if not {*names} - {None} <= {*held}:
                raise columns.lacking(held, path=path)
            columns.rank_by(names[2])
        else:
            held = [cell.strip() for cell in next(lines)[1]]
            check_names(FilePath(path), held)
            names = columns.chosen(held, path=path)
        yield from _entries(_of_cells(path, lines, names, held, columns), names, held, columns, path)


def _cells_of_lines(path: Path, text: io.TextIOBase, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    if delimiter is None:
        yield from ((line, cells.split()) for line, cells in enumerate(text, 1))
        return
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    try:
        yield from ((reader.line_num, cells) for cells in reader)
    except csv.Error as error:
        raise FileError(path, f", line {reader.line_num}: {error}") from None


def _of_cells(
    path: Path, lines: Iterable[tuple[int, list[str]]], names: Sequence[Any], held: Sequence[str], columns: RowColumns
) -> Iterator[Row]:
    """Yield the query, the document and the number, parsed unless it may be a list, of each line."""
    query, item, value = (0 if name is None else held.index(name) for name in names)
    parse = str.strip if names[2] is None or columns.separator is not None else columns.parse
    for line, cells in lines:
        if len(cells) != len(held):
            if not any(map(str.strip, cells)):
                continue
            rule = f"a line must have {len(held)} fields ({' '.join(held)}), but has {len(cells)}"
            raise FileError(path, f", line {line}: {rule}")
        yield line, cells[query].strip(), cells[item].strip(), parse(cells[value].strip())


def _rows_of_json(path: Path, columns: RowColumns) -> Iterator[Row]:
    """Yield the rows of one object or list of objects, or of one object after another."""
    decode, line, end = json.JSONDecoder(object_pairs_hook=distinct).raw_decode, 1, 0
    try:
        with unzipped(path) as file:
            text = file.read().decode("utf-8-sig")
        while (start := _BLANKS.match(text, end).end()) < len(text):  # type: ignore[union-attr]
            line += text.count("\n", end, start)
            record, end = decode(text, start)
            if start == 0 and not text[end:].strip():
                if isinstance(record, list):
                    yield from (row for each in record for row in _rows_of_record(0, each, columns))
                    return
                if not _is_row(record, columns):
                    has_lists = any(isinstance(_hits_in(row), list) for row in record.values())
                    yield from _rows_of_mapping(record if has_lists else scores_in(record, path), columns)
                    return
            yield from _rows_of_record(line, record, columns)
            line += text.count("\n", start, end)
    except InputError as error:
        raise FileError(path, f", line {line}: {error}") from None
    except (ValueError, RecursionError) as error:  # of JSON or of UTF-8
        raise not_scores(path, error) from None


def _is_row(record: Any, columns: RowColumns) -> bool:
    """Return whether a JSON object has names of columns, unlike ``{"q": {"d": 0.5}}``."""
    is_object = isinstance(record, dict) and columns.found(record)[0] is not None
    return is_object and not all(isinstance(value, dict) for value in record.values())


def _rows_of_record(line: int, record: Any, columns: RowColumns) -> Iterable[Row]:
    """Return the rows of an object: one row, ``{"q": {"d": 0.5}}``, or a query with its documents."""
    if not isinstance(record, Mapping):
        rule = f"must have an object in each line, but has one of type {type(record).__name__}"
        raise InvalidTypeError(columns.argument, rule)
    names = columns.found(record)
    if names[0] is None and any(isinstance(value, (str, int, float)) for value in record.values()):
        raise columns.lacking(record, record)
    if names[0] is None or all(isinstance(value, Mapping) for value in record.values()):
        return ((line, *row[1:]) for row in _rows_of_mapping(record, columns))
    query = record[names[0]]
    if names[1] is None:
        nested = {name: each for name, each in record.items() if isinstance(each, Mapping) or _is_list(each)}
        hits = _hits_in(nested) if nested else None
        if hits is None:
            raise columns.lacking(record, record)
        return _rows_of_hits(line, query, hits, columns)
    columns.rank_by(names[2])
    return _entries([(line, query, record[names[1]], _field(record, names[2]))], names, (*record,), columns)


def pairs_in(path: Path, pair: str = "a chunk and its one document", *, several_words: bool = False) -> dict[str, str]:
    """Return a value for each id, from a line for each: two fields, with tabs, commas or blanks between.

    With `several_words`, blanks may also be in the value: the first ones in the line end the id.
    """
    result: dict[str, str] = {}
    for line, cells in fields_of_lines(path, 2 if several_words else None):
        if len(cells) != 2 or result.setdefault(*cells) != cells[1]:
            raise FileError(path, f", line {line}: must be {pair}")
    return result
