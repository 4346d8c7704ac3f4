"""Pairs of a query and a gallery row that are relevant, or left out, as they are given next to embeddings.

    matrix, lists of rows, file ──> ListedPairs ──┐
    ranges of rows ───────────────> RangePairs ───┼──> the pairs of some queries at a time: query, row, grade
    `within`(radius, positions) ──> WithinPairs ──┘

No form takes memory for all pairs where a rule says them. As a mask of junk, pairs are written for some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import FileError, InvalidTypeError, InvalidValueError
from deadheat.inputs import arrays, item_ids
from deadheat.inputs.conversion import n_dim, plain
from deadheat.inputs.files import EMBEDDINGS, FileLayout, is_path, unzipped
from deadheat.inputs.pair_rules import RuledMask
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument, naming
from deadheat.support.arrays import Array, Bool, Float64, Int64, offsets_of, pieces, runs_joined
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import fractions, lazy

if TYPE_CHECKING:
    from deadheat.inputs.formats import registry
else:
    registry = lazy("deadheat.inputs.formats.registry")

Relevant = Any  # a matrix, lists of rows, a file, or what `within` returns

_LARGEST = 1e100  # of a coordinate, so that squares do not overflow; 1 / _LARGEST is the smallest radius above 0
_AT_ONCE = 1 << 18  # pairs that are written to a mask
_RULE = "must be a matrix, (n_query, n_gallery), or rows of the gallery for each query"


class Pairs(RuledMask):
    """Pairs of a query and a gallery row."""

    gains: Array | None = None  # of pairs that are listed, (n_pair,), if they are not all 1

    def most(self) -> Int64:
        """Return a bound on the number of pairs of each query, (n_query,)."""
        raise NotImplementedError

    def of(self, queries: Int64) -> tuple[Int64, Int64, Int64]:
        """Return the pairs of queries: positions in `queries`, ascending, gallery rows, and positions in `gains`."""
        raise NotImplementedError

    def __getitem__(self, places: Any) -> Bool:
        rows, columns = (np.ravel(each) for each in places)
        mask = np.zeros((len(rows), self.shape[1]), dtype=np.bool_)
        for some in pieces(self.most()[rows], _AT_ONCE):
            mask[some][self.of(rows[some])[:2]] = True
        return mask if np.array_equal(columns, np.arange(self.shape[1])) else mask[:, columns]


class SomePairs(Pairs):
    """The pairs of some queries."""

    def __init__(self, pairs: Pairs, queries: Int64) -> None:
        self.shape, self._pairs, self._queries = (len(queries), pairs.shape[1]), pairs, queries

    def most(self) -> Int64:
        return self._pairs.most()[self._queries]

    def of(self, queries: Int64) -> tuple[Int64, Int64, Int64]:
        return self._pairs.of(self._queries[queries])


class ListedPairs(Pairs):
    """Pairs that are listed, in CSR form."""

    def __init__(self, shape: tuple[int, int], lengths: Int64, items: Int64, gains: Array | None = None) -> None:
        self.shape, self._lengths, self._starts, self._items = shape, lengths, offsets_of(lengths), items
        self.gains = gains

    def most(self) -> Int64:
        return self._lengths

    def of(self, queries: Int64) -> tuple[Int64, Int64, Int64]:
        lengths = self._lengths[queries]
        places = runs_joined(self._starts[queries], lengths)
        return np.repeat(np.arange(len(queries)), lengths), self._items[places], places


class RangePairs(Pairs):
    """For each query the rows from `begins` to before `ends`."""

    def __init__(self, n_gallery: int, begins: Int64, ends: Int64) -> None:
        self.shape, self._begins, self._ends = (len(begins), n_gallery), begins, ends

    def most(self) -> Int64:
        return self._ends - self._begins

    def of(self, queries: Int64) -> tuple[Int64, Int64, Int64]:
        lengths = self.most()[queries]
        items = runs_joined(self._begins[queries], lengths)
        return np.repeat(np.arange(len(queries)), lengths), items, np.zeros_like(items)


class WithinPairs(Pairs):
    """Pairs at a distance of at most `radius`: a window along the longest axis, in which each pair is compared."""

    def __init__(self, radius: float, queries: Float64, items: Float64) -> None:
        self.shape, self._radius, self._queries, self._items = (len(queries), len(items)), radius, queries, items
        axis = int(np.argmax(np.ptp(items, axis=0)))
        self._order = np.argsort(items[:, axis], kind="stable")
        along, middle = items[self._order, axis], queries[:, axis]
        self._first = np.searchsorted(along, np.nextafter(middle - radius, -np.inf), "left")
        self._last = np.searchsorted(along, np.nextafter(middle + radius, np.inf), "right")
        one = items.shape[1] == 1
        largest = max(radius, *(float(np.abs(each).max()) for each in (queries, items)))
        self._is_exact = largest <= (2**52 if one else 2**24) and items.shape[1] <= 8 and float(radius).is_integer()
        self._is_exact &= all((np.floor(each) == each).all() for each in (queries, items))

    def most(self) -> Int64:
        return self._last - self._first

    def of(self, queries: Int64) -> tuple[Int64, Int64, Int64]:
        lengths = self.most()[queries]
        position = np.repeat(np.arange(len(queries)), lengths)
        items = self._order[runs_joined(self._first[queries], lengths)]
        inside = self._are_inside(self._queries[queries[position]], self._items[items])
        return position[inside], items[inside], np.zeros(np.count_nonzero(inside), dtype=np.int64)

    def _are_inside(self, points: Float64, others: Float64) -> Bool:
        """Compare |x - y| with the radius as real numbers: by float64 where its error allows it, else by fractions.

        A sum of n squares of differences has n + 2 roundings, and the square of the radius one.
        """
        away, n = points - others, points.shape[1]
        away, most = (np.abs(away[:, 0]), self._radius) if n == 1 else (np.square(away).sum(axis=1), self._radius**2)
        inside: Bool = away <= most
        if not self._is_exact:
            undecided = np.abs(away - most) <= (n + 8) * np.finfo(np.float64).eps * (away + most)
            exact = fractions.Fraction(self._radius) ** 2
            for i in np.flatnonzero(undecided & (points != others).any(axis=1)).tolist():
                pairs = zip(points[i].tolist(), others[i].tolist(), strict=True)
                inside[i] = sum((fractions.Fraction(x) - fractions.Fraction(y)) ** 2 for x, y in pairs) <= exact
        return inside


class Within(NamedTuple):
    """The rule of `within`, before the rows that it is for are known."""

    radius: float
    positions: Float64
    gallery_positions: Float64 | None

    def fitted(self, n_query: int, n_gallery: int, separate: bool) -> WithinPairs:
        items = self.positions if self.gallery_positions is None else self.gallery_positions
        if separate != (self.gallery_positions is not None):
            rule = "must be given with a gallery, and without one left out: within(radius, positions, ...)"
            raise InvalidValueError("gallery_positions", rule)
        for name, given, n in (("positions", self.positions, n_query), ("gallery_positions", items, n_gallery)):
            if len(given) != n:
                rows = "embeddings" if name == "positions" else "the gallery"
                raise InvalidValueError(name, f"must have one entry per row of {rows}, but got {len(given)} for {n}")
        return WithinPairs(self.radius, self.positions, items)

    def __repr__(self) -> str:
        return f"within({self.radius:g}, {len(self.positions):,} positions)"


@plain_floats
def within(radius: Any, positions: ArrayLike, gallery_positions: ArrayLike | None = None) -> Within:
    """Say by a rule which pairs are relevant, or left out: those whose positions are at most `radius` apart.

    It is an argument of `Task`: ``relevant=within(25, positions)`` for place recognition, ``exclude=within(10, times)``
    for frames around the query. No matrix of all pairs is made.

    Parameters
    ----------
    radius : float or timedelta
        The largest distance, included, in the unit of the positions; not negative.
    positions : (n_query,) or (n_query, d) array of numbers, or (n_query,) datetime64
        One position for each query, such as east and north in metres (not degrees, which are no unit of length), or a
        time or the number of a frame. Distances are Euclidean.
    gallery_positions : (n_gallery,) or (n_gallery, d) array, optional
        The positions of the gallery, if the task has one.

    Returns
    -------
    Within
        The rule, for `relevant` or `exclude` of a task.

    Raises
    ------
    TypeError, ValueError
        If positions are not finite or beyond 1e100, or differ in dimension, or the radius is negative or of another
        kind.

    Notes
    -----
    Positions are compared as real numbers: a pair at exactly the radius is within, whatever float64 rounds.

    Examples
    --------
    Frames 0 to 3 on a line, taken at 0, 10, 20 and 90 metres; the frame before and after the query is left out:

    >>> from deadheat import Task
    >>> near, adjacent = within(25, [0, 10, 20, 90]), within(1, range(4))
    >>> task = Task([[0], [1], [2], [9]], relevant=near, exclude=adjacent, distance="euclidean")
    >>> task.profile.n_relevant, task.profile.n_ranked
    (array([1, 0, 1, 0]), array([2, 1, 1, 2]))
    """
    given = {"positions": positions} | ({} if gallery_positions is None else {"gallery_positions": gallery_positions})
    parts = {name: _positions(each, name) for name, each in given.items()}
    times = {part.dtype.kind for part in parts.values()} & {"M", "m"}
    if times or isinstance(radius, (timedelta, np.timedelta64)):
        radius, parts = _in_one_unit(radius, parts)
    length = checks.real_number(radius, "radius", least=0)
    if not (length == 0 or 1 / _LARGEST <= length <= _LARGEST):
        raise InvalidValueError("radius", f"must be 0, or from 1e-100 to 1e100, but is {length}")
    shaped = [part.astype(np.float64).reshape(len(part), -1) for part in parts.values()]
    if shaped[0].shape[1] != shaped[-1].shape[1]:
        actual = f"but have {shaped[0].shape[1]} and {shaped[-1].shape[1]} columns"
        raise InvalidValueError("positions and gallery_positions", f"must have as many coordinates, {actual}")
    return Within(float(length), shaped[0], None if gallery_positions is None else shaped[-1])


@names_argument
def _positions(given: Any) -> Array:
    """Return checked positions, (n,) or (n, d): numbers that float64 holds, or times."""
    listed = isinstance(given, (list, tuple)) and len(given) > 0 and hasattr(given[0], "isoformat")
    values = np.asarray(given, dtype="datetime64[us]") if listed else given
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    array = np.asarray(values) if kind in ("M", "m") else plain(list(given) if isinstance(given, range) else given)
    if array.ndim not in (1, 2) or 0 in array.shape:
        raise InvalidValueError(
            VALUES, f"must be one position for each row, (n,) or (n, d), but has shape {array.shape}"
        )
    if array.dtype.kind in "Mm":
        if np.isnat(array).any() or array.ndim != 1:
            raise InvalidValueError(VALUES, "must be one time for each row, (n,), none of them missing")
        return array
    arrays.float_type(array.dtype)
    arrays.require_exact(array.reshape(len(array), -1))
    if np.abs(array.astype(np.float64)).max() > _LARGEST:
        raise InvalidValueError(VALUES, "must be from -1e100 to 1e100, but some are beyond")
    return array


def _in_one_unit(radius: Any, parts: dict[str, Array]) -> tuple[int, dict[str, Array]]:
    """Return times and a duration as integers of one unit, times from the first on."""
    kinds = {part.dtype.kind for part in parts.values()}
    if not isinstance(radius, (timedelta, np.timedelta64)) or not kinds <= {"M", "m"} or len(kinds) > 1:
        rule = "must be a timedelta, and positions must be times, if either is"
        raise InvalidTypeError("radius", f"{rule}, but it is of type {type(radius).__name__}")
    length = np.timedelta64(radius)
    if np.isnat(length) or np.datetime_data(length)[0] in ("Y", "M", "generic"):
        raise InvalidValueError("radius", "must be a duration in a unit of fixed length")
    unit = np.datetime_data(np.result_type(*(part.dtype for part in parts.values()), length.dtype))
    of_unit = f"[{unit[1]}{unit[0]}]"
    whole = {name: part.astype(f"{part.dtype.kind}8{of_unit}").astype(np.int64) for name, part in parts.items()}
    first, last = min(int(each.min()) for each in whole.values()), max(int(each.max()) for each in whole.values())
    duration = int(length.astype(f"m8{of_unit}").astype(np.int64))
    if last - first < 2**62:
        whole = {name: each - first for name, each in whole.items()}
        step = max(1, int(np.gcd.reduce([duration, *(np.gcd.reduce(each) for each in whole.values())])))
        if (last - first) // step <= 2**53:
            return duration // step, {name: each // step for name, each in whole.items()}
    raise InvalidValueError("positions", f"must span at most 2^53 steps of their unit, {unit[0]}, but span more")


def open_relevant(given: Relevant, n_query: int, n_gallery: int, separate: bool) -> Pairs:
    """Return the pairs that are relevant, of a matrix, lists of rows, a file, or a rule."""
    shape = n_query, n_gallery
    if isinstance(given, Within):
        return given.fitted(n_query, n_gallery, separate)
    if isinstance(given, Pairs):
        if given.shape != shape:
            raise InvalidValueError("relevant", f"must be of {n_query} queries and {n_gallery} rows, as before")
        return given
    if is_path(given):
        given = _read(given)
    if isinstance(given, Mapping):
        given = _by_query(given, n_query)
    if not hasattr(given, "tocsr") and not _is_matrix(given, shape):
        return _of_rows(given, shape)
    return _of_matrix(arrays.relevance(given, shape, "queries and gallery"), shape)


def open_excluded(given: Any, n_query: int, n_gallery: int, separate: bool) -> Pairs | None:
    """Return the pairs that are left out by a rule, ranges or a sparse mask; None where `exclude` has ids or rows."""
    if isinstance(given, (Within, Pairs)):
        return open_relevant(given, n_query, n_gallery, separate)
    if hasattr(given, "tocsr"):
        return _of_matrix(arrays.relevance(given, (n_query, n_gallery), "queries and gallery"), (n_query, n_gallery))
    if not hasattr(given, "__array__") or n_dim(given) != 2:
        return None
    ranges = plain(given, "exclude")
    if ranges.shape != (n_query, 2) or ranges.dtype.kind not in "iu":
        rule = f"must be ranges of rows, ({n_query}, 2) integers: the first row, and that after the last"
        raise InvalidValueError("exclude", f"{rule}, but has shape {ranges.shape} and dtype {ranges.dtype}")
    begins, ends = np.clip(ranges.astype(np.int64), 0, n_gallery).T
    for query in np.flatnonzero(ranges[:, 0] > ranges[:, 1])[:1]:
        raise InvalidValueError("exclude", f"must have ranges that begin before they end, but query {query} has not")
    return RangePairs(n_gallery, begins, ends)


def _read(path: Any) -> Any:
    """Return the matrix in a file, or the lists of rows in the lines of a text."""
    if registry.ending_of(path) != ".txt":
        with naming("relevant"):
            (content,) = registry.read(str(path), FileLayout(), EMBEDDINGS)
        return np.concatenate([*content]) if isinstance(content, Iterator) else content
    rows = []
    with unzipped(path) as file:
        for number, line in enumerate(file, 1):
            try:
                rows.append([int(field) for field in line.replace(b",", b" ").split()])
            except ValueError:
                raise FileError(path, f", line {number}: must be rows of the gallery, counted from 0") from None
    return rows


def _is_matrix(given: Any, shape: tuple[int, int]) -> bool:
    """Return whether something is a matrix: lists of its shape, or an array, but for integers of another shape."""
    if not hasattr(given, "__len__"):
        raise InvalidTypeError("relevant", f"{_RULE}, but is {checks.shown(given)}")
    if isinstance(given, (list, tuple)):
        rows = [row for row in given if isinstance(row, (list, tuple, np.ndarray)) and len(row) == shape[1]]
        return len(given) == shape[0] == len(rows)
    dtype = str(getattr(given, "dtype", ""))
    return n_dim(given) == 2 and (tuple(given.shape) == shape or "int" not in dtype)


def _by_query(given: Mapping[Any, Any], n_query: int) -> list[Any]:
    """Return the rows of a dictionary by query, in the order of the queries."""
    for query in given:
        if not isinstance(query, (int, np.integer)) or isinstance(query, bool) or not 0 <= query < n_query:
            rule = f"must have queries by their row, 0 to {n_query - 1}, but has {checks.shown(query)}"
            raise InvalidValueError("relevant", f"{rule}; dh.from_judged takes ids")
    return [given.get(query) for query in range(n_query)]


def _of_rows(given: Any, shape: tuple[int, int]) -> ListedPairs:
    listed, gains = listed_ids([[] if row is None else row for row in given], shape[0])
    there = item_ids.filled(listed)
    listed, gains = listed.take(there), gains[there]
    items = item_ids.gallery_rows(listed, "relevant", None, shape[1])
    return _with_gain(shape, listed.row, items, gains)


def _of_matrix(matrix: Any, shape: tuple[int, int]) -> ListedPairs:
    if hasattr(matrix, "indptr"):
        row, items, gains = np.repeat(np.arange(shape[0]), np.diff(matrix.indptr)), matrix.indices, matrix.data
    else:
        row, items = np.nonzero(matrix)
        gains = matrix[row, items]
    return _with_gain(shape, row, np.asarray(items, dtype=np.int64), gains)


def _with_gain(shape: tuple[int, int], row: Int64, items: Int64, gains: Array) -> ListedPairs:
    """Return the pairs with a gain above 0."""
    kept = np.asarray(gains > 0)
    items, gains, lengths = items[kept], gains[kept], np.bincount(row[kept], minlength=shape[0])
    return ListedPairs(shape, lengths, items, None if (gains == 1).all() else gains)


def listed_ids(relevant: Any, n_query: int) -> tuple[item_ids.IdRows, Array]:
    """Return the relevant ids of each query, once each, and their gains: 1 each but in dictionaries of gains."""
    given = checks.listed(relevant, "relevant", "a collection of ids for each query")
    if len(given) != n_query:
        actual = f"but got {len(given)} for {n_query} queries"
        raise InvalidValueError("relevant", f"must have one entry per query, {actual}")
    rows, grades = [_distinct(row) for row in given], []
    listed = item_ids.id_rows(rows, "relevant")
    for row, distinct in zip(given, rows, strict=True):
        of_row = row.values() if isinstance(row, Mapping) else [1] * len(distinct)
        grades += [max(0, arrays.gain(grade, "grades in relevant")) for grade in of_row]
    return listed, np.array(grades)


def _distinct(row: Any) -> list[Any]:
    ids = (
        row.tolist() if hasattr(row, "tolist") else checks.listed(row, "relevant", "a collection of ids for each query")
    )
    with suppress(TypeError):  # of ids that are lists
        return list(dict.fromkeys(ids))
    raise InvalidTypeError("relevant", f"must hold integers or strings, but holds {checks.shown(ids)}")
