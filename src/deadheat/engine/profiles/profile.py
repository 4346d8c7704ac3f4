"""The tie profile: the integers that every rank measure is a function of.

In come counts; out go profiles to keep, hash, slice by query, add over shards of the gallery, and measure.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from deadheat.engine.profiles.packed import AT_ONCE, PackedGroups
from deadheat.errors import FileError, InvalidTypeError, InvalidValueError
from deadheat.inputs.conversion import integers, plain
from deadheat.support import checks, scratch
from deadheat.support.arrays import Array, Bool, Float64, Int64, offsets_of, pieces, runs_joined
from deadheat.support.caching import cached_property
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import hashlib, lazy

if TYPE_CHECKING:
    from deadheat.engine.profiles import archive
    from deadheat.engine.profiles import portions as added
    from deadheat.engine.profiles.portions import Portion
else:
    added = lazy("deadheat.engine.profiles.portions")
    archive = lazy("deadheat.engine.profiles.archive")

OF_GROUPS, OF_QUERIES = ("closer", "closer_relevant", "tied", "tied_relevant"), ("n_ranked", "n_relevant")
_ARRAYS = ("offsets", *OF_GROUPS, *OF_QUERIES, "grades")
_GRADED_ARRAYS = ("tied_by_grade", "relevant_by_grade")
_UNJUDGED = ("unjudged", "n_unjudged", "unjudged_gain")
_OPTIONAL = (*_GRADED_ARRAYS, "n_ordered", "gains", "returned", *_UNJUDGED)
OF_EACH_QUERY = (*OF_QUERIES, "relevant_by_grade", "n_ordered", "gains", "returned", *_UNJUDGED[1:])
_REAL = {"gains": 2, "unjudged_gain": 1}  # dimensions
OF_EACH_GROUP = ("tied_by_grade", "unjudged")  # that not all profiles have

Arrays = Mapping[str, Any]  # those of a profile that are not None: int64, and gains and unjudged_gain float64


Rules = Iterator[tuple[Any, str]]  # whether each rule holds: what comes later relies on what was before


def _rules(arrays: Arrays, query_ids: list[str] | None, bounds_only: bool) -> Rules:
    offsets = arrays["offsets"]
    n_group, n_query = len(arrays["closer"]), len(offsets) - 1
    yield n_query >= 0 and offsets[0] == 0, "offsets must begin with 0"
    yield np.all(np.diff(offsets) >= 0), "offsets must not decrease"
    yield offsets[-1] == n_group, f"offsets must end with the number of groups, {n_group}"
    of_queries = {name: arrays[name] for name in (*OF_QUERIES, "n_ordered", *_UNJUDGED[1:]) if name in arrays}
    of_groups = {name: arrays[name] for name in (*OF_GROUPS, "unjudged") if name in arrays}
    ids = {} if query_ids is None else {"query_ids": query_ids}
    by_length = (("group", n_group, of_groups), ("query", n_query, of_queries | ids))
    for what, n, sequences in by_length:
        for name, sequence in sequences.items():
            yield len(sequence) == n, f"{name} must have one entry per {what}, {n}, but has {len(sequence)}"
    query = np.repeat(np.arange(n_query), np.diff(offsets))
    if any(name in arrays for name in _UNJUDGED):
        yield from _rules_of_unjudged_items(arrays, query, bounds_only)
    yield from _rules_of_groups(arrays, query, bounds_only)
    yield from _rules_of_grades(arrays)
    if "n_ordered" in arrays:
        yield from _rules_of_cut_rankings(arrays, query)
    if "returned" in arrays:
        yield from _rules_of_returned_items(arrays, query)


def _rules_of_groups(arrays: Arrays, query: Int64, bounds_only: bool) -> Rules:
    offsets, n_ranked, n_relevant = (arrays[name] for name in ("offsets", *OF_QUERIES))
    closer, closer_relevant, tied, tied_relevant = (arrays[name] for name in OF_GROUPS)
    if (unjudged := arrays.get("unjudged")) is None:
        yield np.all(tied_relevant >= 1), "tied_relevant must be at least 1 in every group"
        yield np.all(tied >= tied_relevant), "tied must not be less than tied_relevant"
    else:
        yield np.all(tied_relevant >= 0), "tied_relevant must not be negative"
        yield np.all(tied_relevant + unjudged >= 1), "tied_relevant + unjudged must be at least 1 in every group"
        yield np.all(tied >= tied_relevant + unjudged), "tied must not be less than tied_relevant + unjudged"
    yield np.all(closer_relevant >= 0), "closer_relevant must not be negative"
    yield np.all(closer >= closer_relevant), "closer must not be less than closer_relevant"
    adds_up = np.array_equal(closer_relevant, before_groups(tied_relevant, offsets))
    yield adds_up, "closer_relevant must be the sum of tied_relevant over the groups before"
    in_groups = np.diff(offsets_of(tied_relevant)[offsets])
    yield np.all(in_groups <= n_relevant), "the groups hold more relevant items than n_relevant"
    ends = closer + tied
    yield np.all(ends <= n_ranked[query]), "closer + tied must not be more than n_ranked"
    if not bounds_only:
        gap, same_query = closer[1:] - ends[:-1], np.diff(query) == 0
        yield np.all(gap[same_query] >= 0), "closer must not be less than closer + tied of the group before"


def _rules_of_unjudged_items(arrays: Arrays, query: Int64, bounds_only: bool) -> Rules:
    yield all(name in arrays for name in _UNJUDGED), f"{', '.join(_UNJUDGED)} must be given together"
    yield not bounds_only and "n_ordered" not in arrays, "unjudged must be left out with bounds_only or n_ordered"
    unjudged, in_all, gain = (arrays[name] for name in _UNJUDGED)
    yield np.all(unjudged >= 0), "unjudged must not be negative"
    running = offsets_of(unjudged)[arrays["offsets"]]
    yield np.all(np.diff(running) <= in_all), "the groups hold more unjudged items than n_unjudged"
    yield np.all(np.isfinite(gain) & (gain > 0)), "unjudged_gain must be finite and positive"


def _rules_of_grades(arrays: Arrays) -> Rules:
    grades, tied, relevant = arrays["grades"], arrays.get("tied_by_grade"), arrays.get("relevant_by_grade")
    tied_relevant, n_relevant = arrays["tied_relevant"], arrays["n_relevant"]
    yield np.all(np.diff(grades, prepend=0) > 0), "grades must be positive and ascending"
    yield (tied is None) == (relevant is None), "tied_by_grade and relevant_by_grade must be given together"
    if tied is not None and relevant is not None:
        yield tied.shape == (len(tied_relevant), len(grades)), "tied_by_grade must be (n_group, n_grade)"
        yield relevant.shape == (len(n_relevant), len(grades)), "relevant_by_grade must be (n_query, n_grade)"
        yield np.array_equal(tied.sum(axis=1), tied_relevant), "tied_by_grade must add up to tied_relevant"
        yield np.array_equal(relevant.sum(axis=1), n_relevant), "relevant_by_grade must add up to n_relevant"
    if (gains := arrays.get("gains")) is not None:
        yield gains.shape == (len(n_relevant), len(grades)), "gains must be (n_query, n_grade)"
        yield np.isfinite(gains).all() and (gains >= 0).all(), "gains must be finite and not negative"
        yield np.all((np.diff(gains) > 0) | (gains[:, :-1] == 0)), "gains must be ascending in every query"
        there = n_relevant[:, None] if relevant is None else relevant
        yield np.all((gains > 0) | (there == 0)), "gains must be positive for each grade that a query has"


def _rules_of_cut_rankings(arrays: Arrays, query: Int64) -> Rules:
    closer, n_ranked, n_ordered = arrays["closer"], arrays["n_ranked"], arrays["n_ordered"]
    ends, ordered = closer + arrays["tied"], n_ordered[query]
    fits = np.where(closer >= ordered, (closer == ordered) & (ends == n_ranked[query]), ends <= ordered)
    possible = fits.all() and (n_ordered >= 0).all() and (n_ordered <= n_ranked).all()
    yield possible, "n_ordered must be the end of one group, from which on all ranked items are in the next"


def _rules_of_returned_items(arrays: Arrays, query: Int64) -> Rules:
    returned, of_groups = arrays["returned"], arrays.get("tied_by_grade", arrays["tied_relevant"][:, None])
    ranked = by_query(of_groups, query, len(arrays["n_ranked"]))
    yield returned.shape == (len(ranked), 1 + ranked.shape[1]), "returned must be (n_query, 1 + n_grade)"
    there = np.column_stack([arrays["n_ranked"], ranked])
    yield np.all((returned >= 0) & (returned <= there)), "returned must not be more than is ranked"
    yield np.all(returned[:, 1:].sum(axis=1) <= returned[:, 0]), "returned must not have more relevant items than items"


def before_groups(counts: Int64, offsets: Int64) -> Int64:
    """Return the sum of the counts of groups over those before each group, of the same query."""
    running = offsets_of(counts)
    return np.asarray(running[:-1] - np.repeat(running[offsets[:-1]], np.diff(offsets)))


def by_query(counts: Int64, query: Int64, n_query: int) -> Int64:
    """Add up the counts of groups by grade, (n_group, n_grade), over the groups of each query, which ascend."""
    running = np.concatenate([np.zeros((1, counts.shape[1]), dtype=np.int64), np.cumsum(counts, axis=0)])
    return np.diff(running[np.searchsorted(query, np.arange(n_query + 1))], axis=0)


@dataclass(frozen=True, eq=False)
class TieProfile:
    """For each query, and each distinct distance at which it has a relevant item, four integers.

    The groups of query `i` are `offsets[i]:offsets[i + 1]`, nearest first (CSR form). All arrays are int64.

    Parameters
    ----------
    offsets : (n_query + 1,)
        The positions at which the tie groups of each query begin and end.
    closer, closer_relevant : (n_group,)
        Ranked items strictly closer than the group's distance, and the relevant ones among them.
    tied, tied_relevant : (n_group,)
        Ranked items at exactly the group's distance, and the relevant ones among them (at least one).
    n_ranked, n_relevant : (n_query,)
        Items that are ranked, and items that are relevant. A relevant item that a run did not retrieve counts in
        `n_relevant` and in no group.
    grades : (n_grade,)
        The positive grades of relevance, ascending; `[1]` where relevance is binary.
    tied_by_grade : (n_group, n_grade), optional
        `tied_relevant` split by grade; None where relevance is binary.
    relevant_by_grade : (n_query, n_grade), optional
        `n_relevant` split by grade; None where relevance is binary.
    bounds_only : bool
        True for a profile taken under a tolerance: each group counts the irrelevant items inside a window round its
        distance as tied, windows overlap, and only lower and upper have a meaning; expected values are NaN.
    query_ids : tuple of str, optional
        Names of the queries, where the input had names. Not part of the digest.
    n_ordered : (n_query,), optional
        For rankings that were cut, as those of a vector index: the items whose order is known, up to ties. All others
        are in one last group, which is not a tie: its items are in unknown order, only lower and upper have a
        meaning there, and an expected value that depends on it is NaN. None if all rankings are whole.
    gains : (n_query, n_grade) float64, optional
        For real-valued gains, such as 0.25, the gain that each grade stands for in a query, ascending, and 0 for a
        grade that it does not have; the grades are then 1 to n_grade. None where the gains are the grades.
    returned : (n_query, 1 + n_grade), optional
        For rankings that were cut, the items that were returned: all, and by grade the relevant ones, which no order
        changes. None where these are the first `n_ordered` items, or all that are ranked.
    unjudged : (n_group,), optional
        For items that are either irrelevant or relevant, as nobody judged them (``unjudged="unknown"`` of `from_run`):
        their number among `tied`. They count in `closer` and `tied` and in no number of relevant items, and a group
        may hold them alone. Only lower and upper have a meaning, over what they may be and all orders.
    n_unjudged : (n_query,), optional
        Such items in all. One that a run did not retrieve, but another did, counts here and in no group.
    unjudged_gain : (n_query,) float64, optional
        The gain of such an item if it is relevant.
    check : bool
        Check that the arrays agree with each other; otherwise arrays of int64 are not copied either.

    Raises
    ------
    ValueError
        If the arrays contradict each other.

    Examples
    --------
    One query, ten ranked items. A relevant item is alone in front, then three items share a distance, two of them
    relevant:

    >>> import numpy as np
    >>> profile = TieProfile.from_groups([[(0, 0, 1, 1), (1, 1, 3, 2)]], n_ranked=[10])
    >>> profile.n_relevant
    array([3])
    >>> profile.ties
    TieCounts(mixed_groups=1, queries=1, largest=3)
    """

    offsets: Int64
    closer: Int64
    closer_relevant: Int64
    tied: Int64
    tied_relevant: Int64
    n_ranked: Int64
    n_relevant: Int64
    grades: Int64 = field(default_factory=lambda: np.ones(1, dtype=np.int64))
    tied_by_grade: Int64 | None = None
    relevant_by_grade: Int64 | None = None
    bounds_only: bool = False
    query_ids: tuple[str, ...] | None = None
    n_ordered: Int64 | None = field(default=None, kw_only=True)
    gains: Float64 | None = field(default=None, kw_only=True)
    returned: Int64 | None = field(default=None, kw_only=True)
    unjudged: Int64 | None = field(default=None, kw_only=True)
    n_unjudged: Int64 | None = field(default=None, kw_only=True)
    unjudged_gain: Float64 | None = field(default=None, kw_only=True)
    check: InitVar[bool] = True

    packed: ClassVar[PackedGroups | None] = None  # the groups as they are kept, where arrays are made when asked for

    def __post_init__(self, check: bool) -> None:
        checked = checks.flag(check, "check")
        for name in _ARRAYS + _OPTIONAL:
            array = getattr(self, name)
            if array is not None or name in _ARRAYS:
                converted = _reals(array, name) if name in _REAL else _integers(array, name, copied=checked)
                object.__setattr__(self, name, converted)
        ids = None if self.query_ids is None else checks.listed(self.query_ids, "query_ids", "names of queries")
        if checked:
            checks.flag(self.bounds_only, "bounds_only")
            for holds, rule in _rules(self._arrays, ids, self.bounds_only):
                if not holds:
                    raise InvalidValueError("not a tie profile:", rule)

    @property
    def _arrays(self) -> dict[str, Any]:
        """The arrays that are not None, in the order of the digest."""
        named = {name: getattr(self, name) for name in _ARRAYS + _OPTIONAL}
        return {name: array for name, array in named.items() if array is not None}

    def _columns(self) -> dict[str, archive.ArrayPieces]:
        """Return the same in pieces, without writing out packed groups."""
        columns: dict[str, archive.ArrayPieces] = {}
        for name in _ARRAYS + _OPTIONAL:
            if name in OF_GROUPS:
                columns[name] = archive.ArrayPieces((self.n_group,), np.dtype(np.int64), partial(self._of_groups, name))
            elif (array := getattr(self, name)) is not None:
                columns[name] = archive.ArrayPieces.of(array)
        return columns

    def _of_groups(self, name: str) -> Iterator[Array]:
        if self.packed is not None:
            yield from self.packed.column(OF_GROUPS.index(name))
            return
        array = getattr(self, name)
        for queries in pieces(np.diff(self.offsets), AT_ONCE):
            piece = array[self.offsets[queries.start] : self.offsets[queries.stop]]
            yield piece
            scratch.let_go(piece)

    @classmethod
    @plain_floats
    def from_groups(
        cls,
        groups: list[list[tuple[int, int, int, int]]],
        n_ranked: list[int],
        n_relevant: list[int] | None = None,
        *,
        bounds_only: bool = False,
        check: bool = True,
    ) -> TieProfile:
        """Build a profile by hand: a list of (closer, closer_relevant, tied, tied_relevant) for each query."""
        queries = checks.listed(groups, "groups", "a list of groups for each query")
        rows = [[_four(group, f"groups[{i}]") for group in checks.listed(query, f"groups[{i}]", "a list of groups")]
                for i, query in enumerate(queries)]  # fmt: skip
        flat = np.array([group for row in rows for group in row], dtype=np.int64).reshape(-1, 4)
        closer, closer_relevant, tied, tied_relevant = flat.T
        relevant = [sum(group[3] for group in row) for row in rows] if n_relevant is None else n_relevant
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        ranked, in_all = _counts(n_ranked, "n_ranked"), _counts(relevant, "n_relevant")
        return cls(
            offsets_of(lengths), closer, closer_relevant, tied, tied_relevant, ranked, in_all,
            bounds_only=bounds_only, check=check,
        )  # fmt: skip

    @classmethod
    def of_packed(cls, groups: PackedGroups, n_ranked: Int64, bounds_only: bool) -> TieProfile:
        """Return a profile whose arrays of groups are written out when they are asked for."""
        profile = object.__new__(cls)
        of_queries = {"offsets": offsets_of(groups.n_group), "n_ranked": n_ranked, "n_relevant": groups.n_relevant}
        nothing = dict.fromkeys((*_OPTIONAL, "query_ids"))
        grades = np.ones(1, dtype=np.int64)
        vars(profile).update(**of_queries, **nothing, grades=grades, bounds_only=bounds_only, packed=groups)
        return profile

    def __getattr__(self, name: str) -> Any:
        """Write out the arrays of packed groups, the only attributes that are made when they are asked for."""
        groups = self.packed
        if groups is None or name not in OF_GROUPS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        arrays = scratch.arrays(len(OF_GROUPS), self.n_group)
        groups.unpack(slice(None), arrays)
        vars(self).update(zip(OF_GROUPS, arrays, strict=True))
        scratch.let_go(*arrays)
        return vars(self)[name]

    @classmethod
    def joined(cls, profiles: Sequence[TieProfile]) -> TieProfile:
        """Return the profile of the queries of several profiles; `query_ids` are dropped.

        They have the same grades, unless one has `gains`.

        Examples
        --------
        >>> one = TieProfile.from_groups([[(0, 0, 1, 1)]], n_ranked=[2])
        >>> TieProfile.joined([one, one]).closer
        array([0, 0])
        """
        profiles = checks.listed(profiles, "profiles", "a list of profiles")
        odd = [each for each in profiles if not isinstance(each, TieProfile)]
        if odd or not profiles:
            given = checks.shown(odd[0]) if odd else "none"
            raise InvalidTypeError("profiles", f"must be at least one TieProfile, but has {given}")
        if any((profile.unjudged is None) != (profiles[0].unjudged is None) for profile in profiles):
            raise InvalidValueError("profiles", "must all have unjudged items, or none")
        if all(profile.packed is not None for profile in profiles):
            groups, n_ranked = PackedGroups.joined([each.packed for each in profiles]), [p.n_ranked for p in profiles]
            return cls.of_packed(groups, np.concatenate(n_ranked), any(p.bounds_only for p in profiles))
        if any(profile.gains is not None for profile in profiles):
            profiles = _of_like_grades(profiles)
        graded = all(profile.tied_by_grade is not None for profile in profiles)
        optional = [name for name in ("gains", *_UNJUDGED) if getattr(profiles[0], name) is not None]
        names = *OF_GROUPS, *OF_QUERIES, *optional, *(_GRADED_ARRAYS if graded else ())
        arrays: dict[str, Any] = {name: np.concatenate([getattr(each, name) for each in profiles]) for name in names}
        arrays |= {"grades": profiles[0].grades} if graded else {}
        offsets = offsets_of(np.concatenate([np.diff(profile.offsets) for profile in profiles]))
        return cls(offsets, **arrays, bounds_only=any(profile.bounds_only for profile in profiles), check=False)

    @classmethod
    def from_portions(cls, portions: Iterable[Portion]) -> TieProfile:
        """Return the profile that the portions of a task add up to, in any order: see `deadheat.Task.portion`.

        Raises
        ------
        TypeError, ValueError
            If they are not all portions of one task, each once.
        """
        return cls.of_packed(*added.add_up(portions))

    @property
    def n_query(self) -> int:
        """Number of queries, singletons included."""
        return len(self.offsets) - 1

    @property
    def n_group(self) -> int:
        """Number of tie groups that hold a relevant item, over all queries."""
        return int(self.offsets[-1])

    def __len__(self) -> int:
        return self.n_query

    def __repr__(self) -> str:
        return f"TieProfile(n_query={self.n_query}, n_group={self.n_group}, mixed_groups={self.ties.mixed_groups})"

    @cached_property
    def query_of_group(self) -> Int64:
        """The query that each group belongs to, shape (n_group,)."""
        return np.repeat(np.arange(self.n_query), np.diff(self.offsets))

    @cached_property
    def ties(self) -> TieCounts:
        """Counts of mixed tie groups: these hold relevant and irrelevant items, so their order affects measures."""
        if self.n_ordered is not None:
            return self.best_completed().ties
        ties = TieCounts(0, 0, 0)
        if self.packed is not None:
            return TieCounts(*self.packed.ties())
        for queries in pieces(np.diff(self.offsets)):
            first, last = self.offsets[[queries.start, queries.stop]]
            large = first + np.flatnonzero(self.tied[first:last] > 1)
            of_grades = self.counts_by_grade[0][large]
            mixed = large[(of_grades != self.tied[large, None]).all(axis=1) & of_grades.any(axis=1)]
            n_query = len(np.unique(np.searchsorted(self.offsets, mixed, side="right")))
            largest = int(self.tied[mixed].max(initial=ties.largest))
            ties = TieCounts(ties.mixed_groups + len(mixed), ties.queries + n_query, largest)
            scratch.let_go(self.tied, self.tied_relevant)
        return ties

    def __getitem__(self, queries: Any) -> TieProfile:
        """Return the profile of some of the queries: an integer, a slice, a boolean mask or an integer array."""
        try:
            chosen = np.atleast_1d(np.arange(self.n_query)[queries])
        except IndexError:  # which ends a loop over a profile
            raise
        except Exception as error:
            rule = "must be an integer, a slice, a mask or an integer array"
            raise InvalidTypeError("queries", f"{rule}, but is {checks.shown(queries)}") from error
        if chosen.ndim != 1:
            raise InvalidValueError("queries", f"must be one-dimensional, but has shape {chosen.shape}")
        lengths = np.diff(self.offsets)[chosen]
        if self.packed is not None:
            arrays: dict[str, Any] = dict(zip(OF_GROUPS, self.packed.arrays(chosen), strict=True))
        else:
            arrays = self.taken((*OF_GROUPS, *OF_EACH_GROUP), runs_joined(self.offsets[chosen], lengths))
        arrays |= self.taken(OF_EACH_QUERY, chosen)
        ids = None if self.query_ids is None else tuple(self.query_ids[i] for i in chosen)
        return replace(self, offsets=offsets_of(lengths), query_ids=ids, **arrays)

    def taken(self, names: Iterable[str], index: slice | Int64) -> dict[str, Any]:
        """Return some entries of arrays, by name; None stays None."""
        arrays = {name: getattr(self, name) for name in names}
        return {name: None if array is None else array[index] for name, array in arrays.items()}

    @property
    def gain_table(self) -> Float64:
        """The gain that each grade stands for in each query, (n_query, n_grade), also if gains are the grades."""
        return np.broadcast_to(self.grades, (self.n_query, len(self.grades))) if self.gains is None else self.gains

    @property
    def counts_by_grade(self) -> tuple[Int64, Int64]:
        """The relevant items of groups and of queries by grade, also if relevance is binary."""
        if self.tied_by_grade is None or self.relevant_by_grade is None:
            return self.tied_relevant[:, None], self.n_relevant[:, None]
        return self.tied_by_grade, self.relevant_by_grade

    @property
    def returned_set(self) -> tuple[Int64, Int64]:
        """The number of items that were returned for each query, and by grade of the relevant ones among them."""
        if self.returned is not None:
            return self.returned[:, 0], self.returned[:, 1:]
        ordered = slice(None) if self.n_ordered is None else ~self.is_cut
        ranked = by_query(self.counts_by_grade[0][ordered], self.query_of_group[ordered], self.n_query)
        return self.n_ranked if self.n_ordered is None else self.n_ordered, ranked

    @property
    def is_cut(self) -> Bool:
        """True for groups that are the unordered rest of a ranking that was cut, (n_group,)."""
        if self.n_ordered is None:
            return np.zeros(self.n_group, dtype=np.bool_)
        return np.asarray(self.closer >= self.n_ordered[self.query_of_group])

    def best_completed(self) -> TieProfile:
        """Return the profile with the unordered rest of every query in its best order, so all rankings are whole."""
        if self.n_ordered is None:
            return self
        lengths, groups, by_grade = _best_first(
            self.is_cut, self.counts_by_grade[0], {name: getattr(self, name) for name in OF_GROUPS}
        )
        new: dict[str, Any] = {**groups, "offsets": offsets_of(lengths)[self.offsets], "n_ordered": None}
        return replace(self, tied_by_grade=None if self.tied_by_grade is None else by_grade, **new)

    @property
    def n_cut(self) -> int:
        """Number of queries with relevant items in an unordered rest that also holds other items."""
        if self.n_ordered is None:
            return 0
        return int(np.count_nonzero(self.is_cut & (self.tied > self.tied_relevant)))

    def __add__(self, other: TieProfile) -> TieProfile:
        """Return the profile of a gallery in two shards, from the profile of each.

        Both must have been taken with the same relevant items, that is, all relevant items of the whole gallery, and
        each with the irrelevant items of its own shard. Then the counts of irrelevant items add up, and the counts
        of relevant items are the same in both.

        Raises
        ------
        ValueError
            If the two disagree about the relevant items.
        """
        if not isinstance(other, TieProfile):
            return NotImplemented
        for name in ("offsets", "closer_relevant", "tied_relevant", "n_relevant", "grades", *_GRADED_ARRAYS, "gains"):
            mine, yours = getattr(self, name), getattr(other, name)
            if not (mine is None and yours is None) and not np.array_equal(mine, yours):
                raise InvalidValueError(
                    "profiles of shards", f"must have the same relevant items, but their {name} differ"
                )
        if self.n_ordered is not None or other.n_ordered is not None:
            raise InvalidValueError("profiles of shards", "must be of whole rankings, but some were cut (n_ordered)")
        if self.unjudged is not None or other.unjudged is not None:
            raise InvalidValueError("profiles of shards", "must be without unjudged items, but one has some")
        if self.bounds_only != other.bounds_only:
            raise InvalidValueError("profiles of shards", "must be taken with the same ties, but one is bounds_only")
        ranked_relevant = by_query(self.tied_relevant[:, None], self.query_of_group, self.n_query)[:, 0]
        return replace(
            self,
            closer=self.closer + other.closer - self.closer_relevant,
            tied=self.tied + other.tied - self.tied_relevant,
            n_ranked=self.n_ranked + other.n_ranked - ranked_relevant,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TieProfile):
            return False
        return all(mine == yours for mine, yours in zip_longest(self._canonical(), other._canonical()))

    __hash__ = None  # type: ignore[assignment]

    def digest(self) -> str:
        """Return the SHA-256 of the canonical bytes, as 64 hexadecimal digits: equal exactly if the profiles are.

        The canonical bytes are, each ended by a newline: the text ``deadheat.TieProfile 1``, then ``exact`` or
        ``bounds`` (a tolerance), then for each array, in the order offsets, closer, closer_relevant, tied,
        tied_relevant, n_ranked, n_relevant, grades, where relevance is graded tied_by_grade and relevant_by_grade,
        where rankings were cut n_ordered, where gains are real gains, where it is given returned, and where unjudged
        items are unknown unjudged, n_unjudged and unjudged_gain, its name, its shape as decimal numbers separated by
        spaces, and its values as little-endian int64, gains and unjudged_gain as float64, in C order.
        """
        digest = hashlib.sha256()
        for piece in self._canonical():
            digest.update(piece)
        return digest.hexdigest()

    def _canonical(self) -> Iterator[bytes]:
        return archive.canonical(self._columns(), self.bounds_only)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the profile as a compressed NumPy archive (``.npz``), whole or not at all.

        Raises
        ------
        OSError
            If `path` cannot be written.
        """
        columns, digest = self._columns(), self.digest()
        if self.query_ids is not None:
            columns["query_ids"] = archive.ArrayPieces.of(np.array(self.query_ids, dtype=np.str_))
        archive.write(path, self.bounds_only, digest, columns)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TieProfile:
        """Read a profile that `save` wrote, and check it against the digest it carries.

        Raises
        ------
        OSError
            If `path` cannot be read.
        FileError
            If it holds something else, or is damaged.
        """
        digest, content = archive.read(path)
        try:
            ids = content.pop("query_ids", None)
            if ids is not None:
                content["query_ids"] = tuple(map(str, ids.tolist()))
            content["bounds_only"] = bool(content.pop("bounds_only").item())
            profile = cls(**content)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise archive.not_a_profile(path, error) from None
        if profile.digest() != digest:
            raise FileError(path, " is damaged: its content does not have the digest it carries")
        return profile


class TieCounts(NamedTuple):
    """Counts of ties: mixed tie groups, queries with one, and the items in the largest of them."""

    mixed_groups: int
    queries: int
    largest: int


def _four(group: Any, name: str) -> list[int]:
    """Check a group that was written by hand."""
    four: list[int] = _counts(group, name).tolist()
    if len(four) != 4:
        rule = f"must hold (closer, closer_relevant, tied, tied_relevant), but has {len(four)} numbers in a group"
        raise InvalidValueError(name, rule)
    return four


def _counts(values: Any, name: str) -> Int64:
    listed = checks.listed(values, name, "a sequence of integers")
    return np.array([checks.whole_number(each, name, most=2**63 - 1) for each in listed], dtype=np.int64)


def _integers(values: Any, name: str, copied: bool) -> Int64:
    """Convert an argument of a profile to int64, if that changes no value; int64 need not be copied."""
    kept = not copied and isinstance(values, np.ndarray) and values.dtype == np.int64
    array = values if kept else integers(values, name)
    if array.ndim != (2 if name in (*_GRADED_ARRAYS, "returned") else 1):
        raise InvalidValueError(name, f"must not have shape {array.shape}")
    return np.ascontiguousarray(array)


def _reals(values: Any, name: str) -> Float64:
    """Convert gains of a profile to float64."""
    array = plain(values, name)
    if array.dtype.kind not in "iuf" or array.ndim != _REAL[name]:
        shape = ("", "(n_query,)", "(n_query, n_grade)")[_REAL[name]]
        raise InvalidTypeError(name, f"must hold numbers, {shape}, but are {array.dtype} of {array.shape}")
    return np.ascontiguousarray(array, dtype=np.float64)


def _of_like_grades(profiles: Sequence[TieProfile]) -> list[TieProfile]:
    """Return profiles with gains for as many grades: those that lack some get more, below all that they have."""
    most = max(len(profile.grades) for profile in profiles)

    def widened(numbers: Any) -> Any:
        return np.pad(numbers, ((0, 0), (most - numbers.shape[1], 0)))

    return [
        replace(
            profile, grades=np.arange(1, most + 1), gains=widened(profile.gain_table),
            **dict(zip(_GRADED_ARRAYS, map(widened, profile.counts_by_grade), strict=True)),
        )
        for profile in profiles
    ]  # fmt: skip


def _best_first(rest: Bool, by_grade: Int64, groups: dict[str, Int64]) -> tuple[Int64, dict[str, Int64], Int64]:
    """Split the rest of every query into groups in its best order: by grade descending, the irrelevant items last.

    Returns the number of new groups for each group, the new groups, and their relevant items by grade.
    """
    lengths = np.where(rest, (by_grade > 0).sum(axis=1), 1)
    new = {name: np.repeat(numbers, lengths) for name, numbers in groups.items()}
    new_by_grade = np.repeat(by_grade, lengths, axis=0)
    counts = by_grade[rest][:, ::-1]
    row, backwards = np.nonzero(counts)
    count, before = counts[row, backwards], (np.cumsum(counts, axis=1) - counts)[row, backwards]
    of_rest = np.repeat(rest, lengths)
    for name in ("closer", "closer_relevant"):
        new[name][of_rest] += before
    new["tied"][of_rest] = new["tied_relevant"][of_rest] = count
    new_by_grade[of_rest] = count[:, None] * (np.arange(counts.shape[1]) == counts.shape[1] - 1 - backwards[:, None])
    return lengths, new, new_by_grade
