"""Tables of scores or grades as other libraries hold them: in comes one of them, out go dictionaries of dictionaries.

Known are dictionaries (pytrec_eval, BEIR), data frames and iterables of named tuples (ir_measures, ir_datasets,
PyTerrier), and what has a `to_dict` (ranx). None of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

from deadheat.errors import InvalidTypeError, InvalidValueError

Mappings: TypeAlias = Mapping[str, Mapping[str, float]]  # query id -> document id -> score or grade
Table: TypeAlias = Mappings | Iterable[Any] | Any

_IDS = (("query_id", "qid", "q_id"), ("doc_id", "docno", "docid"))  # as ir_measures, PyTerrier and ranx call them
_NUMBERS = {"run": ("score",), "qrels": ("relevance", "rel", "label", "score")}


def as_mapping(source: Table, argument: str) -> Mappings:
    """A run or qrels as dictionaries of dictionaries; whether ids and numbers are such is not looked at.

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
    if hasattr(source, "columns") or hasattr(source, "column_names"):
        return _gathered(_rows_of_frame(source, argument), argument)
    if hasattr(source, "to_dict"):
        made: Mappings = source.to_dict()
        return made
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        return _gathered(_rows_of_tuples(source, argument), argument)
    raise InvalidTypeError(
        argument, f"must be a path, dictionaries, a data frame or named tuples, but is {type(source).__name__}"
    )


def _gathered(rows: Iterable[tuple[Any, Any, Any]], argument: str) -> Mappings:
    """Rows of query, document and number, by query; a document comes once."""
    table: dict[Any, dict[Any, Any]] = {}
    for query, item, number in rows:
        row = table.setdefault(query, {})
        if item in row:
            raise InvalidValueError(argument, f"must list document {item!r} once for query {query!r}, but has it again")
        row[item] = number
    return table


def _rows_of_frame(frame: Any, argument: str) -> Iterator[tuple[Any, Any, Any]]:
    """The rows of a data frame, from three of its columns."""
    held = list(getattr(frame, "column_names", None) or frame.columns)  # Arrow's `columns` are the values
    names = _chosen(held.__contains__, argument, f"columns {', '.join(map(str, held))}")
    columns = (frame[name] for name in names)
    return zip(*(each.to_pylist() if hasattr(each, "to_pylist") else list(each) for each in columns), strict=True)


def _rows_of_tuples(rows: Iterable[Any], argument: str) -> Iterator[tuple[Any, Any, Any]]:
    """Named tuples, or other objects with such attributes, as plain tuples; the first says what the fields are called.

    An iterator is consumed.
    """
    names: tuple[str, ...] | None = None
    for row in rows:
        if names is None:
            names = _chosen(partial(hasattr, row), argument, f"{type(row).__name__} {row!r:.50}")
        query, item, number = (getattr(row, name, None) for name in names)
        yield query, item, number


def _chosen(has: Callable[[str], bool], argument: str, came: str) -> tuple[str, ...]:
    """What query, document and number are called."""
    wanted = (*_IDS, _NUMBERS[argument])
    names = tuple(next(filter(has, spellings), None) for spellings in wanted)
    if None in names:
        rule = f"must have {', '.join(spellings[0] for spellings in wanted)}, but has {came}"
        raise InvalidTypeError(argument, rule)
    return names  # type: ignore[return-value]
