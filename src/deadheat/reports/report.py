"""The measures of a profile as people read them, beside what there is to know about its ties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deadheat import measures as rank_measures
from deadheat.errors import InputError, UndefinedError
from deadheat.profiles import Int64, TieProfile
from deadheat.profiles import Ties as TieCounts
from deadheat.reports.averaging import Averaging
from deadheat.reports.options import SummaryOptions
from deadheat.reports.result import Result
from deadheat.reports.tables import (
    DIGITS,
    Table,
    TabularResult,
    columns_of_values,
    count,
    decimals,
    has_ties,
    number,
    plain,
    program,
)
from deadheat.support.named import ByName
from deadheat.support.triple import Triple

if TYPE_CHECKING:
    from deadheat.statistics.intervals import Intervals

Float64 = NDArray[np.float64]

_COUNTS = ("n_query", "n_undefined")


@dataclass(frozen=True, eq=False)
class Report(TabularResult, ByName[Result]):
    """The measures of a profile, and what there is to know about its ties.

    `report["mAP"]` is the `Result` for a measure, under any of its names; one that was not asked for is computed
    from the profile, which the report keeps. `dict(report)` has those that were asked for. Printing a report gives a
    table in per cent; everything else is a fraction in [0, 1].

    `to_text`, `to_markdown` and `to_latex` take ``digits=``, the decimals to show. With ``std=True`` these, `to_dict`,
    `to_json` and `to_pandas` also hold the standard deviation of each mean over random tie-breaking.

    Attributes
    ----------
    profile : TieProfile
        What was measured.
    measures : tuple of str
        The measures that the table shows.
    singletons, average : str
        How queries without a relevant item were treated, and what the mean is over.
    distance : str or None
        The distance, where the report comes from embeddings.
    labels : (n_query,) or None
        The labels of the queries, where they were given.
    tie_rule : str or None
        What a tie was: ``"exact"``, a rounding such as ``"float16 similarity"``, or a tolerance; None if not known.
    n_in_gallery : int
        Queries that are in the gallery themselves, as an equal row with their label, and are ranked against it; 0 where
        equal rows tell nothing, because the gallery has as many of its own.
    n_excluded : int
        Queries that left out their own row in the gallery (`exclude`).

    Examples
    --------
    >>> from deadheat import measure
    >>> profile = TieProfile.from_groups([[(0, 0, 2, 1)], [(0, 0, 1, 1)], []], n_ranked=[2, 2, 2])
    >>> print(measure(profile, ["mAP", "Hit@1"]))
    measure (%)   lower  expected   upper
    mAP           75.00     87.50  100.00
    Hit@1         50.00     75.00  100.00
    <BLANKLINE>
    3 queries, 1 of them without a relevant item (a singleton) and left out of the means.
    Ties between relevant and irrelevant items: 1 group in 1 query, of 2 items.
    """

    profile: TieProfile = field(repr=False)
    measures: tuple[str, ...]
    singletons: str = "skip"
    average: str = "query"
    labels: Any = field(default=None, repr=False)
    distance: str | None = None
    tie_rule: str | None = None
    n_in_gallery: int = 0
    n_excluded: int = 0
    _results: dict[str, Result] = field(default_factory=dict, init=False, repr=False)

    def __getitem__(self, name: str) -> Result:
        """The result for a measure; raises ValueError for an unknown name."""
        parsed = rank_measures.parse(name)
        if parsed.name not in self._results:
            self._compute([parsed.name], threads=1)
        return self._results[parsed.name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __contains__(self, name: object) -> bool:
        """Whether the table shows a measure, under any of its names."""
        try:
            return isinstance(name, str) and rank_measures.parse(name).name in self.measures
        except InputError:
            return False

    def _compute(self, names: Iterable[str], threads: int) -> None:
        """Add the results for some measures."""
        parsed = [rank_measures.parse(name) for name in names]
        has_relevant = self.profile.n_relevant > 0
        for measure, values in zip(parsed, rank_measures.all_bounds(self.profile, parsed, threads), strict=True):
            self._fill(values, measure.kind, ~has_relevant)
            defined = ~np.isnan(values.lower)
            counts = int(np.count_nonzero(defined)), int(np.count_nonzero(has_relevant & ~defined))
            self._results[measure.name] = Result(measure.name, values, *counts, self.profile, self.averaging)

    def _fill(self, values: Triple[Float64], kind: str, singleton: NDArray[np.bool_]) -> None:
        """Give singletons the value that the report counts them as; they come as NaN."""
        if self.singletons != "skip":
            filler = {"zero": 0.0, "one": 1.0, "balanced": 0.0 if kind == "precision" else 1.0}[self.singletons]
            for array in (values.lower, values.upper) if self.profile.bounds_only else values:
                array[singleton] = filler

    @property
    def n_query(self) -> int:
        """How many queries there are, singletons included."""
        return self.profile.n_query

    @property
    def n_singleton(self) -> int:
        """How many queries have no relevant item."""
        return int((self.profile.n_relevant == 0).sum())

    @cached_property
    def averaging(self) -> Averaging:
        """What the means are over."""
        return Averaging(self.average, self.n_query, self.labels)

    @property
    def classes(self) -> Int64 | None:
        """The classes of the queries by number, (n_query,); None where their labels were not given."""
        return self.averaging.classes

    @property
    def n_class(self) -> int | None:
        """How many classes have a query with a relevant item; None unless the average is over classes."""
        if self.average != "class" or self.classes is None:
            return None
        return len(np.unique(self.classes[self.profile.n_relevant > 0]))

    @property
    def ties(self) -> TieCounts:
        """The mixed tie groups: how many, in how many queries, and the size of the largest."""
        return self.profile.ties

    def interval(self, measure: str, **settings: Any) -> Intervals:
        """``report[measure].interval(...)``; `settings` are those of `Result.interval`."""
        return self[measure].interval(**settings)

    def summary(self, digits: int = DIGITS) -> str:
        """The numbers to report, in one line, in per cent: see `Result.summary`.

        Examples
        --------
        >>> from deadheat import evaluate
        >>> evaluate([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean", measures="mAP, MRR").summary()
        'mAP 87.50 [75.00, 100.00] %, MRR 87.50 [75.00, 100.00] %'
        """
        return ", ".join(self[name].summary(digits) for name in self.measures)

    def tables(self, *, digits: int = DIGITS, std: bool = False) -> list[Table]:
        """One table: a row for each measure, in per cent; a single column of values if no tie affects any of them."""
        results = list(self.values())
        columns, cells = columns_of_values(results, digits)
        rows = [[result.name, *row] for result, row in zip(results, cells, strict=True)]
        if std:
            columns = (*columns, "std")
            rows = [
                [*row, number(100 * result.std, decimals(digits))] for row, result in zip(rows, results, strict=True)
            ]
        return [Table(["measure (%)", *columns], rows)]

    def notes(self) -> list[str]:
        """What a reader has to know beside the numbers: the queries that count, and the ties."""
        undefined = [
            f"{name} is undefined for {count(self[name].n_undefined, 'query', 'queries')} "
            "with a relevant item, left out of its mean."
            for name in self.measures
            if self[name].n_undefined
        ]
        return [
            _about_queries(self.n_query, self.n_singleton, self.n_class, self.singletons),
            *undefined,
            *_about_gallery(self.n_query, self.n_in_gallery, self.n_excluded),
            self._about_ties(),
        ]

    def columns(self, *, std: bool = False) -> dict[str, list[Any]]:
        """The rows of the table: fractions, NaN where a value is undefined, and how many queries count."""
        columns = {"measure": list(self.measures)}
        for column in (*_columns(std), *_COUNTS):
            columns[column] = [getattr(self[name], column) for name in self.measures]
        return columns

    def to_dict(self, *, std: bool = False) -> dict[str, Any]:
        """The report as plain Python values that JSON can hold; None where a value is undefined."""
        columns = (*_columns(std), *_COUNTS)
        return {
            "deadheat": program(),
            "distance": self.distance,
            "ties": {"rule": self.tie_rule, **self.ties._asdict()},
            "singletons": self.singletons,
            "average": self.average,
            "n_query": self.n_query,
            "n_singleton": self.n_singleton,
            "n_class": self.n_class,
            "n_in_gallery": self.n_in_gallery,
            "n_excluded": self.n_excluded,
            "measures": {name: {column: plain(getattr(self[name], column)) for column in columns} for name in self},
            "profile": self.profile.digest(),
        }

    def _about_ties(self) -> str:
        """What the ties decide, by the distance and the rule where these are known."""
        where = ", ".join(filter(None, (self.distance, self.tie_rule)))
        by = f" ({where})" if where else ""
        if self.profile.bounds_only:
            return f"Ties{by}: every relevant item may move by the tolerance, either way; that has no expectation."
        ties = self.ties
        if not ties.mixed_groups:
            return f"No tie affects the result{by}: lower = expected = upper."
        groups = f"{count(ties.mixed_groups, 'group', 'groups')} in {count(ties.queries, 'query', 'queries')}"
        size = f"of {ties.largest} items" if ties.mixed_groups == 1 else f"the largest of {ties.largest} items"
        affected = any(map(has_ties, self.values()))
        verdict = "" if affected else "; none affects a value shown, so that lower = expected = upper"
        return f"Ties between relevant and irrelevant items{by}: {groups}, {size}{verdict}."

    def __repr__(self) -> str:
        about = (count(self.n_query, "query", "queries"), self.distance, self.tie_rule)
        return f"Report({self.summary()}; {', '.join(filter(None, about))})"


def _columns(std: bool) -> tuple[str, ...]:
    """The values of a measure that are shown."""
    return (*Triple._fields, *(("std",) if std else ()))


def _about_queries(n_query: int, n_singleton: int, n_class: int | None, singletons: str) -> str:
    """How many queries there are, and which of them count."""
    queries = count(n_query, "query", "queries")
    mean = "" if n_class is None else f" Means are over {count(n_class, 'class', 'classes')}."
    if not n_singleton:
        return f"{queries}, each with a relevant item.{mean}"
    noun = "a singleton" if n_singleton == 1 else "singletons"
    treated = {
        "skip": "left out of the means",
        "zero": "counted as 0",
        "one": "counted as 100 %",
        "balanced": "counted as 0 in measures of precision and 100 % in those of recall",
    }[singletons]
    return f"{queries}, {n_singleton} of them without a relevant item ({noun}) and {treated}.{mean}"


def _about_gallery(n_query: int, n_in_gallery: int, n_excluded: int) -> list[str]:
    """Whether queries are in the gallery themselves; mostly nothing."""
    what_of_them = {
        "as an equal row with their label, and ranked against it: exclude= leaves it out": n_in_gallery,
        "and not ranked against their own row": n_excluded,
    }
    return [
        f"{n} of {count(n_query, 'query', 'queries')} {'is' if n == 1 else 'are'} in the gallery themselves, {what}."
        for what, n in what_of_them.items()
        if n
    ]


def report_on(profile: TieProfile, options: SummaryOptions, *, threads: int, **origin: Any) -> Report:
    """The report on a profile, with what was asked for computed at once; `origin`: its labels, distance, tie_rule."""
    if not profile.n_relevant.any():
        raise UndefinedError(
            f"no query has a relevant item, so that no measure is defined, but got {profile.n_query} queries, "
            "each without a ranked item of its own label"
        )
    report = Report(profile, options.measures, options.singletons, options.average, **origin)
    report._compute(options.measures, threads)
    return report
