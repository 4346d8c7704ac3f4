"""Tie profiles of rankings that somebody else made: a matrix of scores, or a TREC run.

In come numbers that are compared exactly as they are given, and what is relevant; out goes a `TieProfile`. Both
doors lead to the same count: the scores of a query become integer keys (larger is nearer), the keys of the relevant
items are sorted, and all other items are counted between them.

    profile_scores   matrix of scores, matrix of relevance ──> keys, grades of a block of rows ─┐
                                                                                                ├─> groups ─> profile
    profile_run      run and qrels: files or dictionaries  ──> keys, grades of one query ───────┘
"""

from __future__ import annotations

import codecs
import gzip
import math
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import inputs
from deadheat.counting.scored_kernels import count_groups
from deadheat.profiles import TieProfile
from deadheat.support import checks

Int64 = NDArray[np.int64]
Path: TypeAlias = str | os.PathLike[str]
Table: TypeAlias = Mapping[str, Mapping[str, float]]  # query id -> document id -> score or grade

_BLOCK_ENTRIES = 1 << 18  # of the matrix in one block of rows: a few megabytes, whatever the matrix
_HIGHEST = np.iinfo(np.int64).max
_JUNK = -1


def profile_scores(
    scores: ArrayLike,
    relevant: Any,
    *,
    order: Literal["descending", "ascending"] = "descending",
    junk: ArrayLike | None = None,
    threads: int | None = None,
) -> TieProfile:
    """Count, for every query and every score at which it has a relevant item, what scores better and what is tied.

    Parameters
    ----------
    scores : (n_query, n_gallery) array of floats, integers or bool
        Up to 64 bits, in any byte and memory order. Finite, of either sign.
    relevant : (n_query, n_gallery) array or SciPy sparse matrix, bool or integers
        What is relevant, whatever its score; as integers, grades: 0 is irrelevant.
    order : {"descending", "ascending"}
        Whether the best score is the highest, or, as for distances, the lowest.
    junk : (n_gallery,) or (n_query, n_gallery) bool, optional
        Items that are neither ranked nor relevant, for every query alike or pair by pair.
    threads : int, optional
        Worker threads, for this call alone; by default as many as there are processors.

    Returns
    -------
    TieProfile
        With `tied_by_grade` and `relevant_by_grade` if a grade other than 1 is given to an item that is not junk.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.

    Notes
    -----
    Ties: items tie when their scores are the same number, compared in the type they came in: int64 and uint64 never
    go through floats, and -0.0 ties with 0.0.

    Undefined: a query without a relevant item is a singleton, `n_relevant` 0, with no tie group.

    Examples
    --------
    One item in front, then two tied of which both are relevant: every order of the tie gives the same, AP = 7/12.

    >>> profile = profile_scores([[2, 1, 1]], [[0, 1, 1]])
    >>> profile.closer, profile.tied, profile.tied_relevant
    (array([1]), array([2]), array([2]))
    >>> from deadheat.measures import per_query
    >>> print(*(f"{value[0]:.4f}" for value in per_query(profile, "AP")))
    0.5833 0.5833 0.5833
    """
    checks.choice(order, ("descending", "ascending"), "order")
    workers = checks.thread_count(threads)
    matrix = inputs.scores(scores, "scores")
    relevance = inputs.relevance(relevant, matrix.shape)
    mask = inputs.junk_mask(junk, *matrix.shape)
    known = _known_grades(relevance, mask)

    def work(rows: slice) -> _Groups:
        return _count(_keys(matrix[rows], order), _grades(relevance, mask, rows), known)

    with ThreadPoolExecutor(workers) as pool:
        return _assemble(list(pool.map(work, _blocks(*matrix.shape))), known)


def profile_run(run: Path | Table, qrels: Path | Table) -> TieProfile:
    """Count, for every query of a TREC run and every score at which it has a relevant document, what ties with it.

    Parameters
    ----------
    run : path or dict
        Lines ``qid Q0 docid rank score tag``, or ``{query_id: {doc_id: score}}``. Scores decide, highest first, and
        the rank is not read. In a file a score is the float64 nearest to its text; in a dictionary, floats and
        integers of any size are what they are.
    qrels : path or dict
        Lines ``qid iter docid rel``, or ``{query_id: {doc_id: grade}}``. Grades are integers; 0 and less, and
        documents that are not listed, are irrelevant.

    Returns
    -------
    TieProfile
        The queries of the qrels in their order, also those of which the run has nothing (as trec_eval has them with
        its option -c), then the queries of the run that the qrels do not have. `query_ids` names them. A relevant
        document that was not retrieved counts in `n_relevant` and in no group.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If a file breaks its form (the message names file and line), a score is not finite, a document is listed
        twice for a query, or run and qrels have no query in common.
    TypeError
        If a dictionary holds something other than the above.

    Notes
    -----
    Files are text in UTF-8, fields separated by blanks or tabs, blank lines skipped; gzip is recognised.

    Ties: documents tie when their scores are equal as float64. trec_eval reads scores as float32, so that there 0.5
    and 0.500000001 tie, and then ranks tied documents by their id, descending; here a tie is a tie.

    Undefined: a query without a relevant document, or without judgements, is a singleton.

    Examples
    --------
    Document b is relevant and tied with c, behind a. Document d is relevant and was not retrieved:

    >>> profile = profile_run({"q1": {"a": 0.9, "b": 0.5, "c": 0.5}}, {"q1": {"b": 1, "d": 1}})
    >>> profile.closer, profile.tied, profile.n_relevant
    (array([1]), array([2]), array([2]))

    So b is at rank 2 or 3, and AP is (1/2)/2 or (1/3)/2:

    >>> from deadheat.measures import per_query
    >>> print(*(f"{value[0]:.4f}" for value in per_query(profile, "AP")))
    0.1667 0.2083 0.2500
    """
    scores, judged = _load(run, _RUN), _load(qrels, _QRELS)
    if not scores.keys() & judged.keys():
        raise ValueError(
            "run and qrels must have a query in common, "
            f"but the run has {_listed(scores)} and the qrels have {_listed(judged)}"
        )
    relevant = {query: {item: grade for item, grade in row.items() if grade > 0} for query, row in judged.items()}
    known = np.array(sorted({grade for row in relevant.values() for grade in row.values()}) or [1], dtype=np.int64)
    queries = list(dict.fromkeys([*judged, *scores]))
    blocks = [_count_query(scores.get(query, {}), relevant.get(query, {}), known) for query in queries]
    by_grade = np.zeros((len(queries), len(known)), dtype=np.int64)
    for counts, query in zip(by_grade, queries, strict=True):
        np.add.at(counts, np.searchsorted(known, list(relevant.get(query, {}).values())), 1)
    return _assemble(blocks, known, by_grade, tuple(queries))


# ---------------------------------------------------------------------------------------------------------------------
# counting, for both


class _Groups(NamedTuple):
    """The tie groups of some queries, nearest first."""

    n_group: Int64  # (n_query,)
    n_ranked: Int64  # (n_query,)
    groups: Int64  # (n_group, 4): closer, closer_relevant, tied, tied_relevant
    by_grade: Int64  # (n_group, n_grade): tied_relevant by grade


def _keys(scores: NDArray[Any], order: str) -> Int64:
    """A new array of int64 that compare as the scores do, the best score highest."""
    if scores.dtype.kind == "f":
        values = scores.astype(np.float64, order="C")
        values += 0.0  # -0.0 + 0.0 is 0.0
        keys = values.view(np.int64)
        keys ^= (keys >> 63) & _HIGHEST  # of negative floats, a larger size is a lower key
    elif scores.dtype.kind == "u":
        keys = (scores.astype(np.uint64, order="C") ^ np.uint64(1 << 63)).view(np.int64)
    else:
        keys = scores.astype(np.int64, order="C")
    return keys if order == "descending" else ~keys


def _count(keys: Int64, grades: Int64, known: Int64) -> _Groups:
    """The tie groups of the rows of two (n_query, n_item) arrays."""
    n_query, most = len(keys), int(np.count_nonzero(grades > 0))
    n_group, n_ranked = np.empty((2, n_query), dtype=np.int64)
    groups, by_grade = np.zeros((most, 4), dtype=np.int64), np.zeros((most, len(known)), dtype=np.int64)
    filled = count_groups(keys, grades, known, n_group, n_ranked, groups, by_grade)
    return _Groups(n_group, n_ranked, groups[:filled].copy(), by_grade[:filled].copy())


def _assemble(
    blocks: list[_Groups],
    known: Int64,
    relevant_by_grade: Int64 | None = None,
    query_ids: tuple[str, ...] | None = None,
) -> TieProfile:
    """Put blocks together; what is relevant is what the groups hold, unless it is given."""
    n_group, n_ranked, groups, by_grade = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    offsets = np.concatenate([[0], np.cumsum(n_group)])
    if relevant_by_grade is None:
        running = np.concatenate([np.zeros((1, len(known)), dtype=np.int64), np.cumsum(by_grade, axis=0)])
        relevant_by_grade = np.diff(running[offsets], axis=0)
    graded = known.tolist() != [1]
    closer, closer_relevant, tied, tied_relevant = groups.T
    return TieProfile(
        offsets,
        closer,
        closer_relevant,
        tied,
        tied_relevant,
        n_ranked,
        n_relevant=relevant_by_grade.sum(axis=1),
        grades=known,
        tied_by_grade=by_grade if graded else None,
        relevant_by_grade=relevant_by_grade if graded else None,
        query_ids=query_ids,
    )


# ---------------------------------------------------------------------------------------------------------------------
# matrices


def _blocks(n_query: int, n_gallery: int) -> list[slice]:
    """Rows, a block at a time."""
    step = max(1, _BLOCK_ENTRIES // n_gallery)
    return [slice(start, start + step) for start in range(0, n_query, step)]


def _grades(relevance: Any, junk: NDArray[np.bool_] | None, rows: slice) -> Int64:
    """The grades of a block of rows, dense, and -1 for junk."""
    block = relevance[rows]
    dense = block.toarray() if hasattr(block, "toarray") else block
    grades: Int64 = dense.astype(np.int64, order="C")
    if junk is not None:
        np.copyto(grades, _JUNK, where=junk if junk.ndim == 1 else junk[rows])
    return grades


def _known_grades(relevance: Any, junk: NDArray[np.bool_] | None) -> Int64:
    """The positive grades that occur outside the junk, ascending; 1 if there is none."""
    if relevance.dtype == np.bool_:
        return np.ones(1, dtype=np.int64)
    known: set[int] = set()
    for rows in _blocks(*relevance.shape):
        grades = _grades(relevance, junk, rows)
        highest = int(grades.max())
        known |= {highest} if highest <= 1 else set(np.unique(grades).tolist())
    return np.array(sorted(grade for grade in known if grade > 0) or [1], dtype=np.int64)


# ---------------------------------------------------------------------------------------------------------------------
# runs


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
            rule = "an integer" if self.kind is int else "a number"
            raise TypeError(f"{self.number} must be {rule}, but is {value!r:.50}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{self.number} must be finite, but is {value}")
        if self.kind is int and value > _HIGHEST:
            raise ValueError(f"{self.number} must be below 2^63, but is {value}")
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

_Checked: TypeAlias = dict[str, dict[str, Any]]


def _number(text: str, kind: type[float] | type[int]) -> Any:
    """The number that a text is, or the text if it is none; 1_000 is one to Python only."""
    try:
        return text if "_" in text else kind(text)
    except ValueError:
        return text


def _load(source: Path | Table, form: _Form) -> _Checked:
    """A run or qrels as dictionaries of Python numbers, from a file or from dictionaries."""
    if not isinstance(source, (str, os.PathLike, Mapping)):
        raise TypeError(f"{form.argument} must be a path or a dictionary, but is {type(source).__name__}")
    table = _checked(source, form) if isinstance(source, Mapping) else _read(source, form)
    if not table:
        name = form.argument if isinstance(source, Mapping) else os.fspath(source)
        raise ValueError(f"{name} must hold at least one query, but is empty")
    return table


def _checked(source: Table, form: _Form) -> _Checked:
    """A copy of dictionaries, checked."""
    table: _Checked = {}
    for query, row in source.items():
        if not isinstance(query, str):
            raise TypeError(f"{form.argument} must have strings as query ids, but has {query!r}")
        if not isinstance(row, Mapping):
            raise TypeError(
                f"{form.argument} must hold a dictionary for each query, but has {type(row).__name__} for {query!r}"
            )
        numbers = table[query] = {}
        for item, value in row.items():
            if not isinstance(item, str):
                raise TypeError(f"{form.argument} must have strings as document ids, but has {item!r} for {query!r}")
            try:
                numbers[item] = form.check(value)
            except (TypeError, ValueError) as error:
                raise type(error)(f"{form.argument}, query {query!r}, document {item!r}: {error}") from None
    return table


def _read(path: Path, form: _Form) -> _Checked:
    """The lines of a file."""
    table: _Checked = {}
    with _opened(path) as lines:
        for count, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                query, item, number = form.parse(line.removeprefix(codecs.BOM_UTF8) if count == 1 else line)
                row = table.setdefault(query, {})
                if item in row:
                    raise ValueError(f"document {item!r} must be listed once for query {query!r}, but is again")
            except (TypeError, ValueError) as error:
                raise ValueError(f"{os.fspath(path)}, line {count}: {error}") from None
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
            raise ValueError(f"{os.fspath(path)} is damaged or truncated: {error}") from None


def _count_query(scores: dict[str, float], relevant: dict[str, int], known: Int64) -> _Groups:
    """The tie groups of one query."""
    grades = np.array([relevant.get(item, 0) for item in scores], dtype=np.int64)
    return _count(_keys_of_numbers(list(scores.values()))[None], grades[None], known)


def _keys_of_numbers(numbers: list[float]) -> Int64:
    """As `_keys`, for Python numbers; where integers are among them, their places in sorted order."""
    if all(type(number) is float for number in numbers):
        return _keys(np.array(numbers, dtype=np.float64), "descending")
    place = {number: i for i, number in enumerate(sorted(set(numbers)))}
    return np.array([place[number] for number in numbers], dtype=np.int64)


def _listed(table: _Checked) -> str:
    """How many queries, and the first of them."""
    return f"{len(table)} ({', '.join(map(repr, list(table)[:3]))}{', …' if len(table) > 3 else ''})"
