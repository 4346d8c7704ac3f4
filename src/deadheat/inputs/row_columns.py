"""The columns of a query, a document and a number in a table: by their usual names, or as the caller names them.

`NAMES` is the only table of usual names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from deadheat.errors import FileError, InputError, InvalidTypeError, InvalidValueError
from deadheat.inputs.files import Path
from deadheat.support import checks

ColumnMap: TypeAlias = Mapping[str, str | int]
Asked: TypeAlias = tuple[str | int | None, str | int | None, str | int | None]

# In any case, and with "-", "_" or nothing between words (corpus-id, userID). Minus a rank is a score. PyTerrier has a
# docno, the id, and a docid, the row of its index.
NAMES = {
    "query": ("query_id", "qid", "q_id", "question_id", "user_id", "query", "user"),
    "document": ("docno", "doc_id", "document_id", "corpus_id", "pid", "passage_id", "item_id", "item"),
    "run": ("score", "prediction", "rank"),
    "qrels": ("relevance", "rel", "label", "score", "rating", "grade"),
}
OF_HITS = ("id", "uuid", "node_id", "key")  # also names of the document, in a hit of a list
HITS = (  # of the list of hits in a response, and of what holds it
    "hits", "results", "matches", "points", "documents", "docs", "candidates", "ranked_items", "retrieval_results",
    "retrieved", "ranked_ids",
)  # fmt: skip
GOLD = ("answer_session_ids", "relevant_ids")  # lists of relevant documents
IN_ORDER = "The run has no scores: documents are ranked in the order in which they are listed."


@lru_cache
def plain(name: Any) -> str:
    """Return a name without what may differ between two spellings of it."""
    return str(name).strip().lower().replace("-", "").replace("_", "")


@lru_cache
def _found(held: tuple[Any, ...], kind: str, asked: Asked, in_hits: bool) -> list[Any]:
    """Return the names of the columns of query, document and number, as a table spells them; None where it has none."""
    named = asked[1:] if in_hits else asked  # the query's column is not in a hit
    spelled = {plain(name): name for name in reversed(held) if name not in named}
    documents = ((*GOLD, *NAMES["document"]) if kind == "qrels" else NAMES["document"]) + OF_HITS * in_hits
    usual = (NAMES["query"], documents, NAMES[kind])
    return [
        next((spelled[plain(name)] for name in names if plain(name) in spelled), None)
        if column is None
        else column
        if column in held
        else None
        for names, column in zip(usual, asked, strict=True)
    ]


@dataclass(frozen=True)
class RowColumns:
    """The columns of a run or qrels: usual ones, or those that the caller names, and the separator of lists in a cell.

    A column is named by a string, or by its place from 0 in a file without names.
    """

    argument: str  # "run", "qrels" or "ranked_ids"
    asked: Asked = (None, None, None)
    separator: str | None = None
    ascending: bool = False  # whether the lowest score is the best
    parse: Callable[[str], Any] = float  # a number of text, or the text itself
    ranking: set[str] = field(default_factory=set)  # by what documents are ranked, as far as they were read

    @classmethod
    def checked(cls, argument: str, parse: Callable[[str], Any], given: Any) -> RowColumns:
        """Check the caller's map, or take None for usual names."""
        if given is None:
            return cls(argument, parse=parse)
        title = cls(argument).title
        number = NAMES[argument][0]
        roles = ("query", "document", number)
        settings = ("separator", "order") if argument == "run" else ("separator",)
        if not isinstance(given, Mapping) or not given:
            rule = f'must be a dictionary such as {{"query": "id", "document": "predictions"}} of {", ".join(roles)}'
            raise InvalidTypeError(title, f"{rule}, {', '.join(settings)}, but is {checks.shown(given)}")
        for role, column in given.items():
            checks.choice(role, (*roles, *settings), title)
            is_place = isinstance(column, (int, np.integer)) and not isinstance(column, bool) and column >= 0
            if not (isinstance(column, str) and column) and not (is_place and role in roles):
                kind = "the name of a column, or its place from 0" if role in roles else "a text"
                raise InvalidTypeError(title, f"must have {kind} as {role}, but has {checks.shown(column)}")
        checks.choice(given.get("order", "descending"), ("descending", "ascending"), "order")
        asked: Any = tuple(given.get(role) for role in roles)
        kinds = {isinstance(column, str) for column in asked if column is not None}
        if len(kinds) > 1 or (kinds == {False} and None in asked[:2]):
            rule = "must have names alone, or places alone, of query and document too"
            raise InvalidTypeError(title, f"{rule}, but has {checks.shown(dict(given))}")
        return cls(argument, asked, given.get("separator"), given.get("order") == "ascending", parse)

    @property
    def kind(self) -> str:
        return "qrels" if self.argument == "qrels" else "run"

    @property
    def title(self) -> str:
        """The argument that the caller's map is."""
        return "qrels_columns" if self.argument == "qrels" else "columns"

    @property
    def by_place(self) -> bool:
        return isinstance(self.asked[0], (int, np.integer))

    @property
    def named(self) -> list[str]:
        """The columns that the caller names."""
        return [column for column in self.asked if isinstance(column, str)]

    def found(self, held: Iterable[Any], *, in_hits: bool = False) -> list[Any]:
        """Return the names of query, document and number among those of a table, or of the fields of a hit."""
        return _found(tuple(held), self.kind, self.asked, in_hits)

    def chosen(self, held: Iterable[Any], row: Any = None, path: Path | None = None) -> list[Any]:
        """Return the names of the three columns; that of the number is None where a table has none."""
        names = self.found(held := tuple(held))
        if None in names[:2]:
            raise self.lacking(held, row, path)
        self.rank_by(names[2])
        return names

    def lacking(self, held: Iterable[Any], row: Any = None, path: Path | None = None) -> InputError | FileError:
        """Return the error for a table, or a row of it, that lacks a column."""
        usual = ("query_id", "doc_id", NAMES[self.kind][0])
        needed = ", ".join(str(b if a is None else a) for a, b in zip(self.asked, usual, strict=True))
        is_list = self.kind == "run" and self.asked[1] is not None and self.asked[1] in (held := tuple(held))
        hint = f"; if {self.asked[1]!r} holds lists, add their separator" if is_list and self.separator is None else ""
        if isinstance(row, Mapping) and len([each for each in row.values() if isinstance(each, list)]) > 1:
            lists = f"a list of hits, under {' or '.join(HITS[:2])}" if self.kind == "run" else f"a list {GOLD[1]}"
            needed = f"{usual[0] if self.asked[0] is None else self.asked[0]} and {lists}"
        listed = ", ".join(map(str, held))
        kind = f"a {type(row).__name__}"
        got = f"columns {listed}" if row is None else f"{kind} of {listed}" if isinstance(row, Mapping) else kind
        error = InvalidTypeError(self.argument, f"must have {needed}, but has {got}{hint}")
        return error if path is None else FileError(path, f": {error}")

    def may_lack_number(self, held: tuple[Any, ...]) -> bool:
        """Return whether every document that qrels list is relevant: two columns alone, or those that were named."""
        return self.argument == "qrels" and (len(held) == 2 or self.asked[1] is not None)

    def rank_by(self, name: Any, *, listed: bool = False) -> None:
        """Note by what a run ranks documents, and refuse a second kind of it."""
        if self.kind == "run" and (name is not None or listed):
            self.ranking.add("order" if name is None else "rank" if plain(name) == "rank" else "score")
            if len(self.ranking) > 1:
                both = "a score in each line, or a rank in each" if "order" not in self.ranking else "scores, or none"
                raise InvalidTypeError(self.argument, f"must have {both}, but has both")

    def reject(self) -> None:
        """Refuse a map where documents have no names of columns."""
        if any(column is not None for column in self.asked):
            rule = f"must be left out, as these documents of the {self.argument} have no names of columns"
            raise InvalidValueError(self.title, rule)

    def remarks(self) -> tuple[str, ...]:
        return (IN_ORDER,) if "order" in self.ranking else ()

    def number(self, value: Any, name: str | None) -> Any:
        """Return a number as it counts: 1 where qrels have none, and minus a rank, or what ascends."""
        if name is None:
            return 1
        value = value.item() if isinstance(value, np.generic) else value
        negated = self.ascending != (plain(name) == "rank")
        return -value if negated and isinstance(value, (int, float)) else value

    def cells(self, item: Any, value: Any) -> tuple[Any, Any]:
        """Return the documents and numbers of a row, split by the separator; a blank stands for any number of them."""
        if self.separator is None:
            return item, value
        return self._split(item), [*map(self.parse, self._split(value))] if isinstance(value, str) else value

    def _split(self, cell: Any) -> Any:
        if not isinstance(cell, str):
            return [] if cell is None or cell != cell else cell  # NaN, of pandas
        parts = cell.split(None if self.separator == " " else self.separator)
        return [part.strip() for part in parts if part.strip()]


def require_lengths(items: list[Any], values: list[Any], argument: str) -> None:
    """Refuse lists of documents and numbers of one query that differ in length."""
    if len(items) != len(values):
        rule = f"must have a number for each document of a list, but has {len(values)} for {len(items)}"
        raise InvalidValueError(argument, rule)


def column_of(held: list[Any], usual: Mapping[str, tuple[str, ...]], given: Any) -> dict[str, Any]:
    """Return the column of each role: as the caller's map has it, or by its usual names; all must be there."""
    given = {} if given is None else checks.mapping(given, "columns", "a dictionary from roles to names of columns")
    for role in given:
        checks.choice(role, usual, "columns")
    spelled = {plain(name): name for name in reversed(held)}
    result = {
        role: next((name for name in [given[role]] if name in held), None)
        if role in given
        else next((spelled[plain(name)] for name in names if plain(name) in spelled), None)
        for role, names in usual.items()
    }
    lacking = [str(given.get(role, role)) for role, name in result.items() if name is None]
    if lacking:
        rule = f"must have columns of {', '.join(usual)}, but has none of {', '.join(lacking)}: {checks.few(held)}"
        raise InvalidTypeError("scores", f"{rule}; columns= names them, or give relevant too")
    return result
