"""Rows of a query, a document and a number: of tables by the names of their columns, and of files with such names.

`NAMES` is the only table of these names. A file is recognised by its beginning:

    {"q": {"d": 1}}                 JSON, as BEIR and MTEB keep results
    {"query_id": "q", ...}          JSON lines: a row each, or a query each with its documents
    query-id,corpus-id,score        a header of names, with tabs or commas between them
    PAR1                            Parquet
    anything else                   lines of TREC or MS MARCO, which `trec` reads

Ids and numbers are not checked here.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path as FilePath
from typing import Any, TypeAlias, cast

import numpy as np

from deadheat.errors import FileError, InputError, InvalidTypeError
from deadheat.inputs.conversion import converting, require_collected
from deadheat.inputs.files import Path, unreadable, unzipped
from deadheat.inputs.formats.columns import read_columns
from deadheat.inputs.formats.tables import check_names
from deadheat.inputs.predictions import distinct, not_scores, scores_in
from deadheat.support import checks
from deadheat.support.arguments import naming
from deadheat.support.lazy import json

Row: TypeAlias = tuple[int, Any, Any, Any]  # line or row of a file, query, document, number
Table: TypeAlias = Mapping[Any, Mapping[Any, float]] | Iterable[Any] | Any  # query id -> document id -> number

# In any case, and with "-", "_" or nothing between words (corpus-id, userID). Minus a rank is a score. PyTerrier has a
# docno, the id, and a docid, the row of its index.
NAMES = {
    "query": ("query_id", "qid", "q_id", "question_id", "user_id", "query", "user"),
    "document": ("docno", "doc_id", "document_id", "corpus_id", "pid", "passage_id", "item_id", "item"),
    "run": ("score", "prediction", "rank"),
    "qrels": ("relevance", "rel", "label", "score", "rating", "grade"),
}
_BLANKS = re.compile(r"\s*")
_NUMBER = re.compile(rb"[-+]?[0-9.]+([eE][-+]?[0-9]+)?|[-+]?(nan|inf|infinity)", re.IGNORECASE)
_ADVICE = "; give the id of each hit, or from_run({query: {id: score}}, qrels) to rank by scores, which may tie"
NO_DOCUMENT = object()  # the document of a query that has none


@lru_cache
def _plain(name: Any) -> str:
    return str(name).strip().lower().replace("-", "").replace("_", "")


@lru_cache
def _found(held: tuple[Any, ...], argument: str) -> list[Any]:
    """Return the names of the columns of query, document and number, as a table spells them; None where it has none."""
    spelled = {_plain(name): name for name in reversed(held)}
    roles = ("query", "document", argument)
    return [next((spelled[_plain(name)] for name in NAMES[role] if _plain(name) in spelled), None) for role in roles]


def _columns(held: Iterable[Any], argument: str, row: Any = None, path: Path | None = None) -> list[Any]:
    """Return the names of the three columns; that of the number is None for qrels of the other two alone."""
    held = tuple(held)
    names = _found(held, argument)
    if None in names[:2] or (names[2] is None and (argument == "run" or len(held) != 2)):
        needed = f"query_id, doc_id, {NAMES[argument][0]}"
        listed = ", ".join(map(str, held))
        kind = f"a {type(row).__name__}"
        got = f"columns {listed}" if row is None else f"{kind} of {listed}" if isinstance(row, Mapping) else kind
        error = InvalidTypeError(argument, f"must have {needed}, but has {got}")
        raise error if path is None else FileError(path, f": {error}")
    return names


def is_run(source: Any) -> bool:
    """Return whether something in memory is a run or qrels: by its form, or by the names of its columns or fields."""
    if isinstance(source, Mapping):
        return any(isinstance(row, Mapping) for row in source.values())
    first = source[0] if isinstance(source, (list, tuple)) and source else source
    held = list(first) if isinstance(first, Mapping) else None
    for name in ("column_names", "columns", "_fields"):
        held = getattr(first, name, None) if held is None or callable(held) else held
    is_table = held is not None and not callable(held) and None not in _found(tuple(map(str, held)), "run")[:2]
    return is_table or type(source).__module__.startswith("ranx.")


def _number(value: Any, name: str | None) -> Any:
    """Return a number as it counts: 1 where qrels have none, and minus a rank."""
    if name is None:
        return 1
    value = value.item() if isinstance(value, np.generic) else value
    return -value if _plain(name) == "rank" and isinstance(value, (int, float)) else value


def rows_of(source: Table, argument: str) -> Iterator[Row]:
    """Return the rows of something in memory: dictionaries, a data frame, named tuples, or an object with `to_dict`."""
    with converting(source, argument):
        yield from _rows_in(source, argument)


def _rows_in(source: Table, argument: str) -> Iterator[Row]:
    with naming(argument):
        require_collected(source)
    if isinstance(source, Mapping):
        return _rows_of_mapping(source, argument)
    if not callable(getattr(source, "columns", len)) or hasattr(source, "column_names"):
        return _rows_of_frame(source, argument)
    if hasattr(source, "to_dict"):
        return _rows_of_mapping(source.to_dict(), argument)
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes)) and getattr(source, "ndim", 1) != 0:
        return _rows_of_tuples(source, argument)
    rule = "must be a path, dictionaries, a data frame or named tuples"
    raise InvalidTypeError(argument, f"{rule}, but is {type(source).__name__}")


def _rows_of_mapping(source: Mapping[Any, Any], argument: str) -> Iterator[Row]:
    for query, row in source.items():
        if not isinstance(row, Mapping):
            got = f"has {type(row).__name__} for {query!r:.50}"
            raise InvalidTypeError(argument, f"must hold a dictionary for each query, but {got}")
        if not row:
            yield 0, query, NO_DOCUMENT, None
        for item, value in row.items():
            yield 0, query, item, value


def _rows_of_frame(frame: Any, argument: str) -> Iterator[Row]:
    held = list(getattr(frame, "column_names", None) or frame.columns)  # Arrow's `columns` are the values
    *ids, name = _columns(held, argument)
    parts = (frame[each] for each in (*ids, ids[0] if name is None else name))
    columns = (each.to_pylist() if hasattr(each, "to_pylist") else list(each) for each in parts)
    for index, (query, item, value) in enumerate(zip(*columns, strict=True), 1):
        yield index, query, item, _number(value, name)


def _rows_of_tuples(rows: Iterable[Any], argument: str) -> Iterator[Row]:
    """Yield the rows of named tuples, of other objects with such attributes, or of dictionaries with such keys.

    The first decides the names. An iterator is consumed.
    """
    names: list[Any] = []
    for index, row in enumerate(rows, 1):
        get: Callable[..., Any] = row.get if isinstance(row, Mapping) else partial(getattr, row)
        if not names:
            held = row if isinstance(row, Mapping) else [name for name in dir(row) if not name.startswith("_")]
            names = _columns(held, argument, row)
        query, item, value = (None if name is None else get(name, None) for name in names)
        yield index, query, item, _number(value, names[2])


def rows_of_lists(lists: Any, argument: str) -> Iterator[Row]:
    """Yield the rows of ids in lists, one for each query: minus the rank of ``ranked_ids``, or the grade of others.

    A query is called by its key, or by its place from 0. An entry of a ranked list that holds several ids is a tied
    group. The integer -1 is nothing, as in faiss.

    Examples
    --------
    >>> list(rows_of_lists([["a", {"b"}, "c"]], "ranked_ids"))
    [(0, 0, 'a', -1), (0, 0, 'b', -2), (0, 0, 'c', -3)]
    """
    kind = "a list of ids for each query"
    is_ranked = argument == "ranked_ids"
    for query, row in lists.items() if isinstance(lists, Mapping) else enumerate(checks.listed(lists, argument, kind)):
        if is_ranked and isinstance(row, (Mapping, set, frozenset)):
            raise InvalidTypeError(argument, f"must be {kind}, best first, but a {type(row).__name__} has no order")
        entries = list(row.items()) if isinstance(row, Mapping) else checks.listed(row, argument, kind)
        if is_ranked:
            _require_ids(entries, f"{argument}, query {checks.shown(query)}:")
            groups = (entry if _is_group(entry) else [entry] for entry in entries)
            entries = [(item, -rank) for rank, group in enumerate(groups, 1) for item in group]
        elif not isinstance(row, Mapping):
            entries = [(item, 1) for item in entries]
        there = [(0, query, *each) for each in entries if not isinstance(each[0], (int, np.integer)) or each[0] != -1]
        yield from there or [(0, query, NO_DOCUMENT, None)]


def _is_group(entry: Any) -> bool:
    return np.iterable(entry) and not isinstance(entry, (str, bytes))


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


def rows_in(path: Path, argument: str, parse: Callable[[str], Any]) -> tuple[Callable[[], Iterator[Row]], str] | None:
    """Recognise a file by its beginning, and return a function that reads its rows, and the word for one of them.

    A row without a place has number 0. None for lines of TREC or MS MARCO, whose columns have no names. `parse` makes
    a number of text.
    """
    with unzipped(path) as file:
        start = file.readline(1 << 16).removeprefix(codecs.BOM_UTF8).strip()
        while not start and (line := file.readline(1 << 16)):
            start = line.strip()
    if start.startswith(b"PAR1"):
        return partial(_rows_of_parquet, path, argument), "row"
    if start.startswith(b"{"):
        return partial(_rows_of_json, path, argument), "line"
    for delimiter in ("\t", ","):
        names = [name.strip(' "') for name in start.decode("utf-8", "replace").split(delimiter)]
        if None not in _found(tuple(names), argument)[:2] or (len(names) > 1 and _has_names(start)):
            return partial(_rows_with_header, path, argument, delimiter, parse), "line"
    return None


def _has_names(line: bytes) -> bool:
    """Return whether a line of several cells cannot be one of TREC or MS MARCO: a comment, a number or two fields."""
    fields = line.split()
    if line.startswith(b"#"):
        return False
    return len(fields) == 1 or (len(fields) > 2 and not any(map(_NUMBER.fullmatch, fields)))


def _rows_of_parquet(path: Path, argument: str) -> Iterator[Row]:
    def chosen(held: list[str]) -> list[str]:
        return [name for name in _columns(held, argument, path=path) if name is not None]

    with unreadable(path, "Parquet"):
        yield from _rows_of_frame(read_columns(FilePath(path), chosen), argument)


def _rows_with_header(path: Path, argument: str, delimiter: str, parse: Callable[[str], Any]) -> Iterator[Row]:
    with (
        unzipped(path) as file,
        closing(io.TextIOWrapper(cast(Any, file), "utf-8-sig", "surrogateescape", newline="")) as text,
    ):
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            held = [cell.strip() for cell in next(reader)]
            check_names(FilePath(path), held)
            names = _columns(held, argument, path=path)
            places = [held.index(name) if name is not None else 0 for name in names]
            for cells in reader:
                if len(cells) != len(held):
                    if not any(map(str.strip, cells)):
                        continue
                    rule = f"a line must have {len(held)} fields ({' '.join(held)}), but has {len(cells)}"
                    raise FileError(path, f", line {reader.line_num}: {rule}")
                query, item, value = (cells[place].strip() for place in places)
                yield reader.line_num, query, item, _number(parse(value), names[2])
        except csv.Error as error:
            raise FileError(path, f", line {reader.line_num}: {error}") from None


def _rows_of_json(path: Path, argument: str) -> Iterator[Row]:
    """Yield the rows of one object, or of one object after another."""
    decode, line, end = json.JSONDecoder(object_pairs_hook=distinct).raw_decode, 1, 0
    ranked = set[bool]()
    try:
        with unzipped(path) as file:
            text = file.read().decode("utf-8-sig")
        while (start := _BLANKS.match(text, end).end()) < len(text):  # type: ignore[union-attr]
            line += text.count("\n", end, start)
            record, end = decode(text, start)
            if start == 0 and not _is_row(record, argument) and not text[end:].strip():
                yield from _rows_of_mapping(scores_in(record, path), argument)
                return
            name = _found(tuple(record), argument)[2] if isinstance(record, dict) else None
            ranked |= {_plain(name) == "rank"} if name is not None else set()
            if len(ranked) > 1:
                raise InvalidTypeError(argument, "must have a score in each line, or a rank in each, but has both")
            yield from [(line, *row[1:]) for row in _rows_of_record(record, argument)]
            line += text.count("\n", start, end)
    except InputError as error:
        raise FileError(path, f", line {line}: {error}") from None
    except (ValueError, RecursionError) as error:  # of JSON or of UTF-8
        raise not_scores(path, error) from None


def _is_row(record: Any, argument: str) -> bool:
    """Return whether a JSON object has names of columns, unlike ``{"q": {"d": 0.5}}``."""
    is_object = isinstance(record, dict) and _found(tuple(record), argument)[0] is not None
    return is_object and not all(isinstance(value, dict) for value in record.values())


def _rows_of_record(record: Any, argument: str) -> Iterable[Row]:
    """Return the rows of a JSON object: one row, ``{"q": {"d": 0.5}}``, or a query with its documents.

    These are the one value that is a dictionary, or a list of objects.
    """
    if not isinstance(record, dict):
        raise InvalidTypeError(
            argument, f"must have an object in each line, but has one of type {type(record).__name__}"
        )
    if not _is_row(record, argument):
        return _rows_of_mapping(record, argument)
    query, item, _ = _found(tuple(record), argument)
    nested = [value for value in record.values() if isinstance(value, (dict, list))] if item is None else []
    if len(nested) != 1:
        name = _columns(record, argument, record)[2]
        return [(0, record[query], record[item], _number(record.get(name), name))]
    if isinstance(nested[0], dict) or not nested[0]:
        return _rows_of_mapping({record[query]: nested[0] or {}}, argument)
    if not all(isinstance(each, dict) for each in nested[0]):
        raise InvalidTypeError(argument, "must have a score for each document of a query, but has a list without any")
    return _rows_of_tuples(({**each, query: record[query]} for each in nested[0]), argument)


def pairs_in(path: Path, pair: str = "a chunk and its one document") -> dict[str, str]:
    """Return a value for each id, from a line for each: two fields, with tabs, commas or blanks between."""
    result: dict[str, str] = {}
    with unzipped(path) as file:
        for index, text in enumerate(file, 1):
            line = text.decode("utf-8-sig", "surrogateescape").strip()
            cells = line.split("\t" if "\t" in line else "," if "," in line else None)
            if line and (len(cells) != 2 or result.setdefault(cells[0].strip(), cells[1].strip()) != cells[1].strip()):
                raise FileError(path, f", line {index}: must be {pair}")
    return result
